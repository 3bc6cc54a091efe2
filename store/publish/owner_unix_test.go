//go:build unix

package publish

import (
	"os"
	"strings"
	"syscall"
	"testing"
)

// TestRestoreKeepsOwners: whoever worked with the databases goes on doing so, in WAL mode.
func TestRestoreKeepsOwners(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	const user, group = 7001, 8000
	r := newRestoreRig(t)
	must(t, os.Chown(r.mirror, user, group))
	if _, err := Restore(t.Context(), r.options(r.backup("a"))); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(r.mirror)
	must(t, err)
	if owner := info.Sys().(*syscall.Stat_t); owner.Uid != user || owner.Gid != group {
		t.Errorf("it belongs to %d:%d, want %d:%d", owner.Uid, owner.Gid, user, group)
	}
	if wal, err := isWALMode(r.mirror); err != nil || !wal {
		t.Errorf("WAL mode: %v, %v", wal, err)
	}
}

// TestJournalOfAnotherPlace: a journal that was copied with its directory touches no other place.
func TestJournalOfAnotherPlace(t *testing.T) {
	t.Parallel()
	r := newRestoreRig(t)
	s, err := newSwap(t.Context(), r.options(r.backup("a")))
	must(t, err)
	s.journal.Placing = true
	must(t, s.writeJournal(t.Context()))
	other := r.clone()
	must(t, os.Rename(journalPath(r.mirror), journalPath(other.mirror)))
	if did, err := FinishRestore(t.Context(), other.mirror, 0, false); err == nil || did != "" || !strings.Contains(err.Error(), r.mirror) {
		t.Errorf("%q, %v", did, err)
	}
	if got := r.states(); got != "bb" {
		t.Errorf("the other place has the states %q", got)
	}
}
