package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"solarmirror/schema"
	"solarmirror/store/dealclass"
	"solarmirror/store/sqlitefile"
)

// RecordCount is how many records a root table holds.
type RecordCount struct {
	Table   string `db:"-"`
	Live    int64  `db:"-"`
	Deleted int64  `db:"deleted"` // tombstones
	Total   int64  `db:"total"`
}

// RecordCounts counts the records of each root table, in the order of schema.Roots. It reads two indices, the narrowest of
// the table and that of the tombstones; where those are still to be made, the table.
func (m *Mirror) RecordCounts(ctx context.Context) ([]RecordCount, error) {
	var list []RecordCount
	for _, root := range schema.Roots() {
		count := RecordCount{Table: root.Name}
		err := m.read.GetContext(ctx, &count, recordCountSQL(root))
		if err != nil {
			return nil, fmt.Errorf("count %s: %w", root.Name, sqlitefile.Explain(m.path, err))
		}
		count.Live = count.Total - count.Deleted
		list = append(list, count)
	}
	return list, nil
}

func recordCountSQL(root *schema.Table) string {
	return fmt.Sprintf("SELECT (SELECT count(*) FROM %[1]s) AS total, (SELECT count(*) FROM %[1]s WHERE _deleted_at IS NOT NULL) AS deleted", root.Name)
}

// StatusCount is how many live deals have a deal status.
type StatusCount struct {
	Status string `db:"deal_status"`
	Deals  int64  `db:"deals"`
}

// UndecidedStatuses counts the live deals of each deal status that lists does not know, the most
// frequent first. Statuses that lists cannot tell apart count as one, in their most frequent
// spelling. Deals without a status are left out.
func (m *Mirror) UndecidedStatuses(ctx context.Context, lists dealclass.Lists) ([]StatusCount, error) {
	var counts []StatusCount
	err := m.read.SelectContext(ctx, &counts, `SELECT deal_status, sum(deals) AS deals FROM bi_statuses
		WHERE deal_status IS NOT NULL GROUP BY deal_status ORDER BY deals DESC, deal_status`)
	if err != nil {
		return nil, fmt.Errorf("count the deals of each status: %w", sqlitefile.Explain(m.path, err))
	}
	var undecided []StatusCount
	place := map[string]int{} // in undecided, by the folded status
	for _, c := range counts {
		word := dealclass.Fold(c.Status)
		if i, known := place[word]; known {
			undecided[i].Deals += c.Deals
		} else if word != "" && !lists.Knows(word) {
			place[word] = len(undecided)
			undecided = append(undecided, c)
		}
	}
	slices.SortStableFunc(undecided, func(a, b StatusCount) int { return cmp.Compare(b.Deals, a.Deals) })
	return undecided, nil
}

// MartsBehind reports whether the last update of the marts did not end: they, or their summaries
// alone, are of an earlier state. While a sync runs that is no news, and it reports false.
func (m *Mirror) MartsBehind(ctx context.Context) (behind bool, err error) {
	err = m.read.GetContext(ctx, &behind, "SELECT EXISTS (SELECT 1 FROM _stale) AND NOT EXISTS (SELECT 1 FROM _runs WHERE outcome = 'running')")
	if err != nil {
		return false, fmt.Errorf("read _stale: %w", sqlitefile.Explain(m.path, err))
	}
	return behind, nil
}
