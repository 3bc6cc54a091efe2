package store

import (
	"fmt"
	"strings"

	"solarmirror/schema"
)

// writeFreshness writes bi_freshness anew. It is about runs, not records, and so goes with the ledger's transactions and not with the other
// marts. Of a first load that share is done which was read of what the platform says there is, over the stream's passes begun so far.
func (tx *Tx) writeFreshness() error {
	_, err := tx.exec("write "+schema.BiFreshness.Name, fmt.Sprintf(freshnessSQL, streamValues()), FormatTime(tx.m.now()))
	return err
}

// streamValues are the streams, each with how many passes it has.
func streamValues() string {
	var values []string
	for _, s := range schema.Streams {
		values = append(values, fmt.Sprintf("('%s', %d)", s.Name, len(s.Passes)))
	}
	return strings.Join(values, ", ")
}

const freshnessSQL = `
WITH streams (stream, passes) AS (VALUES %s),
complete AS (
  SELECT stream, count(complete_through) AS passes, min(complete_through) AS through, CASE WHEN count(*) = count(last_full_scan_at) THEN min(last_full_scan_at) END AS scanned
  FROM _watermarks GROUP BY stream
), loading AS (
  SELECT stream, 100.0 * sum(CASE state WHEN 'complete' THEN expected ELSE min(records, expected) END) / nullif(sum(expected), 0) AS done
  FROM _windows WHERE from_date IS NULL AND to_date IS NULL GROUP BY stream HAVING count(*) = count(expected)
)
INSERT OR REPLACE INTO bi_freshness (stream, complete_through, last_full_scan_at, age_hours, initial_load_percent, last_run_at, last_outcome, rejects, as_of)
SELECT s.stream, f.through, f.scanned, round(24 * (julianday(?1) - julianday(f.through)), 3),
  CASE WHEN f.through IS NULL THEN round(l.done, 1) END, r.finished_at, json_extract(r.streams, '$.' || s.stream),
  (SELECT count(*) FROM _rejects AS x WHERE x.stream = s.stream AND x.replayed_at IS NULL), ?1
FROM (SELECT s.stream, CASE WHEN c.passes = s.passes THEN c.through END AS through, CASE WHEN c.passes = s.passes THEN c.scanned END AS scanned
  FROM streams AS s LEFT JOIN complete AS c ON c.stream = s.stream) AS f
JOIN streams AS s ON s.stream = f.stream
LEFT JOIN loading AS l ON l.stream = s.stream
LEFT JOIN _runs AS r ON r.run_id = (
  SELECT x.run_id FROM _runs AS x WHERE json_extract(x.streams, '$.' || s.stream) IS NOT NULL ORDER BY x.run_id DESC LIMIT 1)`
