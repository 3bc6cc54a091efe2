package report

var english = words{
	Lang: "en", Title: "Sales report", Made: "Made %s", MadeOf: "Made %s, from %s", Complete: "Data complete up to %s",
	Contents: "Contents", Figures: "Figures", Total: "Total", TotalSince: "Total since %s",
	Money: "Values are in the platform's currency, which it does not state. Power is in kWp. “–” is an unknown value, which is not zero. Times are those of %s.",

	Months:    [12]string{"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"},
	MonthLong: "%s\u00a0%d", MonthShort: "%s ’%02d", Date: "2006-01-02", Moment: "2006-01-02\u00a015:04",
	Between: "%s to %s", UpTo: "up to %s", FromDay: " (from day %s)", ToDay: " (to day %s)", FromToDay: " (days %s to %s)",
	Earlier: "Before %s", Later: "After %s", Undated: "No date",
	LastYear: "In the last 12 months", InPeriod: "In this period",
	Running: "The last month is not over.", CutMonth: "The last month goes up to day %s only.",
	Everybodys: "For the whole company: the report's filter does not apply here.",
	TooFew:     "too few", Others: "Others\u00a0(%s)", More: "and %s more",

	NotBuilt:    "The tables for analysis have not been built yet; “solarmirror sync” builds them.",
	Loading:     "The first load of %s has not ended: the figures are incomplete.",
	LoadingPart: "The first load of %s has not ended (%s): the figures are incomplete.",
	Behind:      "There are newer records than the tables for analysis show; the next “solarmirror sync” brings them up to date.",

	CardsPeriod: "%s to %s", Compared: "Compared with the same period a year earlier, %s to %s.",
	NotCompared:  "No comparison: there is not data for all of %s to %s.",
	NoComparison: "no comparison", Before: "from ", Points: " pp",
	CardValue: "Value sold", CardOrders: "Won orders", CardPower: "Power (kWp)", CardPrice: "Value per Wp",
	CardMargin: "Margin", CardTicket: "Average order value", CardConversion: "Conversion of budgets",

	OrdersMany: [2]string{"%s order", "%s orders"}, BudgetsMany: [2]string{"%s budget", "%s budgets"}, DaysMany: [2]string{"%s day", "%s days"},

	Month: "Month", Orders: "Orders", Value: "Final value", Power: "kWp", Price: "Value per Wp", Share: "Share",
	Budgets: "Budgets", Won: "Won", Lost: "Lost", Open: "Open", Cancelled: "Cancelled",
	NoOrders: "There are no won orders.", NoOrdersBetween: "There are no won orders from %s to %s.",
	CancelledOrders: "Cancelled orders", CancelledValue: "Cancelled value",
	StatusName: "Status", NoStatus: "(not given)", OpenDays: "Median days so far", Days: "Days", Code: "Code", Product: "Product",
	TopThree: "%s, %s and %s make up %s of the value.",

	Revenue: "Revenue and power by month", RevenueLead: "Won orders by the month of the order, with the cancelled ones beside them.",
	RevenueAnswer:   "In %s: %s in %s.",
	RevenueBefore:   "In the same period a year earlier: %s in %s.",
	CancelledAnswer: "%s, %s was cancelled in %s, or %s of the ordered value.",
	RevenueChart:    "Final value of orders by month", PowerChart: "Power of won orders by month, in kWp",
	RevenueNote: "Power and value per Wp are those of won orders. The value per Wp is over those with both a value and power.",

	Margin: "Margin", MarginLead: "What is left of the value of the products sold after their cost, without freight.",
	MarginAnswer: "%s, the margin was %s (%s). The cost is known for %s of the value.",
	MarginChart:  "Margin by month", MarginMakers: "Margin by manufacturer",
	MarginNote: "The cost is that of the day of the order where it is known, else the present one. So the margin of older months changes when costs do. Manufacturers: the days named at the top.",
	NoCost:     "No cost is known of the products sold.",
	ByMonth:    "By month", ByMaker: "By manufacturer", Net: "Value of products", CostKnown: "Cost known", MarginRate: "Rate",

	Funnel: "From budget to order", FunnelLead: "Budgets by the month of their creation, and what became of them.",
	FunnelAnswer: "%s, %s of the budgets of mature months are won orders (%s of %s).",
	FunnelChart:  "Budgets by month of creation",
	FunnelNote:   "A month is mature %d days after its end: nine of ten orders come within that time. Newer ones still change. Removed deals count as lost or cancelled.",
	NoBudgets:    "There are no budgets.", Cohort: "Created in", NotWon: "Open, lost or cancelled", Conversion: "Conversion",
	Mature: "Mature months", Young: "Months still young: their conversion still changes",

	Pipeline: "Open budgets", PipelineAnswer: "Open: %s in %s. The oldest has been in its status for %s.",
	PipelineChart: "Open value by status", PipelineTable: "Open budgets by status",
	PipelineNote: "Days since the status was first seen.", NoPipeline: "There are no open budgets.", Oldest: "Days of the oldest",

	Payments: "Payments to come", PaymentsAnswer: "Not paid yet: %s in %s, or %s of the value %s.",
	OfAllOrders: "of all won orders", OfSoldBetween: "sold from %s to %s", OfSoldUpTo: "sold up to %s",
	PaymentsTable: "Won orders without a received payment", PaymentsNote: "The platform gives the status of the payment; this is everything that is not “received”.",
	AllPaid: "All won orders are paid.", PaymentType: "Means", PaymentStatus: "Status", OldestOrder: "Oldest order",
	PaymentTypes: map[string]string{
		"boleto": "boleto", "credito": "credit card", "debito": "debit card", "financiamento": "financing", "pix": "Pix", "other": "other",
	},
	PaymentStatuses: map[string]string{"notRequested": "not requested", "requested": "requested", "cancelled": "cancelled"},

	Discounts: "Discounts", DiscountsAnswer: "%s, the final value was %s below the original one.", SurchargesAnswer: "%s, the final value was %s above the original one.",
	DiscountsChart: "Reduction of the original value by month", Original: "Original value", Discount: "Discount", Surcharge: "Surcharge", Reduction: "Reduction",
	DiscountsNote: "Reduction = 1 − final value ÷ original value, over the won orders that have both.",

	Freight: "Freight", FreightAnswer: "%s, freight was %s of the final value.", FreightChart: "Freight as a share of the final value by month",
	FreightNote: "Won orders with a final value and a freight price.", FreightPrice: "Freight", NoFreight: "No freight price is known of the won orders.",

	Prices: "Price changes", PricesLead: "Sales and cost prices of the catalogue that changed from %s to %s.",
	PricesAnswer: "Up: %s. Down: %s. Changes in all: %s.", PricesTable: "The largest changes",
	PricesNote: "The platform shows present prices only; the day is that on which the change was noticed.",
	NoPrices:   "No price change was noticed from %s to %s.", WhichPrice: "Price", SalesPrice: "sale", CostPrice: "cost",
	OldPrice: "Before", NewPrice: "After", Change: "Change", ChangedOn: "Noticed on",

	Makers: "Manufacturers", MakersLead: "Modules and inverters of won orders, %s to %s.", MakersEmpty: "No module or inverter was sold from %s to %s.",
	MakersNote: "The value is that of product lines, without freight and the order's discounts. The power is the modules' rated one.",
	Maker:      "Manufacturer", Modules: "Modules", Inverters: "Inverters", ModulesChart: "Modules: value by manufacturer", InvertersChart: "Inverters: value by manufacturer",
	Pieces: "Pieces", LinesValue: "Value of lines", NoMaker: "(not in the catalogue)",

	States: "States", StatesLead: "Won orders by state of delivery, %s to %s.", StatesChart: "Final value by state",
	StatesNote: "Where no state of delivery is given, that of the company counts.", State: "State", NoState: "(no state)",

	Sellers: "Sellers", SellersLead: "Won orders by responsible seller, %s to %s.", SellersChart: "Final value by seller",
	SellersNote: "This copy has no names: sellers are numbered by value. --seller takes the code.",
	Seller:      "Seller", NoSeller: "(no seller)", SellerNumber: "Seller %d", Pseudonym: "Code",

	Status: "Time in each status", StatusLead: "How long budgets and orders stay in each status, since they have been observed.",
	StatusBounds: "Ended stays are those of the period; open ones those of today.",
	StatusEmpty:  "No status has been observed yet.", StatusChart: "Days in each status: median of the stays that ended",
	StatusNote: "“Too few”: fewer than five, whose median would say little. Stays whose start was not observed may be longer. Removed deals count too. Final statuses, such as delivered, lost and cancelled, are left out.",
	Statuses:   "Statuses", Kind: "Type", Order: "Order", Budget: "Budget", InItNow: "In it now", Ended: "Ended", EndedDays: "Median days",
	Unobserved: "Start not observed", LeadTimes: "Lead times of won orders, %s to %s", LeadTime: "Lead time",
	LeadTimeNames: [3]string{"Budget to order", "Order to billing", "Budget to billing"},

	Stock: "Stock: what runs out next", StockLead: "How long the free stock of each item at each centre lasts if it sells as in the 90 days up to %s.",
	StockAnswer: "Items that have run out: %s. That run out within 30 days: %s.",
	StockEmpty:  "There is no stock that sold in the last 90 days.", StockChart: "Items by how long their stock lasts",
	StockNote: "Free is what is in stock and not reserved. An item counts once at each centre. Left out, not sold in 90 days or of unknown stock: %s.",
	Items:     "Items", Cover: "Lasts", BelowMinimum: "Below minimum",
	NextOut: "Runs out within 30 days (%s)", RunOut: "Has run out (%s): what sold most first", Center: "Centre", Free: "Free", Minimum: "Minimum",
	SoldLately: "Sold in 30 days", SoldQuarter: "Sold in 90 days", CoverDays: "Lasts (days)",
	CoverClasses: [6]string{"run out", "up to 15 days", "15 to 30 days", "30 to 60 days", "60 to 90 days", "over 90 days"},

	Fresh: "How fresh the data is", FreshLead: "Up to when the mirror holds all that the platform holds.", FreshEmpty: "Nothing has been synced yet; “solarmirror sync” begins.",
	FreshNote: "Records that vanished from the platform are noticed by a full reading.", Stream: "Data", CompleteThrough: "Complete up to", FullScan: "Last full reading",
	LastRun: "Last run", Outcome: "Outcome", Never: "not yet", Rejects: "Rejected",

	Streams:  map[string]string{"orders": "orders", "budgets": "budgets", "equipments": "equipment"},
	Outcomes: map[string]string{"ok": "ok", "failed": "failed", "interrupted": "interrupted"},
}
