-- A budget in a closed status has no row in bi_status_duration, so the join leaves it out.
WITH deal AS (
  SELECT b.seller_email, b.state, b.deal_status, b.final_value, b.power_kwp, s.started_at, s.days,
    row_number() OVER (PARTITION BY b.seller_email, b.state, b.deal_status ORDER BY s.days) AS place
  FROM bi_requests AS b
  JOIN bi_status_duration AS s ON s.request_key = b.request_key AND s.is_open = 1
  WHERE b.deal_class = 'open'
), total AS (
  SELECT seller_email, state, deal_status,
    count(*) AS deals,
    round(sum(final_value), 2) AS value,
    round(sum(power_kwp), 6) AS power_kwp,
    min(started_at) AS oldest_since
  FROM deal
  GROUP BY 1, 2, 3
)
SELECT t.*, round(1e6 * avg(d.days)) / 1e6 AS median_days
FROM total AS t
JOIN deal AS d ON d.place IN ((t.deals + 1) / 2, (t.deals + 2) / 2)
  AND d.seller_email IS t.seller_email AND d.state IS t.state AND d.deal_status IS t.deal_status
GROUP BY t.seller_email, t.state, t.deal_status
