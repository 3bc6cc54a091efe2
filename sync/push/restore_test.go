package push

import (
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"solarmirror/store/outbox"
	"solarmirror/sync/platform/platformtest"
)

// restoring pushes a few companies at a time and keeps copies of both files from every moment
// between.
type restoring struct {
	*rig
	cancel atomic.Value // func(): ends the present push
	stop   atomic.Int64 // at this call
}

func newRestoring(t *testing.T) *restoring {
	r := &restoring{}
	r.rig = newRig(t, func(call *platformtest.CompanyCall) platformtest.CompanyOutcome {
		if call.N == r.stop.Load() {
			r.cancel.Load().(context.CancelFunc)()
		}
		return platformtest.CompanyAsDeserved
	})
	return r
}

// pushSome sends at most n companies more.
func (r *restoring) pushSome(n int64) {
	ctx, cancel := context.WithCancel(r.t.Context())
	defer cancel()
	r.cancel.Store(cancel)
	r.stop.Store(r.platform.Served() + n)
	_, err := r.pushUnder(ctx)
	var incomplete *IncompleteError
	if err != nil && !errors.Is(err, context.Canceled) && !errors.As(err, &incomplete) {
		r.t.Fatal(err)
	}
}

func (r *restoring) copyFile(from, to string) {
	r.t.Helper()
	content, err := os.ReadFile(from)
	must(r.t, err)
	must(r.t, os.WriteFile(to, content, 0o600))
}

func (r *restoring) backup(name string) {
	r.copyFile(r.outboxPath(), filepath.Join(r.dir, name+".outbox"))
	r.copyFile(r.outboxPath()+".sends", filepath.Join(r.dir, name+".sends"))
	r.emptyWAL()
	r.copyFile(r.mirrorPath(), filepath.Join(r.dir, name+".mirror"))
}

// emptyWAL brings the mirror into one file.
func (r *restoring) emptyWAL() { execSQL(r.t, r.mirrorPath(), "PRAGMA wal_checkpoint(TRUNCATE)") }

func (r *restoring) restore(outbox, mirror string) {
	r.copyFile(filepath.Join(r.dir, outbox+".outbox"), r.outboxPath())
	for _, tail := range []string{"-wal", "-shm"} {
		if err := os.Remove(r.mirrorPath() + tail); err != nil && !errors.Is(err, fs.ErrNotExist) {
			r.t.Fatal(err)
		}
	}
	r.copyFile(filepath.Join(r.dir, mirror+".mirror"), r.mirrorPath())
}

// mustNotRepeat checks every tax number the platform ever saw.
func (r *restoring) mustNotRepeat() {
	r.t.Helper()
	for id, count := range r.platform.CompanyCounts() {
		if count.Received != 1 {
			r.t.Errorf("%s was sent %d times", id, count.Received)
		}
	}
}

// mustBeDecided checks that nothing was lost: every row was created or is in doubt.
func (r *restoring) mustBeDecided(rows int) {
	r.t.Helper()
	states := r.states()
	if len(states) != rows {
		r.t.Errorf("%d rows, want %d", len(states), rows)
	}
	for id, state := range states {
		if state != outbox.StateDone && state != outbox.StateAmbiguous {
			r.t.Errorf("row %d is %s", id, state)
		}
	}
}

func names(n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = string(rune('a' + i))
	}
	return list
}

// TestRestoredPairs puts back every pair of copies after all has been sent, and pushes.
func TestRestoredPairs(t *testing.T) {
	t.Parallel()
	const rows, moments = 6, 4
	r := newRestoring(t)
	r.add(companies(rows)...)
	for _, name := range names(moments) {
		r.backup(name)
		r.pushSome(2)
	}
	served := r.platform.Served()
	for _, outbox := range names(moments) {
		for _, mirror := range names(moments) {
			r.restore(outbox, mirror)
			_, _ = r.push()
			r.mustBeDecided(rows)
		}
	}
	if again := r.platform.Served() - served; again != 0 {
		t.Errorf("%d requests after restores, want none", again)
	}
	r.mustNotRepeat()
}

// TestRestoredOnTheWay puts back random pairs while the queue is being worked through: what was
// never sent still is.
func TestRestoredOnTheWay(t *testing.T) {
	t.Parallel()
	const rows = 10
	dice := rand.New(rand.NewPCG(7, 0))
	r := newRestoring(t)
	r.add(companies(rows)...)
	taken := names(8)
	for i, name := range taken {
		r.backup(name)
		r.pushSome(1 + dice.Int64N(2))
		if i%2 == 1 {
			r.restore(taken[dice.IntN(i+1)], taken[dice.IntN(i+1)])
		}
	}
	_, _ = r.push()
	r.mustBeDecided(rows)
	r.mustNotRepeat()
	if n := len(r.platform.CompanyCounts()); n != rows {
		t.Errorf("%d companies were sent, want %d", n, rows)
	}
}

// TestLostSendLog restores onto a machine without the log: nothing is sent until a person has
// looked.
func TestLostSendLog(t *testing.T) {
	t.Parallel()
	r := newRestoring(t)
	r.add(companies(3)...)
	r.backup("a")
	r.pushSome(2)
	r.restore("a", "a")
	must(t, os.Remove(r.outboxPath()+".sends"))
	report, _ := r.push()
	if report.Doubted != 3 || r.platform.Served() != 2 {
		t.Errorf("%+v after %d requests", report, r.platform.Served())
	}
	o := r.outbox()
	_, err := o.Resolve(t.Context(), 3, false)
	must(t, errors.Join(err, o.Close()))
	if report, err := r.push(); err != nil || report.Done != 1 {
		t.Errorf("resolved: %+v, %v", report, err)
	}
	// The log made since belongs to no older outbox.
	r.restore("a", "a")
	if report, _ := r.push(); report.Doubted != 3 || r.platform.Served() != 3 {
		t.Errorf("restored again: %+v after %d requests", report, r.platform.Served())
	}
	r.mustNotRepeat()
}

// TestMirrorRemembers restores outbox and send log together, so that the mirror alone knows better.
func TestMirrorRemembers(t *testing.T) {
	t.Parallel()
	r := newRestoring(t)
	r.add(companies(4)...)
	r.backup("a")
	o := r.outbox()
	_, err := o.Cancel(t.Context(), 4)
	must(t, errors.Join(err, o.Close()))
	_, err = r.push()
	must(t, err)
	r.backup("b")
	r.restore("a", "b")
	r.copyFile(filepath.Join(r.dir, "a.sends"), r.outboxPath()+".sends")
	report, _ := r.push()
	if report.Doubted != 4 || r.platform.Served() != 3 {
		t.Errorf("%+v after %d requests", report, r.platform.Served())
	}
	r.mustNotRepeat()
	o = r.outbox()
	_, err = o.Resolve(t.Context(), 4, false)
	must(t, errors.Join(err, o.Close()))
	if report, err := r.push(); err != nil || report.Done != 1 {
		t.Errorf("what a person resolves is sent: %+v, %v", report, err)
	}
}

// TestForkedHistory settles a doubt one way, restores the outbox from before, and settles it the
// other way.
func TestForkedHistory(t *testing.T) {
	t.Parallel()
	r := &restoring{rig: newRig(t, always(platformtest.CompanyResetAfter))}
	r.add(company(0))
	_, _ = r.push()
	r.backup("doubt")
	resolve := func(created bool) {
		o := r.outbox()
		row, err := o.Resolve(t.Context(), 1, created)
		must(t, errors.Join(err, o.Close()))
		mirror, err := outbox.OpenCreations(t.Context(), r.mirrorPath())
		must(t, err)
		must(t, errors.Join(mirror.Record(t.Context(), row), mirror.Close()))
	}
	resolve(true)
	r.copyFile(filepath.Join(r.dir, "doubt.outbox"), r.outboxPath())
	resolve(false)
	report, _ := r.push()
	if report.Doubted != 1 || r.platform.Served() != 1 {
		t.Errorf("%+v after %d requests", report, r.platform.Served())
	}
}
