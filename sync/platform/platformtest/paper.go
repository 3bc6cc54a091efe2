package platformtest

import (
	"fmt"
	"strconv"
)

// The paperwork of a request: notes, files, the questions of its form.

var noteTexts = []string{
	"<p>Cliente pediu <b>retorno até sexta-feira</b>.</p>",
	"<p>Telhado com sombra à tarde; avaliar&nbsp;otimizadores.</p>",
	"<p>Negociação: igualar o preço do concorrente &amp; manter o prazo.</p>",
	"<p>Visita técnica feita. Padrão de entrada <i>trifásico 63&nbsp;A</i> ✅</p>",
	"<p>Aguardando parecer de acesso da concessionária ⚡</p>",
	"<p>Financiamento em análise no banco.<br>Enviar a documentação do cônjuge.</p>",
	"<p>Entrega somente com caminhão ¾, rua estreita 🚚</p>",
	"<ul><li>Conferir a inclinação</li><li>Foto do quadro&nbsp;geral</li></ul>",
	"Ligar \"depois das 18h\", falar com a esposa.",
}

// notes grow with every edit; a good third of the requests start without any.
func (s *scene) notes(i uint32, r *request, client customer) string {
	d := throw(s.seed, streamNotes, uint64(i))
	notes := ""
	if d.chance(0.62) {
		notes = "<p>Contato: <b>" + client.person.name + "</b></p>" + pick(&d, noteTexts)
	}
	for n := range r.noteEdits {
		d := throw(s.seed, streamNotes, uint64(i), uint64(n))
		notes += fmt.Sprintf("<p>[%d]</p>", n+1) + pick(&d, noteTexts)
	}
	return notes
}

// writeFiles: the more advanced a request, the more papers it has.
func writeFiles(w *jsonWriter, d *dice, r *request) {
	categories := []struct {
		name   string
		from   stage
		stem   string
		suffix string
	}{
		{"Conta de energia", stageNew, "conta_energia", ".pdf"},
		{"Fotos do local", stageNew, "IMG", ".jpg"},
		{"Proposta assinada", stageApproved, "proposta", ".pdf"},
		{"Nota fiscal", stageBilled, "NFe", ".xml"},
	}
	w.array("files")
	for _, c := range categories {
		count := d.between(1, 3)
		if r.stage < c.from || r.stage == stageLost && c.from > stageNew {
			continue
		}
		w.open('{')
		w.str("category", c.name)
		w.array("uploadedFiles")
		for range count {
			w.quote(c.stem + "_" + string(d.digits(nil, 6)) + c.suffix)
		}
		w.close(']')
		w.close('}')
	}
	w.close(']')
}

func writeCustomForm(w *jsonWriter, d *dice, z size, client customer) {
	w.array("customForm")
	ask := func(question, answer string) {
		w.open('{')
		w.str("question", question)
		w.str("answer", answer)
		w.close('}')
	}
	ask("Qual o consumo médio mensal (kWh)?", strconv.Itoa(int(z.module.watts*float64(z.planned*d.between(95, 130))/1000)))
	ask("Tipo de ligação", pick(d, []string{"Monofásica", "Bifásica", "Trifásica"}))
	ask("Concessionária", pick(d, []string{"CEMIG", "CPFL", "Enel", "Copel", "Equatorial", "Celesc", "Neoenergia", "Energisa"}))
	ask("Nome do titular da conta", client.person.fullName())
	ask("Deseja monitoramento Wi-Fi?", pick(d, []string{"Sim", "Não", "A definir"}))
	ask("Observações", pick(d, []string{"", "Cliente já possui sistema instalado", "Ampliação prevista em 12 meses", "Prazo: até o Natal 🎄"}))
	w.close(']')
}
