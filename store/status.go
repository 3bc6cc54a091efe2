package store

import (
	"context"
	"fmt"

	"solarmirror/schema"
)

// RecordCount is how many records a root table holds.
type RecordCount struct {
	Table   string `db:"-"`
	Live    int64  `db:"-"`
	Deleted int64  `db:"deleted"` // tombstones
	Total   int64  `db:"total"`
}

// RecordCounts counts the records of each root table, in the order of schema.Roots. It reads the tables through.
func (m *Mirror) RecordCounts(ctx context.Context) ([]RecordCount, error) {
	var list []RecordCount
	for _, root := range schema.Roots() {
		count := RecordCount{Table: root.Name}
		err := m.read.GetContext(ctx, &count, "SELECT count(*) AS total, count(_deleted_at) AS deleted FROM "+root.Name)
		if err != nil {
			return nil, fmt.Errorf("count %s: %w", root.Name, explain(m.path, err))
		}
		count.Live = count.Total - count.Deleted
		list = append(list, count)
	}
	return list, nil
}

// RejectCounts returns how many rejects of each stream wait to be replayed; streams without any are left out.
func (m *Mirror) RejectCounts(ctx context.Context) (map[string]int64, error) {
	var rows []struct {
		Stream string
		N      int64
	}
	err := m.read.SelectContext(ctx, &rows, "SELECT stream, count(*) AS n FROM _rejects WHERE replayed_at IS NULL GROUP BY stream")
	if err != nil {
		return nil, fmt.Errorf("count _rejects: %w", explain(m.path, err))
	}
	counts := make(map[string]int64, len(rows))
	for _, r := range rows {
		counts[r.Stream] = r.N
	}
	return counts, nil
}
