package pull

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"solarmirror/store/testsize"
	"solarmirror/sync/platform"
	"solarmirror/sync/platform/platformtest"
)

const nextToken = "the-next-token"

// Faults that pass are ridden out, exactly: the mirror is what the platform holds.
func TestTransientFaults(t *testing.T) {
	t.Parallel()
	for _, kind := range testsize.Some(platformtest.TransientFaults()) {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(max(1, *seeds/100)) {
				r := newRig(t, platformtest.Options{
					Seed: 20 + seed, Requests: 60, Equipments: fewItems(),
					Faults: platformtest.Faults{Rate: 0.3, Seed: seed, Kinds: []platformtest.Fault{kind}},
				})
				r.sync(Options{})
				r.mustEqualByHash(Streams())
				served := r.platform.Faulted()[string(kind)]
				if served == 0 {
					t.Error("no fault was served, so the test proves nothing")
				}
				t.Logf("%-14s seed %d: %3d faults in %3d requests, equal", kind, seed, served, r.platform.Served())
			}
		})
	}
}

// faultCase is a fault at one request of a sync.
type faultCase struct {
	kind  platformtest.Fault
	fails func(error) bool // nil: ridden out
	says  string           // in the error
}

func as[T error](err error) bool {
	var target T
	return errors.As(err, &target)
}

// Each of the other faults is ridden out, or is a clear failure that holds the watermark and is mended by the next sync.
func TestFaultsAtARequest(t *testing.T) {
	t.Parallel()
	for _, c := range testsize.Some([]faultCase{
		{kind: platformtest.FaultDrip},
		{kind: platformtest.FaultBomb},
		{kind: platformtest.FaultNullIDs},
		{kind: platformtest.FaultTokenRotation},
		{platformtest.Fault429Billion, as[*platform.RetryAfterError], "max_retry_wait"},
		{platformtest.FaultRedirect302, as[*platform.StatusError], "redirects are not followed"},
		{platformtest.FaultRedirect307, as[*platform.StatusError], "redirects are not followed"},
		{platformtest.FaultRedirect308, as[*platform.StatusError], "redirects are not followed"},
		{platformtest.Fault401, as[*platform.AuthError], "token_file"},
	}) {
		for _, at := range []int64{1, 12} {
			t.Run(fmt.Sprintf("%s at %d", c.kind, at), func(t *testing.T) {
				t.Parallel()
				c.run(t, at)
			})
		}
	}
}

func (c faultCase) run(t *testing.T, at int64) {
	var travelled atomic.Int64
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { travelled.Add(1) }))
	defer elsewhere.Close()
	given := atomic.Value{}
	given.Store(token)
	r := newRig(t, platformtest.Options{
		Seed: 31, Requests: 70, Equipments: fewItems(), NextToken: nextToken,
		Faults: platformtest.Faults{At: map[int64]platformtest.Fault{at: c.kind}, RedirectTo: elsewhere.URL, Drip: 50 * time.Millisecond},
	}, func(p *platform.Config) {
		p.MaxBody, p.Timeout = 4<<20, 500*time.Millisecond
		p.Token = func(context.Context) (string, error) {
			now := given.Load().(string)
			if c.kind == platformtest.FaultTokenRotation {
				given.Store(nextToken) // the file has been renewed by the time it is read again
			}
			return now, nil
		}
	})
	report, err := r.trySync(Options{})
	if c.fails == nil {
		if err != nil {
			t.Fatal(err)
		}
		r.mustEqualByHash(Streams())
		return
	}
	if err == nil || !c.fails(err) || !strings.Contains(err.Error(), c.says) {
		t.Fatalf("got %v", err)
	}
	for i, s := range report.Streams {
		passes := int64(len(Streams()[i].Passes))
		// A stream that another one stopped may have been in its sweep, with all its watermarks moved.
		moved := r.value("SELECT count(*) FROM _watermarks WHERE stream = ?", s.Stream) == passes
		if s.Err == nil && !moved || s.Err != nil && c.fails(s.Err) && moved {
			t.Errorf("%s ended with %v; all of its %d watermarks moved: %v", s.Stream, s.Err, passes, moved)
		}
	}
	r.sync(Options{})
	r.mustEqualByHash(Streams())
	if n := travelled.Load(); n != 0 {
		t.Errorf("%d requests went to where a redirect pointed", n)
	}
}

// A record that comes spoiled once is kept as a reject, takes nothing away from what is there, and is healed when it comes sound.
func TestSpoiledRecords(t *testing.T) {
	t.Parallel()
	healed := 0
	for _, at := range testsize.Some([]int64{30, 24, 18}) { // some requests only find out how the platform answers
		spoiled := map[int64]platformtest.Fault{}
		for next := range int64(12) {
			spoiled[at+next] = platformtest.FaultBadUTF8
		}
		r := newRig(t, platformtest.Options{Seed: 31, Requests: 70, Equipments: fewItems(), Faults: platformtest.Faults{At: spoiled}})
		rejected := r.sync(Options{}).Total().Rejected
		for range 2 {
			r.sync(Options{Full: true})
		}
		r.mustEqualByHash(Streams())
		if n := r.value("SELECT count(*) FROM _rejects"); n != rejected {
			t.Errorf("spoiled at %d: %v rejects kept of %d", at, n, rejected)
		}
		healed += int(rejected)
	}
	if healed == 0 {
		t.Error("no record was spoiled, so the test proves nothing")
	}
}

// Bad records that stay are kept once each, whatever else is read, and count as read.
func TestBadRecordsThatStay(t *testing.T) {
	t.Parallel()
	for _, total := range []platformtest.Total{platformtest.TotalNumber, platformtest.TotalAbsent} {
		r := newRig(t, platformtest.Options{
			Seed: 5, Requests: 90, Equipments: fewItems(), Dialect: platformtest.Dialect{Drift: platformtest.DriftAll | platformtest.DriftBad, Total: total},
		})
		for range 2 {
			r.sync(Options{Full: true})
			r.mustEqualByHash(Streams())
		}
		for _, s := range Streams() {
			if n := r.value("SELECT count(*) FROM _rejects WHERE stream = ?", s.Name); n != int64(r.platform.BadRecords(s.Name)) {
				t.Errorf("%s: %v rejects kept of %d bad records", s.Name, n, r.platform.BadRecords(s.Name))
			}
		}
	}
}

// A stream that is given up because another met what would stop it too says so, and has not failed.
func TestInterruptedStreamSaysBecauseOfWhich(t *testing.T) {
	t.Parallel()
	var refuse atomic.Bool
	asked := make(chan struct{}, 100) // for budgets, since orders are refused
	list := &fixedList{records: records("deal", 0, 60)}
	r := newRigFor(t, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		switch {
		case !refuse.Load():
			list.ServeHTTP(w, req)
		case strings.Contains(req.URL.Path, "/budget/"):
			asked <- struct{}{}
			<-req.Context().Done()
		default:
			<-asked
			http.Error(w, "who are you?", http.StatusUnauthorized)
		}
	}))
	r.sync(Options{Streams: requestStreams()}) // finds out the dialect
	refuse.Store(true)
	var log strings.Builder
	r.engine.Log = zerolog.New(zerolog.SyncWriter(&log)) // streams log side by side
	if _, err := r.trySync(Options{Streams: requestStreams()}); !as[*platform.AuthError](err) {
		t.Fatal(err)
	}
	if got := r.value("SELECT streams FROM _runs ORDER BY run_id DESC LIMIT 1"); got != `{"orders":"failed"}` {
		t.Errorf("the ledger says %v of the streams, of which budgets were not read", got)
	}
	for _, line := range []string{
		`{"level":"warn","stream":"orders"`, `"message":"stream not read to its end"}`,
		`{"level":"info","because":"orders met what would stop it, too","stream":"budgets"`, `"message":"stream not read to its end: stopped"}`,
	} {
		if strings.Count(log.String(), line) != 1 {
			t.Errorf("the log has not once %s:\n%s", line, &log)
		}
	}
}
