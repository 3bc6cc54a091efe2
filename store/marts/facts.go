package marts

import (
	"fmt"
	"slices"
	"strings"

	"solarmirror/schema"
	"solarmirror/store"
	"solarmirror/store/sqlitefile"
)

// fact is a mart whose rows each come from one record. Its SQL may contain the placeholders that
// fill replaces.
type fact struct {
	table  *schema.Table
	values map[string]string // the SQL of each column
	with   string            // a WITH clause before the INSERT
	from   string
}

// insert returns the INSERT that builds the rows in the mart or in another table with its columns.
func (f fact) insert(into string) string {
	values := make([]string, len(f.table.Columns))
	for i, c := range f.table.Columns {
		values[i] = f.values[c.Name]
		if values[i] == "" {
			panic("no value for " + f.table.Name + "." + c.Name)
		}
	}
	return fmt.Sprintf("%s\nINSERT INTO %s (%s)\nSELECT %s\n%s",
		f.with, into, strings.Join(f.table.ColumnNames(), ", "), strings.Join(values, ",\n  "), f.from)
}

// buildTable is the temporary table that new rows are built in, to be compared with the mart's.
func (f fact) buildTable() string { return "temp.built_" + f.table.Name }

// replace returns the statements that write the rows of a batch that differ from the built ones.
// Each takes the first and the last key of the batch.
func (f fact) replace() []string {
	t := f.table
	return []string{
		fmt.Sprintf("DELETE FROM %[1]s WHERE %[2]s IN (SELECT key FROM {stale}) AND (%[3]s) NOT IN (SELECT %[3]s FROM %[4]s)",
			t.Name, t.Key[0], strings.Join(t.Key, ", "), f.buildTable()),
		fmt.Sprintf("INSERT INTO %s (%s) SELECT %[2]s FROM %s WHERE %s BETWEEN ? AND ?%s",
			t.Name, strings.Join(t.ColumnNames(), ", "), f.buildTable(), t.Key[0], store.DifferingClause(t)),
	}
}

// discard returns the statement that empties the build table.
func (f fact) discard() string { return "DELETE FROM " + f.buildTable() }

// joinParts joins the payment, the company and the delivery of a request.
const joinParts = `
LEFT JOIN request_payments AS p ON p.request_key = r.request_key
LEFT JOIN request_companies AS c ON c.request_key = r.request_key
LEFT JOIN request_freights AS f ON f.request_key = r.request_key`

// joinOther joins the other row of a deal: the order of a budget, the budget of an order.
const joinOther = `
LEFT JOIN requests AS other ON other.request_type = CASE r.request_type WHEN 'order' THEN 'budget' ELSE 'order' END AND other.id = r.id`

const (
	isLive      = "(r.removed IS NOT 1 AND r._deleted_at IS NULL)"
	isOtherLive = "(other.removed IS NOT 1 AND other._deleted_at IS NULL)"
	// otherRepresents is true when the other row represents the deal: when it alone is live, or
	// else when it is the order.
	otherRepresents = "(other.request_key IS NOT NULL AND CASE WHEN " + isOtherLive + " = " + isLive +
		" THEN other.request_type = 'order' ELSE " + isOtherLive + " END)"

	sellerEmailSQL = "identity(r.responsible_email)"
	sellerNameSQL  = "nullif(trim(coalesce(r.responsible_name, '') || ' ' || coalesce(r.responsible_surname, '')), '')"
	stateSQL       = "coalesce(nullif(f.address_state, ''), nullif(c.address_state, ''))"

	// classSQL is the class of a live deal, by the rules of package dealclass.
	classSQL = `CASE WHEN fold(r.deal_status) IN ({dead}) THEN {dead_class}
    WHEN r.request_type <> 'order' THEN 'open'
    WHEN fold(r.deal_status) IN ({closed}) THEN 'won'
    WHEN fold(p.status) IN ({cancelled_payment}) THEN 'cancelled'
    ELSE 'won' END`
)

// exactDays returns SQL for the days between two TIMESTAMPs, rounded to a tenth of a second.
func exactDays(from, to string) string {
	return fmt.Sprintf("round(julianday(%s) - julianday(%s), 6)", to, from)
}

// calendarDays returns SQL for the whole days between two DATEs.
func calendarDays(from, to string) string {
	return fmt.Sprintf("CAST(julianday(%s) - julianday(%s) AS INTEGER)", to, from)
}

// stayDays returns SQL for the days of a stay; of an open stay, up to the start of today.
func stayDays(from, to string) string {
	return fmt.Sprintf("max(0.0, %s)", exactDays(from, "coalesce("+to+", {today})"))
}

var requestFact = fact{
	table: schema.BiRequests,
	// status is the run of history rows up to the present in which the status did not change.
	with: `WITH status AS (
  SELECT h.request_key, min(h.valid_from) AS since, h.is_inferred
  FROM {records} AS r JOIN request_status_history AS h ON h.request_key = r.request_key
  WHERE h.valid_from > coalesce((SELECT max(x.valid_from) FROM request_status_history AS x
    WHERE x.request_key = r.request_key AND (x.deal_status IS NOT r.deal_status OR x.removed IS 1)), '')
  GROUP BY h.request_key
)`,
	values: map[string]string{
		"request_key": "r.request_key", "request_type": "r.request_type", "id": "r.id", "code": "r.code", "name": "r.name", "kind": "r.kind",
		"deal_status": "r.deal_status", "stock_status": "r.stock_status", "payment_type": "p.type", "payment_status": "p.status",
		"company_tax_id": "coalesce(identity(c.cnpj), identity(c.cpf))",
		"company_name":   "coalesce(nullif(c.company_name, ''), nullif(c.fantasy_name, ''))",
		"company_state":  "nullif(c.address_state, '')", "company_city": "nullif(c.address_city, '')",
		"seller_name": sellerNameSQL, "seller_email": sellerEmailSQL,
		"freight_state": "nullif(f.address_state, '')", "freight_city": "nullif(f.address_city, '')",
		"power_kwp":      "r.total_power / {per_kwp}",
		"original_value": "r.original_value", "discount": "r.discount", "surcharge": "r.surcharge", "final_value": "r.final_value",
		"budget_created": "r.budget_created", "order_created": "r.order_created",
		"budget_date": "local_date(r.budget_created, {zone})", "order_date": "local_date(r.order_created, {zone})",
		"billing_date": "r.billing_date", "is_order": "r.request_type = 'order'",
		"deal_class": classSQL, "state": stateSQL,
		"payment_condition": "p.condition_name", "transaction_status": "p.transaction_status",
		"freight_type": "f.type", "freight_price": "f.price",
		"items_value":  "(SELECT round(sum(total_price), 6) FROM request_products AS item WHERE item.request_key = r.request_key)",
		"status_since": "status.since", "status_since_inferred": "status.is_inferred",
	},
	from: "FROM {records} AS r" + joinOther + joinParts + `
LEFT JOIN status ON status.request_key = r.request_key
WHERE ` + isLive + " AND NOT " + otherRepresents,
}

var lineFact = fact{
	table: schema.BiItems,
	values: map[string]string{
		"request_key": "p.request_key", "position": "p.position", "product_type": "p.type", "product_code": "p.product_code", "product_name": "p.name",
		"manufacturer": "e.manufacturer", "model": "e.model", "center_code": "p.center_code",
		"quantity": "p.quantity", "unit_price": "p.single_price", "total_price": "p.total_price", "unit_cost": "e.cost_price",
		"power_kwp": "p.quantity * " + ratedPower + " / 1000.0", "has_cost": "e.cost_price IS NOT NULL", "is_order": "b.is_order", "order_date": "b.order_date",
		"equipment_key": "e.equipment_key", "deal_class": "b.deal_class", "kind": "b.kind", "state": "b.state", "seller_email": "b.seller_email",
		"rated_power_w": ratedPower,
		"net_value":     "p.total_price * (b.final_value / nullif(b.original_value, 0))",
		// The last cost known when the order was created, else the first one known later on that
		// day. Orders older than the history need no lookup.
		"cost_at_order": `CASE WHEN b.is_order AND b.order_created >= {history} THEN coalesce(
    (SELECT h.cost_price FROM equipment_price_history AS h WHERE h.equipment_key = e.equipment_key AND h.valid_from <= b.order_created
      ORDER BY h.valid_from DESC LIMIT 1),
    (SELECT h.cost_price FROM equipment_price_history AS h WHERE h.equipment_key = e.equipment_key AND h.valid_from > b.order_created
      AND local_date(h.valid_from, {zone}) = b.order_date ORDER BY h.valid_from LIMIT 1)) END`,
	},
	from: `FROM {records} AS r
CROSS JOIN bi_requests AS b ON b.request_key = r.request_key
CROSS JOIN request_products AS p ON p.request_key = r.request_key` + joinCatalogue,
}

// joinCatalogue joins the catalogue to product lines. It includes deleted items: they still
// describe what was sold.
const joinCatalogue = `
LEFT JOIN equipments AS e ON e.type = coalesce(p.type, '') AND e.product_code = p.product_code
LEFT JOIN module_specifications AS m ON m.equipment_key = e.equipment_key`

// ratedPower is the SQL for the rated power of a line's product, which the catalogue gives in Wp.
const ratedPower = "CASE WHEN e.type = 'module' THEN coalesce(m.rated_maximum_power, e.nominal_max_power) END"

var leadTimeFact = fact{
	table: schema.BiLeadTime,
	values: map[string]string{
		"request_key": "b.request_key", "id": "b.id", "seller_email": "b.seller_email", "state": "b.state",
		"budget_date": "b.budget_date", "order_date": "b.order_date", "billing_date": "b.billing_date",
		"days_to_order":   exactDays("b.budget_created", "b.order_created"),
		"days_to_billing": calendarDays("b.order_date", "b.billing_date"), "days_in_all": calendarDays("b.budget_date", "b.billing_date"),
	},
	from: "FROM {records} AS r CROSS JOIN bi_requests AS b ON b.request_key = r.request_key WHERE b.deal_class = 'won'",
}

var stayFact = fact{
	table: schema.BiStatusDuration,
	// A piece is a row of the history that starts before the cut: the time when the record was
	// deleted or the order of a budget was first seen. A stay is a run of pieces with
	// one status. Pieces have no gaps between them, so a stay ends where the next run starts, even
	// if that is a run of removed pieces.
	with: `WITH piece AS (
  SELECT h.request_key, h.valid_from, h.deal_status, h.is_inferred, h.removed IS 1 AS removed,
    CASE WHEN r._deleted_at IS NULL AND other.request_type = 'order' AND ` + otherRepresents + `
      THEN other._first_seen_at ELSE r._deleted_at END AS cut
  FROM {records} AS r` + joinOther + `
  JOIN request_status_history AS h ON h.request_key = r.request_key
), turn AS (
  SELECT *, lag(deal_status) OVER of_record IS deal_status AND lag(removed) OVER of_record IS removed AS goes_on
  FROM piece WHERE cut IS NULL OR valid_from < cut
  WINDOW of_record AS (PARTITION BY request_key ORDER BY valid_from)
), stay AS (
  SELECT *, coalesce(lead(valid_from) OVER (PARTITION BY request_key ORDER BY valid_from), cut) AS ended_at FROM turn WHERE NOT goes_on
)`,
	values: map[string]string{
		"request_key": "r.request_key", "started_at": "stay.valid_from", "ended_at": "stay.ended_at", "request_type": "r.request_type", "id": "r.id",
		"deal_status": "stay.deal_status", "seller_email": sellerEmailSQL, "state": stateSQL,
		"days":    stayDays("stay.valid_from", "stay.ended_at"),
		"is_open": "stay.ended_at IS NULL", "is_inferred": "stay.is_inferred",
	},
	from: "FROM stay JOIN requests AS r ON r.request_key = stay.request_key" + joinParts + `
WHERE NOT stay.removed AND (stay.deal_status IS NULL OR fold(stay.deal_status) NOT IN ({listed}))`,
}

var dealFact = fact{
	table: schema.Deals,
	values: map[string]string{
		"request_key":  "r.request_key",
		"cohort_month": "substr(local_date(coalesce(r.budget_created, other.budget_created), {zone}), 1, 7)",
		"seller_email": sellerEmailSQL, "state": stateSQL,
		"is_order": "r.request_type = 'order' OR other.request_key IS NOT NULL",
		"days_to_order": exactDays("coalesce(r.budget_created, other.budget_created)",
			"CASE r.request_type WHEN 'order' THEN r.order_created ELSE other.order_created END"),
		"deal_class": "CASE WHEN NOT " + isLive + " THEN {dead_class} ELSE " + classSQL + " END", "final_value": "r.final_value",
	},
	from: "FROM {records} AS r" + joinOther + joinParts + "\nWHERE NOT " + otherRepresents,
}

var priceChangeFact = fact{
	table: schema.BiPriceChanges,
	with: `WITH price AS (
  SELECT h.equipment_key, r.product_code, n.column1 AS price_name, h.valid_from,
    CASE n.column1 WHEN 'base_price' THEN h.base_price ELSE h.cost_price END AS value
  FROM {records} AS r
  JOIN equipment_price_history AS h ON h.equipment_key = r.equipment_key
  CROSS JOIN (VALUES ('base_price'), ('cost_price')) AS n
), step AS (
  SELECT *, lag(value) OVER item AS old_value, row_number() OVER item = 1 AS is_first, min(valid_from) OVER item AS known_since
  FROM price WINDOW item AS (PARTITION BY equipment_key, price_name ORDER BY valid_from)
)`,
	values: map[string]string{
		"equipment_key": "equipment_key", "product_code": "product_code", "price_name": "price_name", "changed_at": "valid_from",
		"old_value": "old_value", "new_value": "value", "change": "round(value / nullif(old_value, 0) - 1, 6)",
		"is_first": "is_first", "known_since": "known_since",
	},
	from: "FROM step WHERE is_first OR value IS NOT old_value",
}

// fill replaces the placeholders of a fact's SQL:
//
//	{records}    the records to build rows from: all or only stale ones, of a batch
//	{stale}      the keys of the stale records of a batch
//	{zone}       the platform's time zone, as text
//	{per_kwp}    the number of the platform's units of power in a kWp
//	{today}      the start of today in the platform's time zone, as a TIMESTAMP
//	{history}    a TIMESTAMP before the day of the first row of equipment_price_history
//	{dead_class} the class of a deal r that is lost or cancelled
//	{dead}       the words of the lists of cancelled and lost statuses
//	{closed}     the words of the list of closed ones
//	{listed}     the words of these three
//	{cancelled_payment} the words of that list
func (r *refresh) fill(w walk, query string) string {
	perKWp := "1.0"
	if r.power == store.Wp {
		perKWp = "1000.0"
	}
	lists := r.side.Deals()
	dead := slices.Concat(lists.Cancelled, lists.Lost)
	query = strings.ReplaceAll(query, "{records}", w.records(r.full))
	return strings.NewReplacer(
		"{stale}", fmt.Sprintf("(SELECT key FROM _stale WHERE table_name = '%s' AND key BETWEEN ?1 AND ?2)", w.note),
		"{zone}", quote(r.side.Zone().String()), "{per_kwp}", perKWp,
		"{today}", quote(sqlitefile.FormatTime(r.midnight)), "{history}", quote(r.history),
		"{dead_class}", "CASE r.request_type WHEN 'order' THEN 'cancelled' ELSE 'lost' END",
		"{dead}", quoteAll(dead), "{closed}", quoteAll(lists.Closed), "{listed}", quoteAll(slices.Concat(dead, lists.Closed)),
		"{cancelled_payment}", quoteAll(lists.CancelledPayment)).Replace(query)
}

func quoteAll(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = quote(word)
	}
	return strings.Join(quoted, ", ")
}

// quote returns s as an SQL string literal.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
