package sqlitefile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/jmoiron/sqlx"
)

// seizePoll is the interval at which [Seize] tries again.
const seizePoll = 100 * time.Millisecond

// Seize takes the database at path for this process alone, so that the file can be replaced, and
// returns the function that gives it up. The database leaves WAL mode, so that the file alone holds
// its content and no later connection writes a -wal beside the file that replaces it. A file that
// SQLite cannot read is seized as it is, with its -wal. Until the database is given up, this
// process must not open the file: closing it would drop the lock.
//
// Errors: [ErrBusy] when other programs have the database open for longer than patience,
// [ErrNoAccess], [ErrDiskFull].
func Seize(ctx context.Context, path string, patience time.Duration) (giveUp func() error, err error) {
	for end := time.Now().Add(patience); ; {
		giveUp, err = trySeize(ctx, path)
		if !errors.Is(err, ErrBusy) {
			return giveUp, err
		}
		if time.Now().After(end) {
			return nil, fmt.Errorf("%w: %s: another program has it open; end that program, then run the same command again", ErrBusy, path)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(seizePoll):
		}
	}
}

func trySeize(ctx context.Context, path string) (giveUp func() error, err error) {
	err = leaveWAL(ctx, path)
	readable := err == nil
	damaged := errors.Is(err, ErrCorrupt) || errors.Is(err, ErrNotMirror) || errors.Is(err, ErrIO)
	if !readable && !damaged {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, ExplainFile(path, err)
	}
	if err := lockBytes(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if _, err := os.Lstat(path + "-wal"); readable && err == nil {
		return nil, errors.Join(ErrBusy, f.Close()) // a program opened it in WAL mode again
	}
	return f.Close, nil
}

// leaveWAL rolls back an interrupted transaction, empties the WAL into the file and removes it.
func leaveWAL(ctx context.Context, path string) error {
	db, err := sqlx.Open("sqlite", DSN(path, []string{"busy_timeout(0)"})+"&mode=rw")
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	var tables int
	var mode string
	err = db.GetContext(ctx, &tables, "SELECT count(*) FROM sqlite_schema")
	if err == nil {
		err = db.GetContext(ctx, &mode, "PRAGMA journal_mode = DELETE")
	}
	err = errors.Join(Explain(path, err), db.Close())
	if err == nil && mode != "delete" {
		return ErrBusy
	}
	return err
}
