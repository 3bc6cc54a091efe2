package pull

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"solarmirror/store/testsize"
	"solarmirror/sync/platform"
	"solarmirror/sync/platform/platformtest"
)

// The mirror is what the platform holds, field by field, whatever the dialect, with every drift of the fields; a second sync finds nothing
// to change.
func TestDialects(t *testing.T) {
	t.Parallel()
	dialects := testsize.Some(platformtest.Dialects())
	few := fewItems()
	matrix := make([]string, len(dialects))
	t.Cleanup(func() { t.Log("the mirror equals the platform, field by field:\n" + strings.Join(matrix, "\n")) })
	for i, dialect := range dialects {
		dialect.Drift = platformtest.DriftAll
		t.Run(dialect.String(), func(t *testing.T) {
			t.Parallel()
			from, to := uint64(i%dialectSeeds), uint64(i%dialectSeeds)+1 // one of the seeds each
			if *seeds >= fullRun {
				from, to = 0, dialectSeeds
			}
			requests := int64(0)
			var found Dialect
			for seed := from; seed < to; seed++ {
				r := newRig(t, platformtest.Options{Seed: 100 + seed, Requests: 50, Equipments: few, Dialect: dialect})
				r.sync(Options{})
				requests += r.platform.Served()
				r.mustEqualTruth()
				found = r.dialect()
				checkDialect(t, dialect, found)
				if i%4 != 0 && *seeds < fullRun {
					continue
				}
				if again := r.sync(Options{Full: true}).Total(); again.Inserted+again.Changed+again.Deleted+again.Rejected != 0 {
					t.Errorf("the second sync did %+v", again)
				}
			}
			matrix[i] = fmt.Sprintf("%-74s %d seeds, %3d requests each; found first=%d limit=%d envelope=%s", dialect, to-from, requests/int64(to-from),
				found.First, found.Limit, found.Envelope)
		})
	}
}

const dialectSeeds = 5

// dialect is what _meta remembers.
func (r *rig) dialect() Dialect {
	r.t.Helper()
	meta, err := r.mirror.Meta(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	return ParseDialect(meta.Dialect)
}

func checkDialect(t *testing.T, spoken platformtest.Dialect, found Dialect) {
	t.Helper()
	first := 1
	if spoken.FirstPage == platformtest.FirstPageZero {
		first = 0
	}
	envelope := map[platformtest.Envelope]string{
		platformtest.EnvelopeItems: platform.EnvelopeItems, platformtest.EnvelopeData: platform.EnvelopeData, platformtest.EnvelopeArray: platform.EnvelopeArray,
	}[spoken.Envelope]
	if found.First != first || !found.Known || found.Limit != min(spoken.Cap, 50) || found.Envelope != envelope {
		t.Errorf("found %v", found)
	}
}

// switching serves what it was last told to.
type switching struct {
	mu      sync.Mutex
	handler http.Handler
}

func (s *switching) serve(h http.Handler) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handler = h
}

func (s *switching) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	s.mu.Lock()
	h := s.handler
	s.mu.Unlock()
	h.ServeHTTP(w, req)
}

// A remembered dialect that no longer fits is found anew within the run, whichever way it has changed, and nothing is lost.
func TestDialectThatStopsFitting(t *testing.T) {
	t.Parallel()
	few := fewItems()
	for _, c := range testsize.Some([]struct{ name, before, after string }{
		{"first page 0 to 1", "first=0,envelope=items", "first=1,envelope=items"},
		{"first page 1 to 0", "first=1,envelope=array", "first=0,envelope=array"},
		{"first page 0 to 0 as 1", "first=0,envelope=data,total=absent", "first=0-as-1,envelope=data,total=absent"},
		{"cap lowered, refused", "first=1,envelope=items", "first=1,envelope=items,cap=20"},
		{"cap lowered, failing", "first=1,envelope=items", "first=1,envelope=items,cap=20,over=500"},
		{"cap lowered, clamped", "first=1,envelope=array", "first=1,envelope=array,cap=20,over=clamp"},
		{"cap lowered far, clamped", "first=1,envelope=array", "first=1,envelope=array,cap=7,over=clamp"},
		{"everything", "first=0,envelope=items,total=string", "first=1,envelope=array,cap=20,over=200"},
	}) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			clock := newClock("2026-03-10T15:00:00Z")
			speaking := func(text string) *platformtest.Platform {
				dialect, err := platformtest.ParseDialect(text)
				if err != nil {
					t.Fatal(err)
				}
				return platformtest.New(platformtest.Options{Seed: 7, Requests: 130, Equipments: few, Token: token, Clock: clock.now, Dialect: dialect})
			}
			s := &switching{}
			r := newRigFor(t, s)
			r.clock = clock
			r.engine.Now = clock.now
			r.platform = speaking(c.before)
			s.serve(r.platform)
			r.sync(Options{})
			r.mustEqualTruth()

			r.platform = speaking(c.after)
			s.serve(r.platform)
			clock.advance(10 * 24 * time.Hour)
			r.sync(Options{Full: true})
			r.mustHoldTruth()
			if n := r.value("SELECT count(*) FROM _absences"); n.(int64) > 20 {
				t.Errorf("%v records were missed by the sweep", n)
			}
		})
	}
}

// What the configuration says of the first page is not asked for, and a smaller limit than the platform would allow is kept to.
func TestDialectPinned(t *testing.T) {
	t.Parallel()
	p := platformtest.Options{Seed: 3, Requests: 60, Equipments: fewItems(), Dialect: platformtest.Dialect{FirstPage: platformtest.FirstPageZeroAsOne}}
	r := newRig(t, p)
	r.connect(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if at := pageOf(req); at.page < 0 || at.limit > 15 {
			t.Errorf("asked for %s", req.URL.Path)
		}
		r.platform.ServeHTTP(w, req)
	}))
	r.engine.Paging = Paging{FirstPage: 1, Limit: 15}
	r.sync(Options{})
	r.mustEqualTruth()
	if found := r.dialect(); found.First != 1 || found.Limit != 15 {
		t.Errorf("found %v", found)
	}
}

// An answer in no known envelope is a failure that names the keys it has, and is not asked for twice.
func TestUnknownEnvelope(t *testing.T) {
	t.Parallel()
	r := newRigFor(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"results":[{"id":"1"}],"count":1}`)
	}))
	_, err := r.trySync(Options{})
	var envelope *platform.EnvelopeError
	if !errors.As(err, &envelope) {
		t.Fatalf("got %v, want an EnvelopeError", err)
	}
	for _, want := range []string{`"results"`, `"count"`, "platform.envelope"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not name %s", err, want)
		}
	}
	if n := r.value("SELECT count(*) FROM _watermarks"); n != int64(0) {
		t.Errorf("%v watermarks moved", n)
	}
}
