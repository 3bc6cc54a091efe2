package marts

import (
	"fmt"
	"strings"
	"time"

	"solarmirror/schema"
	"solarmirror/store"
	"solarmirror/store/sqlitefile"
)

// rowMart is a mart in which each row comes from one deal. Its SQL may contain these placeholders,
// which fill replaces:
//
//	{zone}     the platform's time zone, as text
//	{per_kwp}  the number of the platform's units of power in a kWp
//	{today}    the start of today in the platform's time zone, as a TIMESTAMP
//	{requests} the requests to build rows from, with the alias r
type rowMart struct {
	table  *schema.Table
	values map[string]string // the SQL of each column
	with   string            // a WITH clause before the INSERT
	from   string
}

// insert returns the INSERT that builds the rows in the mart or in another table with its columns.
func (w rowMart) insert(into string) string {
	values := make([]string, len(w.table.Columns))
	for i, c := range w.table.Columns {
		values[i] = w.values[c.Name]
		if values[i] == "" {
			panic("no value for " + w.table.Name + "." + c.Name)
		}
	}
	return fmt.Sprintf("%s\nINSERT INTO %s (%s)\nSELECT %s\n%s",
		w.with, into, strings.Join(w.table.ColumnNames(), ", "), strings.Join(values, ",\n  "), w.from)
}

// buildTable is the temporary table that new rows are built in, to be compared with the mart's.
func (w rowMart) buildTable() string { return "temp.built_" + w.table.Name }

// replace returns the statements that rebuild the mart's rows of a batch and write only those that
// differ. Each takes the first and the last key of the batch.
func (w rowMart) replace() []string {
	t := w.table
	return []string{
		w.insert(w.buildTable()),
		fmt.Sprintf(`DELETE FROM %s WHERE request_key IN (SELECT key FROM _stale WHERE table_name = 'requests' AND key BETWEEN ? AND ?)
			AND (%s) NOT IN (SELECT %[2]s FROM %s)`, t.Name, strings.Join(t.Key, ", "), w.buildTable()),
		fmt.Sprintf("INSERT INTO %s (%s) SELECT %[2]s FROM %s WHERE request_key BETWEEN ? AND ?%s",
			t.Name, strings.Join(t.ColumnNames(), ", "), w.buildTable(), store.DifferingClause(t)),
		fmt.Sprintf("DELETE FROM %s WHERE request_key BETWEEN ? AND ?", w.buildTable()),
	}
}

// The values of {requests}: all or only stale requests, between the first and last key of a batch.
const (
	allRequests   = "requests AS r WHERE r.request_key BETWEEN ? AND ?"
	staleRequests = "_stale AS s CROSS JOIN requests AS r ON r.request_key = s.key WHERE s.table_name = 'requests' AND s.key BETWEEN ? AND ?"
)

// batchRequests selects the requests of a batch. It is a subquery: with a mere alias SQLite no
// longer uses the primary key for the joins below.
const batchRequests = "(SELECT r.* FROM {requests}) AS r"

// joinAddresses joins the company and the delivery of a request.
const joinAddresses = `
LEFT JOIN request_companies AS c ON c.request_key = r.request_key
LEFT JOIN request_freights AS f ON f.request_key = r.request_key`

// joinOther joins the other row of a deal: the order of a budget, the budget of an order.
const joinOther = `
LEFT JOIN requests AS other ON other.request_type = CASE r.request_type WHEN 'order' THEN 'budget' ELSE 'order' END AND other.id = r.id`

// otherRepresents is true when the other row represents the deal. The row that is not deleted does,
// or else the order.
const otherRepresents = `other.request_key IS NOT NULL AND CASE WHEN (other._deleted_at IS NULL) = (r._deleted_at IS NULL)
	THEN other.request_type = 'order' ELSE other._deleted_at IS NULL END`

const (
	sellerEmailSQL = "identity(r.responsible_email)"
	sellerNameSQL  = "nullif(trim(coalesce(r.responsible_name, '') || ' ' || coalesce(r.responsible_surname, '')), '')"
	stateSQL       = "coalesce(nullif(f.address_state, ''), nullif(c.address_state, ''))"
)

// exactDays returns SQL for the days between two TIMESTAMPs, rounded to a tenth of a second.
func exactDays(from, to string) string {
	return fmt.Sprintf("round(julianday(%s) - julianday(%s), 6)", to, from)
}

// calendarDays returns SQL for the whole days between two DATEs.
func calendarDays(from, to string) string {
	return fmt.Sprintf("CAST(julianday(%s) - julianday(%s) AS INTEGER)", to, from)
}

// rowMarts are in the order in which they are built.
var rowMarts = []rowMart{
	{
		table: schema.BiRequests,
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
		},
		from: "FROM " + batchRequests + `
LEFT JOIN request_payments AS p ON p.request_key = r.request_key` + joinAddresses + `
WHERE r.removed IS NOT 1 AND r._deleted_at IS NULL AND (r.request_type = 'order' OR NOT EXISTS (
  SELECT 1 FROM requests AS o WHERE o.request_type = 'order' AND o.id = r.id AND o.removed IS NOT 1 AND o._deleted_at IS NULL))`,
	},
	{
		table: schema.BiItems,
		values: map[string]string{
			"request_key": "p.request_key", "position": "p.position", "product_type": "p.type", "product_code": "p.product_code", "product_name": "p.name",
			"manufacturer": "e.manufacturer", "model": "e.model", "center_code": "p.center_code",
			"quantity": "p.quantity", "unit_price": "p.single_price", "total_price": "p.total_price", "unit_cost": "e.cost_price",
			"power_kwp": linePower("p.type", "p.quantity"), "has_cost": "e.cost_price IS NOT NULL", "is_order": "b.is_order", "order_date": "b.order_date",
		},
		from: "FROM " + batchRequests + `
CROSS JOIN bi_requests AS b ON b.request_key = r.request_key
CROSS JOIN request_products AS p ON p.request_key = r.request_key` + joinCatalogue,
	},
	{
		table: schema.BiLeadTime,
		values: map[string]string{
			"request_key": "b.request_key", "id": "b.id", "seller_email": "b.seller_email", "state": "coalesce(b.freight_state, b.company_state)",
			"budget_date": "b.budget_date", "order_date": "b.order_date", "billing_date": "b.billing_date",
			"days_to_order":   exactDays("b.budget_created", "b.order_created"),
			"days_to_billing": calendarDays("b.order_date", "b.billing_date"), "days_in_all": calendarDays("b.budget_date", "b.billing_date"),
		},
		from: "FROM " + batchRequests + " CROSS JOIN bi_requests AS b ON b.request_key = r.request_key WHERE b.is_order = 1",
	},
	{
		table: schema.BiStatusDuration,
		// A piece is a row of the history that starts before the cut: the time when the record was
		// deleted or the other row began to represent the deal. A stay is a run of pieces with one
		// status. Pieces have no gaps between them, so a stay ends where the next run starts, even
		// if that is a run of removed pieces.
		with: `WITH piece AS (
  SELECT h.request_key, h.valid_from, h.deal_status, h.is_inferred, h.removed IS 1 AS removed,
    CASE WHEN r._deleted_at IS NULL AND (` + otherRepresents + `) AND other._first_seen_at > r._first_seen_at THEN other._first_seen_at ELSE r._deleted_at END AS cut
  FROM ` + batchRequests + joinOther + `
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
		from: "FROM stay JOIN requests AS r ON r.request_key = stay.request_key" + joinAddresses + "\nWHERE NOT stay.removed",
	},
	{
		table: schema.Deals,
		values: map[string]string{
			"request_key":  "r.request_key",
			"cohort_month": "substr(local_date(coalesce(r.budget_created, other.budget_created), {zone}), 1, 7)",
			"seller_email": sellerEmailSQL, "state": stateSQL,
			"is_order": "r.request_type = 'order' OR other.request_key IS NOT NULL",
			"days_to_order": exactDays("coalesce(r.budget_created, other.budget_created)",
				"CASE r.request_type WHEN 'order' THEN r.order_created ELSE other.order_created END"),
		},
		from: "FROM " + batchRequests + joinOther + joinAddresses + "\nWHERE NOT (" + otherRepresents + ")",
	},
}

// joinCatalogue joins the catalogue to product lines. It includes deleted items: they still
// describe what was sold.
const joinCatalogue = `
LEFT JOIN equipments AS e ON e.type = coalesce(p.type, '') AND e.product_code = p.product_code
LEFT JOIN module_specifications AS m ON m.equipment_key = e.equipment_key`

// linePower returns SQL for the power of a line in kWp. Rated powers are in Wp.
func linePower(kind, quantity string) string {
	return fmt.Sprintf("CASE WHEN %s = 'module' THEN %s * coalesce(m.rated_maximum_power, e.nominal_max_power) / 1000.0 END", kind, quantity)
}

// stayDays returns SQL for the days of a stay; of an open stay, up to the start of today.
func stayDays(from, to string) string {
	return fmt.Sprintf("max(0.0, %s)", exactDays(from, "coalesce("+to+", {today})"))
}

// fill replaces the placeholders of a rowMart's SQL.
func (r *refresh) fill(query string) (string, error) {
	midnight, err := startOfDay(r.today, r.tx.Mirror().Zone())
	if err != nil {
		return "", err
	}
	perKWp, requests := "1.0", staleRequests
	if r.power == store.Wp {
		perKWp = "1000.0"
	}
	if r.full {
		requests = allRequests
	}
	return strings.NewReplacer("{zone}", quote(r.tx.Mirror().Zone().String()), "{per_kwp}", perKWp, "{today}", quote(sqlitefile.FormatTime(midnight)), "{requests}", requests).
		Replace(query), nil
}

// buildRows writes the rows of all or of the stale requests, in batches.
func (r *refresh) buildRows() error {
	next := "SELECT max(key) AS last, count(*) AS n FROM (SELECT key FROM _stale WHERE table_name = 'requests' AND key > ? ORDER BY key LIMIT ?)"
	if r.full {
		next = "SELECT max(request_key) AS last, count(*) AS n FROM (SELECT request_key FROM requests WHERE request_key > ? ORDER BY request_key LIMIT ?)"
	}
	type statement struct{ doing, query string }
	var statements []statement
	for _, w := range rowMarts {
		queries := []string{w.insert(w.table.Name)}
		if !r.full {
			queries = w.replace()
			if _, err := r.exec("make "+w.buildTable(), fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s AS SELECT * FROM %s WHERE false", w.buildTable(), w.table.Name)); err != nil {
				return err
			}
		}
		for _, query := range queries {
			filled, err := r.fill(query)
			if err != nil {
				return r.tx.Fail("build "+w.table.Name, err)
			}
			statements = append(statements, statement{"build " + w.table.Name, filled})
		}
	}
	for after := int64(0); ; {
		var batch struct {
			Last *int64
			N    int64
		}
		if _, err := r.tx.Get("find the next requests", &batch, next, after, batchKeys); err != nil || batch.N == 0 {
			return err
		}
		for _, s := range statements {
			if _, err := r.exec(s.doing, s.query, after+1, *batch.Last); err != nil {
				return err
			}
		}
		after = *batch.Last
		r.deals += batch.N
	}
}

// startOfDay returns the first moment of a day in a zone.
func startOfDay(day string, zone *time.Location) (time.Time, error) {
	return time.ParseInLocation(time.DateOnly, day, zone)
}

// quote returns s as an SQL string literal.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
