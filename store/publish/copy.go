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

// sideFiles are the suffixes of the files that SQLite may leave beside a database.
var sideFiles = []string{"-journal", "-wal", "-shm"}

// partPath is the path of a copy while it is built.
func partPath(path string) string { return path + ".part" }

// makeCopy calls build to write a database into a new file beside path, checks and syncs it, and
// calls place to move it to path. On any error path is unchanged and the new file is removed. A
// file that a killed process left there is removed first. The caller makes sure that no other
// process copies to path.
func makeCopy(ctx context.Context, path string, mode fs.FileMode, build func(part string) error, place func(part string) error) error {
	part := partPath(path)
	if err := removeDatabase(part); err != nil {
		return fmt.Errorf("remove what an interrupted run left: %w", err)
	}
	err := buildCopy(ctx, part, mode, build)
	if err == nil {
		err = place(part)
	}
	if err != nil {
		return errors.Join(err, removeDatabase(part))
	}
	return sqlitefile.SyncDir(filepath.Dir(path))
}

func buildCopy(ctx context.Context, part string, mode fs.FileMode, build func(part string) error) error {
	if err := sqlitefile.CreateFile(part, mode); err != nil {
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

// syncFile syncs a closed file.
func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// removeDatabase removes a database that no process has open, and its side files, where they exist.
func removeDatabase(path string) error {
	return errors.Join(removeIfExists(path), removeSideFiles(path))
}

func removeSideFiles(path string) error {
	var errs []error
	for _, tail := range sideFiles {
		errs = append(errs, removeIfExists(path+tail))
	}
	return errors.Join(errs...)
}

func removeIfExists(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// checkRoom returns a [*sqlitefile.NoRoomError] when the disk of path has less free space than the
// size of the database at from with its WAL.
func checkRoom(from, path string) error {
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

// vacuumInto copies one snapshot of the whole database at from into part, while others go on
// writing. The copy has a rollback journal. mode is "ro", or "rw" where SQLite may first have to
// roll back an interrupted transaction. explain is the Explain function for the file at from.
func vacuumInto(ctx context.Context, from, part, mode string, explain func(path string, err error) error) error {
	// Without query_only: it refuses VACUUM INTO, although that does not change this file.
	db, err := sqlx.Open("sqlite", sqlitefile.DSN(from, []string{"busy_timeout(10000)", "temp_store(MEMORY)"})+"&mode="+mode)
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, "VACUUM INTO ?", part)
	if ctx.Err() != nil {
		err = ctx.Err() // SQLite's own error does not give the reason
	}
	return errors.Join(explainCopy(from, part, err, explain), db.Close())
}

// explainCopy explains an error of a connection to both files. A full disk concerns part, which is
// written; any other error concerns from.
func explainCopy(from, part string, err error, explain func(path string, err error) error) error {
	if explained := explain(from, err); !errors.Is(explained, sqlitefile.ErrDiskFull) {
		return explained
	}
	return explain(part, err)
}
