-- Names come from the newest deal of each group.
SELECT
  g.seller_email, newest.seller_name, g.company_tax_id, newest.company_name, g.is_order,
  g.deals, g.original_value, g.discount, g.surcharge, g.final_value, g.reduction
FROM (
  SELECT seller_email, company_tax_id, is_order,
    max(request_key) AS newest,
    count(*) AS deals,
    round(sum(original_value), 2) AS original_value,
    round(sum(discount), 2) AS discount,
    round(sum(surcharge), 2) AS surcharge,
    round(sum(final_value), 2) AS final_value,
    round(1e6 * sum(original_value - final_value) / nullif(sum(original_value) FILTER (WHERE final_value IS NOT NULL), 0)) / 1e6 AS reduction
  FROM bi_requests
  WHERE deal_class IN ('won', 'open')
  GROUP BY company_tax_id, seller_email, is_order
) AS g
JOIN bi_requests AS newest ON newest.request_key = g.newest
