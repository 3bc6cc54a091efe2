package report

import "solarmirror/cmd/internal/charts"

// words are the texts of the page in one language. Those with a % are formats.
type words struct {
	Lang, Title, Made, MadeOf, Complete, Contents, Figures, Total, Money string

	Months                              [12]string
	MonthLong, MonthShort, Date, Moment string // of a month's name and year; layouts of package time

	NotBuilt, Loading, LoadingPart, Behind string // warnings

	CardOrders, CardValue, CardPower, CardPrice, CardReduction, CardConversion, LastMonths string

	Month, Orders, Value, Power, Price, Share, Earlier, Later, Undated, Others string

	Revenue, RevenueLead, RevenueEmpty, RevenueChart, PowerChart, RevenueNote string

	Funnel, FunnelLead, FunnelEmpty, FunnelChart, Cohort, Budgets, Won, NotWon, Conversion, FunnelNote string

	Status, StatusLead, StatusEmpty, StatusChart, Kind, StatusName, Open, OpenDays, Ended, EndedDays, Unobserved, StatusNote, Statuses, Order, Budget, NoStatus string
	LeadTimes, LeadTime, MedianDays                                                                                                                             string
	LeadTimeNames                                                                                                                                               [3]string

	Makers, MakersLead, MakersEmpty, Maker, Modules, Inverters, ModulesChart, InvertersChart, Pieces, LinesValue, NoMaker, MakersNote string

	States, StatesLead, StatesEmpty, StatesChart, State, NoState, StatesNote string

	Sellers, SellersLead, SellersEmpty, SellersChart, Seller, NoSeller string

	Discounts, DiscountsLead, DiscountsEmpty, DiscountsChart, Original, Discount, Surcharge, Reduction, DiscountsNote string

	Stock, StockLead, StockEmpty, StockChart, Items, Cover, BelowMinimum, NextOut, RunOut, RunOutMost, Code, Product, Center, Free, Minimum, SoldLately, SoldQuarter, CoverDays, StockNote string
	CoverClasses                                                                                                                                                                           [6]string

	Fresh, FreshLead, FreshEmpty, Stream, CompleteThrough, FullScan, LastRun, Outcome, Rejects, Never, FreshNote string

	Streams, Outcomes map[string]string
}

func wordsOf(l charts.Language) words {
	if l == charts.Portuguese {
		return portuguese
	}
	return english
}

var portuguese = words{
	Lang: "pt-BR", Title: "Relatório de vendas", Made: "Gerado em %s", MadeOf: "Gerado em %s, a partir de %s", Complete: "Dados completos até %s",
	Contents: "Conteúdo", Figures: "Números", Total: "Total",
	Money: "Valores na moeda da plataforma, que não a informa. Potência em kWp. “–” é um valor desconhecido, o que não é zero. Horários em %s.",

	Months:    [12]string{"jan", "fev", "mar", "abr", "mai", "jun", "jul", "ago", "set", "out", "nov", "dez"},
	MonthLong: "%s/%d", MonthShort: "%s/%02d", Date: "02/01/2006", Moment: "02/01/2006\u00a015:04",

	NotBuilt: "As tabelas de análise ainda não foram montadas; “solarmirror sync” as monta.",
	Loading:  "A carga inicial de %s ainda não terminou: os números estão incompletos.", LoadingPart: "A carga inicial de %s ainda não terminou (%s): os números estão incompletos.",
	Behind: "Há registros mais novos do que as tabelas de análise; o próximo “solarmirror sync” as atualiza.",

	CardOrders: "Pedidos ganhos", CardValue: "Valor dos pedidos", CardPower: "Potência (kWp)", CardPrice: "Valor por Wp", CardReduction: "Redução de preço", CardConversion: "Conversão",
	LastMonths: "Últimos 12 meses, de %s até %s",

	Month: "Mês", Orders: "Pedidos", Value: "Valor final", Power: "kWp", Price: "Valor por Wp", Share: "Participação",
	Earlier: "Antes de %s", Later: "Depois de %s", Undated: "Sem data", Others: "Outros\u00a0(%s)",

	Revenue: "Receita e potência por mês", RevenueLead: "Pedidos ganhos, sem os cancelados, pelo mês do pedido, de %s até %s.", RevenueEmpty: "Ainda não há pedidos ganhos.",
	RevenueChart: "Valor final dos pedidos por mês", PowerChart: "Potência dos pedidos por mês, em kWp",
	RevenueNote: "O último mês ainda está em curso. O valor por Wp considera os pedidos que têm valor e potência.",

	Funnel: "Do orçamento ao pedido", FunnelLead: "Orçamentos pelo mês em que foram criados, e quantos deles são hoje pedidos ganhos, de %s até %s.",
	FunnelEmpty: "Ainda não há orçamentos.", FunnelChart: "Orçamentos por mês de criação", Cohort: "Mês do orçamento", Budgets: "Orçamentos",
	Won: "Pedidos ganhos", NotWon: "Em aberto, perdidos ou cancelados", Conversion: "Conversão",
	FunnelNote: "Negócios removidos também contam, como perdidos ou cancelados. Nos meses mais recentes, muitos orçamentos ainda estão em aberto e a conversão ainda sobe.",

	Status: "Tempo em cada situação", StatusLead: "Quanto tempo orçamentos e pedidos ficam em cada situação, desde que são observados.",
	StatusEmpty: "Ainda não há situações observadas.", StatusChart: "Dias em cada situação: mediana das passagens encerradas", Kind: "Tipo", StatusName: "Situação",
	Open: "Nela agora", OpenDays: "Mediana de dias até agora", Ended: "Encerradas", EndedDays: "Mediana de dias", Unobserved: "Início não observado",
	StatusNote: "Passagens cujo início não foi observado podem ser mais longas do que se vê aqui. Negócios removidos também contam. Situações finais, como entregue, perdido e cancelado, ficam de fora.",
	Order:      "Pedido", Budget: "Orçamento", NoStatus: "(sem situação)",
	Statuses: "Situações", LeadTimes: "Prazos dos pedidos ganhos dos últimos 12 meses", LeadTime: "Prazo", MedianDays: "Mediana de dias",
	LeadTimeNames: [3]string{"Do orçamento ao pedido", "Do pedido ao faturamento", "Do orçamento ao faturamento"},

	Makers: "Fabricantes", MakersLead: "Módulos e inversores dos pedidos ganhos, de %s até %s.", MakersEmpty: "Nenhum módulo ou inversor vendido de %s até %s.",
	Maker: "Fabricante", Modules: "Módulos", Inverters: "Inversores", ModulesChart: "Módulos: valor por fabricante", InvertersChart: "Inversores: valor por fabricante",
	Pieces: "Peças", LinesValue: "Valor das linhas", NoMaker: "(fora do catálogo)", MakersNote: "O valor é o das linhas de produto, sem frete nem descontos do pedido. A potência é a nominal dos módulos.",

	States: "Estados", StatesLead: "Pedidos ganhos pelo estado da entrega, de %s até %s.", StatesEmpty: "Nenhum pedido ganho de %s até %s.",
	StatesChart: "Valor final dos pedidos por estado", State: "Estado", NoState: "(sem estado)", StatesNote: "Sem estado de entrega, vale o da empresa.",

	Sellers: "Vendedores", SellersLead: "Pedidos ganhos pelo vendedor responsável, de %s até %s.", SellersEmpty: "Nenhum pedido ganho de %s até %s.",
	SellersChart: "Valor final dos pedidos por vendedor", Seller: "Vendedor", NoSeller: "(sem vendedor)",

	Discounts: "Descontos", DiscountsLead: "Quanto o valor final fica abaixo do original, em pedidos ganhos, de %s até %s.", DiscountsEmpty: "Ainda não há pedidos ganhos.",
	DiscountsChart: "Redução do valor original, em %", Original: "Valor original", Discount: "Desconto", Surcharge: "Acréscimo", Reduction: "Redução",
	DiscountsNote: "Redução = 1 − valor final ÷ valor original, nos pedidos que têm os dois. Desconto e acréscimo estão como a plataforma os dá.",

	Stock: "Estoque: o que acaba primeiro", StockLead: "Quanto dura o estoque livre de cada item em cada centro, se vender como nos 90 dias até %s.",
	StockEmpty: "Ainda não há estoque com vendas nos últimos 90 dias.", StockChart: "Itens por duração do estoque", Items: "Itens", Cover: "Duração",
	BelowMinimum: "Abaixo do mínimo", NextOut: "O que acaba a seguir", RunOut: "O que já acabou (%s)", RunOutMost: "O que já acabou (%s): o que mais vendeu", Code: "Código", Product: "Produto", Center: "Centro", Free: "Livre", Minimum: "Mínimo",
	SoldLately: "Vendido em 30 dias", SoldQuarter: "Vendido em 90 dias", CoverDays: "Dias de cobertura",
	StockNote:    "Livre é o que está em estoque e não reservado. Itens que ficam de fora, sem vendas em 90 dias ou de estoque desconhecido: %s.",
	CoverClasses: [6]string{"acabou", "até 15 dias", "15 a 30 dias", "30 a 60 dias", "60 a 90 dias", "mais de 90 dias"},

	Fresh: "Atualização dos dados", FreshLead: "Até quando o espelho tem tudo o que a plataforma tem.", FreshEmpty: "Nada foi sincronizado ainda; “solarmirror sync” começa.",
	Stream: "Fluxo", CompleteThrough: "Completo até", FullScan: "Última leitura completa", LastRun: "Última execução", Outcome: "Resultado", Rejects: "Rejeitados",
	Never: "ainda não", FreshNote: "Registros que sumiram da plataforma são notados na leitura completa.",

	Streams:  map[string]string{"orders": "pedidos", "budgets": "orçamentos", "equipments": "equipamentos"},
	Outcomes: map[string]string{"ok": "ok", "failed": "falhou", "interrupted": "interrompida"},
}

var english = words{
	Lang: "en", Title: "Sales report", Made: "Made %s", MadeOf: "Made %s, from %s", Complete: "Data complete up to %s",
	Contents: "Contents", Figures: "Figures", Total: "Total",
	Money: "Values are in the platform's currency, which it does not state. Power is in kWp. “–” is a value nobody knows, which is not zero. Times are those of %s.",

	Months:    [12]string{"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"},
	MonthLong: "%s\u00a0%d", MonthShort: "%s ’%02d", Date: "2006-01-02", Moment: "2006-01-02\u00a015:04",

	NotBuilt: "The tables for analysis have not been built yet; “solarmirror sync” builds them.",
	Loading:  "The first load of %s has not ended: the figures are incomplete.", LoadingPart: "The first load of %s has not ended (%s): the figures are incomplete.",
	Behind: "There are newer records than the tables for analysis show; the next “solarmirror sync” brings them up to date.",

	CardOrders: "Won orders", CardValue: "Value of orders", CardPower: "Power (kWp)", CardPrice: "Value per Wp", CardReduction: "Price reduction", CardConversion: "Conversion",
	LastMonths: "Last 12 months, %s to %s",

	Month: "Month", Orders: "Orders", Value: "Final value", Power: "kWp", Price: "Value per Wp", Share: "Share",
	Earlier: "Before %s", Later: "After %s", Undated: "No date", Others: "Others\u00a0(%s)",

	Revenue: "Revenue and power by month", RevenueLead: "Won orders, without cancelled ones, by the month of the order, %s to %s.", RevenueEmpty: "There are no won orders yet.",
	RevenueChart: "Final value of orders by month", PowerChart: "Power of orders by month, in kWp",
	RevenueNote: "The last month is still running. The value per Wp is over the orders that have both a value and power.",

	Funnel: "From budget to order", FunnelLead: "Budgets by the month they were created in, and how many of them are won orders by now, %s to %s.",
	FunnelEmpty: "There are no budgets yet.", FunnelChart: "Budgets by month of creation", Cohort: "Month of budget", Budgets: "Budgets",
	Won: "Won orders", NotWon: "Open, lost or cancelled", Conversion: "Conversion",
	FunnelNote: "Removed deals count too, as lost or cancelled. Many budgets of the latest months are still open, and their conversion still grows.",

	Status: "Time in each status", StatusLead: "How long budgets and orders stay in each status, since they have been observed.",
	StatusEmpty: "No status has been observed yet.", StatusChart: "Days in each status: median of the stays that ended", Kind: "Type", StatusName: "Status",
	Open: "In it now", OpenDays: "Median days so far", Ended: "Ended", EndedDays: "Median days", Unobserved: "Start not observed",
	StatusNote: "Stays whose start was not observed may be longer than they seem here. Removed deals count too. Final statuses, such as delivered, lost and cancelled, are left out.",
	Order:      "Order", Budget: "Budget", NoStatus: "(no status)",
	Statuses: "Statuses", LeadTimes: "Lead times of the won orders of the last 12 months", LeadTime: "Lead time", MedianDays: "Median days",
	LeadTimeNames: [3]string{"Budget to order", "Order to billing", "Budget to billing"},

	Makers: "Manufacturers", MakersLead: "Modules and inverters of won orders, %s to %s.", MakersEmpty: "No module or inverter was sold from %s to %s.",
	Maker: "Manufacturer", Modules: "Modules", Inverters: "Inverters", ModulesChart: "Modules: value by manufacturer", InvertersChart: "Inverters: value by manufacturer",
	Pieces: "Pieces", LinesValue: "Value of lines", NoMaker: "(not in the catalogue)", MakersNote: "The value is that of product lines, without freight and the order's discounts. The power is the modules' rated one.",

	States: "States", StatesLead: "Won orders by state of delivery, %s to %s.", StatesEmpty: "There is no won order from %s to %s.",
	StatesChart: "Final value of orders by state", State: "State", NoState: "(no state)", StatesNote: "Where no state of delivery is given, that of the company counts.",

	Sellers: "Sellers", SellersLead: "Won orders by responsible seller, %s to %s.", SellersEmpty: "There is no won order from %s to %s.",
	SellersChart: "Final value of orders by seller", Seller: "Seller", NoSeller: "(no seller)",

	Discounts: "Discounts", DiscountsLead: "How far the final value is below the original one, in won orders, %s to %s.", DiscountsEmpty: "There are no won orders yet.",
	DiscountsChart: "Reduction of the original value, in %", Original: "Original value", Discount: "Discount", Surcharge: "Surcharge", Reduction: "Reduction",
	DiscountsNote: "Reduction = 1 − final value ÷ original value, over the orders that have both. Discount and surcharge are as the platform gives them.",

	Stock: "Stock: what runs out next", StockLead: "How long the free stock of each item at each centre lasts if it sells as in the 90 days up to %s.",
	StockEmpty: "There is no stock that sold in the last 90 days.", StockChart: "Items by how long their stock lasts", Items: "Items", Cover: "Lasts",
	BelowMinimum: "Below minimum", NextOut: "What runs out next", RunOut: "What has run out (%s)", RunOutMost: "What has run out (%s): what sold most", Code: "Code", Product: "Product", Center: "Centre", Free: "Free", Minimum: "Minimum",
	SoldLately: "Sold in 30 days", SoldQuarter: "Sold in 90 days", CoverDays: "Days of cover",
	StockNote:    "Free is what is in stock and not reserved. Items left out, not sold in 90 days or of unknown stock: %s.",
	CoverClasses: [6]string{"run out", "up to 15 days", "15 to 30 days", "30 to 60 days", "60 to 90 days", "over 90 days"},

	Fresh: "How fresh the data is", FreshLead: "Up to when the mirror holds all that the platform holds.", FreshEmpty: "Nothing has been synced yet; “solarmirror sync” begins.",
	Stream: "Stream", CompleteThrough: "Complete up to", FullScan: "Last full reading", LastRun: "Last run", Outcome: "Outcome", Rejects: "Rejected",
	Never: "not yet", FreshNote: "Records that vanished from the platform are noticed by a full reading.",

	Streams:  map[string]string{"orders": "orders", "budgets": "budgets", "equipments": "equipment"},
	Outcomes: map[string]string{"ok": "ok", "failed": "failed", "interrupted": "interrupted"},
}
