-- Name and place come from the newest deal of each company.
SELECT
  g.company_tax_id, newest.company_name, newest.company_state, newest.company_city,
  g.budgets, g.budgets_value, g.orders, g.orders_value, g.orders_power_kwp, g.first_order_date, g.last_order_date,
  g.open_budgets, g.open_value, g.lost_budgets, g.lost_value, g.cancelled_orders, g.cancelled_value
FROM (
  SELECT company_tax_id,
    max(request_key) AS newest,
    count(*) FILTER (WHERE is_order = 0) AS budgets,
    round(sum(final_value) FILTER (WHERE is_order = 0), 2) AS budgets_value,
    count(*) FILTER (WHERE deal_class = 'won') AS orders,
    round(sum(final_value) FILTER (WHERE deal_class = 'won'), 2) AS orders_value,
    round(sum(power_kwp) FILTER (WHERE deal_class = 'won'), 6) AS orders_power_kwp,
    min(order_date) FILTER (WHERE deal_class = 'won') AS first_order_date,
    max(order_date) FILTER (WHERE deal_class = 'won') AS last_order_date,
    count(*) FILTER (WHERE deal_class = 'open') AS open_budgets,
    round(sum(final_value) FILTER (WHERE deal_class = 'open'), 2) AS open_value,
    count(*) FILTER (WHERE deal_class = 'lost') AS lost_budgets,
    round(sum(final_value) FILTER (WHERE deal_class = 'lost'), 2) AS lost_value,
    count(*) FILTER (WHERE deal_class = 'cancelled') AS cancelled_orders,
    round(sum(final_value) FILTER (WHERE deal_class = 'cancelled'), 2) AS cancelled_value
  FROM bi_requests
  GROUP BY 1
) AS g
JOIN bi_requests AS newest ON newest.request_key = g.newest
