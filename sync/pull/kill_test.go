package pull

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"solarmirror/store"
	"solarmirror/store/testsize"
	"solarmirror/sync/platform"
	"solarmirror/sync/platform/platformtest"
	"solarmirror/sync/scan"
)

var kills = flag.Int("kills", 6, "times a process is killed in each of the kill tests; 500 is the full run")

// TestMain runs the tests, or, in the processes that the kill tests and the benchmarks start, the work that is to be killed or the platform that is read.
func TestMain(m *testing.M) {
	if len(os.Args) == 1 && os.Args[0] == stockName {
		if err := beStock(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if len(os.Args) == 4 && os.Args[0] == victimName {
		if err := beVictim(os.Args[1], os.Args[2], os.Args[3]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	testsize.Properties(100)
	goleak.VerifyTestMain(m)
}

const victimName = "pull-victim"

// beVictim syncs or backfills a mirror file.
func beVictim(work, path, baseURL string) error {
	ctx := context.Background()
	client, err := platform.New(platform.Config{
		BaseURL: baseURL, Token: func(context.Context) (string, error) { return token, nil }, RequestsPerSecond: 10_000,
		Now: victimClock.now, Log: zerolog.Nop(),
	})
	if err != nil {
		return err
	}
	defer client.Close()
	mirror, err := store.Open(ctx, path, store.Options{Now: victimClock.now, Log: zerolog.Nop()})
	if err != nil {
		return err
	}
	defer mirror.Close()
	zone, err := time.LoadLocation("America/Sao_Paulo")
	if err != nil {
		return err
	}
	e := &Engine{
		Client: client, Mirror: mirror, Zone: zone, OverlapDays: 2, Paging: Paging{FirstPage: scan.FindFirstPage, Limit: 20}, InFlight: 3,
		Now: victimClock.now, Log: zerolog.Nop(),
	}
	if work == "sync" {
		_, err = e.Sync(ctx, Options{Streams: Streams(), Trigger: store.TriggerManual})
		return err
	}
	o := backfillOptions("2025-06-01", "2026-03-10", Month)
	for _, at := range o.Stretches() {
		if _, err := e.BackfillWindow(ctx, o, at); err != nil {
			return err
		}
	}
	_, err = e.BackfillTail(ctx, o)
	return err
}

var victimClock = newClock("2026-03-10T15:00:00Z")

// killing serves a platform and kills the process that reads it some time after a numbered request.
type killing struct {
	next   http.Handler
	at     int64
	delay  time.Duration
	served atomic.Int64
	victim atomic.Pointer[os.Process]
}

func (k *killing) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if victim := k.victim.Load(); k.served.Add(1) == k.at && victim != nil {
		time.AfterFunc(k.delay, func() { _ = victim.Kill() }) // one that has ended needs none
	}
	k.next.ServeHTTP(w, req)
}

// A first sync and a backfill that are killed at any moment, as a process of their own with a file of their own, go on and end with the mirror
// that undisturbed ones have.
func TestKilledAtAnyMoment(t *testing.T) {
	t.Parallel()
	for _, work := range []string{"sync", "backfill"} {
		t.Run(work, func(t *testing.T) {
			t.Parallel()
			p := platformtest.New(platformtest.Options{
				Seed: 9, Requests: testsize.Fewer(300), Equipments: fewItems(), Token: token, Clock: victimClock.now,
				Dialect: platformtest.Dialect{Cap: 20, Total: platformtest.TotalAbsent},
			})
			undisturbed := &killing{next: p}
			want, _ := killedRun(t, work, undisturbed)
			requests := undisturbed.served.Load()
			killed, again := 0, int64(0)
			rng := rand.New(rand.NewPCG(uint64(*kills), 7))
			for i := range testsize.Fewer(*kills) {
				k := &killing{next: p, at: 1 + rng.Int64N(requests), delay: time.Duration(rng.IntN(3000)) * time.Microsecond}
				got, struck := killedRun(t, work, k)
				if got != want {
					t.Fatalf("kill %d, %v after request %d: the mirror differs:\n%s", i, k.delay, k.at, diff(want, got))
				}
				if struck {
					killed++
					again = max(again, k.served.Load()-requests)
				}
			}
			// What was read since the ledger was last told is read again: for each pass that was being read. And the dialect may be asked for anew.
			if most := int64(3*saveEvery + 60); again > most {
				t.Errorf("a killed %s took %d requests more than an undisturbed one, over %d", work, again, most)
			}
			t.Logf("%s: %d of %d processes killed at random moments of %d requests, all mirrors identical to an undisturbed one; at most %d requests more",
				work, killed, testsize.Fewer(*kills), requests, again)
		})
	}
}

// killedRun works until it is done, once more after it was killed, and returns what the mirror holds.
func killedRun(t *testing.T, work string, k *killing) (content string, struck bool) {
	t.Helper()
	server := httptest.NewServer(plainly(k))
	defer server.Close()
	path := filepath.Join(t.TempDir(), "m.db")
	if err := os.WriteFile(path, emptyMirror(t), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := runVictim(t, work, path, server.URL, k); err != nil {
		struck = true
		k.victim.Store(nil)
		if err := runVictim(t, work, path, server.URL, nil); err != nil {
			t.Fatalf("the run after the kill: %v", err)
		}
	}
	return contentOf(t, path), struck
}

func runVictim(t *testing.T, work, path, url string, k *killing) error {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Args = []string{victimName, work, path, url}
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0")
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if k != nil {
		k.victim.Store(cmd.Process)
	}
	return cmd.Wait()
}

// contentOf opens a mirror file that nobody else has open and reads it whole.
func contentOf(t *testing.T, path string) string {
	t.Helper()
	mirror, err := store.Open(t.Context(), path, store.Options{Now: victimClock.now, Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	defer mirror.Close()
	r := &rig{t: t, path: path, mirror: mirror}
	if got := r.value("SELECT group_concat(integrity_check) FROM pragma_integrity_check"); got != "ok" {
		t.Errorf("integrity_check: %v", got)
	}
	if n := r.value("SELECT count(*) FROM pragma_foreign_key_check"); n != int64(0) {
		t.Errorf("%v rows without their record", n)
	}
	return r.content()
}
