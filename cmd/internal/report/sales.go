package report

import (
	"context"
	"slices"

	"solarmirror/cmd/internal/charts"
)

// sales is what some won orders add up to. Sums over nothing that is known are Missing.
type sales struct {
	Orders                                      int64
	Value, Power, Original, Discount, Surcharge float64
	PricedValue, PricedPower                    float64 // of the orders that have both a value and power
	ReducedFrom, ReducedTo                      float64 // original and final value of those that have both
}

// salesSQL are the columns of sales, over rows of bi_requests.
const salesSQL = `count(*), sum(final_value), sum(power_kwp), sum(original_value), sum(discount), sum(surcharge),
	sum(CASE WHEN power_kwp > 0 THEN final_value END), sum(CASE WHEN power_kwp > 0 AND final_value IS NOT NULL THEN power_kwp END),
	sum(CASE WHEN final_value IS NOT NULL THEN original_value END), sum(CASE WHEN original_value IS NOT NULL THEN final_value END)`

// sales reads salesSQL from column i on.
func (r row) sales(i int) sales {
	return sales{
		Orders: r.count(i), Value: r.number(i + 1), Power: r.number(i + 2), Original: r.number(i + 3), Discount: r.number(i + 4), Surcharge: r.number(i + 5),
		PricedValue: r.number(i + 6), PricedPower: r.number(i + 7), ReducedFrom: r.number(i + 8), ReducedTo: r.number(i + 9),
	}
}

func (s sales) add(t sales) sales {
	return sales{
		Orders: s.Orders + t.Orders, Value: plus(s.Value, t.Value), Power: plus(s.Power, t.Power), Original: plus(s.Original, t.Original),
		Discount: plus(s.Discount, t.Discount), Surcharge: plus(s.Surcharge, t.Surcharge),
		PricedValue: plus(s.PricedValue, t.PricedValue), PricedPower: plus(s.PricedPower, t.PricedPower),
		ReducedFrom: plus(s.ReducedFrom, t.ReducedFrom), ReducedTo: plus(s.ReducedTo, t.ReducedTo),
	}
}

func (s sales) exists() bool { return s.Orders > 0 }

// valuePerWp is as bi_revenue_month has it.
func (s sales) valuePerWp() float64 { return over(s.PricedValue, 1000*s.PricedPower) }

// reduction is as bi_discounts has it.
func (s sales) reduction() float64 { return 1 - over(s.ReducedTo, s.ReducedFrom) }

// over is a ratio; Missing over zero.
func over(a, b float64) float64 {
	if b == 0 {
		return charts.Missing
	}
	return a / b
}

// readSales reads what was sold by month, and of the last months by state and seller.
func (s *source) readSales(ctx context.Context, f *figures) {
	last := f.lastMonths(monthsOfTop).ordersSQL()
	s.each(ctx, "SELECT substr(order_date, 1, 7) AS month, "+salesSQL+" FROM bi_requests WHERE deal_class = 'won' GROUP BY month ORDER BY month", func(r row) {
		f.Months = append(f.Months, group[sales]{r.text(0), r.sales(1)})
	})
	s.each(ctx, "SELECT state, "+salesSQL+" FROM bi_requests WHERE "+last+" GROUP BY state", func(r row) {
		f.States = append(f.States, group[sales]{r.text(0), r.sales(1)})
	})
	s.each(ctx, "SELECT coalesce(max(seller_name), seller_email), "+salesSQL+" FROM bi_requests WHERE "+last+" GROUP BY seller_email", func(r row) {
		f.Sellers = append(f.Sellers, group[sales]{r.text(0), r.sales(1)})
	})
	for _, list := range [][]group[sales]{f.States, f.Sellers} {
		slices.SortFunc(list, byValue(func(s sales) float64 { return s.Value }))
	}
}

// lines is what was sold of a manufacturer's products.
type lines struct{ Pieces, Value, Power float64 }

func (l lines) add(m lines) lines {
	return lines{plus(l.Pieces, m.Pieces), plus(l.Value, m.Value), plus(l.Power, m.Power)}
}

func (l lines) exists() bool { return l != lines{} }

func (s *source) readMakers(ctx context.Context, f *figures) {
	f.Makers = map[string][]group[lines]{}
	s.each(ctx, "SELECT product_type, manufacturer, sum(quantity), sum(total_price), sum(power_kwp) FROM bi_items WHERE product_type IN ('module', 'inverter') AND "+
		f.lastMonths(monthsOfTop).ordersSQL()+" GROUP BY product_type, manufacturer", func(r row) {
		f.Makers[r.text(0)] = append(f.Makers[r.text(0)], group[lines]{r.text(1), lines{r.number(2), r.number(3), r.number(4)}})
	})
	for _, list := range f.Makers {
		slices.SortFunc(list, byValue(func(l lines) float64 { return l.Value }))
	}
}
