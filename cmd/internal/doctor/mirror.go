package doctor

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"solarmirror/cmd/internal/status"
	"solarmirror/cmd/internal/words"
	"solarmirror/store"
	"solarmirror/store/marts"
	"solarmirror/store/marts/own"
	"solarmirror/store/owntables"
	"solarmirror/store/sqlitefile"
)

// longWAL is the WAL size, in bytes, above which a reader must be blocking checkpoints: syncs
// checkpoint at 16 MiB.
const longWAL = 64 << 20

func checkJournal(ctx context.Context, f *facts) Finding {
	mode, err := sqlitefile.JournalMode(ctx, f.Config.Mirror.Path)
	files := f.files
	limit, blocked := int64(longWAL), warn("close readers that keep a transaction open, then: solarmirror sync",
		"the -wal has grown to %s: some reader keeps it from being emptied, and reading gets slow", words.Bytes(files.WAL))
	if f.litestream {
		limit, blocked = sqlitefile.LitestreamWAL, warn("restart Litestream, whose log says why; where it no longer runs, close readers that keep a transaction open, then: solarmirror sync",
			"the -wal has grown to %s: Litestream does not empty it, and reading gets slow", words.Bytes(files.WAL))
	}
	switch {
	case err != nil:
		return fail("solarmirror status", "%v", err)
	case mode != "wal":
		return warn("solarmirror sync, which sets it back; if it does not stay, move the file to a local disk",
			"the journal is %q, not wal: readers and syncs wait for each other", mode)
	case files.HasSHM && !files.HasWAL:
		return warn(fmt.Sprintf("close every program that has the mirror open, then: rm %s-shm", f.Config.Mirror.Path),
			"a stale -shm lies beside the mirror without its -wal: one of the files was moved or copied alone")
	case files.WAL > limit:
		return blocked
	case f.litestream:
		return pass("wal; its file has %s, which Litestream empties while it runs", words.Bytes(files.WAL))
	}
	return pass("wal; its file has %s", words.Bytes(files.WAL))
}

func checkSchemaVersion(_ context.Context, f *facts) Finding {
	var newer *sqlitefile.NewerError
	var older *sqlitefile.OlderError
	switch err := f.mirrorErr; {
	case err == nil:
		return pass("%d, which is this program's", f.meta.SchemaVersion)
	case errors.As(err, &older):
		return warn("solarmirror sync, which brings it up to date", "%d, and this program's is %d", older.Have, older.Want)
	case errors.As(err, &newer):
		return fail("install the newer solarmirror, or set [mirror] path to another file", "%d, and this program knows %d at the most", newer.Have, newer.Know)
	case errors.Is(err, sqlitefile.ErrNotMirror):
		return fail("move it away or set [mirror] path to another file, then: solarmirror sync; if it was the mirror: "+restoreBackup, "%s is no mirror", f.Config.Mirror.Path)
	case errors.Is(err, sqlitefile.ErrCorrupt):
		return fail(restoreBackup, "%s is damaged", f.Config.Mirror.Path)
	default:
		return fail("ls -l "+f.Config.Mirror.Path, "%v", err)
	}
}

const restoreBackup = "stop everything that writes to it, then put the last backup back: solarmirror restore --from DIR"

// integrityTimeout limits the check of a large file.
const integrityTimeout = 30 * time.Second

func checkIntegrity(ctx context.Context, f *facts) Finding {
	ctx, cancel := context.WithTimeout(ctx, integrityTimeout)
	defer cancel()
	faults, err := sqlitefile.QuickCheck(ctx, f.Config.Mirror.Path)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return skip(fmt.Sprintf("not through within %s; to take the time: solarmirror query \"PRAGMA quick_check\"", integrityTimeout))
	case errors.Is(err, sqlitefile.ErrCorrupt):
		return fail(restoreBackup, "the file is damaged")
	case err != nil:
		return fail("solarmirror status", "%v", err)
	case len(faults) > 0:
		return fail(restoreBackup, "the file is damaged: %s", strings.Join(faults, "; "))
	}
	return pass("sound")
}

func checkErasure(_ context.Context, f *facts) Finding {
	if due := f.meta.ErasureDueSince; due != nil {
		return warn(status.FinishErasure, "old copies of rows erased at %s (UTC) may still be in the file", words.Minute(*due))
	}
	return pass("none is pending")
}

// maxAge is the greatest age of a stream without a warning.
const maxAge = 24 * time.Hour

func checkFreshness(ctx context.Context, f *facts) Finding {
	list, err := f.mirror.Freshness(ctx)
	if err != nil {
		return fail("solarmirror status", "%v", err)
	}
	var ages, late []string
	for _, at := range list {
		old, never := at.Age(f.now()), at.CompleteThrough.IsZero()
		text := fmt.Sprintf("%s %s old", at.Stream.Name, words.Age(old))
		if never {
			text = at.Stream.Name + " never complete"
		}
		ages = append(ages, text)
		if never || old > maxAge {
			late = append(late, at.Stream.Name)
		}
	}
	if len(late) > 0 {
		return warn("solarmirror sync "+strings.Join(late, " "), "%s", strings.Join(ages, ", "))
	}
	return pass("%s", strings.Join(ages, ", "))
}

func checkMarts(ctx context.Context, f *facts) Finding {
	behind, err := f.mirror.MartsBehind(ctx)
	switch {
	case err != nil:
		return fail("solarmirror status", "%v", err)
	case behind:
		return warn("solarmirror sync", status.MartsBehind)
	}
	return pass("no update of them was cut off")
}

// checkOwnMarts names the files that make no mart, or not the one they should.
func checkOwnMarts(ctx context.Context, f *facts) Finding {
	dir := f.Config.Marts.OwnDir
	if dir == "" {
		return pass("none: [marts] own_dir is not set")
	}
	list, err := own.Check(ctx, dir, f.mirror.Reader())
	if err != nil {
		return fail("ls -l "+dir, "%v", err)
	}
	var faults []string
	for _, m := range list {
		if m.Err != nil {
			faults = append(faults, fmt.Sprintf("%s: %v", m.File, m.Err))
		}
	}
	failed, err := owntables.Failed(ctx, f.mirror.Reader())
	switch {
	case err != nil:
		return fail("solarmirror status", "%v", err)
	case len(faults) > 0:
		return warn("correct the file, then: solarmirror marts build", "%s", strings.Join(faults, "; "))
	case len(failed) > 0:
		return warn("solarmirror marts list", "%s", status.FailedMarts(failed))
	}
	return pass("%d, all in order", len(list))
}

// checkPowerUnit compares the unit of totalPower with the rated power of the modules.
func checkPowerUnit(ctx context.Context, f *facts) Finding {
	power, err := marts.ReadPower(ctx, f.mirror, store.PowerUnit(f.Config.Marts.PowerUnit))
	switch {
	case err != nil:
		return fail("solarmirror status", "%v", err)
	case power.Contradicted():
		return fail(power.Remedy(), "%s", power)
	}
	return pass("%s", power)
}

// checkDealStatuses lists what a person may want to decide. It is in order to leave all undecided, so
// the keys to edit are no remedy.
func checkDealStatuses(ctx context.Context, f *facts) Finding {
	undecided, err := status.ReadUndecided(ctx, f.mirror, f.Config.Marts.Deals)
	switch {
	case err != nil:
		return fail("solarmirror status", "%v", err)
	case len(undecided) == 0:
		return pass("none to decide")
	}
	return pass("in no list of [marts], so neither lost, cancelled nor closed: %s; where wrong: cancelled_statuses, lost_statuses, closed_statuses", undecided.First(5))
}
