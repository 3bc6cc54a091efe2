WITH ordered AS (
  SELECT cohort_month, seller_email, state, days_to_order,
    row_number() OVER (PARTITION BY cohort_month, seller_email, state ORDER BY days_to_order) AS place,
    count(*) OVER (PARTITION BY cohort_month, seller_email, state) AS places
  FROM _deals
  WHERE days_to_order IS NOT NULL
), median AS (
  SELECT cohort_month, seller_email, state, round(1e6 * avg(days_to_order)) / 1e6 AS days
  FROM ordered
  WHERE place IN ((places + 1) / 2, (places + 2) / 2)
  GROUP BY 1, 2, 3
), total AS (
  SELECT cohort_month, seller_email, state,
    count(*) AS budgets,
    sum(is_order) AS orders,
    count(*) FILTER (WHERE deal_class = 'won') AS won,
    count(*) FILTER (WHERE deal_class = 'lost') AS lost,
    count(*) FILTER (WHERE deal_class = 'open') AS open,
    count(*) FILTER (WHERE deal_class = 'cancelled') AS cancelled,
    round(sum(final_value), 2) AS budgets_value,
    round(sum(final_value) FILTER (WHERE deal_class = 'won'), 2) AS won_value
  FROM _deals
  GROUP BY 1, 2, 3
)
SELECT
  t.cohort_month, t.seller_email, t.state, t.budgets, t.orders,
  round(1e6 * t.won / t.budgets) / 1e6 AS conversion,
  m.days AS median_days_to_order,
  t.won, t.lost, t.open, t.cancelled, t.budgets_value, t.won_value
FROM total AS t
LEFT JOIN median AS m ON m.cohort_month IS t.cohort_month AND m.seller_email IS t.seller_email AND m.state IS t.state
