package schema

// Marts: what analysts open first. Each is a physical table, derived from the tables of records and history by package marts. Names and places
// are those of the deal's row that speaks for it (see BiRequests); dates named *_date are days in the platform's time zone.

// MartTables are the tables derived from others.
var MartTables = []*Table{
	BiRequests, BiItems, BiFunnel, BiStatusDuration, BiRevenueMonth, BiDiscounts, BiLeadTime, BiStock, BiSellers, BiCustomers, BiFreshness,
}

// BiRequests is one row per live deal.
var BiRequests = &Table{
	Name: "bi_requests", Label: "Negócios", Shape: Mart, Key: []string{"request_key"},
	Doc: "One row per live deal: not removed, not gone from the platform. A deal is an id; where it is listed both as a budget and as an order, the order speaks.",
	Indices: [][]string{
		// Beyond the columns they are searched by, these hold what the marts that add up need, so that those need not look up rows in random order.
		{"company_tax_id", "seller_email", "is_order", "final_value", "power_kwp", "order_date", "original_value", "discount", "surcharge"},
		{"seller_email", "is_order", "order_date", "final_value", "power_kwp"},
		{"order_date", "is_order", "freight_state", "company_state", "kind", "final_value", "power_kwp"},
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
		kwp("Power of the line: quantity times rated power, for modules only. The catalogue's rated power is read as Wp.", "Potência (kWp)").public(),
		own("has_cost", Boolean, "Whether unit_cost is known.", "Tem custo").notNull().check().public(),
		isOrder(),
		localDate("order_date", "Day on which the order was created.", "Data do pedido").public(),
	},
}

// BiFunnel is how many budgets become orders.
var BiFunnel = &Table{
	Name: "bi_funnel", Label: "Funil de vendas", Shape: Mart, Indices: [][]string{{"cohort_month", "seller_email", "state"}},
	Doc: "How many budgets became orders, by the month they were created in, seller and state. Removed and vanished deals count too, or lost budgets would flatter conversion; each deal counts once.",
	Columns: []Column{
		month("cohort_month", "Month in which the budgets were created, YYYY-MM in the platform's time zone; NULL where the platform does not say.", "Mês do orçamento").public(),
		seller(),
		state(),
		own("budgets", BigInt, "Deals created in the month.", "Orçamentos").unit("deals").notNull().public(),
		own("orders", BigInt, "Those of them that have been an order, whenever that was.", "Pedidos").unit("deals").notNull().public(),
		own("conversion", Real, "orders / budgets.", "Conversão").unit("fraction").public(),
		own("median_days_to_order", Real, "Median time from budget to order, of the deals that became orders.", "Mediana de dias até o pedido").unit("days").public(),
	},
}

// BiStatusDuration is how long deals stay in each status.
var BiStatusDuration = &Table{
	Name: "bi_status_duration", Label: "Tempo em cada situação", Shape: Mart, Key: []string{"request_key", "started_at"},
	Doc: "Time each budget or order spent in each deal status, one row per stay, as far as the mirror has seen it; removed and vanished ones too. " +
		"A stay ends when the status changes, the record is removed or gone, or the budget became an order; time after that does not count.",
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

// BiRevenueMonth is what was sold by month.
var BiRevenueMonth = &Table{
	Name: "bi_revenue_month", Label: "Receita por mês", Shape: Mart, Indices: [][]string{{"month", "state", "kind"}},
	Doc: "Live orders by month, state and kind.",
	Columns: []Column{
		month("month", "Month of the order, YYYY-MM in the platform's time zone; NULL where the platform does not say.", "Mês").public(),
		state(),
		like(Requests, "kind"),
		own("orders", BigInt, "Orders.", "Pedidos").unit("deals").notNull().public(),
		own("final_value", Real, "Sum of their final values.", "Valor final").unit(NotStated).public(),
		kwp("Sum of their power.", "Potência (kWp)").public(),
		own("value_per_wp", Real, "Final value per Wp, over the orders that have both a final value and power.", "R$/Wp").unit("final_value per Wp").public(),
	},
}

// BiDiscounts is from list price to final value.
var BiDiscounts = &Table{
	Name: "bi_discounts", Label: "Descontos", Shape: Mart, Indices: [][]string{{"company_tax_id", "seller_email", "is_order"}},
	Doc: "From the original to the final value of live deals, by seller and company, budgets and orders apart.",
	Columns: []Column{
		seller(),
		sellerName(),
		customer(),
		customerName(),
		isOrder(),
		own("deals", BigInt, "Deals.", "Negócios").unit("deals").notNull().public(),
		own("original_value", Real, "Sum of their values before discount and surcharge.", "Valor original").unit(NotStated).public(),
		own("discount", Real, "Sum of their discounts, as the platform gives them.", "Desconto").unit(NotStated).public(),
		own("surcharge", Real, "Sum of their surcharges, as the platform gives them.", "Acréscimo").unit(NotStated).public(),
		own("final_value", Real, "Sum of their final values.", "Valor final").unit(NotStated).public(),
		own("reduction", Real, "How much of the original value the final one takes off: 1 - final / original, over the deals that have both; below zero where surcharges outweigh.", "Redução").unit("fraction").public(),
	},
}

// BiLeadTime is how long orders take.
var BiLeadTime = &Table{
	Name: "bi_lead_time", Label: "Prazos", Shape: Mart, Key: []string{"request_key"},
	Doc: "How long each live order took from budget to order to billing. NULL where one of the two dates is missing.",
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

// BiStock is what is in stock and how long it lasts.
var BiStock = &Table{
	Name: "bi_stock", Label: "Estoque", Shape: Mart, Key: []string{"equipment_key", "center_code"},
	Doc: "Stock of each item of the catalogue at each distribution centre that lists it or has sold it lately, and how long it lasts. An item without a list of centres has its whole stock under ''.",
	Columns: []Column{
		equipmentKey(BigInt),
		own("center_code", Text, "Code of the distribution centre; empty where the platform names none.", "Centro de distribuição: código").notNull().public(),
		like(Equipments, "product_code"),
		like(equipmentInventory, "current"),
		like(equipmentInventory, "reserved"),
		like(equipmentInventory, "minimum"),
		own("sold_30d", Real, "Pieces on live orders of the last 30 days, today among them.", "Vendido em 30 dias").unit("pieces").notNull().public(),
		own("sold_90d", Real, "Pieces on live orders of the last 90 days, today among them.", "Vendido em 90 dias").unit("pieces").notNull().public(),
		own("days_of_cover", Real, "How long what is in stock and not reserved lasts if it sells as in the last 90 days: (current - reserved) / (sold_90d / 90). NULL where nothing was sold or the stock is not known.", "Dias de cobertura").unit("days").public(),
	},
}

// BiSellers is one row per seller.
var BiSellers = &Table{
	Name: "bi_sellers", Label: "Vendedores", Shape: Mart, Indices: [][]string{{"seller_email"}},
	Doc:     "Live deals by seller, the responsible collaborator; one row with NULL for the deals of none.",
	Columns: concat([]Column{seller(), sellerName()}, portfolio()),
}

// BiCustomers is one row per company.
var BiCustomers = &Table{
	Name: "bi_customers", Label: "Clientes", Shape: Mart, Indices: [][]string{{"company_tax_id"}},
	Doc: "Live deals by company; one row with NULL for the deals without a tax number.",
	Columns: concat([]Column{
		customer(),
		customerName(),
		own("company_state", Text, "Federative unit (two letters) of the company.", "Empresa: UF").public(),
		own("company_city", Text, "City of the company.", "Empresa: cidade").public(),
	}, portfolio()),
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

// portfolio is what there is to say of someone's live deals.
func portfolio() []Column {
	return []Column{
		own("budgets", BigInt, "Budgets that are no orders.", "Orçamentos").unit("deals").notNull().public(),
		own("budgets_value", Real, "Sum of the final values of the budgets.", "Valor dos orçamentos").unit(NotStated).public(),
		own("orders", BigInt, "Orders.", "Pedidos").unit("deals").notNull().public(),
		own("orders_value", Real, "Sum of the final values of the orders.", "Valor dos pedidos").unit(NotStated).public(),
		kwp("Sum of the power of the orders.", "Potência dos pedidos (kWp)").named("orders_power_kwp").public(),
		localDate("first_order_date", "Day of the first order.", "Primeiro pedido").public(),
		localDate("last_order_date", "Day of the last order.", "Último pedido").public(),
	}
}

// Derived are the tables that a refresh of the marts fills; bi_freshness follows the runs instead.
func Derived() []*Table {
	var tables []*Table
	for _, t := range MartTables {
		if t != BiFreshness {
			tables = append(tables, t)
		}
	}
	return append(tables, Deals)
}
