package marts

import (
	"fmt"
	"strings"
	"time"
)

// The days of sales that bi_stock counts, including today.
const (
	shortWindow = 30
	longWindow  = 90
)

// buildStock rebuilds bi_stock: the catalogue is small, and the days that it counts move.
func (r *refresh) buildStock() error {
	today, err := time.Parse(time.DateOnly, r.today)
	if err != nil {
		return r.tx.Fail("build bi_stock", err)
	}
	before := func(days int) string { return today.AddDate(0, 0, -days).Format(time.DateOnly) }
	if _, err := r.exec("empty bi_stock", "DELETE FROM bi_stock"); err != nil {
		return err
	}
	_, err = r.exec("build bi_stock", fmt.Sprintf(`
WITH listed AS (
  SELECT equipment_key, coalesce(center_code, '') AS center_code, sum(current) AS current, sum(reserved) AS reserved, sum(minimum) AS minimum
  FROM equipment_inventory GROUP BY 1, 2
  UNION ALL
  SELECT e.equipment_key, '', e.inventory_current, e.inventory_reserved, e.inventory_minimum
  FROM equipments AS e WHERE NOT EXISTS (SELECT 1 FROM equipment_inventory AS i WHERE i.equipment_key = e.equipment_key)
), lines AS (
  SELECT coalesce(i.product_type, '') AS type, i.product_code, coalesce(i.center_code, '') AS center_code,
    round(total(CASE WHEN b.order_date > ?1 THEN i.quantity END), 6) AS sold_30d, round(total(i.quantity), 6) AS sold_90d
  FROM bi_requests AS b CROSS JOIN bi_items AS i ON i.request_key = b.request_key
  WHERE b.is_order = 1 AND b.order_date > ?2 GROUP BY 1, 2, 3
), sold AS (
  SELECT e.equipment_key, s.center_code, s.sold_30d, s.sold_90d FROM lines AS s CROSS JOIN equipments AS e ON e.type = s.type AND e.product_code = s.product_code
)
INSERT INTO bi_stock (equipment_key, center_code, product_code, current, reserved, minimum, sold_30d, sold_90d, days_of_cover)
SELECT e.equipment_key, coalesce(l.center_code, s.center_code), e.product_code, l.current, l.reserved, l.minimum,
  coalesce(s.sold_30d, 0.0), coalesce(s.sold_90d, 0.0),
  CASE WHEN s.sold_90d > 0 THEN round(max(0.0, l.current - coalesce(l.reserved, 0)) / (s.sold_90d / %[1]d.0), 6) END
FROM listed AS l FULL JOIN sold AS s ON s.equipment_key = l.equipment_key AND s.center_code = l.center_code
JOIN equipments AS e ON e.equipment_key = coalesce(l.equipment_key, s.equipment_key)
WHERE e._deleted_at IS NULL`, longWindow), before(shortWindow), before(longWindow))
	return err
}

// updateOpenStays recomputes the length of open stays once a day.
func (r *refresh) updateOpenStays() error {
	const doing = "count the days of open stays"
	var behind bool
	if _, err := r.tx.Get(doing, &behind, "SELECT as_of <> ? FROM _marts", r.today); err != nil || !behind {
		return err
	}
	query, err := r.fill("UPDATE bi_status_duration SET days = " + stayDays("started_at", "ended_at") + " WHERE is_open = 1")
	if err != nil {
		return r.tx.Fail(doing, err)
	}
	_, err = r.exec(doing, query)
	return err
}

// catalogueColumns are the columns of bi_items that come from the catalogue, each with its SQL.
var catalogueColumns = [][2]string{
	{"manufacturer", "e.manufacturer"}, {"model", "e.model"}, {"unit_cost", "e.cost_price"}, {"has_cost", "e.cost_price IS NOT NULL"},
	{"power_kwp", linePower("i.product_type", "i.quantity")},
}

// updateItems updates the lines in bi_items of changed catalogue items. All lines of an item have
// the same values, so the query compares only one: most changes concern the stock, which lines do
// not show.
func (r *refresh) updateItems() error {
	var differs, set, values []string
	for _, column := range catalogueColumns {
		differs = append(differs, fmt.Sprintf("i.%s IS NOT (%s)", column[0], column[1]))
		set = append(set, fmt.Sprintf("%s = x.%[1]s", column[0]))
		values = append(values, column[1]+" AS "+column[0])
	}
	lines := "request_products AS p CROSS JOIN bi_items AS i ON i.request_key = p.request_key AND i.position = p.position AND i.product_code = p.product_code"
	codes, err := list[string](r, "find the items concerned", `SELECT DISTINCT s.name FROM _stale AS s LEFT JOIN equipments AS e ON e.equipment_key = s.key
		LEFT JOIN module_specifications AS m ON m.equipment_key = e.equipment_key
		WHERE s.table_name = 'equipments' AND (e.equipment_key IS NULL OR coalesce((
			SELECT `+strings.Join(differs, " OR ")+` FROM `+lines+` AND coalesce(i.product_type, '') = e.type AND coalesce(p.type, '') = e.type
			WHERE p.product_code = s.name LIMIT 1), 0))`)
	if err != nil {
		return err
	}
	for _, code := range codes {
		if _, err := r.exec("alter bi_items", `UPDATE bi_items SET `+strings.Join(set, ", ")+`
			FROM (SELECT i.request_key, i.position, `+strings.Join(values, ", ")+` FROM `+lines+joinCatalogue+` WHERE p.product_code = ?) AS x
			WHERE bi_items.request_key = x.request_key AND bi_items.position = x.position`, code); err != nil {
			return err
		}
	}
	return nil
}
