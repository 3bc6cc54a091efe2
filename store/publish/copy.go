package publish

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/jmoiron/sqlx"

	"solarmirror/store/sqlitefile"
)

// The endings of what SQLite may leave beside a database.
var tails = []string{"-journal", "-wal", "-shm"}

// partOf is the name a copy has while it is made.
func partOf(path string) string { return path + ".part" }

// makeCopy has build write a whole database into a fresh file beside path, checks what it wrote,
// brings it to the disk and has place put it where it belongs. Whatever fails, path is as it was
// and the fresh file is gone; one that a killed program left is removed first. The caller makes
// sure that nobody else makes a copy there.
func makeCopy(ctx context.Context, path string, mode fs.FileMode, build func(part string) error, place func(part string) error) error {
	part := partOf(path)
	if err := removeDatabase(part); err != nil {
		return fmt.Errorf("remove what an interrupted run left: %w", err)
	}
	err := fillCopy(ctx, part, mode, build)
	if err == nil {
		err = place(part)
	}
	if err != nil {
		return errors.Join(err, removeDatabase(part))
	}
	return sqlitefile.SyncDir(filepath.Dir(path))
}

func fillCopy(ctx context.Context, part string, mode fs.FileMode, build func(part string) error) error {
	f, err := os.OpenFile(part, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return fmt.Errorf("create the copy: %w", err)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("create the copy: %w", err)
	}
	if err := build(part); err != nil {
		return err
	}
	if err := checkCopy(ctx, part); err != nil {
		return err
	}
	return syncFile(part)
}

// checkCopy returns an error when SQLite finds the copy damaged.
func checkCopy(ctx context.Context, part string) error {
	faults, err := sqlitefile.IntegrityCheck(ctx, part)
	if err != nil {
		return fmt.Errorf("check the copy: %w", err)
	}
	if len(faults) > 0 {
		return fmt.Errorf("the copy is not sound, and was thrown away: %s", strings.Join(faults, "; "))
	}
	return nil
}

// syncFile brings a closed file to the disk.
func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// removeDatabase removes a database nobody has open, with what lies beside it, if there is any.
func removeDatabase(path string) error {
	return errors.Join(removeIfThere(path), removeTails(path))
}

func removeTails(path string) error {
	var errs []error
	for _, tail := range tails {
		errs = append(errs, removeIfThere(path+tail))
	}
	return errors.Join(errs...)
}

func removeIfThere(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// roomForCopy returns a [*sqlitefile.NoRoomError] when the disk of path might not have room for a copy of the
// database at from: as much as that has itself, with its WAL, is asked for.
func roomForCopy(from, path string) error {
	source, err := sqlitefile.ReadFileState(from)
	if err != nil {
		return err
	}
	target, err := sqlitefile.ReadFileState(path)
	if err != nil {
		return err
	}
	if need := source.Size + source.WAL; target.FreeKnown && target.Free < need {
		return &sqlitefile.NoRoomError{Doing: fmt.Sprintf("copying %s to %s may take", from, filepath.Dir(path)), Need: need, Free: target.Free}
	}
	return nil
}

// vacuumInto copies a database whole, as it is at one moment, while others go on writing to it. The
// copy needs no WAL. The mode is ro, or rw where an interrupted transaction may first have to be
// undone; explain words the errors of the file at from.
func vacuumInto(ctx context.Context, from, part, mode string, explain func(path string, err error) error) error {
	// Without query_only, which VACUUM does not suffer although it changes nothing here.
	db, err := sqlx.Open("sqlite", sqlitefile.DSN(from, []string{"busy_timeout(10000)", "temp_store(MEMORY)"})+"&mode="+mode)
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, "VACUUM INTO ?", part)
	if ctx.Err() != nil {
		err = ctx.Err() // SQLite only says that it was interrupted
	}
	return errors.Join(explainCopy(from, part, err, explain), db.Close())
}

// explainCopy says which of the two files an error of a connection to both is about: what is
// damaged can only be the one that is read, what has no room only the one that is written.
func explainCopy(from, part string, err error, explain func(path string, err error) error) error {
	if explained := explain(from, err); !errors.Is(explained, sqlitefile.ErrDiskFull) {
		return explained
	}
	return explain(part, err)
}
