package schema

import "slices"

// Marts: what analysts open first. Each is a physical table, derived from the tables of records
// and history by package marts. Names and places are those of the deal's row that represents it
// (see BiRequests); dates named *_date are days in the platform's time zone.

// MartTables are the tables derived from others.
var MartTables = slices.Concat(Facts, Summaries, []*Table{BiFreshness})

// Facts are the marts with one row per deal, line, stay or price change.
var Facts = []*Table{BiRequests, BiItems, BiLeadTime, BiStatusDuration, BiPriceChanges}

// BiRequests is one row per live deal.
var BiRequests = &Table{
	Name: "bi_requests", Label: "Negócios", Shape: Mart, Key: []string{"request_key"},
	Doc: "One row per live deal: not removed, not gone from the platform. A deal is an id; where it is listed both as a budget and as an order, the order speaks. " +
		"What was sold are the rows with deal_class 'won'.",
	Indices: [][]string{
		// Beyond the columns by which they are searched, these hold what the summaries add up, so
		// that those neither sort nor look up rows in random order.
		{"company_tax_id", "seller_email", "is_order", "deal_class", "final_value", "power_kwp", "order_date", "original_value", "discount", "surcharge"},
		{"seller_email", "is_order", "deal_class", "final_value", "power_kwp", "order_date"},
		{"order_date", "deal_class"},
	},
	Columns: []Column{
		requestKey(Surrogate),
		like(Requests, "request_type"),
		like(Requests, "id"),
		like(Requests, "code"),
		like(Requests, "name"),
		like(Requests, "kind"),
		like(Requests, "deal_status"),
		like(Requests, "stock_status"),
		like(requestPayments, "type").named("payment_type"),
		like(requestPayments, "status").named("payment_status"),
		customer(),
		customerName(),
		own("company_state", Text, "Federative unit (two letters) of the company.", "Empresa: UF").public(),
		own("company_city", Text, "City of the company.", "Empresa: cidade").public(),
		sellerName(),
		seller(),
		own("freight_state", Text, "Federative unit (two letters) of the delivery.", "Entrega: UF").public(),
		own("freight_city", Text, "City of the delivery.", "Entrega: cidade").public(),
		kwp("Power of the system, read as [marts] power_unit says.", "Potência (kWp)").public(),
		like(Requests, "original_value"),
		like(Requests, "discount"),
		like(Requests, "surcharge"),
		like(Requests, "final_value"),
		like(Requests, "budget_created"),
		like(Requests, "order_created"),
		localDate("budget_date", "Day on which the budget was created.", "Data do orçamento").public(),
		localDate("order_date", "Day on which the order was created.", "Data do pedido").public(),
		like(Requests, "billing_date"),
		isOrder(),
		dealClass("open or lost for a budget, won or cancelled for an order, as the lists of statuses under [marts] in the configuration say.").public(),
		state(),
		like(requestPayments, "condition_name").named("payment_condition"),
		like(requestPayments, "transaction_status"),
		like(requestFreights, "type").named("freight_type"),
		like(requestFreights, "price").named("freight_price"),
		own("items_value", Real, "Sum of the prices of its product lines, before the discount and surcharge of the deal.", "Valor dos itens").unit(NotStated).public(),
		own("status_since", Timestamp, "When the deal was first seen in its present deal status.", "Na situação desde").unit("UTC").public(),
		own("status_since_inferred", Boolean, "1 where the record was first seen in this status, so that it may be in it for longer.", "Início da situação não observado").check().public(),
	},
}

// BiItems is one row per product line of a live deal.
var BiItems = &Table{
	Name: "bi_items", Label: "Itens dos negócios", Shape: Mart, Key: []string{"request_key", "position"},
	Doc: "One row per product line of a live deal, with what the catalogue knows of the product. No total of the whole deal stands here: sums over lines are right.",
	Columns: []Column{
		martKey(),
		position("Line number, from 1.", "Posição").public(),
		like(requestProducts, "type").named("product_type"),
		like(requestProducts, "product_code"),
		like(requestProducts, "name").named("product_name"),
		own("manufacturer", Text, "Manufacturer, from the catalogue.", "Fabricante").public(),
		own("model", Text, "Model, from the catalogue.", "Modelo").public(),
		like(requestProducts, "center_code"),
		like(requestProducts, "quantity"),
		like(requestProducts, "single_price").named("unit_price"),
		like(requestProducts, "total_price"),
		own("unit_cost", Real, "Cost price of one at present, from the catalogue; NULL where the catalogue gives none, which is not zero.", "Custo unitário").unit(NotStated).public(),
		kwp("Power of the line: quantity × rated_power_w / 1000, so for modules only.", "Potência (kWp)").public(),
		own("has_cost", Boolean, "Whether unit_cost is known.", "Tem custo").notNull().check().public(),
		isOrder(),
		localDate("order_date", "Day on which the order was created.", "Data do pedido").public(),
		own("equipment_key", BigInt, "The product in the catalogue; NULL where the catalogue does not have it.", "Equipamento (chave)").clause("REFERENCES equipments(equipment_key)").public(),
		dealClass("deal_class of the deal: open, lost, won or cancelled.").public(),
		like(Requests, "kind"),
		state(),
		seller(),
		own("rated_power_w", Real, "Rated power of one module, from the catalogue; NULL for other products.", "Potência nominal do módulo").unit("Wp").public(),
		own("net_value", Real, "The line's share of the deal's final value: total_price × final_value / original_value of the deal. NULL where one of them is missing.", "Valor líquido").unit(NotStated).public(),
		own("cost_at_order", Real, "Cost price of one when the order was created, from equipment_price_history; NULL where that does not reach back to the day of the order, and for budgets.", "Custo unitário no pedido").unit(NotStated).public(),
	},
}

// BiStatusDuration is how long deals stay in each status.
var BiStatusDuration = &Table{
	Name: "bi_status_duration", Label: "Tempo em cada situação", Shape: Mart, Key: []string{"request_key", "started_at"},
	Doc: "Time each budget or order spent in each deal status, one row per stay, as far as the mirror has seen it; removed and vanished ones too. " +
		"A stay ends when the status changes, the record is removed or gone, or the budget became an order; time after that does not count. " +
		"A status in one of the lists under [marts] in the configuration has no row: nothing waits in it.",
	Columns: []Column{
		requestKey(BigInt),
		own("started_at", Timestamp, "When the status was first seen.", "Início").unit("UTC").notNull().public(),
		own("ended_at", Timestamp, "When it was seen to have ended; NULL while it lasts.", "Fim").unit("UTC").public(),
		like(Requests, "request_type"),
		like(Requests, "id"),
		like(Requests, "deal_status"),
		seller(),
		state(),
		own("days", Real, "Length of the stay; of one that lasts, up to the start of the day on which the marts were last brought up to date (_marts.as_of).", "Dias").unit("days").notNull().public(),
		own("is_open", Boolean, "Whether the stay lasts.", "Em aberto").notNull().check().public(),
		own("is_inferred", Boolean, "1 where the record was first seen in this status, so that the stay may be longer than days says.", "Início não observado").notNull().check().public(),
	},
}

// BiLeadTime is how long orders take.
var BiLeadTime = &Table{
	Name: "bi_lead_time", Label: "Prazos", Shape: Mart, Key: []string{"request_key"},
	Doc: "How long each won order took from budget to order to billing. NULL where one of the two dates is missing.",
	Columns: []Column{
		own("request_key", Surrogate, "The order.", "Pedido (chave)").notNull().clause("REFERENCES bi_requests(request_key)").public(),
		like(Requests, "id"),
		seller(),
		state(),
		localDate("budget_date", "Day on which the budget was created.", "Data do orçamento").public(),
		localDate("order_date", "Day on which the order was created.", "Data do pedido").public(),
		like(Requests, "billing_date"),
		own("days_to_order", Real, "From the budget to the order.", "Dias do orçamento ao pedido").unit("days").public(),
		own("days_to_billing", BigInt, "From the day of the order to that of billing, which has no time of day.", "Dias do pedido ao faturamento").unit("calendar days").public(),
		own("days_in_all", BigInt, "From the day of the budget to that of billing.", "Dias do orçamento ao faturamento").unit("calendar days").public(),
	},
}

// BiPriceChanges is one row per change of a price in the catalogue.
var BiPriceChanges = &Table{
	Name: "bi_price_changes", Label: "Mudanças de preço", Shape: Mart, Key: []string{"equipment_key", "price_name", "changed_at"},
	Doc: "Every change of a price in the catalogue that the mirror has seen, and one first row per item and price. " +
		"An item that has only first rows has not changed since known_since; what was before that day is not known.",
	Columns: []Column{
		equipmentKey(BigInt),
		own("price_name", Text, "Which price: base_price or cost_price.", "Preço").notNull().oneOf("base_price", "cost_price").public(),
		own("changed_at", Timestamp, "When the page was read that first showed the new value.", "Mudou em").unit("UTC").notNull().public(),
		like(Equipments, "product_code"),
		own("old_value", Real, "The price before; NULL in a first row.", "Valor anterior").unit(NotStated).public(),
		own("new_value", Real, "The price from then on; NULL where the platform gives none.", "Valor novo").unit(NotStated).public(),
		own("change", Real, "new_value / old_value - 1; NULL where one of them is missing or the old one is zero.", "Variação").unit("fraction").public(),
		own("is_first", Boolean, "1 for the first price that the mirror has seen, which is no change.", "É o primeiro").notNull().check().public(),
		own("known_since", Timestamp, "Since when the mirror knows the prices of the item.", "Conhecido desde").unit("UTC").notNull().public(),
	},
}

// BiFreshness is how far the mirror can be trusted.
var BiFreshness = &Table{
	Name: "bi_freshness", Label: "Atualização dos dados", Shape: Mart, Key: []string{"stream"},
	Doc: "How fresh each stream is, as of the last run.",
	Columns: []Column{
		streamColumn(),
		own("complete_through", Timestamp, "The moment up to which the mirror holds everything; NULL until the first load is complete.", "Completo até").unit("UTC").public(),
		own("last_full_scan_at", Timestamp, "When everything was last read, whatever its date; disappearances show only then.", "Última leitura completa").unit("UTC").public(),
		own("age_hours", Real, "Time from complete_through to as_of.", "Idade").unit("hours").public(),
		own("initial_load_percent", Real, "How much of the first load is done; NULL when it is complete or the platform does not count.", "Carga inicial").unit("percent").public(),
		own("last_run_at", Timestamp, "When the last run that read the stream ended.", "Última execução").unit("UTC").public(),
		own("last_outcome", Text, "What became of the stream in that run: ok, failed or interrupted.", "Último resultado").public(),
		own("rejects", BigInt, "Rejected records that wait to be replayed.", "Rejeitados").unit("records").notNull().public(),
		own("as_of", Timestamp, "When this row was written.", "Em").unit("UTC").notNull().public(),
	},
}

// martKey ties a line to its deal among the marts, so that tools join those.
func martKey() Column {
	return own("request_key", BigInt, "The deal this belongs to.", "Negócio (chave)").notNull().clause("REFERENCES bi_requests(request_key)").public()
}

func seller() Column {
	return own("seller_email", Text, "E-mail address of the seller, the responsible collaborator, in small letters.", "Vendedor: e-mail").counted()
}

func sellerName() Column {
	return own("seller_name", Text, "First name and surname of the seller.", "Vendedor").personal()
}

func customer() Column {
	return own("company_tax_id", Text, "CNPJ of the company, else its CPF, with punctuation, however the platform writes it.", "Empresa: CNPJ/CPF").counted()
}

func customerName() Column {
	return own("company_name", Text, "Legal name of the company, else its trade name.", "Empresa").personal()
}

func state() Column {
	return own("state", Text, "Federative unit (two letters) of the delivery; where none is given, of the company.", "UF").public()
}

func isOrder() Column {
	return own("is_order", Boolean, "1 for an order, 0 for a budget.", "É pedido").notNull().check().public()
}

func month(name, doc, label string) Column { return own(name, Text, doc, label) }

func localDate(name, doc, label string) Column {
	return own(name, Date, doc, label).unit("the platform's time zone")
}

func kwp(doc, label string) Column { return own("power_kwp", Real, doc, label).unit("kWp") }

func dealClass(doc string) Column {
	return own("deal_class", Text, doc, "Classe do negócio").notNull().oneOf("open", "lost", "won", "cancelled")
}

// Derived are the tables that a refresh of the marts fills; bi_freshness follows the runs instead.
func Derived() []*Table { return slices.Concat(Facts, []*Table{Deals}, Summaries) }
