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

// Outbox is an open outbox. It is safe for concurrent use.
type Outbox struct {
	path    string
	db      *sqlx.DB // one connection
	now     func() time.Time
	log     zerolog.Logger
	key     *SealingKey // nil: passwords are not sealed
	sendLog *sendLog    // as last read
}

// Options are the dependencies of an [Outbox].
type Options struct {
	Now func() time.Time // the clock; nil is time.Now
	Log zerolog.Logger   // the zero Logger is silent
	Key *SealingKey      // nil: passwords are not sealed
}

// ErrNotOutbox: the file is not an outbox. It was not changed.
var ErrNotOutbox = errors.New("not a solarmirror outbox")

// pragmas include synchronous(EXTRA), which is FULL and a sync of the directory. Without it, a
// power cut right after a commit could restore the deleted journal and undo the claim of a row that
// was sent.
var pragmas = []string{
	"busy_timeout(10000)", "journal_mode(DELETE)", "synchronous(EXTRA)", "secure_delete(ON)", "temp_store(MEMORY)",
}

// Open opens the outbox at path, and creates it and its directory when missing. With a key it seals
// the plain passwords of open rows. Open takes no lock; a command that sends takes that of
// [sqlitefile.AcquireLock] for path first.
//
// Errors: [*sqlitefile.ModeError], [ErrNotOutbox], [*sqlitefile.NewerError],
// [sqlitefile.ErrCorrupt], [sqlitefile.ErrDiskFull], [sqlitefile.ErrIO], [sqlitefile.ErrNoAccess],
// [sqlitefile.ErrBusy].
func Open(ctx context.Context, path string, opt Options) (*Outbox, error) {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if err := ensurePrivateFile(path); err != nil {
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
	if err := o.sealPlaintext(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open outbox: %w", err), o.Close())
	}
	return o, nil
}

// OpenReadOnly opens the outbox at path for the methods that read. It creates, migrates and seals
// nothing.
//
// Errors: as from [Open], and [sqlitefile.ErrNoDatabase].
func OpenReadOnly(ctx context.Context, path string, opt Options) (*Outbox, error) {
	if err := errors.Join(sqlitefile.MustExist(path), checkPrivate(path)); err != nil {
		return nil, fmt.Errorf("open outbox: %w", err)
	}
	db, err := sqlitefile.OpenUnguarded(path, "ro")
	if err != nil {
		return nil, fmt.Errorf("open outbox %s: %w", path, err)
	}
	db.SetMaxOpenConns(1)
	o := &Outbox{path: path, db: db, now: opt.Now, log: opt.Log, key: opt.Key}
	err = o.update(ctx, func(tx *sqlx.Tx) error {
		have, version, err := o.version(ctx, tx)
		switch {
		case err != nil:
			return err
		case len(have) == 0:
			return sqlitefile.NoDatabase(path)
		case version < schema.OutboxVersion:
			return fmt.Errorf("%s was written by an older solarmirror (schema %d; this one needs %d): run `solarmirror outbox list` once, which brings it up to date",
				path, version, schema.OutboxVersion)
		}
		return nil
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open outbox: %w", err), o.Close())
	}
	return o, nil
}

// Close closes the connection.
func (o *Outbox) Close() error { return o.db.Close() }

// Path returns the path the outbox was opened with.
func (o *Outbox) Path() string { return o.path }

// prepare creates or migrates the tables. It writes nothing to a file that is not an outbox.
func (o *Outbox) prepare(ctx context.Context) error {
	return o.update(ctx, func(tx *sqlx.Tx) error {
		have, version, err := o.version(ctx, tx)
		if err != nil || version == schema.OutboxVersion {
			return err
		}
		return o.createTables(tx, have)
	})
}

// version returns the columns of every table and the schema version, 0 for a file without tables.
func (o *Outbox) version(ctx context.Context, tx *sqlx.Tx) (have map[string][]string, version int, err error) {
	have, err = sqlitefile.Columns(ctx, tx)
	if err != nil || len(have) == 0 {
		return have, 0, err
	}
	if _, ours := have[schema.OutboxMeta.Name]; !ours {
		return have, 0, fmt.Errorf("%w: %s holds the tables of something else: set [outbox] path to another file", ErrNotOutbox, o.path)
	}
	err = tx.GetContext(ctx, &version, "SELECT schema_version FROM _outbox")
	if version > schema.OutboxVersion {
		err = &sqlitefile.NewerError{Path: o.path, Have: version, Know: schema.OutboxVersion}
	}
	return have, version, err
}

// createTables creates missing tables, columns and triggers. For a new outbox it writes the send
// log before the commit: an outbox without a log counts as restored from a backup. An existing log
// keeps its events, because the outbox file was deleted after those companies were sent.
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
		// Version 1 did not end interrupted attempts, even after their row was settled.
		if _, err := tx.Exec(`UPDATE company_outbox_attempts SET finished_at = started_at, outcome = 'ambiguous'
			WHERE finished_at IS NULL AND outbox_id NOT IN (SELECT id FROM company_outbox WHERE state = 'sending')`); err != nil {
			return err
		}
		_, err := tx.Exec("UPDATE _outbox SET schema_version = ?", schema.OutboxVersion)
		return err
	}
	identity := newIdentity()
	if err := rewriteSendLog(sendLogPath(o.path), identity, keepEvents); err != nil {
		return err
	}
	_, err := tx.Exec("INSERT INTO _outbox (meta_id, schema_version, identity, created_at) VALUES (1, ?, ?, ?)",
		schema.OutboxVersion, identity, sqlitefile.FormatTime(o.now()))
	return err
}

// update runs f in a transaction that takes the write lock when it begins, or in a reading one of an
// outbox that is open for reading. ctx does not interrupt a
// transaction that has begun.
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

// Explain is [sqlitefile.Explain] with the remedies for an outbox.
func Explain(path string, err error) error {
	ours := sqlitefile.Explain(path, err)
	switch {
	case sqlitefile.Explained(err) || errors.Is(err, ErrNotOutbox):
		return err
	case errors.Is(ours, sqlitefile.ErrCorrupt):
		return fmt.Errorf("%w: %s: stop everything that writes to it and put the last backup back: `solarmirror restore --from DIR` (%[3]w)", sqlitefile.ErrCorrupt, path, err)
	case errors.Is(ours, sqlitefile.ErrNotMirror):
		return fmt.Errorf("%w: %s: move it away or set [outbox] path to another file (%w)", ErrNotOutbox, path, err)
	}
	return ours
}
