package martstest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"solarmirror/schema"
	"solarmirror/store"
	"solarmirror/store/dealclass"
	"solarmirror/store/identity"
	"solarmirror/store/sqlitefile"
)

// deal is a row of requests with what belongs to it.
type deal struct {
	record                    row
	payment, company, freight row // nil where there is none
	lines, history            []row
	other                     *deal // the other row of the same id

	isOrder, live            bool
	represents               bool
	class                    string // if it represents the deal
	seller, state            any
	budgetDate, orderDate    any
	status                   string // folded
	statusSince, wasInferred any
}

// item is a row of equipments with what belongs to it.
type item struct {
	record, module row
	stock, prices  []row
}

func (b *books) read(ctx context.Context, m *store.Mirror) error {
	var failed error
	read := func(name string) []row {
		rows, err := readTable(ctx, m, schema.Find(name))
		if err != nil && failed == nil {
			failed = err
		}
		return rows
	}
	byKey, byID := map[any]*deal{}, map[string]*deal{}
	for _, r := range read("requests") {
		d := &deal{record: r, isOrder: r["request_type"] == "order", live: r["removed"] != int64(1) && r["_deleted_at"] == nil}
		byKey[r["request_key"]] = d
		if d.other = byID[r.text("id")]; d.other != nil {
			d.other.other = d
		}
		byID[r.text("id")] = d
		b.deals = append(b.deals, d)
	}
	for name, put := range map[string]func(*deal, row){
		"request_payments":       func(d *deal, r row) { d.payment = r },
		"request_companies":      func(d *deal, r row) { d.company = r },
		"request_freights":       func(d *deal, r row) { d.freight = r },
		"request_products":       func(d *deal, r row) { d.lines = append(d.lines, r) },
		"request_status_history": func(d *deal, r row) { d.history = append(d.history, r) },
	} {
		for _, r := range read(name) {
			put(byKey[r["request_key"]], r)
		}
	}
	items := map[any]*item{}
	for _, r := range read("equipments") {
		i := &item{record: r}
		items[r["equipment_key"]], b.byCode[r.text("type")+"/"+r.text("product_code")] = i, i
		b.items = append(b.items, i)
	}
	for name, put := range map[string]func(*item, row){
		"module_specifications":   func(i *item, r row) { i.module = r },
		"equipment_inventory":     func(i *item, r row) { i.stock = append(i.stock, r) },
		"equipment_price_history": func(i *item, r row) { i.prices = append(i.prices, r) },
	} {
		for _, r := range read(name) {
			put(items[r["equipment_key"]], r)
		}
	}
	for _, d := range b.deals {
		b.look(d)
	}
	return failed
}

// look fills in what follows from the rows of a deal.
func (b *books) look(d *deal) {
	o := d.other
	d.represents = o == nil || (d.live && !o.live) || (d.live == o.live && d.isOrder)
	d.seller = identityOf(d.record["responsible_email"])
	if d.state = d.freight.given("address_state"); d.state == nil {
		d.state = d.company.given("address_state")
	}
	d.budgetDate, d.orderDate = b.day(d.record.text("budget_created")), b.day(d.record.text("order_created"))
	d.status = dealclass.Fold(d.record.text("deal_status"))
	d.class = b.class(d)
	for _, piece := range d.history {
		switch {
		case piece["removed"] == int64(1) || piece["deal_status"] != d.record["deal_status"]:
			d.statusSince, d.wasInferred = nil, nil
		case d.statusSince == nil:
			d.statusSince, d.wasInferred = piece["valid_from"], piece["is_inferred"]
		}
	}
}

func (b *books) class(d *deal) string {
	ended, goes := "lost", "open"
	if d.isOrder {
		ended, goes = "cancelled", "won"
	}
	switch {
	case !d.live, slices.Contains(b.lists.Cancelled, d.status), slices.Contains(b.lists.Lost, d.status):
		return ended
	case slices.Contains(b.lists.Closed, d.status):
		return goes
	case d.isOrder && slices.Contains(b.lists.CancelledPayment, dealclass.Fold(d.payment.text("status"))):
		return ended
	}
	return goes
}

// identityOf returns a seller's address or a tax number in the one way it is written, or nil.
func identityOf(value any) any {
	text, _ := value.(string)
	forms := identity.TaxForms(identity.Plain(text))
	if last := forms[len(forms)-1]; last != "" {
		return last
	}
	return nil
}

// speaking returns the live deals by the row that represents each.
func (b *books) speaking() (list []*deal) {
	for _, d := range b.deals {
		if d.represents && d.live {
			list = append(list, d)
		}
	}
	return list
}

// first returns the first of some values that is not nil.
func first(values ...any) any {
	for _, v := range values {
		if v != nil {
			return v
		}
	}
	return nil
}

func (b *books) request(d *deal) row {
	r := row{
		"payment_type": d.payment["type"], "payment_status": d.payment["status"], "payment_condition": d.payment["condition_name"],
		"transaction_status": d.payment["transaction_status"], "freight_type": d.freight["type"], "freight_price": d.freight["price"],
		"company_tax_id": first(identityOf(d.company["cnpj"]), identityOf(d.company["cpf"])),
		"company_name":   first(d.company.given("company_name"), d.company.given("fantasy_name")),
		"company_state":  d.company.given("address_state"), "company_city": d.company.given("address_city"),
		"freight_state": d.freight.given("address_state"), "freight_city": d.freight.given("address_city"),
		"seller_email": d.seller, "seller_name": nil, "state": d.state, "budget_date": d.budgetDate, "order_date": d.orderDate,
		"is_order": flag(d.isOrder), "deal_class": d.class, "status_since": d.statusSince, "status_since_inferred": d.wasInferred,
		"power_kwp": nil,
	}
	for _, column := range []string{
		"request_key", "request_type", "id", "code", "name", "kind", "deal_status", "stock_status", "original_value", "discount", "surcharge", "final_value",
		"budget_created", "order_created", "billing_date",
	} {
		r[column] = d.record[column]
	}
	if name := strings.TrimSpace(d.record.text("responsible_name") + " " + d.record.text("responsible_surname")); name != "" {
		r["seller_name"] = name
	}
	if power, ok := d.record.number("total_power"); ok {
		r["power_kwp"] = power / b.perKWp
	}
	var value sum
	for _, line := range d.lines {
		value.add(line, "total_price")
	}
	r["items_value"] = value.exact()
	return r
}

func (b *books) requestRows() map[string]row {
	all := map[string]row{}
	for _, d := range b.speaking() {
		r := b.request(d)
		all[r.key(schema.BiRequests.Key)] = r
	}
	return all
}

// lines returns the rows of bi_items of a deal.
func (b *books) lines(d *deal) (list []row) {
	for _, line := range d.lines {
		r := row{
			"request_key": line["request_key"], "position": line["position"], "product_type": line["type"], "product_code": line["product_code"],
			"product_name": line["name"], "center_code": line["center_code"], "quantity": line["quantity"], "unit_price": line["single_price"], "total_price": line["total_price"],
			"is_order": flag(d.isOrder), "order_date": d.orderDate, "deal_class": d.class, "kind": d.record["kind"], "state": d.state, "seller_email": d.seller,
			"manufacturer": nil, "model": nil, "unit_cost": nil, "has_cost": flag(false), "equipment_key": nil, "rated_power_w": nil, "power_kwp": nil,
			"net_value": nil, "cost_at_order": nil,
		}
		total, hasTotal := line.number("total_price")
		final, hasFinal := d.record.number("final_value")
		original, _ := d.record.number("original_value")
		if hasTotal && hasFinal && original != 0 {
			r["net_value"] = total * (final / original)
		}
		if i := b.byCode[line.text("type")+"/"+line.text("product_code")]; i != nil && line["product_code"] != nil {
			r["equipment_key"], r["manufacturer"], r["model"], r["unit_cost"] = i.record["equipment_key"], i.record["manufacturer"], i.record["model"], i.record["cost_price"]
			r["has_cost"] = flag(r["unit_cost"] != nil)
			if i.record["type"] == "module" {
				r["rated_power_w"] = first(i.module["rated_maximum_power"], i.record["nominal_max_power"])
			}
			if d.isOrder && d.orderDate != nil {
				r["cost_at_order"] = b.costThen(i, d)
			}
		}
		quantity, hasQuantity := line.number("quantity")
		if watts, ok := r.number("rated_power_w"); ok && hasQuantity {
			r["power_kwp"] = quantity * watts / 1000
		}
		list = append(list, r)
	}
	return list
}

// costThen returns the cost price of an item when an order was created. Where none was known then,
// it is the next one of that day.
func (b *books) costThen(i *item, d *deal) any {
	at := d.record.text("order_created")
	var then, next any
	for _, piece := range i.prices {
		from := piece.text("valid_from")
		if from <= at {
			then = piece["cost_price"]
		} else if b.day(from) == d.orderDate {
			next = piece["cost_price"]
			break
		}
	}
	return first(then, next)
}

func (b *books) itemRows() map[string]row {
	all := map[string]row{}
	for _, d := range b.speaking() {
		for _, r := range b.lines(d) {
			all[r.key(schema.BiItems.Key)] = r
		}
	}
	return all
}

func (b *books) leadTimeRows() map[string]row {
	all := map[string]row{}
	for _, d := range b.speaking() {
		if d.class == "won" {
			r := row{
				"request_key": d.record["request_key"], "id": d.record["id"], "seller_email": d.seller, "state": d.state,
				"budget_date": d.budgetDate, "order_date": d.orderDate, "billing_date": d.record["billing_date"],
				"days_to_order":   days(d.record.text("budget_created"), d.record.text("order_created")),
				"days_to_billing": calendarDays(d.orderDate, d.record["billing_date"]), "days_in_all": calendarDays(d.budgetDate, d.record["billing_date"]),
			}
			all[r.key(schema.BiLeadTime.Key)] = r
		}
	}
	return all
}

// stayRows walks through the history of each record as a person would.
func (b *books) stayRows() map[string]row {
	all := map[string]row{}
	for _, d := range b.deals {
		end := d.record.text("_deleted_at")
		if o := d.other; end == "" && !d.isOrder && !d.represents {
			end = o.record.text("_first_seen_at")
		}
		var stay row // the one that lasts
		leave := func(at string) {
			if stay == nil {
				return
			}
			stay["ended_at"], stay["is_open"] = nil, flag(at == "")
			if at != "" {
				stay["ended_at"] = at
			} else {
				at = sqlitefile.FormatTime(b.midnight)
			}
			if length := days(stay.text("started_at"), at).(float64); length > 0 {
				stay["days"] = length
			}
			word := dealclass.Fold(stay.text("deal_status"))
			if !slices.Contains(slices.Concat(b.lists.Cancelled, b.lists.Lost, b.lists.Closed), word) {
				all[stay.key(schema.BiStatusDuration.Key)] = stay
			}
			stay = nil
		}
		for _, piece := range d.history {
			from, removed := piece.text("valid_from"), piece["removed"] == int64(1)
			if end != "" && from >= end {
				break
			}
			if stay != nil && (removed || piece["deal_status"] != stay["deal_status"]) {
				leave(from)
			}
			if stay == nil && !removed {
				stay = row{
					"request_key": d.record["request_key"], "started_at": from, "request_type": d.record["request_type"], "id": d.record["id"],
					"deal_status": piece["deal_status"], "seller_email": d.seller, "state": d.state, "is_inferred": piece["is_inferred"], "days": 0.0,
				}
			}
		}
		leave(end)
	}
	return all
}

func (b *books) priceChangeRows() map[string]row {
	all := map[string]row{}
	for _, i := range b.items {
		for _, name := range []string{"base_price", "cost_price"} {
			var last any
			for n, piece := range i.prices {
				value := piece[name]
				if n == 0 || value != last {
					r := row{
						"equipment_key": i.record["equipment_key"], "price_name": name, "changed_at": piece["valid_from"], "product_code": i.record["product_code"],
						"old_value": last, "new_value": value, "change": nil, "is_first": flag(n == 0), "known_since": i.prices[0]["valid_from"],
					}
					before, hadOne := r.number("old_value")
					after, hasOne := r.number("new_value")
					if hadOne && hasOne && before != 0 {
						r["change"] = after/before - 1
					}
					all[r.key(schema.BiPriceChanges.Key)] = r
				}
				last = value
			}
		}
	}
	return all
}

func (b *books) dealRows() map[string]row {
	all := map[string]row{}
	for _, d := range b.deals {
		if !d.represents {
			continue
		}
		budget, ordered := d.record.text("budget_created"), ""
		if budget == "" && d.other != nil {
			budget = d.other.record.text("budget_created")
		}
		if d.isOrder {
			ordered = d.record.text("order_created")
		} else if d.other != nil {
			ordered = d.other.record.text("order_created")
		}
		all[fmt.Sprint(d.record["request_key"])] = row{
			"request_key": d.record["request_key"], "cohort_month": month(b.day(budget)), "seller_email": d.seller, "state": d.state,
			"is_order": flag(d.isOrder || d.other != nil), "days_to_order": days(budget, ordered), "deal_class": d.class, "final_value": d.record["final_value"],
		}
	}
	return all
}
