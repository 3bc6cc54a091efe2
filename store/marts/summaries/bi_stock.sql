WITH listed AS (
  SELECT equipment_key, coalesce(center_code, '') AS center_code, sum(current) AS current, sum(reserved) AS reserved, sum(minimum) AS minimum
  FROM equipment_inventory
  GROUP BY 1, 2
  UNION ALL
  SELECT equipment_key, '', inventory_current, inventory_reserved, inventory_minimum
  FROM equipments
  WHERE equipment_key NOT IN (SELECT equipment_key FROM equipment_inventory)
), sold AS (
  SELECT i.equipment_key, coalesce(i.center_code, '') AS center_code,
    round(total(i.quantity) FILTER (WHERE b.order_date > date(m.as_of, '-30 days')), 6) AS sold_30d,
    round(total(i.quantity), 6) AS sold_90d
  FROM _marts AS m
  JOIN bi_requests AS b ON b.deal_class = 'won' AND b.order_date > date(m.as_of, '-90 days') AND b.order_date <= m.as_of
  CROSS JOIN bi_items AS i ON i.request_key = b.request_key -- only the lines of these orders, not all
  WHERE i.equipment_key IS NOT NULL
  GROUP BY 1, 2
), place AS (
  SELECT equipment_key, center_code FROM listed UNION SELECT equipment_key, center_code FROM sold
)
SELECT
  e.equipment_key,
  p.center_code,
  e.product_code,
  l.current,
  l.reserved,
  l.minimum,
  coalesce(s.sold_30d, 0.0) AS sold_30d,
  coalesce(s.sold_90d, 0.0) AS sold_90d,
  CASE WHEN s.sold_90d > 0 THEN round(9e7 * max(0.0, l.current - coalesce(l.reserved, 0)) / s.sold_90d) / 1e6 END AS days_of_cover
FROM equipments AS e
JOIN place AS p ON p.equipment_key = e.equipment_key
LEFT JOIN listed AS l ON l.equipment_key = p.equipment_key AND l.center_code = p.center_code
LEFT JOIN sold AS s ON s.equipment_key = p.equipment_key AND s.center_code = p.center_code
WHERE e._deleted_at IS NULL
