package schema

// The ledger of the marts: what they were built from, and what of it has changed since.

// Marts is one row about the marts as a whole; none until they are built.
var Marts = &Table{
	Name: "_marts", Doc: "One row about the marts; none before they are built.", Label: "Sobre os marts", Shape: Ledger, Key: []string{"marts_id"},
	Columns: []Column{
		own("marts_id", Surrogate, "Always 1.", "Chave").clause("CHECK (marts_id = 1)").public(),
		own("recipe", Text, "What they were built by: version, time zone, power unit, lists of statuses. Another one makes them be built anew.", "Receita").notNull().public(),
		own("as_of", Date, "Day in the platform's time zone up to which open stays and recent sales are counted.", "Referência").notNull().public(),
		own("refreshed_at", Timestamp, "When they were last brought up to date.", "Atualizado em").unit("UTC").notNull().public(),
	},
}

// Stale is what has changed since the marts were brought up to date.
var Stale = &Table{
	Name: "_stale", Doc: "Records that have changed since the marts were brought up to date, and marts that have changed since their summaries were; written with the change, so that nothing is forgotten when a run is cut off.",
	Label: "Alterações pendentes nos marts", Shape: Ledger, Key: []string{"table_name", "key"},
	Columns: []Column{
		own("table_name", Text, "requests or equipments for a changed record; request_products for a request whose lines show a changed item; else a table that summaries read and that has changed.", "Tabela").notNull().public(),
		own("key", BigInt, "Surrogate key of the record; 0 for a whole table.", "Chave").notNull().public(),
		own("name", Text, "The request's id or the item's product code, by which the marts find what else is concerned.", "Identificador").notNull().public(),
	},
}

// Deals is what the marts know of each deal, dead or alive: an id, listed as a budget, as an order, or as both.
var Deals = &Table{
	Name: "_deals", Doc: "One row per deal, live or not: what bi_funnel is counted from.", Label: "Negócios (apoio)", Shape: Ledger, Key: []string{"request_key"},
	Indices: [][]string{{"cohort_month", "seller_email", "state", "days_to_order", "is_order", "deal_class", "final_value"}},
	Columns: []Column{
		own("request_key", Surrogate, "The row that speaks for the deal: a live one rather than one that is removed or gone, an order rather than a budget.", "Negócio (chave)").
			notNull().clause("REFERENCES requests(request_key)").public(),
		month("cohort_month", "Month in which the budget was created, YYYY-MM in the platform's time zone.", "Mês do orçamento").public(),
		seller(),
		state(),
		own("is_order", Boolean, "Whether the deal is, or has been, an order.", "É ou foi pedido").notNull().check().public(),
		own("days_to_order", Real, "From the budget to the order.", "Dias do orçamento ao pedido").unit("days").public(),
		dealClass("deal_class as in bi_requests; of a deal that is removed or gone, cancelled for an order and lost for a budget.").public(),
		like(Requests, "final_value"),
	},
}
