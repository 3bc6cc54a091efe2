SELECT
  substr(order_date, 1, 7) AS month,
  seller_email,
  count(*) FILTER (WHERE deal_class = 'won') AS orders,
  round(sum(final_value) FILTER (WHERE deal_class = 'won'), 2) AS final_value,
  round(sum(power_kwp) FILTER (WHERE deal_class = 'won'), 6) AS power_kwp,
  count(*) FILTER (WHERE deal_class = 'cancelled') AS cancelled_orders,
  round(sum(final_value) FILTER (WHERE deal_class = 'cancelled'), 2) AS cancelled_value
FROM bi_requests
WHERE is_order = 1
GROUP BY 1, 2
