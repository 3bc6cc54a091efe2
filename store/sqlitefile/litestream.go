package sqlitefile

import (
	"context"
	"errors"
	"fmt"

	"github.com/jmoiron/sqlx"
)

// Litestream copies a database elsewhere as it changes. It creates two tables in the database and
// leaves them there when it ends. While it runs, it holds a read transaction, so that nobody else
// empties the WAL before it is copied, and checkpoints by itself.
const litestreamTables = "('_litestream_seq', '_litestream_lock')"

// LitestreamWAL is the size of a WAL, in bytes, up to which it is Litestream's to empty.
const LitestreamWAL = 256 << 20

// HasLitestream says whether Litestream has replicated the database that q reads. It need not run any
// more.
func HasLitestream(ctx context.Context, q Querier) (has bool, err error) {
	if err := q.GetContext(ctx, &has, "SELECT EXISTS (SELECT * FROM sqlite_master WHERE name IN "+litestreamTables+")"); err != nil {
		return false, fmt.Errorf("look for the tables of Litestream: %w", err)
	}
	return has, nil
}

// DropLitestream removes the tables of Litestream from a copy that no other process has open.
func DropLitestream(ctx context.Context, path string) error {
	db, err := sqlx.Open("sqlite", DSN(path, nil)+"&mode=rw")
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, "DROP TABLE IF EXISTS _litestream_seq; DROP TABLE IF EXISTS _litestream_lock")
	return errors.Join(Explain(path, err), db.Close())
}
