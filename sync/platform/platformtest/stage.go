package platformtest

// stage is how far a request has come. The status fields that a client sees follow from it, so they never
// contradict one another:
//
//	Novo → Em negociação → Proposta enviada → Aprovado ─(becomes an order)→ Pedido realizado
//	  └─────────┴────────────────┴───────────────┴→ Perdido
//	Pedido realizado → Pagamento (processing ⇄ refused) → Pagamento (paid) → Separação → Faturado → Entregue
//	  └──────────────────┴→ Cancelado
type stage uint8

const (
	stageNew stage = iota
	stageNegotiating
	stageProposed
	stageApproved
	stageLost
	stagePlaced // from here on the request is an order
	stagePaying
	stageRefused
	stagePaid
	stagePicking
	stageBilled
	stageDelivered
	stageCancelled
)

type nextStage struct {
	to     stage
	weight int
}

// stageFacts is what a stage shows and how it goes on.
type stageFacts struct {
	deal, stock, payment, transaction string  // transaction is empty before a payment is requested
	days                              float64 // mean time until something happens
	next                              []nextStage
}

var stages = [...]stageFacts{
	stageNew:         {"Novo", "notReserved", "notRequested", "", 3, []nextStage{{stageNegotiating, 85}, {stageLost, 15}}},
	stageNegotiating: {"Em negociação", "notReserved", "notRequested", "", 5, []nextStage{{stageProposed, 72}, {stageLost, 28}}},
	stageProposed:    {"Proposta enviada", "notReserved", "notRequested", "", 8, []nextStage{{stageApproved, 58}, {stageLost, 42}}},
	stageApproved:    {"Aprovado", "reserved", "notRequested", "", 2, []nextStage{{stagePlaced, 88}, {stageLost, 12}}},
	stageLost:        {"Perdido", "released", "notRequested", "", 150, nil},
	stagePlaced:      {"Pedido realizado", "reserved", "requested", "pending", 1, []nextStage{{stagePaying, 95}, {stageCancelled, 5}}},
	stagePaying:      {"Pagamento", "reserved", "requested", "processing", 2, []nextStage{{stagePaid, 82}, {stageRefused, 12}, {stageCancelled, 6}}},
	stageRefused:     {"Pagamento", "reserved", "requested", "refused", 2, []nextStage{{stagePaying, 70}, {stageCancelled, 30}}},
	stagePaid:        {"Pagamento", "reserved", "received", "paid", 1, []nextStage{{stagePicking, 1}}},
	stagePicking:     {"Separação", "separated", "received", "paid", 3, []nextStage{{stageBilled, 1}}},
	stageBilled:      {"Faturado", "shipped", "received", "paid", 6, []nextStage{{stageDelivered, 1}}},
	stageDelivered:   {"Entregue", "delivered", "received", "paid", 200, nil},
	stageCancelled:   {"Cancelado", "released", "cancelled", "cancelled", 200, nil},
}

func (s stage) facts() *stageFacts { return &stages[s] }

// isOrder reports whether a request of this stage is listed as an order rather than as a budget.
func (s stage) isOrder() bool { return s >= stagePlaced }

// isFinal reports whether the deal has come to its end.
func (s stage) isFinal() bool { return len(stages[s].next) == 0 }
