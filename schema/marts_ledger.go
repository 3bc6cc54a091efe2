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

// OwnMarts is what became of the marts that analysts declare; see package store/marts/own.
var OwnMarts = &Table{
	Name: "_own_marts", Doc: "One row per mart that an analyst declares as a file of SQL: what its last build did.", Label: "Marts próprios", Shape: Ledger, Key: []string{"table_name"},
	Columns: []Column{
		own("table_name", Text, "Name of the table: my_ and the name of the file.", "Tabela").notNull().public(),
		own("description", Text, "What the table holds, in the words of its file.", "Descrição").notNull().public(),
		own("definition", Text, "Its columns (JSON): name, type, label, and the column of the mirror that each is taken from. NULL before the first build that succeeded.", "Definição").public(),
		own("statement_hash", Text, "SHA-256 of the file that was last built.", "Resumo da consulta").notNull().public(),
		own("built_for", Timestamp, "refreshed_at of _marts at that build. Another one makes the table be built again.", "Construído para").unit("UTC").notNull().public(),
		own("tried_at", Timestamp, "When it was last built, or failed to be.", "Última tentativa").unit("UTC").notNull().public(),
		own("duration_ms", BigInt, "How long that took.", "Duração").unit("milliseconds").notNull().public(),
		own("error", Text, "Why it failed; NULL when it did not. The table keeps the rows of the build before.", "Erro").personal(),
		own("built_at", Timestamp, "When the rows were last computed; NULL before.", "Construído em").unit("UTC").public(),
		own("row_count", BigInt, "Rows of the table.", "Linhas").unit("rows").public(),
		own("rows_hash", Text, "SHA-256 of the rows. While it stays the same nothing is written.", "Resumo das linhas").personal(),
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
