SELECT
  substr(order_date, 1, 7) AS month,
  state,
  kind,
  count(*) FILTER (WHERE deal_class = 'won') AS orders,
  round(sum(final_value) FILTER (WHERE deal_class = 'won'), 2) AS final_value,
  round(sum(power_kwp) FILTER (WHERE deal_class = 'won'), 6) AS power_kwp,
  round(
    1e3 * sum(final_value) FILTER (WHERE deal_class = 'won' AND power_kwp > 0)
    / sum(power_kwp) FILTER (WHERE deal_class = 'won' AND power_kwp > 0 AND final_value IS NOT NULL)) / 1e6 AS value_per_wp,
  count(*) FILTER (WHERE deal_class = 'cancelled') AS cancelled_orders,
  round(sum(final_value) FILTER (WHERE deal_class = 'cancelled'), 2) AS cancelled_value,
  round(sum(freight_price) FILTER (WHERE deal_class = 'won'), 2) AS freight_price
FROM bi_requests
WHERE is_order = 1
GROUP BY 1, 2, 3
