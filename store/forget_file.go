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
)

// StillReadError says that old copies of erased rows are still in the mirror's files, because another program reads them.
type StillReadError struct {
	Path    string
	Readers []string // the programs that have the file open; empty when the system does not tell
}

func (e *StillReadError) Error() string {
	who := "a reader (a program whose query or transaction is open)"
	if len(e.Readers) > 0 {
		who = strings.Join(e.Readers, ", ")
	}
	return fmt.Sprintf("%s is kept in an old state by %s: end its query or close it, then run the same command again; otherwise the next `solarmirror sync` removes the old copies",
		e.Path, who)
}

func (e *StillReadError) Unwrap() error { return ErrBusy }

// noteErasure has the next Open finish the erasure, should this process not come to it.
func (tx *Tx) noteErasure() error {
	_, err := tx.exec("note the erasure", "UPDATE _meta SET erasure_due_since = coalesce(erasure_due_since, ?)", FormatTime(tx.m.now()))
	return err
}

// finishErasure leaves nothing in the file and its WAL but what the tables hold: it rewrites the file, which takes as much free disk as the file is
// large, and empties the WAL. A reader of an old state prevents that; it is waited for before and after the rewriting, each time up to patience.
func (m *Mirror) finishErasure(ctx context.Context, patience time.Duration) error {
	err := m.aside(ctx, func(b *Mirror) error {
		// First, or a reader would have the WAL grow by the whole file for nothing.
		if err := b.emptyWAL(ctx, patience); err != nil {
			return err
		}
		// Otherwise the unused part of a new page may hold whatever its memory held before.
		if _, err := b.conn.ExecContext(ctx, "PRAGMA secure_delete = ON; VACUUM"); err != nil {
			return errors.Join(ctx.Err(), explain(m.path, err))
		}
		return b.emptyWAL(ctx, patience)
	})
	if errors.Is(err, ErrBusy) {
		return &StillReadError{Path: m.path, Readers: openElsewhere(m.path)}
	}
	if err != nil {
		return fmt.Errorf("%w; run the same command again", err)
	}
	return m.update(ctx, func(tx *Tx) error {
		_, err := tx.exec("note that the erasure is finished", "UPDATE _meta SET erasure_due_since = NULL")
		return err
	})
}

// catchUpErasure finishes an erasure that could not be, or whose process was stopped before. The mirror works without.
func (m *Mirror) catchUpErasure(ctx context.Context) error {
	var due bool
	if err := m.read.GetContext(ctx, &due, "SELECT count(erasure_due_since) > 0 FROM _meta"); err != nil || !due {
		return err
	}
	switch err := m.finishErasure(ctx, 0); {
	case err == nil:
		m.log.Info().Str("path", m.path).Msg("the old copies of erased rows are removed")
	case ctx.Err() != nil, errors.Is(err, ErrCorrupt):
		return err
	default:
		m.log.Warn().Err(err).Msg("old copies of erased rows are still in the file")
	}
	return nil
}

// openElsewhere names the other processes that have the file open, as far as Linux shows them to this user.
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
