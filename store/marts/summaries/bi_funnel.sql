WITH deal AS (
  SELECT *,
    row_number() OVER (PARTITION BY cohort_month, seller_email, state ORDER BY days_to_order DESC) AS place,
    count(days_to_order) OVER (PARTITION BY cohort_month, seller_email, state) AS places
  FROM _deals
)
SELECT
  cohort_month,
  seller_email,
  state,
  count(*) AS budgets,
  sum(is_order) AS orders,
  round(1e6 * count(*) FILTER (WHERE deal_class = 'won') / count(*)) / 1e6 AS conversion,
  round(1e6 * avg(days_to_order) FILTER (WHERE place IN ((places + 1) / 2, (places + 2) / 2))) / 1e6 AS median_days_to_order,
  count(*) FILTER (WHERE deal_class = 'won') AS won,
  count(*) FILTER (WHERE deal_class = 'lost') AS lost,
  count(*) FILTER (WHERE deal_class = 'open') AS open,
  count(*) FILTER (WHERE deal_class = 'cancelled') AS cancelled,
  round(sum(final_value), 2) AS budgets_value,
  round(sum(final_value) FILTER (WHERE deal_class = 'won'), 2) AS won_value
FROM deal
GROUP BY 1, 2, 3
