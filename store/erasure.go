package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"solarmirror/schema"
	"solarmirror/store/sqlitefile"
)

// StillReadError: the mirror's files still hold old copies of erased rows, because another process
// has a read transaction open.
type StillReadError struct {
	Path    string
	Readers []string // other processes that have the file open; empty when not known
}

func (e *StillReadError) Error() string {
	who := "a reader"
	if len(e.Readers) > 0 {
		who += ", probably " + strings.Join(e.Readers, " or ") + ","
	}
	return fmt.Sprintf("%s keeps old copies in %s: end its query or transaction, then run the same command again; otherwise the next `solarmirror sync` removes them",
		who, e.Path)
}

func (e *StillReadError) Unwrap() error { return sqlitefile.ErrBusy }

// NoteErasure records that FinishErasure is due, so that the next Open calls it if this process
// does not succeed.
func (tx *Tx) NoteErasure() error {
	_, err := tx.Exec("note the erasure", "UPDATE _meta SET erasure_due_since = coalesce(erasure_due_since, ?)", sqlitefile.FormatTime(tx.m.now()))
	return err
}

// FinishErasure removes old copies of rows from the file and its WAL: it rewrites the file, which
// takes as much free disk as the file is large, and empties the WAL. It waits up to patience for
// readers of an old state, before and after rewriting.
func (m *Mirror) FinishErasure(ctx context.Context, patience time.Duration) error {
	err := m.WithSideConnection(ctx, func(b *Side) error {
		return b.inTurn(ctx, func() error {
			// First, because VACUUM under a reader would only make the WAL grow by the whole file.
			if err := b.emptyWAL(ctx, patience); err != nil {
				return err
			}
			// Without secure_delete the unused part of a new page may hold old memory.
			if _, err := b.conn.ExecContext(ctx, "PRAGMA secure_delete = ON; VACUUM"); err != nil {
				return errors.Join(ctx.Err(), sqlitefile.Explain(m.path, err))
			}
			return b.emptyWAL(ctx, patience)
		})
	})
	if errors.Is(err, sqlitefile.ErrBusy) {
		return &StillReadError{Path: m.path, Readers: openElsewhere(m.path)}
	}
	if err != nil {
		return fmt.Errorf("%w; run the same command again", err)
	}
	return m.Update(ctx, func(tx *Tx) error {
		_, err := tx.Exec("note that the erasure is finished", "UPDATE _meta SET erasure_due_since = NULL")
		return err
	})
}

// catchUpErasure finishes an erasure that an earlier process could not. The mirror is usable
// without it.
func (m *Mirror) catchUpErasure(ctx context.Context) error {
	var due bool
	if err := m.read.GetContext(ctx, &due, "SELECT count(erasure_due_since) > 0 FROM _meta"); err != nil || !due {
		return err
	}
	switch err := m.FinishErasure(ctx, checkpointAttempt); {
	case err == nil:
		m.log.Info().Str("path", m.path).Msg("the old copies of erased rows are removed")
	case ctx.Err() != nil, errors.Is(err, sqlitefile.ErrCorrupt):
		return err
	default:
		m.log.Warn().Err(err).Msg("old copies of erased rows are still in the file")
	}
	return nil
}

// openElsewhere names the other processes that have the file open. Only Linux has /proc, and shows
// there only processes of the same user and container.
func openElsewhere(path string) (names []string) {
	file, err := os.Stat(path)
	if err != nil {
		return nil
	}
	open, _ := filepath.Glob("/proc/[0-9]*/fd/*")
	for _, fd := range open {
		process := filepath.Dir(filepath.Dir(fd))
		info, err := os.Stat(fd)
		if err != nil || !os.SameFile(file, info) || process == fmt.Sprintf("/proc/%d", os.Getpid()) {
			continue
		}
		command, _ := os.ReadFile(filepath.Join(process, "comm"))
		names = append(names, fmt.Sprintf("%s (process %s)", strings.TrimSpace(string(command)), filepath.Base(process)))
	}
	return slices.Compact(names) // one process may have it open several times
}

// MarkErased marks records of which something was erased.
func (tx *Tx) MarkErased(root *schema.Table, keys []int64) error {
	query := fmt.Sprintf("UPDATE %s SET _erased_at = ? WHERE %s IN (SELECT value FROM json_each(?))", root.Name, root.Key[0])
	_, err := tx.Exec("mark erased records of "+root.Name, query, sqlitefile.FormatTime(tx.m.now()), keyList(keys))
	return err
}
