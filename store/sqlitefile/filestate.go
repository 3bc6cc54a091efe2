package sqlitefile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/jmoiron/sqlx"
)

// FileState is what lies on the disk for a database, and the room around it.
type FileState struct {
	Dir            string // absolute: the directory of the file or, while that is missing, the nearest above it
	Exists         bool   // the file does
	Size           int64  // of the file, in bytes
	WAL            int64  // of the -wal beside it, in bytes
	HasWAL, HasSHM bool   // there is a -wal, a -shm
	Free           int64  // bytes a user without privileges may still write there
	FreeKnown      bool   // Free is known on this system
}

// ReadFileState looks at the files of the database at path without opening any: closing one
// would drop the locks that SQLite holds on it for this process.
func ReadFileState(path string) (FileState, error) {
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return FileState{}, err
	}
	if dir, err = existingDir(dir); err != nil {
		return FileState{}, fmt.Errorf("look for the directory of %s: %w", path, err)
	}
	f := FileState{Dir: dir}
	if f.Exists, f.Size, err = measure(path); err != nil {
		return FileState{}, err
	}
	if f.HasWAL, f.WAL, err = measure(path + "-wal"); err != nil {
		return FileState{}, err
	}
	if f.HasSHM, _, err = measure(path + "-shm"); err != nil {
		return FileState{}, err
	}
	if f.Free, f.FreeKnown, err = FreeBytes(dir); err != nil {
		return FileState{}, fmt.Errorf("look at the free disk of %s: %w", dir, err)
	}
	return f, nil
}

func measure(path string) (exists bool, size int64, err error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, 0, nil
	case err != nil:
		return false, 0, fmt.Errorf("look at the size of %s: %w", path, err)
	}
	return true, info.Size(), nil
}

// existingDir returns dir or the nearest directory above it that exists.
func existingDir(dir string) (string, error) {
	for {
		_, err := os.Stat(dir)
		if err == nil || !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			return dir, err
		}
		dir = filepath.Dir(dir)
	}
}

// JournalMode returns how the database at path keeps its journal, "wal" when all is well. Of
// whichever schema it is, the file is only read.
//
// Errors: [ErrNoDatabase], [ErrNotMirror] for what is no SQLite file, [ErrCorrupt], [ErrBusy].
func JournalMode(ctx context.Context, path string) (string, error) {
	var mode []string
	if err := AskPragma(ctx, path, "PRAGMA journal_mode", &mode); err != nil {
		return "", fmt.Errorf("read the journal mode: %w", err)
	}
	return mode[0], nil
}

// MaxFaults bounds what QuickCheck reports of a damaged file.
const MaxFaults = 10

// QuickCheck reads the database at path through and returns the faults of its structure, ten at
// most; none means that it is sound. It takes the longer the larger the file is, and stops with
// ctx.
//
// Errors: those of [JournalMode], and ctx's.
func QuickCheck(ctx context.Context, path string) ([]string, error) {
	var report []string
	if err := AskPragma(ctx, path, fmt.Sprintf("PRAGMA quick_check(%d)", MaxFaults), &report); err != nil {
		return nil, fmt.Errorf("check the integrity: %w", err)
	}
	if len(report) == 1 && report[0] == "ok" {
		return nil, nil
	}
	return report, nil
}

// OpenUnguarded returns connections that read a file of whichever schema, and may ask any pragma of
// it. The mode is ro, or rw where an interrupted transaction may first have to be undone.
func OpenUnguarded(path, mode string) (*sqlx.DB, error) {
	return sqlx.Open("sqlite", DSN(path, ReaderPragmas)+"&mode="+mode)
}

// AskPragma asks on a connection of its own, which unlike a [store.Mirror]'s readers may be of any schema
// and ask any pragma.
func AskPragma(ctx context.Context, path, pragma string, answer *[]string) error {
	if err := MustExist(path); err != nil {
		return err
	}
	db, err := OpenUnguarded(path, "ro")
	if err != nil {
		return err
	}
	err = db.SelectContext(ctx, answer, pragma)
	if ctx.Err() != nil {
		err = ctx.Err() // SQLite only says that it was interrupted
	}
	return errors.Join(Explain(path, err), db.Close())
}
