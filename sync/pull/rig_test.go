package pull

import (
	"context"
	"database/sql"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"solarmirror/schema"
	"solarmirror/store"
	"solarmirror/store/testsize"
	"solarmirror/sync/flatten"
	"solarmirror/sync/platform"
	"solarmirror/sync/platform/platformtest"
	"solarmirror/sync/scan"
)

const token = "a-token"

// fullRun is what the full run passes as -seeds.
const fullRun = 1000

var seeds = flag.Int("seeds", 10, "seeds of each simulation; 1000 is the full run")

// clock is the time of a whole test: the platform's, the client's and the mirror's.
type clock struct{ ms atomic.Int64 }

func newClock(at string) *clock {
	t, err := time.Parse(time.RFC3339, at)
	if err != nil {
		panic(err)
	}
	c := &clock{}
	c.ms.Store(t.UnixMilli())
	return c
}

func (c *clock) now() time.Time          { return time.UnixMilli(c.ms.Load()).UTC() }
func (c *clock) advance(d time.Duration) { c.ms.Add(d.Milliseconds()) }

// rig is a platform over real HTTP, a real mirror file, and the engine between them.
type rig struct {
	t        *testing.T
	clock    *clock
	platform *platformtest.Platform
	path     string
	mirror   *store.Mirror
	engine   *Engine
	drifted  bool // records are compared by what they say, however it is written
}

// newRig starts a simulated platform; tweaks change the client's configuration.
func newRig(t *testing.T, o platformtest.Options, tweaks ...func(*platform.Config)) *rig {
	t.Helper()
	r := &rig{t: t, clock: newClock("2026-03-10T15:00:00Z")}
	o.Token, o.Clock = token, r.clock.now
	r.drifted = o.Dialect.Drift != 0
	r.platform = platformtest.New(o)
	r.connect(r.platform, tweaks...)
	return r
}

// fewItems is a small catalogue with every type of equipment in it: the platform's own would be most of what a small test reads.
var fewItems = sync.OnceValue(func() []json.RawMessage {
	var few []json.RawMessage
	perType := map[string]int{}
	for rec := range platformtest.New(platformtest.Options{Seed: 1, Clock: newClock("2026-03-10T15:00:00Z").now}).Records(platformtest.ResourceEquipments) {
		kind, _, _ := strings.Cut(rec.Key, "/")
		if perType[kind]++; perType[kind] <= testsize.Fewer(16) {
			few = append(few, rec.JSON)
		}
	}
	return few
})

// newRigFor is a rig before any handler.
func newRigFor(t *testing.T, h http.Handler) *rig {
	t.Helper()
	r := &rig{t: t, clock: newClock("2026-03-10T15:00:00Z")}
	r.connect(h)
	return r
}

// fixedList answers every list with the same records on its first page.
type fixedList struct{ records []string }

func (l *fixedList) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	at := pageOf(req)
	from, to := min(max(0, at.start()), len(l.records)), min(max(0, at.end()), len(l.records))
	fmt.Fprint(w, "["+strings.Join(l.records[from:to], ",")+"]")
}

// span is the part of a list that a request asks for.
type span struct{ page, limit int }

func (s span) start() int { return s.page * s.limit }
func (s span) end() int   { return s.start() + s.limit }

// pageOf reads the page number, counted from 1, and the limit off a request.
func pageOf(req *http.Request) span {
	steps := strings.Split(req.URL.Path, "/")
	page, _ := strconv.Atoi(steps[len(steps)-2])
	limit, _ := strconv.Atoi(steps[len(steps)-1])
	return span{page - 1, limit}
}

// exec writes to the mirror's file behind the mirror's back.
func (r *rig) exec(statements ...string) {
	r.t.Helper()
	db, err := sql.Open("sqlite", "file:"+r.path+"?mode=rw&_pragma=busy_timeout(5000)")
	if err != nil {
		r.t.Fatal(err)
	}
	defer db.Close()
	for _, statement := range statements {
		if _, err := db.Exec(statement); err != nil {
			r.t.Fatalf("%v in %s", err, statement)
		}
	}
}

// diff compares, and says what differs without end.
func diff(want, got any) string { return shorten(cmp.Diff(want, got)) }

// connect opens a fresh mirror of what the handler serves.
func (r *rig) connect(h http.Handler, tweaks ...func(*platform.Config)) {
	r.t.Helper()
	server := httptest.NewServer(plainly(h))
	r.t.Cleanup(server.Close)
	config := platform.Config{
		BaseURL: server.URL, Token: func(context.Context) (string, error) { return token, nil },
		RequestsPerSecond: 10_000, Now: r.clock.now, Log: zerolog.Nop(),
		Retry: platform.RetryPolicy{Initial: time.Millisecond, Max: time.Millisecond, Attempts: 3},
	}
	for _, tweak := range tweaks {
		tweak(&config)
	}
	client, err := platform.New(config)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(client.Close)
	r.path = filepath.Join(r.t.TempDir(), "mirror.db")
	if err := os.WriteFile(r.path, emptyMirror(r.t), 0o644); err != nil {
		r.t.Fatal(err)
	}
	mirror, err := store.Open(r.t.Context(), r.path, r.storeOptions())
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = mirror.Close() })
	r.mirror = mirror
	r.engine = &Engine{
		Client: client, Mirror: r.mirror, Zone: saoPaulo, OverlapDays: 2, Paging: Paging{FirstPage: scan.FindFirstPage, Limit: 50}, InFlight: 4,
		Now: r.clock.now, Log: zerolog.Nop(),
	}
}

// saoPaulo is the platform's zone in tests.
var saoPaulo = func() *time.Location {
	zone, err := time.LoadLocation("America/Sao_Paulo")
	if err != nil {
		panic(err)
	}
	return zone
}()

func (r *rig) storeOptions() store.Options {
	return store.Options{Now: r.clock.now, Log: zerolog.Nop(), Zone: saoPaulo}
}

// plainly keeps answers uncompressed, since compressing them would be most of what a test does.
func plainly(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		req.Header.Del("Accept-Encoding")
		h.ServeHTTP(w, req)
	})
}

// emptyMirror is the file of a mirror that holds nothing, made once: making its tables is most of what a small test would do.
func emptyMirror(t *testing.T) []byte {
	t.Helper()
	file, err := madeOnce()
	if err != nil {
		t.Fatal(err)
	}
	return file
}

var madeOnce = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "solarmirror-test-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "empty.db")
	mirror, err := store.Open(context.Background(), path, store.Options{Now: time.Now, Log: zerolog.Nop()})
	if err != nil {
		return nil, err
	}
	if err := mirror.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

func (r *rig) sync(o Options) *Report {
	r.t.Helper()
	report, err := r.trySync(o)
	if err != nil {
		r.t.Fatal(err)
	}
	return report
}

func (r *rig) trySync(o Options) (*Report, error) {
	if o.Streams == nil {
		o.Streams = Streams()
	}
	o.Trigger = store.TriggerManual
	return r.engine.Sync(r.t.Context(), o)
}

// named returns streams by their names.
func named(names ...string) []*Stream {
	streams, err := ParseStreams(names)
	if err != nil {
		panic(err)
	}
	return streams
}

// records reads every live record of a root table back from the file as JSON, by natural key.
func (r *rig) records(root *schema.Table) map[store.NaturalKey]any {
	r.t.Helper()
	byKey := map[int64][]schema.Rows{}
	for i, t := range root.Tables() {
		for _, row := range r.rows(t) {
			key := row[0].(int64)
			if i == 0 {
				byKey[key] = make([]schema.Rows, len(root.Tables()))
				for j, t := range root.Tables() {
					byKey[key][j].Table = t
				}
			}
			byKey[key][i].Values = append(byKey[key][i].Values, row...)
		}
	}
	records := map[store.NaturalKey]any{}
	for key, rows := range byKey {
		raw, err := flatten.Rebuild(rows)
		if err != nil {
			r.t.Fatalf("rebuild %s %d: %v", root.Name, key, err)
		}
		var natural store.NaturalKey
		for i, column := range root.Unique {
			for j, c := range root.Columns {
				if c.Name == column {
					natural[i] = rows[0].Row(0)[j].(string)
				}
			}
		}
		records[natural] = r.normal(raw)
	}
	return records
}

// rows reads a table whole, in the order of its key, as flatten made the values.
func (r *rig) rows(t *schema.Table) [][]any {
	r.t.Helper()
	return r.query(selectAll(t))
}

// truth is what the platform holds, by natural key.
func (r *rig) truth(root *schema.Table) map[store.NaturalKey]any {
	r.t.Helper()
	records := map[store.NaturalKey]any{}
	for _, s := range Streams() {
		if s.Root.Name != root.Name {
			continue
		}
		for rec := range r.platform.Records(s.Name) {
			key, err := s.plan.Key(rec.JSON, s.Partition)
			if err != nil {
				r.t.Fatal(err)
			}
			records[store.NaturalKey(key)] = r.normal(rec.JSON)
		}
	}
	return records
}

// normal decodes a record into a form in which records that say the same are equal: documented members without content are left out, numbers
// are float64, paidAt has one way of being written.
func (r *rig) normal(raw []byte) any {
	r.t.Helper()
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		r.t.Fatalf("%v in %s", err, raw)
	}
	if v = prune(v); r.drifted {
		v = said(v)
	}
	return v
}

// said brings what the mirror converts without loss to one form: numbers and booleans written as text, times with an offset, an
// object in place of an array of one, a bare name among files.
func said(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			v[name] = said(member)
		}
		if files, ok := v["uploadedFiles"]; ok && len(v) == 1 {
			return files
		}
	case []any:
		for i := range v {
			v[i] = said(v[i])
		}
		if len(v) == 1 {
			return v[0]
		}
	case bool:
		return strconv.FormatBool(v)
	case string:
		if number, err := strconv.ParseFloat(v, 64); err == nil {
			return number
		}
		if at, err := time.Parse(time.RFC3339, v); err == nil {
			return at.UTC().Format(time.RFC3339Nano)
		}
	}
	return v
}

func prune(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			if member = prune(member); member == nil {
				delete(v, name)
				continue
			}
			v[name] = member
			if s, ok := member.(string); ok && name == "paidAt" {
				v[name] = s[:len("2006-01-02T15:04")]
			}
		}
		if len(v) == 0 {
			return nil
		}
	case []any:
		if len(v) == 0 {
			return nil
		}
		for i := range v {
			v[i] = prune(v[i])
		}
	}
	return v
}

// mustEqualTruth compares every field of every record.
func (r *rig) mustEqualTruth() {
	r.t.Helper()
	for _, root := range schema.Roots() {
		truth, mirror := r.truth(root), r.records(root)
		if !reflect.DeepEqual(truth, mirror) { // which is much faster than diff
			r.t.Fatalf("%s differ from the platform's truth (-platform +mirror):\n%s", root.Name, diff(truth, mirror))
		}
	}
}

func shorten(s string) string {
	if len(s) > 4000 {
		return s[:4000] + fmt.Sprintf("\n… %d bytes more", len(s)-4000)
	}
	return s
}
