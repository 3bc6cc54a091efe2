package outbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/rs/zerolog"

	"solarmirror/schema"
	"solarmirror/store/sqlitefile"
)

// Outbox is an open outbox. Its methods may be called by several goroutines at once.
type Outbox struct {
	path  string
	db    *sqlx.DB // one connection
	now   func() time.Time
	log   zerolog.Logger
	key   *SealingKey // nil: passwords stay as they are
	sends *sendLog    // as last read
}

// OutboxOptions are what an Outbox needs from around it.
type Options struct {
	Now func() time.Time // the clock; nil is time.Now
	Log zerolog.Logger   // the zero Logger says nothing
	Key *SealingKey      // nil: passwords are not sealed
}

// ErrNotOutbox: the file is something else, and was left as it is.
var ErrNotOutbox = errors.New("not a solarmirror outbox")

// synchronous is EXTRA, which is FULL and one sync more: without it a power cut just after a commit
// could bring the deleted journal back and undo the claim of a row that has been sent.
var pragmas = []string{
	"busy_timeout(10000)", "journal_mode(DELETE)", "synchronous(EXTRA)", "secure_delete(ON)", "temp_store(MEMORY)",
}

// OpenOutbox opens the outbox at path, creating it and its directory when they are missing. With a
// key, plain passwords found in open rows are sealed at once. It needs no lock; who sends takes
// that of [sqlitefile.AcquireLock] for this path.
//
// Errors: [*sqlitefile.ModeError], [ErrNotOutbox], [*sqlitefile.NewerError], [sqlitefile.ErrCorrupt], [sqlitefile.ErrDiskFull], [sqlitefile.ErrIO],
// [sqlitefile.ErrNoAccess], [sqlitefile.ErrBusy].
func Open(ctx context.Context, path string, opt Options) (*Outbox, error) {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if err := privateFile(path); err != nil {
		return nil, fmt.Errorf("open outbox: %w", err)
	}
	db, err := sql.Open("sqlite", sqlitefile.DSN(path, pragmas)+"&mode=rw&_txlock=immediate")
	if err != nil {
		return nil, fmt.Errorf("open outbox %s: %w", path, err)
	}
	db.SetMaxOpenConns(1)
	o := &Outbox{path: path, db: sqlx.NewDb(db, sqlitefile.BindLabel), now: opt.Now, log: opt.Log, key: opt.Key}
	if err := o.prepare(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open outbox: %w", Explain(path, err)), o.Close())
	}
	if err := o.sealPlain(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open outbox: %w", err), o.Close())
	}
	return o, nil
}

// Close ends the connection.
func (o *Outbox) Close() error { return o.db.Close() }

// Path returns the path the outbox was opened with.
func (o *Outbox) Path() string { return o.path }

// prepare brings the tables up to date. Nothing is written to a file that holds something else.
func (o *Outbox) prepare(ctx context.Context) error {
	return o.update(ctx, func(tx *sqlx.Tx) error {
		have, err := sqlitefile.Columns(ctx, tx)
		if err != nil {
			return err
		}
		version := 0
		if len(have) > 0 {
			if _, ours := have[schema.OutboxMeta.Name]; !ours {
				return fmt.Errorf("%w: %s holds the tables of something else: set [outbox] path to another file", ErrNotOutbox, o.path)
			}
			if err := tx.Get(&version, "SELECT schema_version FROM _outbox"); err != nil {
				return err
			}
		}
		switch {
		case version > schema.OutboxVersion:
			return &sqlitefile.NewerError{Path: o.path, Have: version, Know: schema.OutboxVersion}
		case version == schema.OutboxVersion:
			return nil
		}
		return o.createTables(tx, have)
	})
}

// createTables makes what is missing. The send log of a new outbox is made first: one without it
// would take itself for an outbox put back from a backup. A log that is there keeps its events: the
// file was deleted, what was sent is sent.
func (o *Outbox) createTables(tx *sqlx.Tx, have map[string][]string) error {
	var statements []string
	for _, t := range schema.OutboxTables {
		if columns, exists := have[t.Name]; exists {
			statements = append(statements, t.MissingColumnsDDL(columns)...)
			continue
		}
		statements = append(statements, t.DDL())
		for _, ddl := range t.IndexDDL() {
			statements = append(statements, ddl)
		}
	}
	for name, ddl := range schema.OutboxTriggers {
		statements = append(statements, "DROP TRIGGER IF EXISTS "+name, ddl)
	}
	for _, ddl := range statements {
		if _, err := tx.Exec(ddl); err != nil {
			return fmt.Errorf("%s: %w", sqlitefile.FirstLine(ddl), err)
		}
	}
	if len(have) > 0 {
		// Version 1 left attempts that were cut off without an end, also when their row was settled
		// since.
		if _, err := tx.Exec(`UPDATE company_outbox_attempts SET finished_at = started_at, outcome = 'ambiguous'
			WHERE finished_at IS NULL AND outbox_id NOT IN (SELECT id FROM company_outbox WHERE state = 'sending')`); err != nil {
			return err
		}
		_, err := tx.Exec("UPDATE _outbox SET schema_version = ?", schema.OutboxVersion)
		return err
	}
	identity := newIdentity()
	if err := rewriteSendLog(sendLogPath(o.path), identity, unedited); err != nil {
		return err
	}
	_, err := tx.Exec("INSERT INTO _outbox (meta_id, schema_version, identity, created_at) VALUES (1, ?, ?, ?)",
		schema.OutboxVersion, identity, sqlitefile.FormatTime(o.now()))
	return err
}

// update runs f in a transaction that takes the write lock at its beginning. The context counts
// until the transaction has begun: what is begun is finished.
func (o *Outbox) update(ctx context.Context, f func(*sqlx.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	tx, err := o.db.Beginx()
	if err != nil {
		return fmt.Errorf("begin: %w", Explain(o.path, err))
	}
	if err := f(tx); err != nil {
		if rollback := tx.Rollback(); rollback != nil && !sqlitefile.NothingToRollBack(rollback) {
			err = errors.Join(err, rollback)
		}
		return Explain(o.path, err)
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("commit: %w", Explain(o.path, err))
	}
	return nil
}

// explainOutbox is explain with what can be done about this file.
func Explain(path string, err error) error {
	ours := sqlitefile.Explain(path, err)
	switch {
	case sqlitefile.Explained(err) || errors.Is(err, ErrNotOutbox):
		return err
	case errors.Is(ours, sqlitefile.ErrCorrupt):
		return fmt.Errorf("%w: %s: stop everything that writes to it and put back a copy made with `solarmirror backup` (its --help has the steps; %[2]s.sends stays where it is) (%[3]w)", sqlitefile.ErrCorrupt, path, err)
	case errors.Is(ours, sqlitefile.ErrNotMirror):
		return fmt.Errorf("%w: %s: move it away or set [outbox] path to another file (%w)", ErrNotOutbox, path, err)
	}
	return ours
}
