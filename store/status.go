package store

import (
	"context"
	"fmt"

	"solarmirror/schema"
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
