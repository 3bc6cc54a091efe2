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

// BackupOptions are the parameters of [Backup].
type BackupOptions struct {
	To             string    // directory of the copies
	Mirror, Outbox string    // paths of the databases; one of the files may be missing
	Now            time.Time // for the names of the copies
	Keep           int       // number of copies of each to keep in To; 0: all
	Wait           bool      // wait while another process backs up to To
}

// Backups describes the copies that one [Backup] made.
type Backups struct {
	Mirror, Outbox         string // paths; "" where the database does not exist
	MirrorSize, OutboxSize int64  // bytes
}

// backupKind is one of the two databases that a backup copies.
type backupKind struct {
	name    string // begins the name of the copy
	path    string
	mode    string // of the reading connection, see vacuumInto
	check   func(ctx context.Context, path string) error
	explain func(path string, err error) error
}

// Backup copies mirror and outbox to new files in o.To, with the time o.Now in their names. Each
// copy is one snapshot; other processes go on writing meanwhile. The files may have any schema
// version, so a backup can precede an upgrade. Directory and copies are private: they hold all
// personal data, and the passwords as the outbox stores them. Backup never copies key files or the
// send log beside the outbox; package outbox says why. After an error it returns the copies made
// before it.
//
// Errors: [sqlitefile.ErrNoDatabase] when neither file exists, [sqlitefile.ErrNotMirror],
// [outbox.ErrNotOutbox], [*sqlitefile.ModeError], [*sqlitefile.NoRoomError],
// [*sqlitefile.LockedError], [sqlitefile.ErrCorrupt].
func Backup(ctx context.Context, o BackupOptions) (*Backups, error) {
	if err := sqlitefile.MakeDir(o.To, 0o700); err != nil {
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
		{backupKind{"outbox", o.Outbox, "rw", checkOutbox, outbox.Explain}, &done.Outbox, &done.OutboxSize},
		{backupKind{"mirror", o.Mirror, "ro", checkMirror, sqlitefile.Explain}, &done.Mirror, &done.MirrorSize},
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

// prune removes the oldest copies of the databases that were copied this time. The copies of a
// database that no longer exists stay.
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

// removeParts removes the unfinished copies of a killed backup.
func removeParts(dir string) error {
	for _, name := range []string{"mirror", "outbox"} {
		left, err := filepath.Glob(filepath.Join(dir, partPath(name+"-*.db")))
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
	if err := b.check(ctx, b.path); err != nil {
		return "", 0, err
	}
	path = filepath.Join(o.To, b.name+"-"+o.Now.UTC().Format(stampLayout)+".db")
	if err := checkRoom(b.path, path); err != nil {
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

// checkMirror returns an error unless path is a mirror, with any schema version.
func checkMirror(ctx context.Context, path string) error {
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

// checkOutbox returns an error unless path is a private outbox.
func checkOutbox(ctx context.Context, path string) error {
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
