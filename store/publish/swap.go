package publish

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"solarmirror/store"
	"solarmirror/store/outbox"
	"solarmirror/store/sqlitefile"
)

// journal is the file beside the mirror that exists while databases are being replaced. Each state
// of it is written whole, by a rename.
type journal struct {
	// Placing decides what is to be done after a crash: the copies are whole and are put in place,
	// or nothing was replaced yet and the copies are removed.
	Placing bool          `json:"placing"`
	Mirror  string        `json:"mirror"` // path of the configured mirror; another one means that the journal was copied or moved
	Outbox  string        `json:"outbox"` // path of the configured outbox; it names lock and send log
	Files   []replacement `json:"files"`
}

// replacement is one database that is being replaced. The paths are absolute, and in one directory.
type replacement struct {
	Outbox bool   `json:"is_outbox"`
	Path   string `json:"path"`   // without symbolic links
	Staged string `json:"staged"` // the checked copy; missing once it is at Path
	Kept   string `json:"kept"`   // a second name of the database that is replaced
}

func journalPath(mirror string) string { return mirror + ".restore" }

// readJournal returns nil when nothing is being restored.
func readJournal(mirror string) (*journal, error) {
	text, err := os.ReadFile(journalPath(mirror))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look for an interrupted restore: %w", sqlitefile.ExplainFile(journalPath(mirror), err))
	}
	var j journal
	if err := json.Unmarshal(text, &j); err != nil {
		return nil, fmt.Errorf("look for an interrupted restore: %s is damaged: %w", journalPath(mirror), err)
	}
	place, err := resolved(mirror)
	if err == nil && place != j.Mirror {
		err = fmt.Errorf("%[1]s is of a restore that was begun for %[2]s, and is left alone: run a command there; if that place is gone, remove %[1]s and run `solarmirror restore` again",
			journalPath(mirror), j.Mirror)
	}
	return &j, err
}

// resolved returns the absolute path of a file, without symbolic links in its directory.
func resolved(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	return filepath.Join(dir, filepath.Base(path)), err
}

// swap replaces databases in steps, each of which can be repeated. A process that dies between two
// of them, or within one, leaves a state that [FinishRestore] completes.
type swap struct {
	mirror   string // the journal is beside it
	baseURL  string
	fileMode fs.FileMode
	from     []string // backup of each of journal.Files
	patience time.Duration
	journal  journal
	held     []func() error // give up what is seized
	done     Restored
}

type step func(ctx context.Context) error

func runSteps(ctx context.Context, steps []step) error {
	for _, do := range steps {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := do(ctx); err != nil {
			return err
		}
	}
	return nil
}

func newSwap(ctx context.Context, o RestoreOptions) (*swap, error) {
	s := &swap{mirror: o.Mirror, baseURL: o.BaseURL, fileMode: o.FileMode, patience: o.Patience}
	var err error
	if s.journal.Mirror, err = resolved(o.Mirror); err != nil {
		return nil, err
	}
	if s.journal.Outbox, err = filepath.Abs(o.Outbox); err != nil {
		return nil, err
	}
	for _, f := range []struct {
		from, path string
		isOutbox   bool
	}{{o.From.Outbox, o.Outbox, true}, {o.From.Mirror, o.Mirror, false}} {
		if f.from == "" {
			continue
		}
		if sameFile(f.from, f.path) {
			return nil, fmt.Errorf("%s is the database itself, not a backup of it", f.from)
		}
		if err := checkReplaced(ctx, f.path, f.isOutbox); err != nil {
			return nil, err
		}
		path, err := filepath.Abs(f.path)
		if err != nil {
			return nil, err
		}
		if linked, err := filepath.EvalSymlinks(path); err == nil {
			path = linked
		}
		s.from = append(s.from, f.from)
		s.journal.Files = append(s.journal.Files, replacement{
			Outbox: f.isOutbox, Path: path, Staged: path + ".restoring", Kept: path + ".replaced-" + o.Now.UTC().Format(stampLayout),
		})
	}
	return s, nil
}

// prepare returns the steps that [swap.undo] takes back.
func (s *swap) prepare() []step {
	steps := []step{s.writeJournal}
	for i, r := range s.journal.Files {
		steps = append(steps, func(ctx context.Context) error { return r.stage(ctx, s.from[i], s.baseURL, s.fileMode) })
	}
	for _, r := range s.journal.Files {
		steps = append(steps, func(ctx context.Context) error { return s.seize(ctx, r) }, func(context.Context) error { return s.keep(r) })
	}
	return append(steps, func(ctx context.Context) error {
		s.journal.Placing = true
		return s.writeJournal(ctx)
	})
}

// place returns the steps after which there is no way back.
func (s *swap) place() []step {
	var steps []step
	for _, r := range s.journal.Files {
		steps = append(steps, r.removeSides, r.place)
	}
	return append(steps, func(context.Context) error { return s.giveUp() }, s.doubtSent, s.removeJournal)
}

func (s *swap) writeJournal(context.Context) error {
	text, err := json.Marshal(s.journal)
	if err != nil {
		return err
	}
	path := journalPath(s.mirror)
	f, err := os.OpenFile(path+".new", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("write the journal of the restore: %w", sqlitefile.ExplainFile(path, err))
	}
	_, err = f.Write(text)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("write the journal of the restore: %w", sqlitefile.ExplainFile(path, err))
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("write the journal of the restore: %w", sqlitefile.ExplainFile(path, err))
	}
	return sqlitefile.SyncDir(filepath.Dir(path))
}

func (s *swap) removeJournal(context.Context) error {
	if err := removeIfExists(journalPath(s.mirror)); err != nil {
		return err
	}
	return sqlitefile.SyncDir(filepath.Dir(s.mirror))
}

func (s *swap) seize(ctx context.Context, r replacement) error {
	if _, err := os.Stat(r.Path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	giveUp, err := sqlitefile.Seize(ctx, r.Path, s.patience)
	if err == nil {
		s.held = append(s.held, giveUp)
	}
	return err
}

func (s *swap) giveUp() error {
	var errs []error
	for _, giveUp := range s.held {
		errs = append(errs, giveUp())
	}
	s.held = nil
	return errors.Join(errs...)
}

// keptFiles are the suffixes of the files that a kept database consists of. One that SQLite can
// read has no side files by then.
var keptFiles = []string{"", "-journal", "-wal"}

// keep gives the database a second name.
func (s *swap) keep(r replacement) error {
	for _, tail := range keptFiles {
		switch err := os.Link(r.Path+tail, r.Kept+tail); {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return fmt.Errorf("keep the database that is replaced, for which the disk must know hard links: %w", err)
		case tail != "":
		case r.Outbox:
			s.done.KeptOutbox = r.Kept
		default:
			s.done.KeptMirror = r.Kept
		}
	}
	return sqlitefile.SyncDir(filepath.Dir(r.Path))
}

// removeSides removes the side files of the old database: SQLite would read them as part of the new
// one. Those of the new one stay.
func (r replacement) removeSides(context.Context) error {
	if r.placed() {
		return nil
	}
	return removeSideFiles(r.Path)
}

func (r replacement) place(context.Context) error {
	if r.placed() {
		return nil
	}
	if err := os.Rename(r.Staged, r.Path); err != nil {
		return err
	}
	return sqlitefile.SyncDir(filepath.Dir(r.Path))
}

func (r replacement) placed() bool {
	_, err := os.Stat(r.Staged)
	return errors.Is(err, fs.ErrNotExist)
}

// undo removes what prepare made. The databases are in WAL mode or no longer; both are right.
func (s *swap) undo(ctx context.Context) error {
	if s.journal.Placing { // the last step of prepare failed, and may have been done
		s.journal.Placing = false
		if err := s.writeJournal(ctx); err != nil {
			return err
		}
	}
	var errs []error
	for _, r := range s.journal.Files {
		// A process killed while the database left WAL mode leaves a journal that readers cannot roll
		// back. A database that cannot be opened stays as it is.
		_, _ = store.InspectFile(ctx, r.Path, "rw")
		errs = append(errs, removeDatabase(r.Staged))
		for _, tail := range keptFiles {
			if sameFile(r.Path+tail, r.Kept+tail) {
				errs = append(errs, os.Remove(r.Kept+tail))
			}
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("undo the restore: %w", err)
	}
	return s.removeJournal(ctx)
}

// doubtSent makes the rows of a restored outbox ambiguous that may have been sent since the backup:
// those that the send log, the mirror or the mirror that was replaced knows better. The mirror that
// was replaced may be damaged; the others then decide alone, as they do before every push.
func (s *swap) doubtSent(ctx context.Context) error {
	mirrors := []string{s.mirror}
	restored := false
	for _, r := range s.journal.Files {
		if r.Outbox {
			restored = true
		} else {
			mirrors = append(mirrors, r.Kept)
		}
	}
	if !restored {
		return nil
	}
	box, err := outbox.Open(ctx, s.journal.Outbox, outbox.Options{})
	if err != nil {
		return err
	}
	_, err = box.Recover(ctx)
	for _, mirror := range mirrors {
		if known, unreadable := outbox.ReadKnown(ctx, mirror); err == nil && unreadable == nil {
			_, err = box.Overtaken(ctx, known)
		}
	}
	counts, errCounting := box.Counts(ctx)
	s.done.Doubts = counts[outbox.StateAmbiguous]
	return errors.Join(err, errCounting, box.Close())
}

// FinishRestore completes a restore of the mirror that was interrupted, and does nothing when there
// is none: it puts all databases of the backup in place, or leaves all as they were. It returns
// what it did as a sentence, "" for nothing. Commands call it before they open mirror or outbox.
//
// Errors: [*sqlitefile.LockedError] while another process restores, [sqlitefile.ErrBusy].
func FinishRestore(ctx context.Context, mirror string, patience time.Duration, wait bool) (did string, err error) {
	j, err := readJournal(mirror)
	if j == nil || err != nil {
		return "", err
	}
	release, err := lockBoth(ctx, wait, mirror, j.Outbox)
	if err != nil {
		return "", err
	}
	did, err = finishRestore(ctx, mirror, patience)
	return did, errors.Join(err, release())
}

// finishRestore is [FinishRestore] for a caller that holds the locks.
func finishRestore(ctx context.Context, mirror string, patience time.Duration) (did string, err error) {
	j, err := readJournal(mirror)
	if j == nil || err != nil {
		return "", err
	}
	s := &swap{mirror: mirror, patience: patience, journal: *j}
	if !j.Placing {
		return "a restore that was interrupted was undone: nothing has changed", s.undo(ctx)
	}
	if err := runSteps(ctx, s.finish()); err != nil {
		return "", errors.Join(fmt.Errorf("finish a restore that was interrupted: %w", err), s.giveUp())
	}
	return "a restore that was interrupted is finished", nil
}

// finish returns the steps that are left, whichever were done.
func (s *swap) finish() []step {
	var steps []step
	for _, r := range s.journal.Files {
		steps = append(steps, func(ctx context.Context) error {
			if r.placed() {
				return nil
			}
			return s.seize(ctx, r)
		})
	}
	return append(steps, s.place()...)
}
