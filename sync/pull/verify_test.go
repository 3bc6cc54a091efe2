package pull

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"solarmirror/schema"
	"solarmirror/store"
	"solarmirror/store/testsize"
	"solarmirror/sync/platform"
	"solarmirror/sync/platform/platformtest"
	"solarmirror/sync/scan"
)

func (r *rig) verify() []Verification {
	r.t.Helper()
	list, err := r.engine.Verify(r.t.Context(), Streams())
	if err != nil {
		r.t.Fatal(err)
	}
	for _, v := range list {
		if v.Err != nil {
			r.t.Fatal(v.Err)
		}
	}
	return list
}

// Verify finds nothing in a mirror that holds what the platform holds, every kind of difference in one that does not, and changes
// nothing but its findings.
func TestVerify(t *testing.T) {
	t.Parallel()
	r := newRig(t, platformtest.Options{Seed: 6, Requests: 130, Equipments: fewItems(), Dialect: platformtest.Dialect{Drift: platformtest.DriftAll | platformtest.DriftBad}})
	r.sync(Options{})
	for _, v := range r.verify() {
		if len(v.Differences) != 0 || v.Mirror != v.Platform || v.Mirror == 0 {
			t.Errorf("%s: %d in the mirror, %d on the platform, %v", v.Stream, v.Mirror, v.Platform, v.Differences)
		}
		if bad := r.platform.BadRecords(v.Stream); v.Rejected != bad {
			t.Errorf("%s: %d rejected of %d bad records", v.Stream, v.Rejected, bad)
		}
	}

	row := r.query("SELECT request_key, id FROM requests WHERE request_type = 'order' ORDER BY 1 LIMIT 4")
	r.exec(
		fmt.Sprintf("UPDATE requests SET _hash = zeroblob(16) WHERE request_key = %v", row[0][0]),
		fmt.Sprintf("UPDATE requests SET id = 'nowhere' WHERE request_key = %v", row[1][0]),
		fmt.Sprintf("UPDATE requests SET _deleted_at = '2026-01-01 00:00:00.000' WHERE request_key = %v", row[2][0]),
	)
	now := r.clock.now()
	want := []Difference{
		{Stream: "orders", Key: store.NaturalKey{"order", row[0][1].(string)}, Kind: DiffContent, State: store.Unexplained, FirstSeenAt: now},
		{Stream: "orders", Key: store.NaturalKey{"order", "nowhere"}, Kind: DiffExtra, State: store.Pending, FirstSeenAt: now},
	}
	missing := []string{row[1][1].(string), row[2][1].(string)}
	if missing[0] > missing[1] {
		missing[0], missing[1] = missing[1], missing[0]
	}
	for _, id := range missing {
		want = append(want, Difference{Stream: "orders", Key: store.NaturalKey{"order", id}, Kind: DiffMissing, State: store.Unexplained, FirstSeenAt: now})
	}
	before := r.withoutFindings()
	var got []Difference
	for _, v := range r.verify() {
		for _, d := range v.Differences {
			d.ChangedAt = ""
			got = append(got, d)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("differences differ:\n%s", diff)
	}
	if d := diff(before, r.withoutFindings()); d != "" {
		t.Errorf("verify changed more than its findings:\n%s", d)
	}
}

// withoutFindings is all rows of records, history and ledger but those that a verification may write.
func (r *rig) withoutFindings() map[string][][]any {
	r.t.Helper()
	all := map[string][][]any{}
	for _, t := range schema.All() {
		if t.Shape != schema.Mart && t != schema.Findings {
			all[t.Name] = r.rows(t)
		}
	}
	return all
}

// bytes is the mirror as it stands on disk, what is not yet checkpointed included.
func (r *rig) bytes() []byte {
	r.t.Helper()
	var all []byte
	for _, name := range []string{r.path, r.path + "-wal"} {
		part, err := os.ReadFile(name)
		if err != nil {
			r.t.Fatal(err)
		}
		all = append(all, part...)
	}
	return all
}

// Streams are read at the same time, within one limit of requests in flight: here each waits behind its first page for the others.
func TestStreamsShareTheLimit(t *testing.T) {
	t.Parallel()
	const limit = 3
	r := newRig(t, platformtest.Options{Seed: 6, Requests: 200, Equipments: someEquipments(6, 60), Dialect: platformtest.Dialect{Cap: 20}})
	var mu sync.Mutex
	inFlight, most := 0, 0
	waiting, all := map[string]bool{}, make(chan struct{})
	arrive := func(req *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		inFlight++
		most = max(most, inFlight)
		stream := strings.Split(req.URL.Path, "/")[3:5]
		if stream[0] == "equipments" {
			stream = stream[:1]
		}
		if pageOf(req).page > 0 && !waiting[fmt.Sprint(stream)] {
			if waiting[fmt.Sprint(stream)] = true; len(waiting) == 3 {
				close(all)
			}
		}
	}
	r.connect(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		arrive(req)
		if pageOf(req).page > 0 {
			<-all
		}
		r.platform.ServeHTTP(w, req)
		mu.Lock()
		defer mu.Unlock()
		inFlight--
	}), func(p *platform.Config) { p.MaxInFlight = limit })
	r.engine.InFlight = 1
	r.sync(Options{})
	r.engine.InFlight = 2 * limit
	r.sync(Options{Full: true})
	r.mustEqualByHash(Streams())
	if most != limit {
		t.Errorf("%d requests at one time, of %d allowed", most, limit)
	}
}

// A page that was fetched before the content in the mirror does not overwrite it, however late it comes to be written.
func TestOlderPageDoesNotOverwrite(t *testing.T) {
	t.Parallel()
	r := newRigFor(t, &fixedList{})
	s := named("equipments")[0]
	write := func(name string, fetched time.Time) store.Counts {
		raw := fmt.Appendf(nil, `{"type":"module","productCode":"M1","name":%q}`, name)
		b := r.newBatch(s, nil)
		if err := b.write(t.Context(), scan.Slice{Page: &platform.Page{FetchedAt: fetched}, Records: []scan.Record{s.identify(raw)}}); err != nil {
			t.Fatal(err)
		}
		return b.job.report.Counts
	}
	at := r.clock.now()
	write("first", at)
	write("newest", at.Add(2*time.Second))
	if counts := write("delayed", at.Add(time.Second)); counts.Changed != 0 {
		t.Errorf("the delayed page counts as %+v", counts)
	}
	if got := r.value("SELECT name FROM equipments"); got != "newest" {
		t.Errorf("the mirror holds %q", got)
	}
	write("next", at.Add(3*time.Second))
	if got := r.value("SELECT name FROM equipments"); got != "next" {
		t.Errorf("the mirror holds %q", got)
	}
}

// interrupting cancels a context at a numbered request.
type interrupting struct {
	next   http.Handler
	at     int64
	served atomic.Int64
	cancel context.CancelFunc
}

func (i *interrupting) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if i.served.Add(1) == i.at {
		i.cancel()
	}
	i.next.ServeHTTP(w, req)
}

// An interrupted sync, backfill or verify says so, leaves nothing running (TestMain looks for that), and is made good by the next.
func TestInterruptedAtAnyRequest(t *testing.T) {
	t.Parallel()
	o := backfillOptions("2025-06-01", "2026-03-10", Month)
	for name, work := range map[string]func(context.Context, *rig) error{
		"sync": func(ctx context.Context, r *rig) error {
			return ignoreReport(r.engine.Sync(ctx, Options{Streams: Streams(), Trigger: store.TriggerManual}))
		},
		"backfill": func(ctx context.Context, r *rig) error {
			return ignoreReport(r.engine.BackfillWindow(ctx, o, o.Stretches()[8]))
		},
		"tail": func(ctx context.Context, r *rig) error { return ignoreReport(r.engine.BackfillTail(ctx, o)) },
		"verify": func(ctx context.Context, r *rig) error {
			list, err := r.engine.Verify(ctx, Streams())
			for _, v := range list {
				err = errors.Join(err, v.Err)
			}
			return err
		},
	} {
		for _, at := range testsize.Some([]int64{2, 14}) {
			t.Run(fmt.Sprintf("%s at request %d", name, at), func(t *testing.T) {
				t.Parallel()
				r := newRig(t, platformtest.Options{Seed: 2, Requests: 90, Equipments: fewItems(), Dialect: platformtest.Dialect{Cap: 20}})
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				r.connect(&interrupting{next: r.platform, at: at, cancel: cancel})
				if err := work(ctx, r); !errors.Is(err, context.Canceled) {
					t.Fatalf("got %v", err)
				}
				for _, row := range r.query("SELECT outcome FROM _runs") {
					if row[0] != string(store.Interrupted) {
						t.Errorf("the run ended %v", row[0])
					}
				}
				r.sync(Options{})
				r.mustEqualByHash(Streams())
			})
		}
	}
}

func ignoreReport(_ *Report, err error) error { return err }

// A verification reads pass by pass and does not know how much there is: it says no total.
func TestVerifySaysNoTotal(t *testing.T) {
	t.Parallel()
	r := newRig(t, platformtest.Options{Seed: 6, Requests: 60, Equipments: fewItems()})
	r.sync(Options{})
	seen := int64(0)
	r.engine.Progress = func(p Progress) {
		if seen = max(seen, p.Records); p.Total != -1 {
			t.Errorf("%s %s: a total of %d", p.Stream, p.Pass, p.Total)
		}
	}
	r.verify()
	if seen == 0 {
		t.Error("no record was told of")
	}
}
