package martstest

import (
	"fmt"
	"slices"

	"solarmirror/store/sqlitefile"
)

// summarize computes a row for each group of rows with equal values in some columns.
func summarize(rows []row, compute func([]row) row, group ...string) map[string]row {
	groups, all := map[string][]row{}, map[string]row{}
	for _, r := range rows {
		groups[r.key(group)] = append(groups[r.key(group)], r)
	}
	for key, of := range groups {
		all[key] = compute(of)
	}
	return all
}

// classed returns the rows of some classes.
func classed(rows []row, classes ...string) (list []row) {
	for _, r := range rows {
		if slices.Contains(classes, r.text("deal_class")) {
			list = append(list, r)
		}
	}
	return list
}

// total adds up a column.
func total(rows []row, column string) *sum {
	s := &sum{}
	for _, r := range rows {
		s.add(r, column)
	}
	return s
}

// both returns the rows that have both numbers.
func both(rows []row, a, b string) (list []row) {
	for _, r := range rows {
		_, hasA := r.number(a)
		_, hasB := r.number(b)
		if hasA && hasB {
			list = append(list, r)
		}
	}
	return list
}

// ratio is a / b, NULL where one is missing or b is zero.
func ratio(a, b *sum) any {
	if !a.known || !b.known || b.of == 0 {
		return nil
	}
	return a.of / b.of
}

// extremes returns the least and the greatest text of a column.
func extremes(rows []row, column string) (least, greatest any) {
	for _, r := range rows {
		text, ok := r[column].(string)
		if !ok {
			continue
		}
		if least == nil || text < least.(string) {
			least = text
		}
		if greatest == nil || text > greatest.(string) {
			greatest = text
		}
	}
	return least, greatest
}

// live returns the rows of bi_requests, in the order of their keys.
func (b *books) live(classes ...string) (list []row) {
	for _, d := range b.speaking() {
		r := b.request(d)
		r["month"] = month(d.orderDate)
		list = append(list, r)
	}
	return classed(list, classes...)
}

func sold(of []row) row {
	won, cancelled := classed(of, "won"), classed(of, "cancelled")
	return row{
		"orders": len(won), "final_value": total(won, "final_value").money(), "power_kwp": total(won, "power_kwp").exact(),
		"cancelled_orders": len(cancelled), "cancelled_value": total(cancelled, "final_value").money(),
	}
}

func (b *books) revenueRows() map[string]row {
	return summarize(b.live("won", "cancelled"), func(of []row) row {
		r, won := sold(of), classed(of, "won")
		r["freight_price"] = total(won, "freight_price").money()
		var withPower []row
		for _, d := range both(won, "final_value", "power_kwp") {
			if power, _ := d.number("power_kwp"); power > 0 {
				withPower = append(withPower, d)
			}
		}
		r["value_per_wp"] = nil
		if perKWp, ok := ratio(total(withPower, "final_value"), total(withPower, "power_kwp")).(float64); ok {
			r["value_per_wp"] = perKWp / 1000
		}
		return r
	}, "month", "state", "kind")
}

func (b *books) sellerRevenueRows() map[string]row {
	return summarize(b.live("won", "cancelled"), sold, "month", "seller_email")
}

func (b *books) marginRows() map[string]row {
	var lines []row
	for _, d := range b.speaking() {
		for _, r := range classed(b.lines(d), "won") {
			r["month"] = month(d.orderDate)
			cost, hasCost := row{"": first(r["cost_at_order"], r["unit_cost"])}.number("")
			if quantity, ok := r.number("quantity"); ok && hasCost {
				r["cost"] = quantity * cost
			}
			lines = append(lines, r)
		}
	}
	return summarize(lines, func(of []row) row {
		withCost := both(of, "net_value", "cost")
		return row{
			"lines": len(of), "value": total(of, "total_price").money(), "net_value": total(of, "net_value").money(),
			"net_value_with_cost":     total(withCost, "net_value").money(),
			"net_value_at_order_cost": total(both(withCost, "net_value", "cost_at_order"), "net_value").money(),
			"cost":                    total(withCost, "cost").money(),
			"margin": derived(func(got row) any {
				net, ok := got.number("net_value_with_cost")
				cost, _ := got.number("cost")
				if !ok {
					return nil
				}
				return net - cost
			}),
			"margin_rate": derived(func(got row) any { return ratio(total([]row{got}, "margin"), total([]row{got}, "net_value_with_cost")) }),
		}
	}, "month", "product_type", "manufacturer")
}

func (b *books) funnelRows() map[string]row {
	var deals []row
	for _, r := range b.dealRows() {
		deals = append(deals, r)
	}
	return summarize(deals, func(of []row) row {
		won, orders := classed(of, "won"), 0
		var times []float64
		for _, r := range of {
			if r["is_order"] == flag(true) {
				orders++
			}
			if took, ok := r.number("days_to_order"); ok {
				times = append(times, took)
			}
		}
		return row{
			"budgets": len(of), "orders": orders, "conversion": float64(len(won)) / float64(len(of)), "median_days_to_order": median(times),
			"won": len(won), "lost": len(classed(of, "lost")), "open": len(classed(of, "open")), "cancelled": len(classed(of, "cancelled")),
			"budgets_value": total(of, "final_value").money(), "won_value": total(won, "final_value").money(),
		}
	}, "cohort_month", "seller_email", "state")
}

func (b *books) pipelineRows() map[string]row {
	var waiting []row
	for _, d := range b.speaking() {
		if d.class != "open" || slices.Contains(b.lists.Closed, d.status) {
			continue
		}
		r := b.request(d)
		if waited, ok := days(r.text("status_since"), sqlitefile.FormatTime(b.midnight)).(float64); ok {
			r["waited"] = max(0, waited)
		}
		waiting = append(waiting, r)
	}
	return summarize(waiting, func(of []row) row {
		var times []float64
		for _, r := range of {
			if waited, ok := r.number("waited"); ok {
				times = append(times, waited)
			}
		}
		oldest, _ := extremes(of, "status_since")
		return row{
			"deals": len(of), "value": total(of, "final_value").money(), "power_kwp": total(of, "power_kwp").exact(),
			"oldest_since": oldest, "median_days": median(times),
		}
	}, "seller_email", "state", "deal_status")
}

func (b *books) statusRows() map[string]row {
	return summarize(b.live("open", "lost", "won", "cancelled"), func(of []row) row {
		return row{"deals": len(of), "value": total(of, "final_value").money()}
	}, "deal_status", "deal_class")
}

func (b *books) paymentRows() map[string]row {
	return summarize(b.live("won"), func(of []row) row {
		oldest, _ := extremes(of, "order_date")
		return row{"deals": len(of), "value": total(of, "final_value").money(), "oldest_order_date": oldest}
	}, "payment_type", "payment_status", "payment_condition", "transaction_status")
}

func (b *books) discountRows() map[string]row {
	return summarize(b.live("won", "open"), func(of []row) row {
		newest, withBoth := of[len(of)-1], both(of, "original_value", "final_value")
		r := row{
			"deals": len(of), "original_value": total(of, "original_value").money(), "discount": total(of, "discount").money(),
			"surcharge": total(of, "surcharge").money(), "final_value": total(of, "final_value").money(),
			"seller_name": newest["seller_name"], "company_name": newest["company_name"], "reduction": nil,
		}
		if kept, ok := ratio(total(withBoth, "final_value"), total(withBoth, "original_value")).(float64); ok {
			r["reduction"] = 1 - kept
		}
		return r
	}, "seller_email", "company_tax_id", "is_order")
}

func portfolio(of []row) row {
	budgets, won := classed(of, "open", "lost"), classed(of, "won")
	firstDay, lastDay := extremes(won, "order_date")
	r := row{
		"budgets": len(budgets), "budgets_value": total(budgets, "final_value").money(),
		"orders": len(won), "orders_value": total(won, "final_value").money(), "orders_power_kwp": total(won, "power_kwp").exact(),
		"first_order_date": firstDay, "last_order_date": lastDay,
	}
	for class, names := range map[string][2]string{
		"open": {"open_budgets", "open_value"}, "lost": {"lost_budgets", "lost_value"}, "cancelled": {"cancelled_orders", "cancelled_value"},
	} {
		r[names[0]], r[names[1]] = len(classed(of, class)), total(classed(of, class), "final_value").money()
	}
	newest := of[len(of)-1]
	for _, column := range []string{"seller_name", "company_name", "company_state", "company_city"} {
		r[column] = newest[column]
	}
	return r
}

func (b *books) sellerRows() map[string]row {
	return summarize(b.live("open", "lost", "won", "cancelled"), portfolio, "seller_email")
}

func (b *books) customerRows() map[string]row {
	return summarize(b.live("open", "lost", "won", "cancelled"), portfolio, "company_tax_id")
}

func (b *books) stockRows() map[string]row {
	type place struct{ equipment, center any }
	sold30, sold90 := map[place]*sum{}, map[place]*sum{}
	add := func(to map[place]*sum, at place, line row) {
		if to[at] == nil {
			to[at] = &sum{}
		}
		to[at].add(line, "quantity")
	}
	for _, d := range b.speaking() {
		for _, line := range classed(b.lines(d), "won") {
			ago, ok := calendarDays(d.orderDate, b.today).(int64)
			at := place{line["equipment_key"], line.text("center_code")}
			if !ok || at.equipment == nil || ago < 0 || ago >= 90 {
				continue
			}
			add(sold90, at, line)
			if ago < 30 {
				add(sold30, at, line)
			}
		}
	}
	all := map[string]row{}
	for _, i := range b.items {
		if i.record["_deleted_at"] != nil {
			continue
		}
		key := i.record["equipment_key"]
		shelves := map[any][]row{} // by centre
		for _, s := range i.stock {
			shelves[s.text("center_code")] = append(shelves[s.text("center_code")], s)
		}
		if len(i.stock) == 0 {
			shelves[""] = []row{{"current": i.record["inventory_current"], "reserved": i.record["inventory_reserved"], "minimum": i.record["inventory_minimum"]}}
		}
		for at := range sold90 {
			if at.equipment == key && shelves[at.center] == nil {
				shelves[at.center] = []row{}
			}
		}
		for center, listed := range shelves {
			at := place{key, center}
			r := row{"equipment_key": key, "center_code": center, "product_code": i.record["product_code"], "sold_30d": 0.0, "sold_90d": 0.0, "days_of_cover": nil}
			for _, column := range []string{"current", "reserved", "minimum"} {
				r[column] = total(listed, column).exact()
			}
			if s := sold30[at]; s != nil {
				r["sold_30d"] = s.of
			}
			if s := sold90[at]; s != nil {
				r["sold_90d"] = s.of
				current, known := r.number("current")
				reserved, _ := r.number("reserved")
				if known && s.of > 0 {
					r["days_of_cover"] = max(0, current-reserved) / (s.of / 90)
				}
			}
			all[fmt.Sprintf("%v|%v", key, center)] = r
		}
	}
	return all
}
