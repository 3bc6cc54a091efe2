SELECT
  payment_type,
  payment_status,
  payment_condition,
  transaction_status,
  count(*) AS deals,
  round(sum(final_value), 2) AS value,
  min(order_date) AS oldest_order_date
FROM bi_requests
WHERE deal_class = 'won'
GROUP BY 1, 2, 3, 4
