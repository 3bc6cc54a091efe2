package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/rs/zerolog"

	"solarmirror/schema"
)

// Outbox is the file companies to create wait in, apart from the mirror, because it holds passwords and SQLite has no row permissions: its directory is 0700, the
// file and what lies beside it 0600, and opening refuses anything wider. The journal is a rollback journal and freed
// pages are overwritten, so that an erased password is gone from the disk's files and not only from the rows.
//
// # States
//
// A row is pending, sending, ambiguous, or finished: done, rejected, cancelled. The tables CHECK the states, and triggers the moves between
// them, whichever program makes them (schema.OutboxTriggers lists them; package push draws them). The transaction that finishes a
// row erases its password. Every move counts one up in revision, which is how the mirror's company_creations
// and the outbox compare what they know.
//
// # At most one POST
//
// The send log, a file beside the outbox that no backup contains, decides. A claim writes there
// that the send of an intent, for a tax number, has begun, then commits sending, then the mirror is
// told; only then may the caller dial. What ends the send is written there too: created, or freed
// when the platform has not created the company. An intent that has begun or was created is not
// sent again, and neither is another of the same tax number, unless its row allows duplicates or a
// person's word frees it.
//
// Whatever a backup or another program makes of the rows, Recover puts in doubt each one that says
// otherwise than the log, and all pending ones when the log is missing, incomplete or of another
// outbox. The triggers keep honest programs from mistakes; nothing depends on them.
type Outbox struct {
	path  string
	db    *sqlx.DB // one connection
	now   func() time.Time
	log   zerolog.Logger
	key   *SealingKey // nil: passwords stay as they are
	sends *sendLog    // as last read
}

// OutboxOptions are what an Outbox needs from around it.
type OutboxOptions struct {
	Now func() time.Time // the clock; nil is time.Now
	Log zerolog.Logger   // the zero Logger says nothing
	Key *SealingKey      // nil: passwords are not sealed
}

// ErrNotOutbox: the file is something else, and was left as it is.
var ErrNotOutbox = errors.New("not a solarmirror outbox")

// synchronous is EXTRA, which is FULL and one sync more: without it a power cut just after a commit could bring the deleted
// journal back and undo the claim of a row that has been sent.
var outboxPragmas = []string{
	"busy_timeout(10000)", "journal_mode(DELETE)", "synchronous(EXTRA)", "secure_delete(ON)", "temp_store(MEMORY)",
}

// OpenOutbox opens the outbox at path, creating it and its directory when they are missing. With a key, plain passwords
// found in open rows are sealed at once. It needs no lock; who sends takes that of [AcquireLock] for this path.
//
// Errors: [*ModeError], [ErrNotOutbox], [*NewerError], [ErrCorrupt], [ErrDiskFull], [ErrIO], [ErrNoAccess], [ErrBusy].
func OpenOutbox(ctx context.Context, path string, opt OutboxOptions) (*Outbox, error) {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if err := privateFile(path); err != nil {
		return nil, fmt.Errorf("open outbox: %w", err)
	}
	db, err := sql.Open("sqlite", dsn(path, outboxPragmas)+"&mode=rw&_txlock=immediate")
	if err != nil {
		return nil, fmt.Errorf("open outbox %s: %w", path, err)
	}
	db.SetMaxOpenConns(1)
	o := &Outbox{path: path, db: sqlx.NewDb(db, bindLabel), now: opt.Now, log: opt.Log, key: opt.Key}
	if err := o.prepare(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open outbox: %w", explainOutbox(path, err)), o.Close())
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
		have, err := Columns(ctx, tx)
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
			return &NewerError{Path: o.path, Have: version, Know: schema.OutboxVersion}
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
			return fmt.Errorf("%s: %w", firstLine(ddl), err)
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
		schema.OutboxVersion, identity, FormatTime(o.now()))
	return err
}

// update runs f in a transaction that takes the write lock at its beginning. The context counts until the transaction has
// begun: what is begun is finished.
func (o *Outbox) update(ctx context.Context, f func(*sqlx.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	tx, err := o.db.Beginx()
	if err != nil {
		return fmt.Errorf("begin: %w", explainOutbox(o.path, err))
	}
	if err := f(tx); err != nil {
		if rollback := tx.Rollback(); rollback != nil && !nothingToRollBack(rollback) {
			err = errors.Join(err, rollback)
		}
		return explainOutbox(o.path, err)
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("commit: %w", explainOutbox(o.path, err))
	}
	return nil
}

// explainOutbox is explain with what can be done about this file.
func explainOutbox(path string, err error) error {
	ours := explain(path, err)
	switch {
	case explained(err) || errors.Is(err, ErrNotOutbox):
		return err
	case errors.Is(ours, ErrCorrupt):
		return fmt.Errorf("%w: %s: stop everything that writes to it and put back a copy made with `solarmirror backup` (its --help has the steps; %[2]s.sends stays where it is) (%[3]w)", ErrCorrupt, path, err)
	case errors.Is(ours, ErrNotMirror):
		return fmt.Errorf("%w: %s: move it away or set [outbox] path to another file (%w)", ErrNotOutbox, path, err)
	}
	return ours
}
