package sqlitefile

import (
	"context"
	"errors"
	"fmt"
)

// MaxFaults is the most faults that [QuickCheck] and [IntegrityCheck] return.
const MaxFaults = 10

// JournalMode returns the journal mode of the database at path; a mirror's is "wal". The file may
// have any schema version, and is only read.
//
// Errors: [ErrNoDatabase], [ErrNotMirror] for a file that is not SQLite's, [ErrCorrupt], [ErrBusy].
func JournalMode(ctx context.Context, path string) (string, error) {
	mode, err := askPragma(ctx, path, "journal_mode")
	if err != nil {
		return "", fmt.Errorf("read the journal mode: %w", err)
	}
	return mode[0], nil
}

// QuickCheck reads the database at path and returns the faults in its structure, [MaxFaults] at
// most; nil when there are none. The time grows with the size of the file.
//
// Errors: those of [JournalMode], and ctx's.
func QuickCheck(ctx context.Context, path string) ([]string, error) {
	faults, err := findFaults(ctx, path, "quick_check")
	if err != nil {
		return nil, fmt.Errorf("check the integrity: %w", err)
	}
	return faults, nil
}

// IntegrityCheck is [QuickCheck] that also compares indices with their tables, and takes longer.
func IntegrityCheck(ctx context.Context, path string) ([]string, error) {
	return findFaults(ctx, path, "integrity_check")
}

func findFaults(ctx context.Context, path, check string) ([]string, error) {
	report, err := askPragma(ctx, path, fmt.Sprintf("%s(%d)", check, MaxFaults))
	if err != nil || len(report) == 1 && report[0] == "ok" {
		return nil, err
	}
	return report, nil
}

// askPragma runs a pragma on a connection of its own and returns the rows of the answer.
func askPragma(ctx context.Context, path, pragma string) (answer []string, err error) {
	if err := MustExist(path); err != nil {
		return nil, err
	}
	db, err := OpenUnguarded(path, "ro")
	if err != nil {
		return nil, err
	}
	err = db.SelectContext(ctx, &answer, "PRAGMA "+pragma)
	if ctx.Err() != nil {
		err = ctx.Err() // SQLite's own error does not give the reason
	}
	return answer, errors.Join(Explain(path, err), db.Close())
}
