package schema

// Summaries are the marts that add up facts. Package marts holds the SELECT of each in a file of
// the same name. Money is rounded to cents; NULL stands for the group of what is not known.
var Summaries = []*Table{
	BiRevenueMonth, BiRevenueSellerMonth, BiMargin, BiFunnel, BiPipeline, BiStatuses, BiPayments, BiDiscounts, BiSellers, BiCustomers, BiStock,
}

// BiRevenueMonth is what was sold by month.
var BiRevenueMonth = &Table{
	Name: "bi_revenue_month", Label: "Receita por mês", Shape: Mart, Indices: [][]string{{"month", "state", "kind"}},
	Doc: "What was sold, by month of the order, state and kind: won orders, and apart from them cancelled ones.",
	Columns: concat(
		[]Column{orderMonth(), state(), like(Requests, "kind")},
		wonOrders(),
		[]Column{own("value_per_wp", Real, "Final value per Wp, over the won orders that have both a final value and power.", "R$/Wp").unit("final_value per Wp").public()},
		cancelledOrders(),
		[]Column{amount("freight_price", "Sum of the freight prices of the won orders.", "Frete").public()},
	),
}

// BiRevenueSellerMonth is what each seller sold by month.
var BiRevenueSellerMonth = &Table{
	Name: "bi_revenue_seller_month", Label: "Receita por vendedor e mês", Shape: Mart, Indices: [][]string{{"month", "seller_email"}},
	Doc:     "What each seller sold, by month of the order: won orders, and apart from them cancelled ones.",
	Columns: concat([]Column{orderMonth(), seller()}, wonOrders(), cancelledOrders()),
}

// BiMargin is what is left of won lines after their cost.
var BiMargin = &Table{
	Name: "bi_margin", Label: "Margem", Shape: Mart, Indices: [][]string{{"month", "product_type", "manufacturer"}},
	Doc: "What is left of the product lines of won orders after their cost, by month of the order, product type and manufacturer. Freight is in neither. " +
		"Cost is that of the day of the order where the mirror knows it, else the present one, so figures of older months move when the catalogue's cost does: " +
		"net_value_at_order_cost says how much of the value stands on costs that no longer move.",
	Columns: []Column{
		orderMonth(),
		like(requestProducts, "type").named("product_type"),
		own("manufacturer", Text, "Manufacturer, from the catalogue.", "Fabricante").public(),
		own("lines", BigInt, "Product lines of won orders.", "Itens").unit("lines").notNull().public(),
		amount("value", "Sum of the prices of the lines, before discount and surcharge of the deals.", "Valor").public(),
		amount("net_value", "Sum of net_value: the lines' share of the final values of the deals.", "Valor líquido").public(),
		amount("net_value_with_cost", "The part of net_value of lines with a known cost and quantity.", "Valor líquido com custo").public(),
		amount("net_value_at_order_cost", "The part of it whose cost is that of the order's day.", "Valor líquido com custo do dia").public(),
		amount("cost", "Sum over the lines in net_value_with_cost of quantity × (cost_at_order, else unit_cost).", "Custo").public(),
		amount("margin", "net_value_with_cost - cost.", "Margem").public(),
		own("margin_rate", Real, "margin / net_value_with_cost.", "Taxa de margem").unit("fraction").public(),
	},
}

// BiFunnel is how many budgets become orders.
var BiFunnel = &Table{
	Name: "bi_funnel", Label: "Funil de vendas", Shape: Mart, Indices: [][]string{{"cohort_month", "seller_email", "state"}},
	Doc: "What became of budgets, by the month they were created in, seller and state. Removed and vanished deals count too, as cancelled orders or lost budgets, or they would flatter conversion; each deal counts once, " +
		"and won, lost, open and cancelled sum to budgets.",
	Columns: []Column{
		month("cohort_month", "Month in which the budgets were created, YYYY-MM in the platform's time zone; NULL where the platform does not say.", "Mês do orçamento").public(),
		seller(),
		state(),
		deals("budgets", "Deals created in the month.", "Orçamentos").public(),
		deals("orders", "Those of them that have been an order, whenever that was and whatever became of it.", "Foram pedidos").public(),
		own("conversion", Real, "won / budgets.", "Conversão").unit("fraction").public(),
		own("median_days_to_order", Real, "Median time from budget to order, of the deals that became orders.", "Mediana de dias até o pedido").unit("days").public(),
		deals("won", "Orders that are neither cancelled nor removed.", "Ganhos").public(),
		deals("lost", "Budgets that are lost, removed or gone.", "Perdidos").public(),
		deals("open", "Budgets that may still become orders.", "Em aberto").public(),
		deals("cancelled", "Orders that are cancelled, removed or gone.", "Cancelados").public(),
		amount("budgets_value", "Sum of the final values of all of them.", "Valor dos orçamentos").public(),
		amount("won_value", "Sum of the final values of the won ones.", "Valor ganho").public(),
	},
}

// BiPipeline is what may still be sold.
var BiPipeline = &Table{
	Name: "bi_pipeline", Label: "Negócios em aberto", Shape: Mart, Indices: [][]string{{"seller_email", "state", "deal_status"}},
	Doc: "Open budgets, by seller, state and deal status, with how long they have waited in it. A budget whose status is in [marts] closed_statuses is not here.",
	Columns: []Column{
		seller(),
		state(),
		like(Requests, "deal_status"),
		deals("deals", "Open budgets.", "Negócios").public(),
		amount("value", "Sum of their final values.", "Valor").public(),
		kwp("Sum of their power.", "Potência (kWp)").public(),
		own("oldest_since", Timestamp, "When the one that waits longest was first seen in the status.", "Mais antigo desde").unit("UTC").public(),
		own("median_days", Real, "Median time in the status, up to the start of _marts.as_of.", "Mediana de dias").unit("days").public(),
	},
}

// BiStatuses is what each deal status counts as.
var BiStatuses = &Table{
	Name: "bi_statuses", Label: "Situações dos negócios", Shape: Mart, Indices: [][]string{{"deal_status", "deal_class"}},
	Doc: "What each deal status counts as: live deals by deal status and class. A status that should count as something else belongs in one of the lists under [marts] in the configuration.",
	Columns: []Column{
		like(Requests, "deal_status"),
		dealClass("open, lost, won or cancelled.").public(),
		deals("deals", "Live deals.", "Negócios").public(),
		amount("value", "Sum of their final values.", "Valor").public(),
	},
}

// BiPayments is how won orders stand with their payment.
var BiPayments = &Table{
	Name: "bi_payments", Label: "Pagamentos dos pedidos", Shape: Mart, Indices: [][]string{{"payment_type", "payment_status"}},
	Doc: "Won orders by means, status and condition of payment and by status of the transaction.",
	Columns: []Column{
		like(requestPayments, "type").named("payment_type"),
		like(requestPayments, "status").named("payment_status"),
		like(requestPayments, "condition_name").named("payment_condition"),
		like(requestPayments, "transaction_status"),
		deals("deals", "Won orders.", "Pedidos").public(),
		amount("value", "Sum of their final values.", "Valor").public(),
		localDate("oldest_order_date", "Day of the oldest of them.", "Pedido mais antigo").public(),
	},
}

// BiDiscounts is from list price to final value.
var BiDiscounts = &Table{
	Name: "bi_discounts", Label: "Descontos", Shape: Mart, Indices: [][]string{{"company_tax_id", "seller_email", "is_order"}},
	Doc: "From the original to the final value of won orders and open budgets, by seller and company, budgets and orders apart.",
	Columns: []Column{
		seller(),
		sellerName(),
		customer(),
		customerName(),
		isOrder(),
		deals("deals", "Won orders or open budgets.", "Negócios").public(),
		amount("original_value", "Sum of their values before discount and surcharge.", "Valor original").public(),
		amount("discount", "Sum of their discounts, as the platform gives them.", "Desconto").public(),
		amount("surcharge", "Sum of their surcharges, as the platform gives them.", "Acréscimo").public(),
		amount("final_value", "Sum of their final values.", "Valor final").public(),
		own("reduction", Real, "How much of the original value the final one takes off: 1 - final / original, over the deals that have both; below zero where surcharges outweigh.", "Redução").unit("fraction").public(),
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
		own("sold_30d", Real, "Pieces on won orders of the last 30 days, today among them.", "Vendido em 30 dias").unit("pieces").notNull().public(),
		own("sold_90d", Real, "Pieces on won orders of the last 90 days, today among them.", "Vendido em 90 dias").unit("pieces").notNull().public(),
		own("days_of_cover", Real, "How long what is in stock and not reserved lasts if it sells as in the last 90 days: (current - reserved) / (sold_90d / 90). NULL where nothing was sold or the stock is not known.", "Dias de cobertura").unit("days").public(),
	},
}

func orderMonth() Column {
	return month("month", "Month of the order, YYYY-MM in the platform's time zone; NULL where the platform does not say.", "Mês").public()
}

func deals(name, doc, label string) Column {
	return own(name, BigInt, doc, label).unit("deals").notNull()
}

func amount(name, doc, label string) Column {
	return own(name, Real, doc, label).unit(NotStated)
}

func wonOrders() []Column {
	return []Column{
		deals("orders", "Won orders.", "Pedidos").public(),
		amount("final_value", "Sum of the final values of the won orders.", "Valor final").public(),
		kwp("Sum of the power of the won orders.", "Potência (kWp)").public(),
	}
}

func cancelledOrders() []Column {
	return []Column{
		deals("cancelled_orders", "Cancelled orders.", "Pedidos cancelados").public(),
		amount("cancelled_value", "Sum of the final values of the cancelled orders.", "Valor cancelado").public(),
	}
}

// portfolio is what there is to say of someone's live deals.
func portfolio() []Column {
	return concat([]Column{
		deals("budgets", "Budgets that are no orders, open and lost.", "Orçamentos").public(),
		amount("budgets_value", "Sum of the final values of the budgets.", "Valor dos orçamentos").public(),
		deals("orders", "Won orders.", "Pedidos").public(),
		amount("orders_value", "Sum of the final values of the won orders.", "Valor dos pedidos").public(),
		kwp("Sum of the power of the won orders.", "Potência dos pedidos (kWp)").named("orders_power_kwp").public(),
		localDate("first_order_date", "Day of the first won order.", "Primeiro pedido").public(),
		localDate("last_order_date", "Day of the last won order.", "Último pedido").public(),
		deals("open_budgets", "Open budgets.", "Orçamentos em aberto").public(),
		amount("open_value", "Sum of the final values of the open budgets.", "Valor em aberto").public(),
		deals("lost_budgets", "Lost budgets.", "Orçamentos perdidos").public(),
		amount("lost_value", "Sum of the final values of the lost budgets.", "Valor perdido").public(),
	}, cancelledOrders())
}
