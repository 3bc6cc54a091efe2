package publish

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/jmoiron/sqlx"

	"solarmirror/schema"
	"solarmirror/store"
	"solarmirror/store/outbox"
	"solarmirror/store/sqlitefile"
)

// RestoreOptions are the parameters of [Restore].
type RestoreOptions struct {
	From           Backups       // what [FindBackup] found
	Mirror, Outbox string        // paths of the databases, also of one that is not restored
	BaseURL        string        // of the configured platform; not needed without From.Mirror
	FileMode       fs.FileMode   // of a mirror that is not there yet; the mode of another stays
	Now            time.Time     // for the names of the files that are replaced
	Patience       time.Duration // how long other programs may keep the databases open
	Wait           bool          // wait while other processes work on the databases
}

// Restored describes what [Restore] did.
type Restored struct {
	KeptMirror, KeptOutbox string // where the replaced databases are; "" where there was none
	Doubts                 int64  // number of ambiguous rows in a restored outbox
}

// FindBackup returns the copies at from: one file, or the newest copy of each database in a
// directory that [Backup] wrote to.
func FindBackup(ctx context.Context, from string) (Backups, error) {
	info, err := os.Stat(from)
	if err != nil {
		return Backups{}, fmt.Errorf("look for the backup: %w", err)
	}
	var found Backups
	if !info.IsDir() {
		return found, found.add(ctx, from)
	}
	for _, name := range []string{"outbox.db", "mirror.db"} {
		list, err := versions{path: filepath.Join(from, name)}.earlier()
		if err != nil {
			return Backups{}, err
		}
		if len(list) == 0 {
			continue
		}
		if err := found.add(ctx, list[len(list)-1]); err != nil {
			return Backups{}, err
		}
	}
	if found == (Backups{}) {
		return Backups{}, fmt.Errorf("%s has no copy of a mirror or an outbox: name a directory that `solarmirror backup --to` wrote to, or one file in it", from)
	}
	return found, nil
}

// add adds the copy at path, by the kind that its tables tell.
func (b *Backups) add(ctx context.Context, path string) error {
	if err := checkAtRest(path); err != nil {
		return err
	}
	found, err := store.InspectFile(ctx, path, "ro")
	if err != nil {
		return explainBackup(path, err)
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case found.Has(schema.OutboxMeta):
		b.Outbox, b.OutboxSize = path, info.Size()
	case found.Ours():
		b.Mirror, b.MirrorSize = path, info.Size()
	default:
		return fmt.Errorf("%w: %s is no copy of a mirror or an outbox", sqlitefile.ErrNotMirror, path)
	}
	return nil
}

// checkAtRest returns an error when a program writes to the file: then the file alone may lack what
// was written last. Copies that [Backup] made have a rollback journal.
func checkAtRest(path string) error {
	inUse, err := isWALMode(path)
	for _, tail := range sideFiles {
		if _, missing := os.Lstat(path + tail); missing == nil {
			inUse = true
		}
	}
	if err == nil && inUse {
		err = fmt.Errorf("%s is a database that a program writes to, not a backup: name a copy that `solarmirror backup` made", path)
	}
	return err
}

// explainBackup explains an error about a copy. The remedies for a damaged database do not fit.
func explainBackup(path string, err error) error {
	ours := sqlitefile.Explain(path, err)
	if errors.Is(ours, sqlitefile.ErrCorrupt) || errors.Is(ours, sqlitefile.ErrNotMirror) {
		return fmt.Errorf("the backup %s is damaged, and nothing was changed: restore from another one (%w)", path, err)
	}
	return ours
}

// Restore puts the copies o.From in place of mirror and outbox: of both or, after any error and
// after a crash at any moment, of none until [FinishRestore] has run. The databases that were there
// stay beside them under other names. Rows of a restored outbox that may have been sent since its
// backup become ambiguous, see [outbox.Outbox.Recover] and [outbox.Outbox.Overtaken].
//
// Errors: [*sqlitefile.LockedError]; [sqlitefile.ErrBusy] when another program keeps a database
// open; [*store.OtherPlatformError], [*sqlitefile.NewerError], [sqlitefile.ErrNotMirror],
// [outbox.ErrNotOutbox], [*sqlitefile.ModeError], [*sqlitefile.NoRoomError],
// [sqlitefile.ErrNoAccess].
func Restore(ctx context.Context, o RestoreOptions) (done *Restored, err error) {
	run, err := sqlitefile.AcquireLock(ctx, o.Mirror+".run", "restore", o.Wait)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, run.Release()) }()
	release, err := lockBoth(ctx, o.Wait, o.Mirror, o.Outbox)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, release()) }()
	if _, err := finishRestore(ctx, o.Mirror, o.Patience); err != nil {
		return nil, err
	}
	s, err := newSwap(ctx, o)
	if err != nil {
		return nil, err
	}
	unstoppable := context.WithoutCancel(ctx)
	if err := runSteps(ctx, s.prepare()); err != nil {
		return nil, errors.Join(err, s.giveUp(), s.undo(unstoppable))
	}
	if err := runSteps(unstoppable, s.place()); err != nil {
		return nil, errors.Join(fmt.Errorf("finish the restore, which the next command tries again: %w", err), s.giveUp())
	}
	return &s.done, nil
}

// lockBoth takes the locks of mirror and outbox, of the outbox first, as all commands do that take
// both.
func lockBoth(ctx context.Context, wait bool, mirror, outbox string) (release func() error, err error) {
	if err := os.MkdirAll(filepath.Dir(outbox), 0o700); err != nil {
		return nil, fmt.Errorf("create the directory of the outbox: %w", sqlitefile.ExplainFile(filepath.Dir(outbox), err))
	}
	first, err := sqlitefile.AcquireLock(ctx, outbox, "restore", wait)
	if err != nil {
		return nil, err
	}
	second, err := sqlitefile.AcquireLock(ctx, mirror, "restore", wait)
	if err != nil {
		return nil, errors.Join(err, first.Release())
	}
	return func() error { return errors.Join(second.Release(), first.Release()) }, nil
}

// checkReplaced returns an error when the file at path is a readable database of something else, or
// when an outbox is not private.
func checkReplaced(ctx context.Context, path string, isOutbox bool) error {
	found, err := store.InspectFile(ctx, path, "ro")
	if err == nil && !found.Empty() && !(isOutbox && found.Has(schema.OutboxMeta) || !isOutbox && found.Ours()) {
		return fmt.Errorf("%w: %s holds the tables of something else, and is left as it is: set its path in the configuration to another file", sqlitefile.ErrNotMirror, path)
	}
	if !isOutbox {
		return nil // a file that cannot be read is what a restore is for
	}
	for _, private := range []string{filepath.Dir(path), path, path + ".sends"} {
		if err := sqlitefile.CheckPrivate(private); err != nil {
			return err
		}
	}
	return nil
}

// stage copies the backup beside the database and checks the copy.
func (r replacement) stage(ctx context.Context, from, baseURL string, mode fs.FileMode) error {
	if err := checkAtRest(from); err != nil {
		return err
	}
	if err := checkRoom(from, r.Path); err != nil {
		return err
	}
	like, err := os.Stat(r.Path)
	switch {
	case err != nil:
		if like, err = os.Stat(filepath.Dir(r.Path)); err != nil {
			return err
		}
	case !r.Outbox:
		mode = like.Mode().Perm()
	}
	if r.Outbox {
		mode = 0o600
	}
	if err := copyFile(ctx, from, r.Staged, mode); err != nil {
		return fmt.Errorf("copy the backup: %w", sqlitefile.ExplainFile(r.Staged, err))
	}
	if err := giveTo(r.Staged, like); err != nil {
		return fmt.Errorf("copy the backup: %w", sqlitefile.ExplainFile(r.Staged, err))
	}
	faults, err := sqlitefile.IntegrityCheck(ctx, r.Staged)
	if err == nil && len(faults) > 0 {
		err = fmt.Errorf("%w: %s", sqlitefile.ErrCorrupt, faults[0])
	}
	if err != nil {
		return explainBackup(from, err)
	}
	db, err := sqlitefile.OpenUnguarded(r.Staged, "ro")
	if err != nil {
		return err
	}
	check := checkMirrorCopy
	if r.Outbox {
		check = checkOutboxCopy
	}
	if err := errors.Join(check(ctx, db, from, baseURL), db.Close()); err != nil || r.Outbox {
		return err
	}
	return enterWAL(ctx, r.Staged)
}

// enterWAL puts a mirror into WAL mode, as all mirrors are: a sync killed while it did so would
// leave a journal that readers cannot roll back.
func enterWAL(ctx context.Context, path string) error {
	db, err := sqlx.Open("sqlite", sqlitefile.DSN(path, nil)+"mode=rw")
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, "PRAGMA journal_mode = WAL")
	return errors.Join(sqlitefile.Explain(path, err), db.Close())
}

// copyFile copies a file to a new one and syncs it. Until it is whole, only its owner may read it.
func copyFile(ctx context.Context, from, to string, mode fs.FileMode) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, reader{ctx, in})
	return errors.Join(err, out.Chmod(mode), out.Sync(), out.Close())
}

// reader reads until its context ends.
type reader struct {
	ctx context.Context
	r   io.Reader
}

func (r reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}

// checkMirrorCopy returns an error unless db, a copy of from, is a whole mirror of the platform.
func checkMirrorCopy(ctx context.Context, db *sqlx.DB, from, baseURL string) error {
	var older *sqlitefile.OlderError // the next sync migrates it
	if err := store.CheckCurrent(ctx, db, from); err != nil && !errors.As(err, &older) {
		return err
	}
	var masked bool // see Masking.remark
	if err := db.GetContext(ctx, &masked, "SELECT EXISTS (SELECT 1 FROM _columns WHERE description LIKE '% in this copy%')"); err != nil {
		return err
	}
	if masked {
		return fmt.Errorf("%w: %s is a published copy without the personal data, and would lose them: name a copy that `solarmirror backup` made", sqlitefile.ErrNotMirror, from)
	}
	var have string
	if err := db.GetContext(ctx, &have, "SELECT coalesce(max(base_url), '') FROM _meta"); err != nil {
		return err
	}
	if cmp.Or(have, baseURL) != baseURL {
		return &store.OtherPlatformError{Path: from, Have: have, Want: baseURL}
	}
	return nil
}

// checkOutboxCopy returns an error unless this program can read the outbox db, a copy of from.
func checkOutboxCopy(ctx context.Context, db *sqlx.DB, from, _ string) error {
	var version int
	if err := db.GetContext(ctx, &version, "SELECT schema_version FROM _outbox"); err != nil {
		return fmt.Errorf("%w: %s (%w)", outbox.ErrNotOutbox, from, err)
	}
	if version > schema.OutboxVersion {
		return &sqlitefile.NewerError{Path: from, Have: version, Know: schema.OutboxVersion}
	}
	return nil
}
