WITH line AS (
  SELECT substr(order_date, 1, 7) AS month, product_type, manufacturer, total_price, net_value, cost_at_order,
    CASE WHEN net_value IS NOT NULL THEN quantity * coalesce(cost_at_order, unit_cost) END AS cost
  FROM bi_items
  WHERE deal_class = 'won'
), total AS (
  SELECT month, product_type, manufacturer,
    count(*) AS lines,
    round(sum(total_price), 2) AS value,
    round(sum(net_value), 2) AS net_value,
    round(sum(net_value) FILTER (WHERE cost IS NOT NULL), 2) AS net_value_with_cost,
    round(sum(net_value) FILTER (WHERE cost IS NOT NULL AND cost_at_order IS NOT NULL), 2) AS net_value_at_order_cost,
    round(sum(cost), 2) AS cost
  FROM line
  GROUP BY 1, 2, 3
)
SELECT *,
  round(net_value_with_cost - cost, 2) AS margin,
  round((net_value_with_cost - cost) / nullif(net_value_with_cost, 0), 6) AS margin_rate
FROM total
