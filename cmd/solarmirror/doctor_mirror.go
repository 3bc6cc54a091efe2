package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"solarmirror/cmd/internal/age"
	"solarmirror/store"
)

// fileSystem is where a database lies, as far as SQLite's WAL cares: it needs memory shared between all who have the file open,
// which two machines never have.
type fileSystem struct {
	name    string // as people call it; "" when it is an ordinary one, or not known
	network bool   // other machines may have the file open
	checked bool   // this system can tell
}

func checkFileSystem(_ context.Context, p *patient) finding {
	dir := p.footprint.Dir
	at, err := p.fileSystem(dir)
	const remedy = "set [mirror] path to a local disk (df -T shows them) and run \"solarmirror sync\"; give readers elsewhere a copy"
	switch {
	case err != nil:
		return leftOut(fmt.Sprintf("the file system of %s cannot be looked at: %v", dir, err))
	case !at.checked:
		return leftOut("not checked on this system")
	case at.network:
		return failure(remedy, "%s lies on %s, a network file system: readers of other machines get a damaged view, or damage the file", dir, at.name)
	case at.name != "":
		return warning(remedy, "%s lies on %s, where a WAL may not work or the file may not last", dir, at.name)
	}
	return found("%s lies on a local disk", dir)
}

// leastFree is the free disk, in bytes, below which a doctor warns however small the database is.
const leastFree = 1 << 30

// leastForWAL is the free disk, in bytes, below which a sync is likely to fail: the -wal takes 16 MiB before it is emptied into the file.
const leastForWAL = 32 << 20

func checkFreeDisk(_ context.Context, p *patient) finding {
	f := p.footprint
	if !f.FreeKnown {
		return leftOut("not checked on this system")
	}
	if f.Free < leastForWAL {
		return failure("make room: df -h "+f.Dir, "%s free on the disk of %s; a sync needs %s at least", bytesText(f.Free), f.Dir, bytesText(leastForWAL))
	}
	// A migration may take what the file has now, and copies are made of it.
	if wanted := max(2*f.Size, leastFree); f.Free < wanted {
		return warning("make room: df -h "+f.Dir, "%s free on the disk of %s; %s would do, twice the database and 1 GiB at least", bytesText(f.Free), f.Dir, bytesText(wanted))
	}
	return found("%s free; the database has %s", bytesText(f.Free), bytesText(f.Size))
}

func bytesText(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%d bytes", n)
}

// longWAL is a -wal, in bytes, that only grows so far while something keeps it from being emptied: it is at 16 MiB.
const longWAL = 64 << 20

func checkJournal(ctx context.Context, p *patient) finding {
	mode, err := store.JournalMode(ctx, p.config.Mirror.Path)
	f := p.footprint
	switch {
	case err != nil:
		return failure("solarmirror status", "%v", err)
	case mode != "wal":
		return warning("solarmirror sync, which sets it back; if it does not stay, move the file to a local disk",
			"the journal is %q, not wal: readers and syncs wait for each other", mode)
	case f.HasSHM && !f.HasWAL:
		return warning(fmt.Sprintf("close every program that has the mirror open, then: rm %s-shm", p.config.Mirror.Path),
			"a stale -shm lies beside the mirror without its -wal: one of the files was moved or copied alone")
	case f.WAL > longWAL:
		return warning("close readers that keep a transaction open, then: solarmirror sync",
			"the -wal has grown to %s: some reader keeps it from being emptied, and reading gets slow", bytesText(f.WAL))
	}
	return found("wal; its file has %s", bytesText(f.WAL))
}

func checkSchemaVersion(_ context.Context, p *patient) finding {
	var newer *store.NewerError
	var older *store.OlderError
	switch err := p.mirrorErr; {
	case err == nil:
		return found("%d, which is this program's", p.meta.SchemaVersion)
	case errors.As(err, &older):
		return warning("solarmirror sync, which brings it up to date", "%d, and this program's is %d", older.Have, older.Want)
	case errors.As(err, &newer):
		return failure("install the newer solarmirror, or set [mirror] path to another file", "%d, and this program knows %d at the most", newer.Have, newer.Know)
	case errors.Is(err, store.ErrNotMirror):
		return failure("move it away or set [mirror] path to another file, then: solarmirror sync; if it was the mirror: "+restore, "%s is no mirror", p.config.Mirror.Path)
	case errors.Is(err, store.ErrCorrupt):
		return failure(restore, "%s is damaged", p.config.Mirror.Path)
	default:
		return failure("ls -l "+p.config.Mirror.Path, "%v", err)
	}
}

// restore is what to do about a damaged mirror.
const restore = "stop everything that writes to it and put back a copy made with \"solarmirror backup\", as its --help says"

// integrityDeadline bounds the reading of a large file.
const integrityDeadline = 30 * time.Second

func checkIntegrity(ctx context.Context, p *patient) finding {
	ctx, cancel := context.WithTimeout(ctx, integrityDeadline)
	defer cancel()
	faults, err := store.QuickCheck(ctx, p.config.Mirror.Path)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return leftOut(fmt.Sprintf("not through within %s; to take the time: solarmirror query \"PRAGMA quick_check\"", integrityDeadline))
	case errors.Is(err, store.ErrCorrupt):
		return failure(restore, "the file is damaged")
	case err != nil:
		return failure("solarmirror status", "%v", err)
	case len(faults) > 0:
		return failure(restore, "the file is damaged: %s", strings.Join(faults, "; "))
	}
	return found("sound")
}

func checkErasure(_ context.Context, p *patient) finding {
	if due := p.meta.ErasureDueSince; due != nil {
		return warning(finishErasure, "old copies of rows erased at %s (UTC) may still be in the file", minute(*due))
	}
	return found("none is pending")
}

// greatestAge is how old a stream may be without a warning.
const greatestAge = 24 * time.Hour

func checkFreshness(ctx context.Context, p *patient) finding {
	list, err := p.mirror.Freshness(ctx)
	if err != nil {
		return failure("solarmirror status", "%v", err)
	}
	var ages, late []string
	for _, f := range list {
		old, never := f.Age(p.now()), f.CompleteThrough.IsZero()
		text := fmt.Sprintf("%s %s old", f.Stream.Name, age.Of(old))
		if never {
			text = f.Stream.Name + " never complete"
		}
		ages = append(ages, text)
		if never || old > greatestAge {
			late = append(late, f.Stream.Name)
		}
	}
	if len(late) > 0 {
		return warning("solarmirror sync "+strings.Join(late, " "), "%s", strings.Join(ages, ", "))
	}
	return found("%s", strings.Join(ages, ", "))
}
