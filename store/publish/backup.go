package publish

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"solarmirror/schema"
	"solarmirror/store"
	"solarmirror/store/outbox"
	"solarmirror/store/sqlitefile"
)

// BackupOptions say what is copied where.
type BackupOptions struct {
	To             string    // a directory
	Mirror, Outbox string    // paths of the databases; either may be missing
	Now            time.Time // for the names of the copies
	Keep           int       // how many copies of each there may be in To, older ones are removed; 0 for all
	Wait           bool      // for another backup to the same place to end
}

// Backups are the copies that one Backup made.
type Backups struct {
	Mirror, Outbox         string // paths; "" where there was nothing to copy
	MirrorSize, OutboxSize int64  // bytes
}

// backupKind is one of the two files a backup is made of.
type backupKind struct {
	name    string // what the copy's name begins with
	path    string
	mode    string // how the file is opened to read it
	refuse  func(ctx context.Context, path string) error
	explain func(path string, err error) error
}

// Backup copies mirror and outbox to files in dir that bear the present time in their names, each
// whole and as it is at one moment, while others go on writing to them. They may be of any schema,
// so that an upgrade can be preceded by a backup. The directory is private, as are the copies: they
// hold all the personal data, and passwords as the outbox holds them. The send log beside the
// outbox is never copied, nor are keys; [outbox.Outbox] says why a log put back would let companies be
// sent twice. What was copied before an error comes with it.
//
// Errors: [sqlitefile.ErrNoDatabase] when there is neither, [sqlitefile.ErrNotMirror], [outbox.ErrNotOutbox], [*sqlitefile.ModeError],
// [*sqlitefile.NoRoomError], [*sqlitefile.LockedError], [sqlitefile.ErrCorrupt].
func Backup(ctx context.Context, o BackupOptions) (*Backups, error) {
	if err := os.MkdirAll(o.To, 0o700); err != nil {
		return nil, fmt.Errorf("create the directory of the backup: %w", err)
	}
	if err := sqlitefile.CheckPrivate(o.To); err != nil {
		return nil, err
	}
	lock, err := sqlitefile.AcquireLock(ctx, filepath.Join(o.To, "backup"), "backup", o.Wait)
	if err != nil {
		return nil, err
	}
	done, err := backup(ctx, o)
	return done, errors.Join(err, lock.Release())
}

func backup(ctx context.Context, o BackupOptions) (*Backups, error) {
	if err := removeParts(o.To); err != nil {
		return nil, err
	}
	var done Backups
	for _, b := range []struct {
		backupKind
		copy *string
		size *int64
	}{
		{backupKind{"outbox", o.Outbox, "rw", refuseOutbox, outbox.Explain}, &done.Outbox, &done.OutboxSize},
		{backupKind{"mirror", o.Mirror, "ro", refuseMirror, sqlitefile.Explain}, &done.Mirror, &done.MirrorSize},
	} {
		copied, size, err := b.copyTo(ctx, o)
		if errors.Is(err, sqlitefile.ErrNoDatabase) {
			continue
		}
		if err != nil {
			return &done, fmt.Errorf("back up %s: %w", b.path, err)
		}
		*b.copy, *b.size = copied, size
	}
	if done == (Backups{}) {
		return nil, sqlitefile.NoDatabase(o.Mirror)
	}
	return &done, done.prune(o)
}

// prune removes copies that are too many, of what was copied this time: the last copies of a file
// that is lost stay.
func (b Backups) prune(o BackupOptions) error {
	if o.Keep == 0 {
		return nil
	}
	for name, made := range map[string]string{"mirror": b.Mirror, "outbox": b.Outbox} {
		if made == "" {
			continue
		}
		if err := (versions{path: filepath.Join(o.To, name+".db")}).prune(o.Keep); err != nil {
			return err
		}
	}
	return nil
}

// removeParts removes what a killed backup left.
func removeParts(dir string) error {
	for _, name := range []string{"mirror", "outbox"} {
		left, err := filepath.Glob(filepath.Join(dir, partOf(name+"-*.db")))
		if err != nil {
			return err
		}
		for _, part := range left {
			if err := removeDatabase(part); err != nil {
				return fmt.Errorf("remove what an interrupted backup left: %w", err)
			}
		}
	}
	return nil
}

func (b backupKind) copyTo(ctx context.Context, o BackupOptions) (path string, size int64, err error) {
	if err := b.refuse(ctx, b.path); err != nil {
		return "", 0, err
	}
	path = filepath.Join(o.To, b.name+"-"+o.Now.UTC().Format(stampLayout)+".db")
	if err := roomForCopy(b.path, path); err != nil {
		return "", 0, err
	}
	build := func(part string) error { return vacuumInto(ctx, b.path, part, b.mode, b.explain) }
	place := func(part string) error { return os.Rename(part, path) }
	if err := makeCopy(ctx, path, 0o600, build, place); err != nil {
		return "", 0, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", 0, err
	}
	return path, info.Size(), nil
}

// refuseMirror returns an error for a file that is no mirror, of whatever schema.
func refuseMirror(ctx context.Context, path string) error {
	found, err := store.InspectFile(ctx, path, "ro")
	switch {
	case err != nil:
		return sqlitefile.Explain(path, err)
	case found.Empty():
		return sqlitefile.NoDatabase(path)
	case !found.Ours():
		return fmt.Errorf("%w: %s holds the tables of something else", sqlitefile.ErrNotMirror, path)
	}
	return nil
}

// refuseOutbox returns an error for a file that is no outbox or that others may read.
func refuseOutbox(ctx context.Context, path string) error {
	if err := sqlitefile.MustExist(path); err != nil {
		return err
	}
	for _, private := range []string{filepath.Dir(path), path} {
		if err := sqlitefile.CheckPrivate(private); err != nil {
			return err
		}
	}
	found, err := store.InspectFile(ctx, path, "rw")
	switch {
	case err != nil:
		return outbox.Explain(path, err)
	case !found.Has(schema.OutboxMeta):
		return fmt.Errorf("%w: %s", outbox.ErrNotOutbox, path)
	}
	return nil
}
