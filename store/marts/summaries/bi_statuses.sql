SELECT
  deal_status,
  deal_class,
  count(*) AS deals,
  round(sum(final_value), 2) AS value
FROM bi_requests
GROUP BY 1, 2
