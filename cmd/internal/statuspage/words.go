package statuspage

import (
	"net/http"

	"golang.org/x/text/language"

	"solarmirror/cmd/internal/charts"
)

// texts are the words of the page in one language. Those with a % are formats. The program's own errors and promises
// stand on the page in English whatever its language, as the log has them.
type texts struct {
	Lang     string
	Language charts.Language

	Day, Moment string // layouts of package time

	Under, Days, Ago, In, Now, Never, Off, NotScheduled string // times

	Mirrors, AsOf, ReadAgain, Metrics, Readiness string

	ToLookAt, Unreadable, Well, WellWhy string // the verdict

	// Problems.
	Trying, LastFailed, LastPartly, Cause, Behind, BehindOne, Loading, Late, Promise, Rejects               string
	InDoubt, RejectedCompanies, OutboxUnreadable, LittleSpace, LargeWAL, FailedMarts                        string
	Streams, FirstLoad, CompleteThrough, LastRun, NextRun, FullRead, Rejected                               string
	Schedule, Job, Next, Last, Outcome, Took, When, Running, Waiting                                        string
	Runs, LastRuns, Run, Command, Started, Read, New, Changed, Gone, RunsChart, ChangesChart, DayName       string
	Coverage, Stream, State, Records, Everything, Beginning, To, Today, Complete, UnderWay, Windows, Weaker string
	NothingRead, Removed, Drift, DriftHint, Field, Kind, Times, Since, MoreDrift, NoDrift                   string
	Outbox, Oldest, Sent, Files, Mirror, WAL, Free, None                                                    string
	StreamNames, JobNames, Outcomes, States, Kinds                                                          map[string]string
}

var languages = language.NewMatcher([]language.Tag{language.English, language.Portuguese}) // the first is for all others

// textsFor returns the words in the language that a browser prefers.
func textsFor(r *http.Request) *texts {
	if _, at := language.MatchStrings(languages, r.Header.Get("Accept-Language")); at == 1 {
		return portuguese
	}
	return english
}

// named returns people's word for one of the program's; a word without one stands for itself.
func named(names map[string]string, word string) string {
	if name := names[word]; name != "" {
		return name
	}
	return word
}

var english = &texts{
	Lang: "en", Language: charts.English, Day: "2 Jan", Moment: "2 Jan 15:04",
	Under: "under 1 s", Days: "days", Ago: "%s ago", In: "in %s", Now: "now", Never: "never", Off: "off", NotScheduled: "not on schedule",
	Mirrors: "mirrors", AsOf: "as of", ReadAgain: "read again", Metrics: "metrics", Readiness: "readiness",
	ToLookAt: "%d to look at", Unreadable: "The mirror cannot be read",
	Well: "All is well", WellWhy: "Every stream is fresh, the last runs succeeded, and no company is in doubt.",
	Trying: "Requests to the platform fail: %s tries in %s (%s).", LastFailed: "The last run failed: %s.", LastPartly: "The last run did only a part: %s.",
	Cause: "Cause:", Behind: "Not up to date: %s.", BehindOne: "%s (%s old)", Loading: "Not read to their end yet: %s.",
	Late: "The schedule is not kept: %s was due %s.", Promise: "Read under a weaker promise: %s.", Rejects: "Records that could not be loaded and are kept as they came: %s.",
	InDoubt:           "Companies in doubt: %s. Nobody knows whether the platform has them, and they are not sent again by themselves.",
	RejectedCompanies: "Rejected companies that wait to be corrected or cancelled: %s.", OutboxUnreadable: "The outbox cannot be read.",
	LittleSpace: "Only %s are free on the disk of the mirror.", LargeWAL: "The write-ahead log has %s: some program keeps reading an old state of the mirror.",
	FailedMarts: "Own marts whose last build failed, so they keep older rows: %s.",
	Streams:     "Streams", FirstLoad: "first load", CompleteThrough: "Complete through", LastRun: "Last run", NextRun: "Next run", FullRead: "Last full read", Rejected: "Rejected",
	Schedule: "Schedule", Job: "Job", Next: "Next", Last: "Last", Outcome: "Outcome", Took: "Took", When: "When", Running: "running", Waiting: "waiting",
	Runs: "Runs", LastRuns: "The last runs", Run: "Run", Command: "What", Started: "Started", Read: "Read", New: "New", Changed: "Changed", Gone: "Gone",
	RunsChart: "Runs a day, by outcome", ChangesChart: "Records written a day", DayName: "Day",
	Coverage: "Coverage", Stream: "Stream", State: "State", Records: "Records", Everything: "everything", Beginning: "the beginning", To: "to", Today: "now",
	Complete: "complete", UnderWay: "under way", Windows: "%d of %d windows", Weaker: "weaker promise", NothingRead: "Nothing was read yet.", Removed: "removed",
	Drift: "Differences from the documentation", DriftHint: "Nothing of it is lost: values without a column are kept in", Field: "Field", Kind: "Kind", Times: "Times",
	Since: "Since", MoreDrift: "and %d more:", NoDrift: "None was seen.",
	Outbox: "Companies to create", Oldest: "In doubt, the oldest first:", Sent: "sent", Files: "Files", Mirror: "Mirror", WAL: "Write-ahead log", Free: "Free on its disk", None: "none",
	StreamNames: map[string]string{"orders": "Orders", "budgets": "Budgets", "equipments": "Equipment"},
	JobNames: map[string]string{
		"sync": "Sync", "full_equipments": "Full read of equipment", "full_requests": "Full read of orders and budgets", "verify": "Verification", "publish": "Publication",
		"report": "Sales report", "export": "Export", "backup": "Backup", "push": "Creation of companies", "backfill": "Backfill", "rejects replay": "Replay of rejected records",
	},
	Outcomes: map[string]string{"panicked": "program error"},
	States: map[string]string{
		"ambiguous": "In doubt", "rejected": "Rejected", "pending": "Waiting", "sending": "Being sent", "done": "Created", "cancelled": "Cancelled",
	},
	Kinds: map[string]string{"unknown": "new field", "type": "other type", "shape": "other shape"},
}

var portuguese = &texts{
	Lang: "pt-BR", Language: charts.Portuguese, Day: "02/01", Moment: "02/01 15:04",
	Under: "menos de 1 s", Days: "dias", Ago: "há %s", In: "em %s", Now: "agora", Never: "nunca", Off: "desligada", NotScheduled: "fora da agenda",
	Mirrors: "espelha", AsOf: "situação de", ReadAgain: "ler de novo", Metrics: "métricas", Readiness: "prontidão",
	ToLookAt: "%d a verificar", Unreadable: "O espelho não pode ser lido",
	Well: "Está tudo bem", WellWhy: "Todos os fluxos estão atualizados, as últimas execuções deram certo e nenhuma empresa está em dúvida.",
	Trying: "As chamadas à plataforma falham: %s tentativas em %s (%s).", LastFailed: "A última execução falhou: %s.", LastPartly: "A última execução fez só uma parte: %s.",
	Cause: "Causa:", Behind: "Desatualizados: %s.", BehindOne: "%s (de %s atrás)", Loading: "Ainda não lidos até o fim: %s.",
	Late: "A agenda não está sendo cumprida: %s devia ter começado %s.", Promise: "Lidos com uma ressalva: %s.", Rejects: "Registros que não puderam ser carregados e estão guardados como vieram: %s.",
	InDoubt:           "Empresas em dúvida: %s. Ninguém sabe se a plataforma as tem, e elas não são reenviadas sozinhas.",
	RejectedCompanies: "Empresas rejeitadas, à espera de correção ou cancelamento: %s.", OutboxUnreadable: "A fila de empresas não pode ser lida.",
	LittleSpace: "Há só %s livres no disco do espelho.", LargeWAL: "O registro de escrita (WAL) tem %s: algum programa continua lendo um estado antigo do espelho.",
	FailedMarts: "Marts próprios cuja última construção falhou e que mantêm linhas mais antigas: %s.",
	Streams:     "Fluxos", FirstLoad: "carga inicial", CompleteThrough: "Completo até", LastRun: "Última execução", NextRun: "Próxima execução", FullRead: "Última leitura completa", Rejected: "Rejeitados",
	Schedule: "Agenda", Job: "Tarefa", Next: "Próxima", Last: "Última", Outcome: "Resultado", Took: "Duração", When: "Quando", Running: "em andamento", Waiting: "esperando",
	Runs: "Execuções", LastRuns: "As últimas execuções", Run: "Execução", Command: "O quê", Started: "Início", Read: "Lidos", New: "Novos", Changed: "Alterados", Gone: "Sumidos",
	RunsChart: "Execuções por dia, por resultado", ChangesChart: "Registros escritos por dia", DayName: "Dia",
	Coverage: "Cobertura", Stream: "Fluxo", State: "Situação", Records: "Registros", Everything: "tudo", Beginning: "o início", To: "a", Today: "hoje",
	Complete: "completa", UnderWay: "em andamento", Windows: "%d de %d janelas", Weaker: "com ressalva", NothingRead: "Nada foi lido ainda.", Removed: "removidos",
	Drift: "Diferenças em relação à documentação", DriftHint: "Nada se perde: valores sem coluna ficam em", Field: "Campo", Kind: "Tipo", Times: "Vezes",
	Since: "Desde", MoreDrift: "e mais %d:", NoDrift: "Nenhuma foi vista.",
	Outbox: "Empresas a criar", Oldest: "Em dúvida, as mais antigas primeiro:", Sent: "enviada", Files: "Arquivos", Mirror: "Espelho", WAL: "Registro de escrita (WAL)", Free: "Livre no disco", None: "nenhum",
	StreamNames: map[string]string{"orders": "Pedidos", "budgets": "Orçamentos", "equipments": "Equipamentos"},
	JobNames: map[string]string{
		"sync": "Sincronização", "full_equipments": "Leitura completa de equipamentos", "full_requests": "Leitura completa de pedidos e orçamentos", "verify": "Verificação",
		"publish": "Publicação", "report": "Relatório de vendas", "export": "Exportação", "backup": "Cópia de segurança", "push": "Criação de empresas", "backfill": "Leitura do passado", "rejects replay": "Nova carga de registros rejeitados",
	},
	Outcomes: map[string]string{
		"ok": "ok", "partial": "parcial", "failed": "falhou", "interrupted": "interrompida", "running": "em andamento", "skipped": "pulada", "panicked": "erro do programa",
	},
	States: map[string]string{
		"ambiguous": "Em dúvida", "rejected": "Rejeitadas", "pending": "À espera", "sending": "Em envio", "done": "Criadas", "cancelled": "Canceladas",
	},
	Kinds: map[string]string{"unknown": "campo novo", "type": "outro tipo", "shape": "outra forma"},
}
