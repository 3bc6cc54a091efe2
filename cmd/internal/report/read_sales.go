package report

import (
	"context"
	"strings"
)

// The sums of orders, as ordersSQL has them. Values and power are those of won orders.
const (
	orders      = iota // won
	value              // final value
	valued             // orders with a final value
	power              // kWp
	pricedValue        // final value of the orders with value and power
	pricedPower        // power of the same
	original           // original value
	discount           // as the platform gives it
	surcharge          // as the platform gives it
	reducedFrom        // original value of the orders with original and final value
	reducedTo          // final value of the same
	freight            // freight price
	freightOf          // final value of the orders with final value and freight price
	freightPaid        // freight price of the same
	cancelled          // orders
	cancelledValue
)

var ordersSQL = []string{
	"count(*) FILTER (WHERE deal_class = 'won')",
	"sum(final_value) FILTER (WHERE deal_class = 'won')",
	"count(final_value) FILTER (WHERE deal_class = 'won')",
	"sum(power_kwp) FILTER (WHERE deal_class = 'won')",
	"sum(final_value) FILTER (WHERE deal_class = 'won' AND power_kwp > 0)",
	"sum(power_kwp) FILTER (WHERE deal_class = 'won' AND power_kwp > 0 AND final_value IS NOT NULL)",
	"sum(original_value) FILTER (WHERE deal_class = 'won')",
	"sum(discount) FILTER (WHERE deal_class = 'won')",
	"sum(surcharge) FILTER (WHERE deal_class = 'won')",
	"sum(original_value) FILTER (WHERE deal_class = 'won' AND final_value IS NOT NULL)",
	"sum(final_value) FILTER (WHERE deal_class = 'won' AND original_value IS NOT NULL)",
	"sum(freight_price) FILTER (WHERE deal_class = 'won')",
	"sum(final_value) FILTER (WHERE deal_class = 'won' AND freight_price IS NOT NULL)",
	"sum(freight_price) FILTER (WHERE deal_class = 'won' AND final_value IS NOT NULL)",
	"count(*) FILTER (WHERE deal_class = 'cancelled')",
	"sum(final_value) FILTER (WHERE deal_class = 'cancelled')",
}

// ofOrders returns a sum of won or cancelled orders; that of no orders is 0.
func ofOrders(i int) func(totals) float64 {
	of := orders
	if i == cancelledValue {
		of = cancelled
	}
	return func(t totals) float64 {
		if t.at(of) == 0 {
			return 0
		}
		return t.at(i)
	}
}

func valuePerWp(t totals) float64    { return over(t.at(pricedValue), 1000*t.at(pricedPower)) }
func averageTicket(t totals) float64 { return over(t.at(value), t.at(valued)) }
func reduction(t totals) float64     { return 1 - over(t.at(reducedTo), t.at(reducedFrom)) }
func freightShare(t totals) float64  { return over(t.at(freightPaid), t.at(freightOf)) }

// cancelledShare is the cancelled part of the value of won and cancelled orders.
func cancelledShare(t totals) float64 {
	return over(t.at(cancelledValue), plus(t.at(value), t.at(cancelledValue)))
}

// readOrders reads what was sold by day, and in the days shown by state and seller.
func (s *source) readOrders(ctx context.Context, f *figures) {
	f.Orders = s.groups(ctx, "bi_requests", "order_date", ordersSQL, f.where("order_date", span{}, "is_order = 1"))
	shown := f.where("order_date", f.shown(), "deal_class = 'won'")
	f.States = s.groups(ctx, "bi_requests", stateSQL, ordersSQL, shown)
	f.Sellers = s.groups(ctx, "bi_requests", "seller_email", ordersSQL, shown)
}

// The sums of product lines of won orders, as linesSQL has them.
const (
	linesValue = iota // before discount and surcharge of the order
	pieces
	linesPower // kWp
	net        // the lines' share of the final values
	netWithCost
	cost
)

// lineCost is as bi_margin has it.
const lineCost = "CASE WHEN net_value IS NOT NULL THEN quantity * coalesce(cost_at_order, unit_cost) END"

var linesSQL = []string{
	"sum(total_price)",
	"sum(quantity)",
	"sum(power_kwp)",
	"sum(net_value)",
	"sum(CASE WHEN " + lineCost + " IS NOT NULL THEN net_value END)",
	"sum(" + lineCost + ")",
}

func margin(t totals) float64     { return t.at(netWithCost) - t.at(cost) }
func marginRate(t totals) float64 { return over(margin(t), t.at(netWithCost)) }

// costShare is the part of the value whose cost is known. It is 0 where no cost is known.
func costShare(t totals) float64 { return over(plus(0, t.at(netWithCost)), t.at(net)) }

// readLines reads the lines by day, and in the days shown by product type and manufacturer.
func (s *source) readLines(ctx context.Context, f *figures) {
	f.Lines = s.groups(ctx, "bi_items", "order_date", linesSQL, f.where("order_date", span{}, "deal_class = 'won'"))
	shown := f.where("order_date", f.shown(), "deal_class = 'won'")
	f.Makers = map[string][]group{}
	for _, g := range s.groups(ctx, "bi_items", "coalesce(manufacturer, '') || char(9) || coalesce(product_type, '')", linesSQL, shown) {
		maker, kind, _ := strings.Cut(g.name, "\t")
		f.Makers[kind] = append(f.Makers[kind], group{maker, g.of})
		f.AllMakers = addTo(f.AllMakers, group{maker, g.of})
	}
}
