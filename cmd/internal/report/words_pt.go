package report

var portuguese = words{
	Lang: "pt-BR", Title: "Relatório de vendas", Made: "Gerado em %s", MadeOf: "Gerado em %s, a partir de %s", Complete: "Dados completos até %s",
	Contents: "Conteúdo", Figures: "Números", Total: "Total", TotalSince: "Total desde %s",
	Money: "Valores na moeda da plataforma, que não a informa. Potência em kWp. “–” é um valor desconhecido, o que não é zero. Horários em %s.",

	Months:    [12]string{"jan", "fev", "mar", "abr", "mai", "jun", "jul", "ago", "set", "out", "nov", "dez"},
	MonthLong: "%s/%d", MonthShort: "%s/%02d", Date: "02/01/2006", Moment: "02/01/2006\u00a015:04",
	Between: "%s a %s", UpTo: "até %s", FromDay: " (desde dia %s)", ToDay: " (até dia %s)", FromToDay: " (dias %s a %s)",
	Earlier: "Antes de %s", Later: "Depois de %s", Undated: "Sem data",
	LastYear: "Nos últimos 12 meses", InPeriod: "No período",
	Running: "O último mês ainda não terminou.", CutMonth: "O último mês vai só até o dia %s.",
	Everybodys: "Vale para toda a empresa: o filtro do relatório não se aplica aqui.",
	TooFew:     "poucas", Others: "Outros\u00a0(%s)", More: "e mais %s",

	NotBuilt:    "As tabelas de análise ainda não foram montadas; “solarmirror sync” as monta.",
	Loading:     "A carga inicial de %s ainda não terminou: os números estão incompletos.",
	LoadingPart: "A carga inicial de %s ainda não terminou (%s): os números estão incompletos.",
	Behind:      "Há registros mais novos do que as tabelas de análise; o próximo “solarmirror sync” as atualiza.",

	CardsPeriod: "De %s a %s", Compared: "Comparado com o mesmo período do ano anterior, %s a %s.",
	NotCompared:  "Sem comparação: não há dados de todo o período de %s a %s.",
	NoComparison: "sem comparação", Before: "contra ", Points: " p.p.",
	CardValue: "Valor vendido", CardOrders: "Pedidos ganhos", CardPower: "Potência (kWp)", CardPrice: "Valor por Wp",
	CardMargin: "Margem", CardTicket: "Valor médio do pedido", CardConversion: "Conversão de orçamentos",

	OrdersMany: [2]string{"%s pedido", "%s pedidos"}, BudgetsMany: [2]string{"%s orçamento", "%s orçamentos"}, DaysMany: [2]string{"%s dia", "%s dias"},

	Month: "Mês", Orders: "Pedidos", Value: "Valor final", Power: "kWp", Price: "Valor por Wp", Share: "Parte",
	Budgets: "Orçamentos", Won: "Ganhos", Lost: "Perdidos", Open: "Em aberto", Cancelled: "Cancelados",
	NoOrders: "Não há pedidos ganhos.", NoOrdersBetween: "Não há pedidos ganhos de %s a %s.",
	CancelledOrders: "Pedidos cancelados", CancelledValue: "Valor cancelado",
	StatusName: "Situação", NoStatus: "(não informado)", OpenDays: "Mediana de dias até agora", Days: "Dias", Code: "Código", Product: "Produto",
	TopThree: "%s, %s e %s somam %s do valor.",

	Revenue: "Receita e potência por mês", RevenueLead: "Pedidos ganhos pelo mês do pedido, com os cancelados ao lado.",
	RevenueAnswer:   "Em %s: %s em %s.",
	RevenueBefore:   "No mesmo período do ano anterior: %s em %s.",
	CancelledAnswer: "%s foram cancelados %s em %s, ou %s do valor pedido.",
	RevenueChart:    "Valor final dos pedidos por mês", PowerChart: "Potência dos pedidos ganhos por mês, em kWp",
	RevenueNote: "Potência e valor por Wp são dos pedidos ganhos. O valor por Wp considera os que têm valor e potência.",

	Margin: "Margem", MarginLead: "O que sobra do valor dos produtos vendidos depois do custo, sem frete.",
	MarginAnswer: "%s, a margem foi de %s (%s). O custo é conhecido para %s do valor.",
	MarginChart:  "Margem por mês", MarginMakers: "Margem por fabricante",
	MarginNote: "O custo é o do dia do pedido, quando conhecido; senão, o atual. Por isso a margem de meses mais antigos muda quando o custo muda. Fabricantes: dias indicados no início.",
	NoCost:     "Não há custo conhecido dos produtos vendidos.",
	ByMonth:    "Por mês", ByMaker: "Por fabricante", Net: "Valor dos produtos", CostKnown: "Com custo conhecido", MarginRate: "Taxa",

	Funnel: "Do orçamento ao pedido", FunnelLead: "Orçamentos pelo mês em que foram criados, e o que é deles hoje.",
	FunnelAnswer: "%s, %s dos orçamentos de meses maduros são pedidos ganhos (%s de %s).",
	FunnelChart:  "Orçamentos por mês de criação",
	FunnelNote:   "Um mês é maduro %d dias depois de seu fim: nesse prazo chegam nove de cada dez pedidos. Os mais novos ainda mudam. Negócios removidos contam como perdidos ou cancelados.",
	NoBudgets:    "Não há orçamentos.", Cohort: "Criados em", NotWon: "Em aberto, perdidos ou cancelados", Conversion: "Conversão",
	Mature: "Meses maduros", Young: "Meses ainda novos: a conversão ainda muda",

	Pipeline: "Orçamentos em aberto", PipelineAnswer: "Em aberto: %s em %s. O mais antigo está há %s na mesma situação.",
	PipelineChart: "Valor em aberto por situação", PipelineTable: "Orçamentos em aberto por situação",
	PipelineNote: "Dias desde que a situação foi observada.", NoPipeline: "Não há orçamentos em aberto.", Oldest: "Dias do mais antigo",

	Payments: "Pagamentos a receber", PaymentsAnswer: "Ainda não pagos: %s em %s, ou %s do valor %s.",
	OfAllOrders: "de todos os pedidos ganhos", OfSoldBetween: "vendido de %s a %s", OfSoldUpTo: "vendido até %s",
	PaymentsTable: "Pedidos ganhos sem pagamento recebido", PaymentsNote: "A plataforma informa a situação do pagamento; aqui está tudo o que não é “recebido”.",
	AllPaid: "Todos os pedidos ganhos estão pagos.", PaymentType: "Meio", PaymentStatus: "Situação", OldestOrder: "Pedido mais antigo",
	PaymentTypes: map[string]string{
		"boleto": "boleto", "credito": "cartão de crédito", "debito": "cartão de débito", "financiamento": "financiamento", "pix": "Pix", "other": "outro",
	},
	PaymentStatuses: map[string]string{"notRequested": "não solicitado", "requested": "solicitado", "cancelled": "cancelado"},

	Discounts: "Descontos", DiscountsAnswer: "%s, o valor final ficou %s abaixo do original.", SurchargesAnswer: "%s, o valor final ficou %s acima do original.",
	DiscountsChart: "Redução do valor original por mês", Original: "Valor original", Discount: "Desconto", Surcharge: "Acréscimo", Reduction: "Redução",
	DiscountsNote: "Redução = 1 − valor final ÷ valor original, nos pedidos ganhos que têm os dois.",

	Freight: "Frete", FreightAnswer: "%s, o frete foi %s do valor final.", FreightChart: "Frete como parte do valor final por mês",
	FreightNote: "Pedidos ganhos que têm valor final e frete.", FreightPrice: "Frete", NoFreight: "Não há frete conhecido dos pedidos ganhos.",

	Prices: "Mudanças de preço", PricesLead: "Preços de venda e de custo do catálogo que mudaram de %s a %s.",
	PricesAnswer: "Para cima: %s. Para baixo: %s. Mudanças ao todo: %s.", PricesTable: "As maiores mudanças",
	PricesNote: "A plataforma só mostra o preço atual; o dia é aquele em que a mudança foi notada.",
	NoPrices:   "Nenhuma mudança de preço foi notada de %s a %s.", WhichPrice: "Preço", SalesPrice: "venda", CostPrice: "custo",
	OldPrice: "Antes", NewPrice: "Depois", Change: "Variação", ChangedOn: "Notada em",

	Makers: "Fabricantes", MakersLead: "Módulos e inversores dos pedidos ganhos, de %s a %s.", MakersEmpty: "Nenhum módulo ou inversor foi vendido de %s a %s.",
	MakersNote: "O valor é o das linhas de produto, sem frete nem descontos do pedido. A potência é a nominal dos módulos.",
	Maker:      "Fabricante", Modules: "Módulos", Inverters: "Inversores", ModulesChart: "Módulos: valor por fabricante", InvertersChart: "Inversores: valor por fabricante",
	Pieces: "Peças", LinesValue: "Valor das linhas", NoMaker: "(fora do catálogo)",

	States: "Estados", StatesLead: "Pedidos ganhos pelo estado da entrega, de %s a %s.", StatesChart: "Valor final por estado",
	StatesNote: "Sem estado de entrega, vale o da empresa.", State: "Estado", NoState: "(sem estado)",

	Sellers: "Vendedores", SellersLead: "Pedidos ganhos pelo vendedor responsável, de %s a %s.", SellersChart: "Valor final por vendedor",
	SellersNote: "Esta é uma cópia sem nomes: os vendedores têm números, por valor. --seller aceita o código.",
	Seller:      "Vendedor", NoSeller: "(sem vendedor)", SellerNumber: "Vendedor %d", Pseudonym: "Código",

	Status: "Tempo em cada situação", StatusLead: "Quanto tempo orçamentos e pedidos ficam em cada situação, desde que são observados.",
	StatusBounds: "As passagens encerradas são as do período; as abertas, as de hoje.",
	StatusEmpty:  "Ainda não há situações observadas.", StatusChart: "Dias em cada situação: mediana das passagens encerradas",
	StatusNote: "“Poucas”: menos de cinco, e a mediana diria pouco. Passagens com início não observado podem ser mais longas. Negócios removidos também contam. Situações finais, como entregue, perdido e cancelado, ficam de fora.",
	Statuses:   "Situações", Kind: "Tipo", Order: "Pedido", Budget: "Orçamento", InItNow: "Nela agora", Ended: "Encerradas", EndedDays: "Mediana de dias",
	Unobserved: "Início não observado", LeadTimes: "Prazos dos pedidos ganhos, de %s a %s", LeadTime: "Prazo",
	LeadTimeNames: [3]string{"Do orçamento ao pedido", "Do pedido ao faturamento", "Do orçamento ao faturamento"},

	Stock: "Estoque: o que acaba primeiro", StockLead: "Quanto dura o estoque livre de cada item em cada centro, se vender como nos 90 dias até %s.",
	StockAnswer: "Itens que já acabaram: %s. Que acabam em até 30 dias: %s.",
	StockEmpty:  "Não há estoque com vendas nos últimos 90 dias.", StockChart: "Itens por duração do estoque",
	StockNote: "Livre é o que está em estoque e não reservado. Um item conta uma vez em cada centro. Ficam de fora, sem vendas em 90 dias ou de estoque desconhecido: %s.",
	Items:     "Itens", Cover: "Duração", BelowMinimum: "Abaixo do mínimo",
	NextOut: "Acaba em até 30 dias (%s)", RunOut: "Já acabou (%s): o que mais vendeu primeiro", Center: "Centro", Free: "Livre", Minimum: "Mínimo",
	SoldLately: "Vendido em 30 dias", SoldQuarter: "Vendido em 90 dias", CoverDays: "Dura (dias)",
	CoverClasses: [6]string{"acabou", "até 15 dias", "15 a 30 dias", "30 a 60 dias", "60 a 90 dias", "mais de 90 dias"},

	Fresh: "Atualização dos dados", FreshLead: "Até quando o espelho tem tudo o que a plataforma tem.", FreshEmpty: "Nada foi sincronizado ainda; “solarmirror sync” começa.",
	FreshNote: "Registros que sumiram da plataforma são notados na leitura completa.", Stream: "Dados", CompleteThrough: "Completo até", FullScan: "Última leitura completa",
	LastRun: "Última execução", Outcome: "Resultado", Never: "ainda não", Rejects: "Rejeitados",

	Streams:  map[string]string{"orders": "pedidos", "budgets": "orçamentos", "equipments": "equipamentos"},
	Outcomes: map[string]string{"ok": "ok", "failed": "falhou", "interrupted": "interrompida"},
}
