package alerts

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"solarmirror/cmd/internal/words"
)

// Tongue is how messages are worded.
type Tongue struct {
	Lang string         // pt or en
	Zone *time.Location // of their times
	Host string         // the machine that sends; "": titles name none
}

// Languages are those that messages can be in.
func Languages() []string { return []string{"pt", "en"} }

// dictionary is what messages are made of in one language.
type dictionary struct {
	what                        map[Cause]string
	still, over, test           string
	since, jobs, streams, cause string
	lasted, goesOn, command     string
	under, days                 string
	rejects, doubts, testText   string
}

var portuguese = dictionary{
	what: map[Cause]string{
		Platform: "a plataforma não responde", Authentication: "a plataforma não aceita o token, ou falta um", Disk: "o disco está cheio ou com defeito",
		Damage: "o banco de dados está danificado", Breaker: "muitos registros sumiram da plataforma de uma vez; nenhum foi marcado como excluído",
		Differences: "o espelho difere da plataforma sem explicação", Stale: "dados atrasados", Mart: "marts próprios falham e mantêm linhas antigas", Job: "uma tarefa falha",
	},
	still: "continua: ", over: "resolvido: ", test: "mensagem de teste", testText: "Os avisos do solarmirror chegam aqui.",
	since: "Desde", jobs: "Tarefas", streams: "Fluxos", cause: "Causa", lasted: "Durou", goesOn: "Há", command: "Digite",
	under: "menos de 1 s", days: "dias", rejects: "registros novos que não puderam ser carregados: %d", doubts: "novos cadastros de empresa em dúvida: %d",
}

var english = dictionary{
	what: map[Cause]string{
		Platform: "the platform does not answer", Authentication: "the platform does not accept the token, or there is none", Disk: "the disk is full or fails",
		Damage: "the database is damaged", Breaker: "many records vanished from the platform at once; none was marked as gone",
		Differences: "the mirror differs from the platform, unexplained", Stale: "data is late", Mart: "own marts fail and keep old rows", Job: "a job fails",
	},
	still: "still: ", over: "over: ", test: "test message", testText: "Alerts of solarmirror arrive here.",
	since: "Since", jobs: "Jobs", streams: "Streams", cause: "Cause", lasted: "Lasted", goesOn: "For", command: "Type",
	under: "under 1 s", days: "days", rejects: "new records that could not be loaded: %d", doubts: "new companies in doubt: %d",
}

func (t Tongue) dictionary() dictionary {
	if t.Lang == "en" {
		return english
	}
	return portuguese
}

// sender is how a title begins.
func (t Tongue) sender() string {
	switch {
	case t.Host == "":
		return "solarmirror: "
	case t.Lang == "en":
		return "solarmirror on " + t.Host + ": "
	}
	return "solarmirror em " + t.Host + ": "
}

// commands are what to type next.
var commands = map[Cause]string{
	Platform: "solarmirror doctor", Authentication: "solarmirror doctor", Disk: "solarmirror doctor", Damage: "solarmirror restore --from DIR",
	Breaker: "solarmirror sync --full --dry-run", Differences: "solarmirror verify", Stale: "solarmirror status", Mart: "solarmirror marts list", Job: "solarmirror runs list",
}

// Text returns the title and the text of a message. The text says all that the title does: some
// receivers show no title.
func (m Message) Text(t Tongue) (title, text string) {
	d := t.dictionary()
	switch m.Kind {
	case Test:
		return t.sender() + d.test, d.testText
	case Events:
		return m.events(t, d)
	}
	what := map[Kind]string{Lasts: d.still, Over: d.over}[m.Kind] + d.what[m.Incident.Cause]
	title = t.sender() + what
	if subject := m.Incident.Subject; subject != "" {
		title += " (" + strings.Join(m.Subjects, ", ") + ")"
	}
	lines := []string{upper(what)}
	add := func(label, value string) {
		if value != "" {
			lines = append(lines, label+": "+value)
		}
	}
	add(d.since, m.Incident.Since.In(t.Zone).Format("2006-01-02 15:04"))
	add(cmp.Or(map[Cause]string{Stale: d.streams, Mart: "Marts"}[m.Incident.Cause], d.jobs), strings.Join(m.Subjects, ", "))
	if label := map[Kind]string{Lasts: d.goesOn, Over: d.lasted}[m.Kind]; label != "" {
		add(label, words.AgeIn(m.At.Sub(m.Incident.Since), d.under, d.days))
	}
	if m.Kind != Over {
		add(d.cause, m.Incident.Line)
		add(d.command, commands[m.Incident.Cause])
	}
	return title, strings.Join(lines, "\n")
}

func (m Message) events(t Tongue, d dictionary) (title, text string) {
	var counts, lines []string
	for _, e := range []struct {
		n               int64
		format, command string
	}{{m.Rejects, d.rejects, "solarmirror rejects list"}, {m.Doubts, d.doubts, "solarmirror outbox list ambiguous"}} {
		if e.n > 0 {
			count := fmt.Sprintf(e.format, e.n)
			counts = append(counts, count)
			lines = append(lines, upper(count), d.command+": "+e.command)
		}
	}
	return t.sender() + strings.Join(counts, "; "), strings.Join(lines, "\n")
}

// upper makes a sentence of the first letter, which is ASCII in every one of them.
func upper(text string) string { return strings.ToUpper(text[:1]) + text[1:] }
