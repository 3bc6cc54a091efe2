package marts

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"solarmirror/schema"
)

// groupMart is a mart that groups the rows of a source table by some columns, which are also the
// mart's first columns. NULL forms a group.
type groupMart struct {
	table  *schema.Table
	source *schema.Table // has an index that begins with by and covers values
	by     []string
	values map[string]string // the SQL of other columns; b is the source
	latest []string          // the other columns: from the group's deal with the highest key
}

var groupMarts = []groupMart{
	{
		table: schema.BiFunnel, source: schema.Deals, by: []string{"cohort_month", "seller_email", "state"},
		values: map[string]string{
			"budgets": "count(*)", "orders": "sum(b.is_order)", "conversion": "1.0 * sum(b.is_order) / count(*)",
			"median_days_to_order": "median(CASE WHEN b.is_order = 1 THEN b.days_to_order END)",
		},
	},
	{
		table: schema.BiDiscounts, source: schema.BiRequests, by: []string{"company_tax_id", "seller_email", "is_order"},
		values: map[string]string{
			"deals":          "count(*)",
			"original_value": total("b.original_value"), "discount": total("b.discount"), "surcharge": total("b.surcharge"), "final_value": total("b.final_value"),
			"reduction": ratio("b.original_value - b.final_value", "b.original_value", "b.original_value - b.final_value IS NOT NULL"),
		},
		latest: []string{"seller_name", "company_name"},
	},
	{
		table: schema.BiSellers, source: schema.BiRequests, by: []string{"seller_email"},
		values: portfolio, latest: []string{"seller_name"},
	},
	{
		table: schema.BiCustomers, source: schema.BiRequests, by: []string{"company_tax_id"},
		values: portfolio, latest: []string{"company_name", "company_state", "company_city"},
	},
}

// total returns SQL for a rounded sum, which does not depend on the order of addition. Like sum it
// is NULL without values.
func total(what string) string { return "round(sum(" + what + "), 6)" }

// ratio returns SQL for the quotient of two sums over the rows for which condition is true. It is
// NULL without such rows or when the lower sum is zero.
func ratio(upper, lower, condition string) string {
	of := func(what string) string { return fmt.Sprintf("sum(CASE WHEN %s THEN %s END)", condition, what) }
	return fmt.Sprintf("round(%s / nullif(%s, 0), 6)", of(upper), of(lower))
}

// ofOrder returns SQL for a value of the deals whose is_order is order, NULL for others.
func ofOrder(order int, what string) string {
	return fmt.Sprintf("CASE WHEN b.is_order = %d THEN %s END", order, what)
}

// portfolio is the SQL of the columns that bi_sellers and bi_customers share.
var portfolio = map[string]string{
	"budgets": "count(" + ofOrder(0, "1") + ")", "orders": "count(" + ofOrder(1, "1") + ")",
	"budgets_value": total(ofOrder(0, "b.final_value")), "orders_value": total(ofOrder(1, "b.final_value")), "orders_power_kwp": total(ofOrder(1, "b.power_kwp")),
	"first_order_date": "min(" + ofOrder(1, "b.order_date") + ")", "last_order_date": "max(" + ofOrder(1, "b.order_date") + ")",
}

// affected is the temporary table of the groups that a refresh recomputes.
func (g groupMart) affected() string { return "affected_" + g.table.Name }

// matches returns the SQL condition that joins rows to groups; NULL equals NULL.
func (g groupMart) matches(rows, groups string) string {
	var list []string
	for _, column := range g.by {
		list = append(list, fmt.Sprintf("%s.%s IS %s.%s", rows, column, groups, column))
	}
	return strings.Join(list, " AND ")
}

// insert returns the INSERT that builds groups: from is the FROM clause, by the GROUP BY.
func (g groupMart) insert(from, by string) string {
	var inner, outer []string
	for _, c := range g.table.Columns {
		value := g.values[c.Name]
		switch {
		case slices.Contains(g.latest, c.Name):
			outer = append(outer, "l."+c.Name)
			continue
		case slices.Contains(g.by, c.Name):
			value = "b." + c.Name
		case value == "":
			panic("no value for " + g.table.Name + "." + c.Name)
		}
		inner, outer = append(inner, value+" AS "+c.Name), append(outer, "g."+c.Name)
	}
	sums := fmt.Sprintf("SELECT %s, max(b.request_key) AS latest\nFROM %s\nGROUP BY %s", strings.Join(inner, ",\n  "), from, by)
	insert := fmt.Sprintf("INSERT INTO %s (%s)\nSELECT %s\nFROM (%s) AS g",
		g.table.Name, strings.Join(g.table.ColumnNames(), ", "), strings.Join(outer, ", "), sums)
	if len(g.latest) > 0 {
		insert += fmt.Sprintf(" CROSS JOIN %s AS l ON l.request_key = g.latest", g.source.Name)
	}
	return insert
}

func (g groupMart) insertAffected() string {
	return g.insert(fmt.Sprintf("temp.%s AS t CROSS JOIN %s AS b ON %s", g.affected(), g.source.Name, g.matches("b", "t")), "t.rowid")
}

func (g groupMart) insertAll() string {
	return g.insert(g.source.Name+" AS b", "b."+strings.Join(g.by, ", b."))
}

// noteGroups collects the groups of the stale requests' rows. It runs before and after those rows
// are replaced, and so finds the groups that they left and joined.
func (r *refresh) noteGroups() error {
	for _, g := range groupMarts {
		columns := strings.Join(g.by, ", ")
		if err := r.noteAffected(g.affected(), columns, "b."+strings.Join(g.by, ", b."), g.source.Name, ""); err != nil {
			return err
		}
	}
	return r.noteAffected(affectedMonths, "month", "substr(b.order_date, 1, 7)", schema.BiRequests.Name, " AND b.is_order = 1")
}

func (r *refresh) noteAffected(affected, columns, values, source, where string) error {
	doing := "note the groups concerned in " + affected
	// In SELECT DISTINCT and EXCEPT, NULL equals NULL.
	for _, statement := range []string{
		fmt.Sprintf("CREATE TEMP TABLE IF NOT EXISTS %s (%s)", affected, columns),
		fmt.Sprintf(`INSERT INTO temp.%s SELECT DISTINCT %s FROM _stale AS s CROSS JOIN %s AS b ON b.request_key = s.key WHERE s.table_name = 'requests'%s
			EXCEPT SELECT %s FROM temp.%[1]s`, affected, values, source, where, columns),
	} {
		if _, err := r.exec(doing, statement); err != nil {
			return err
		}
	}
	return nil
}

// sumGroups recomputes the affected groups, or all groups when more than a fifth are affected: a
// table scan is then faster than lookups.
func (r *refresh) sumGroups() error {
	for _, g := range groupMarts {
		all := r.full
		if !all {
			_, err := r.tx.Get("count the groups of "+g.table.Name, &all,
				fmt.Sprintf("SELECT (SELECT count(*) FROM temp.%s) * 5 > (SELECT count(*) FROM %s)", g.affected(), g.table.Name))
			if err != nil {
				return err
			}
		}
		sum := r.sumAffected
		if all {
			sum = r.sumAll
		}
		if err := sum(g); err != nil {
			return err
		}
		if !r.full {
			if _, err := r.exec("forget the groups concerned", "DELETE FROM temp."+g.affected()); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *refresh) sumAffected(g groupMart) error {
	doing := "add up " + g.table.Name
	if _, err := r.exec(doing, fmt.Sprintf("DELETE FROM %s WHERE rowid IN (SELECT b.rowid FROM temp.%s AS t CROSS JOIN %[1]s AS b ON %[3]s)",
		g.table.Name, g.affected(), g.matches("b", "t"))); err != nil {
		return err
	}
	_, err := r.exec(doing, g.insertAffected())
	return err
}

func (r *refresh) sumAll(g groupMart) error {
	doing := "add up all of " + g.table.Name
	if _, err := r.exec(doing, "DELETE FROM "+g.table.Name); err != nil {
		return err
	}
	_, err := r.exec(doing, g.insertAll())
	return err
}

const affectedMonths = "affected_months"

// sumMonths recomputes bi_revenue_month, one month per statement.
func (r *refresh) sumMonths() error {
	const doing = "add up bi_revenue_month"
	which := "SELECT month FROM temp." + affectedMonths
	if r.full {
		which = "SELECT DISTINCT substr(order_date, 1, 7) FROM bi_requests WHERE is_order = 1"
	}
	months, err := list[sql.NullString](r, doing, which)
	if err != nil {
		return err
	}
	for _, month := range months {
		if _, err := r.exec(doing, "DELETE FROM bi_revenue_month WHERE month IS ?", month); err != nil {
			return err
		}
		days := "b.order_date IS NULL AND ? IS NULL"
		if month.Valid {
			days = "b.order_date BETWEEN ? || '-01' AND ?1 || '-31'"
		}
		if _, err := r.exec(doing, `INSERT INTO bi_revenue_month (month, state, kind, orders, final_value, power_kwp, value_per_wp)
			SELECT substr(b.order_date, 1, 7), coalesce(b.freight_state, b.company_state) AS place, b.kind, count(*), `+total("b.final_value")+", "+total("b.power_kwp")+", "+
			ratio("b.final_value", "1000 * b.power_kwp", "b.final_value IS NOT NULL AND b.power_kwp > 0")+`
			FROM bi_requests AS b WHERE b.is_order = 1 AND `+days+" GROUP BY place, b.kind", month); err != nil {
			return err
		}
	}
	if r.full {
		return nil
	}
	_, err = r.exec(doing, "DELETE FROM temp."+affectedMonths)
	return err
}
