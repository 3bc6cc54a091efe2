-- A product of prices can be half a cent, so it is rounded over millionths.
WITH line AS (
  SELECT substr(order_date, 1, 7) AS month, product_type, manufacturer, total_price, net_value, cost_at_order,
    CASE WHEN net_value IS NOT NULL THEN quantity * coalesce(cost_at_order, unit_cost) END AS cost
  FROM bi_items
  WHERE deal_class = 'won'
), total AS (
  SELECT month, product_type, manufacturer,
    count(*) AS lines,
    round(round(1e6 * sum(total_price)) / 1e4) / 100 AS value,
    round(round(1e6 * sum(net_value)) / 1e4) / 100 AS net_value,
    round(round(1e6 * sum(net_value) FILTER (WHERE cost IS NOT NULL)) / 1e4) / 100 AS net_value_with_cost,
    round(round(1e6 * sum(net_value) FILTER (WHERE cost IS NOT NULL AND cost_at_order IS NOT NULL)) / 1e4) / 100 AS net_value_at_order_cost,
    round(round(1e6 * sum(cost)) / 1e4) / 100 AS cost
  FROM line
  GROUP BY 1, 2, 3
)
SELECT *,
  round(net_value_with_cost - cost, 2) AS margin,
  round(1e6 * (net_value_with_cost - cost) / nullif(net_value_with_cost, 0)) / 1e6 AS margin_rate
FROM total
