package report

import "solarmirror/cmd/internal/charts"

// words are the texts of the page in one language. Those with a % are formats.
type words struct {
	Lang, Title, Made, MadeOf, Complete, Contents, Figures, Total, TotalSince, Money string

	// Of months, days and spans: formats, and layouts of package time.
	Months                                                                                     [12]string
	MonthLong, MonthShort, Date, Moment, Between, UpTo, FromDay, ToDay, FromToDay              string
	Earlier, Later, Undated, LastYear, InPeriod, Running, CutMonth, Everybodys, TooFew, Others string
	More                                                                                       string

	NotBuilt, Loading, LoadingPart, Behind string // warnings

	OrdersMany, BudgetsMany, DaysMany [2]string // one, several

	CardsPeriod, Compared, NotCompared, NoComparison, Before, Points                             string
	CardValue, CardOrders, CardPower, CardPrice, CardMargin, CardTicket, CardConversion          string
	Month, Orders, Value, Power, Price, Share, Budgets, Won, Lost, Open, Cancelled, NoOrders     string
	CancelledOrders, CancelledValue, NoOrdersBetween, StatusName, NoStatus, OpenDays, Days, Code string
	Product, TopThree                                                                            string

	Revenue, RevenueLead, RevenueAnswer, RevenueBefore, CancelledAnswer, RevenueChart, PowerChart, RevenueNote string

	Margin, MarginLead, MarginAnswer, MarginChart, MarginMakers, MarginNote, NoCost string
	ByMonth, ByMaker, Net, CostKnown, MarginRate                                    string

	Funnel, FunnelLead, FunnelAnswer, FunnelChart, FunnelNote, NoBudgets, Cohort, NotWon, Conversion, Mature, Young string

	Pipeline, PipelineAnswer, PipelineChart, PipelineTable, PipelineNote, NoPipeline, Oldest string

	Payments, PaymentsAnswer, PaymentsTable, PaymentsNote, AllPaid, PaymentType, PaymentStatus, OldestOrder string
	OfAllOrders, OfSoldBetween, OfSoldUpTo                                                                  string
	PaymentTypes, PaymentStatuses                                                                           map[string]string

	Discounts, DiscountsAnswer, SurchargesAnswer, DiscountsChart, DiscountsNote, Original, Discount, Surcharge, Reduction string

	Freight, FreightAnswer, FreightChart, FreightNote, FreightPrice, NoFreight string

	Prices, PricesLead, PricesAnswer, PricesTable, PricesNote, NoPrices, WhichPrice, SalesPrice, CostPrice string
	OldPrice, NewPrice, Change, ChangedOn                                                                  string

	Makers, MakersLead, MakersEmpty, MakersNote, Maker, Modules, Inverters, ModulesChart, InvertersChart, Pieces, LinesValue, NoMaker string

	States, StatesLead, StatesChart, StatesNote, State, NoState                                         string
	Sellers, SellersLead, SellersChart, SellersNote, Seller, NoSeller, SellerNumber, Pseudonym          string
	Status, StatusLead, StatusBounds, StatusEmpty, StatusChart, StatusNote, Statuses, Kind              string
	Order, Budget, InItNow, Ended, EndedDays, Unobserved, LeadTimes, LeadTime                           string
	LeadTimeNames                                                                                       [3]string
	Stock, StockLead, StockAnswer, StockEmpty, StockChart, StockNote, Items, Cover, BelowMinimum        string
	NextOut, RunOut, Center, Free, Minimum, SoldLately, SoldQuarter, CoverDays                          string
	CoverClasses                                                                                        [6]string
	Fresh, FreshLead, FreshEmpty, FreshNote, Stream, CompleteThrough, FullScan, LastRun, Outcome, Never string
	Rejects                                                                                             string

	Streams, Outcomes map[string]string
}

func wordsOf(l charts.Language) words {
	if l == charts.Portuguese {
		return portuguese
	}
	return english
}
