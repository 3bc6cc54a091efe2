package scan

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/cespare/xxhash/v2"

	"solarmirror/store/testsize"
	"solarmirror/sync/platform"
)

// movingList is a list that changes between every two requests: the least there is to simulate a
// scan against, thousands of times over. TestScanOfMovingPlatform does the same with the whole
// platform.
type movingList struct {
	mu    sync.Mutex // a scan may fetch ahead
	rng   *rand.Rand
	order string
	cap   int
	total func(int) (int, bool) // what the list says of its length
	churn churn
	rows  []listRow
	clock int

	changes, sortedAt int
	inOrder           []listRow

	began    int // the clock when the scan began
	requests int
	touched  map[int]bool // rows inserted, updated or removed since the scan began
}

type listRow struct{ id, version, created, updated int }

// churn is how many events of each kind befall the list between two requests, on average.
type churn struct{ inserts, updates, touches, removals float64 }

func newMovingList(seed uint64, order string, rows int, c churn) *movingList {
	l := &movingList{rng: rand.New(rand.NewPCG(seed, 1)), order: order, cap: 50, churn: c, touched: map[int]bool{}}
	l.total = func(n int) (int, bool) { return 0, false }
	for range rows {
		l.insert()
	}
	clear(l.touched)
	l.began = l.clock
	return l
}

func (l *movingList) insert() {
	l.clock++
	l.changes++
	id := l.clock
	l.rows = append(l.rows, listRow{id: id, created: l.clock, updated: l.clock})
	l.touched[id] = true
}

// live lets the list change as it does between two requests.
func (l *movingList) live() {
	for range l.times(l.churn.inserts) {
		l.insert()
	}
	for range l.times(l.churn.updates) {
		l.touch(true)
	}
	for range l.times(l.churn.touches) {
		l.touch(false)
	}
	for range l.times(l.churn.removals) {
		if len(l.rows) > 0 {
			l.changes++
			i := l.rng.IntN(len(l.rows))
			l.touched[l.rows[i].id] = true
			l.rows = slices.Delete(l.rows, i, i+1)
		}
	}
}

// touch updates a row; only a change of content shows in it.
func (l *movingList) touch(content bool) {
	if len(l.rows) == 0 {
		return
	}
	l.clock++
	l.changes++
	r := &l.rows[l.rng.IntN(len(l.rows))]
	r.updated = l.clock
	if content {
		r.version++
	}
	l.touched[r.id] = true
}

// times draws how often something happens whose mean is given.
func (l *movingList) times(mean float64) int {
	n := int(mean)
	if l.rng.Float64() < mean-float64(n) {
		n++
	}
	return n
}

// sorted is the list in its order. Whoever is given it leaves it as it is.
func (l *movingList) sorted() []listRow {
	if l.changes == l.sortedAt && l.inOrder != nil && l.order != "random" {
		return l.inOrder
	}
	l.inOrder, l.sortedAt = l.sort(), l.changes
	return l.inOrder
}

func (l *movingList) sort() []listRow {
	rows := slices.Clone(l.rows)
	moment := func(r listRow) int { return min(r.updated, l.began+1) }
	by := map[string]func(a, b listRow) int{
		"created-asc":  func(a, b listRow) int { return cmp.Compare(a.created, b.created) },
		"created-desc": func(a, b listRow) int { return cmp.Compare(b.created, a.created) },
		"updated-asc":  func(a, b listRow) int { return cmp.Compare(a.updated, b.updated) },
		"updated-desc": func(a, b listRow) int { return cmp.Compare(b.updated, a.updated) },
		// What is updated during the scan is so at one moment, as for a platform that counts
		// seconds.
		"moment-asc":  func(a, b listRow) int { return cmp.Or(cmp.Compare(moment(a), moment(b)), cmp.Compare(a.id, b.id)) },
		"moment-desc": func(a, b listRow) int { return cmp.Or(cmp.Compare(moment(b), moment(a)), cmp.Compare(a.id, b.id)) },
		"id": func(a, b listRow) int {
			return cmp.Compare(uint32(a.id)*2654435761, uint32(b.id)*2654435761)
		},
	}[l.order]
	if by == nil { // random
		l.rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		return rows
	}
	slices.SortFunc(rows, by)
	return rows
}

// fetching is a source of rows that reads with the function.
func fetching(read func(ctx context.Context, at span) (*platform.Page, error)) Source {
	fetch := func(ctx context.Context, page, limit int) (*platform.Page, error) {
		return read(ctx, span{page, limit, 0})
	}
	return Source{Fetch: fetch, Probe: fetch, Identify: identifyRow}
}

func (l *movingList) fetch(_ context.Context, at span) (*platform.Page, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.requests++
	if l.requests > 1 {
		l.live()
	}
	rows := l.sorted()
	limit := min(at.limit, l.cap)
	from := min(at.page*limit, len(rows))
	page := &platform.Page{}
	for _, r := range rows[from:min(from+limit, len(rows))] {
		page.Records = append(page.Records, r.json())
	}
	page.Total, page.HasTotal = l.total(len(rows))
	return page, nil
}

func (r listRow) json() []byte {
	return append(strconv.AppendInt(append(strconv.AppendInt([]byte(`{"id":`), int64(r.id), 10), `,"version":`...), int64(r.version), 10), '}')
}

// parseRow reads what json wrote.
func parseRow(raw []byte) (r listRow) {
	id, version, _ := strings.Cut(strings.Trim(string(raw), "{}"), ",")
	r.id, _ = strconv.Atoi(strings.TrimPrefix(id, `"id":`))
	r.version, _ = strconv.Atoi(strings.TrimPrefix(version, `"version":`))
	return r
}

func identifyRow(raw []byte) Record {
	row := parseRow(raw)
	return Record{Raw: raw, Hash: xxhash.Sum64(raw), ID: uint64(row.id), Key: [2]string{"", strconv.Itoa(row.id)}}
}

// readAll runs a scan of the list to its end and returns the versions it found.
func (l *movingList) readAll(t testing.TB) (map[int]int, *Scan, error) {
	t.Helper()
	s := New(fetching(l.fetch), Options{Limit: 50, InFlight: 1})
	found, err := collect(s.Slices(t.Context()))
	return found, s, err
}

// collect gathers the versions of the rows that a scan hands on, until it fails.
func collect(all iter.Seq2[Slice, error]) (map[int]int, error) {
	found := map[int]int{}
	for sl, err := range all {
		if err != nil {
			return found, err
		}
		for _, r := range sl.Records {
			row := parseRow(r.Raw)
			found[row.id] = row.version
		}
	}
	return found, nil
}

// lost lists the rows of the list that were not touched since the scan began, and are not among
// those found.
func (l *movingList) lost(found map[int]int) []int {
	var lost []int
	for _, r := range l.rows {
		if version, ok := found[r.id]; !l.touched[r.id] && (!ok || version != r.version) {
			lost = append(lost, r.id)
		}
	}
	return lost
}

func TestScanOfMovingList(t *testing.T) {
	t.Parallel()
	churns := map[string]churn{
		"still":  {},
		"light":  {inserts: 0.2, updates: 0.3, touches: 0.1, removals: 0.2},
		"heavy":  {inserts: 2, updates: 3, touches: 0, removals: 2},
		"remove": {removals: 3},
		"touch":  {touches: 0.5},
		"mixed":  {inserts: 1, updates: 2, touches: 0.5, removals: 1},
	}
	for _, order := range []string{"created-asc", "created-desc", "updated-asc", "updated-desc", "moment-asc", "moment-desc", "id"} {
		for name, c := range churns {
			for _, totals := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s %s totals %v", order, name, totals), func(t *testing.T) {
					t.Parallel()
					failed, requests := 0, 0
					for seed := range uint64(testsize.Fewer(*seeds)) {
						l := newMovingList(seed, order, 30+int(seed)%400, c)
						if totals {
							l.total = func(n int) (int, bool) { return n, true }
						}
						found, _, err := l.readAll(t)
						requests += l.requests
						if err != nil {
							failed++
							if l.requests > 8*(3*PlannedRequests(600, 50)+10) {
								t.Errorf("seed %d: %d requests before it gave up", seed, l.requests)
							}
							continue
						}
						if lost := l.lost(found); len(lost) > 0 {
							t.Errorf("seed %d: %d rows lost: %v", seed, len(lost), lost)
						}
					}
					t.Logf("%s %s totals %v: %d of %d gave up; %.1f requests on average", order, name, totals, failed, *seeds, float64(requests)/float64(*seeds))
				})
			}
		}
	}
}

var seeds = flag.Int("seeds", 10, "seeds of each simulation; 1000 is the full run")

// A list in random order is read to its last row, or the scan says that it cannot be.
func TestScanNoticesUnstableLists(t *testing.T) {
	t.Parallel()
	noticed := 0
	for seed := range uint64(*seeds) {
		l := newMovingList(seed, "random", 60+int(seed)*3, churn{})
		l.total = func(n int) (int, bool) { return n, true }
		found, _, err := l.readAll(t)
		if err != nil {
			noticed++
		} else if lost := l.lost(found); len(lost) > 0 {
			t.Errorf("seed %d: %d of %d rows lost", seed, len(lost), len(l.rows))
		}
	}
	if noticed == 0 {
		t.Error("every list was read, so the test proves nothing")
	}
	t.Logf("random order with totals: noticed in %d of %d lists", noticed, *seeds)
}

// A total that is wrong does not keep a list from being read: two identical rounds overrule one
// that is too high, the others are not used.
func TestScanWithWrongTotals(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		total func(n int) (int, bool)
		over  bool
	}{
		"right":  {func(n int) (int, bool) { return n, true }, false},
		"absent": {func(int) (int, bool) { return 0, false }, false},
		"zero":   {func(int) (int, bool) { return 0, true }, false},
		"low":    {func(n int) (int, bool) { return n / 2, true }, false},
		"high":   {func(n int) (int, bool) { return n + 7, true }, true},
	} {
		for _, rows := range []int{0, 1, 2, 49, 50, 51, 99, 100, 101, 333} {
			l := newMovingList(1, "id", rows, churn{})
			l.total = c.total
			found, s, err := l.readAll(t)
			if err != nil || len(found) != rows {
				t.Errorf("%s total: %d of %d rows, %v", name, len(found), rows, err)
			}
			if over := s.findings.Total > s.findings.Found; over != c.over || over && s.findings.Found != rows {
				t.Errorf("%s total of %d rows: %+v", name, rows, s.findings)
			}
		}
	}
}

// A platform that clamps the limit without a word is found out, and its cap used.
func TestScanFindsSilentClamp(t *testing.T) {
	t.Parallel()
	for _, limit := range []int{1, 3, 19, 20, 33, 49, 50} {
		for _, rows := range []int{1, limit, limit + 1, 40, 200} {
			l := newMovingList(1, "created-desc", rows, churn{})
			l.cap = limit
			found, s, err := l.readAll(t)
			if err != nil || len(found) != rows {
				t.Errorf("cap %d: %d of %d rows, %v", limit, len(found), rows, err)
			}
			if rows > limit && s.Limit != limit {
				t.Errorf("cap %d of %d rows taken for %d", limit, rows, s.Limit)
			}
		}
	}
}

func TestScanFailsWhenPageNumbersAreIgnored(t *testing.T) {
	t.Parallel()
	l := newMovingList(1, "id", 300, churn{})
	s := New(fetching(func(ctx context.Context, at span) (*platform.Page, error) {
		return l.fetch(ctx, span{0, at.limit, 0})
	}), Options{Limit: 50, InFlight: 4})
	var failed error
	for _, err := range s.Slices(t.Context()) {
		failed = err
	}
	var repeated *RepeatedPageError
	if !errors.As(failed, &repeated) {
		t.Errorf("got %v, want a RepeatedPageError", failed)
	}
}

// A list with empty pages in its middle, or at its start, does not pass for one that ends there.
func TestScanNoticesHoles(t *testing.T) {
	t.Parallel()
	for _, hole := range [][2]int{{0, 100}, {100, 220}, {60, 130}} {
		l := newMovingList(1, "created-asc", 300, churn{})
		s := New(fetching(func(ctx context.Context, at span) (*platform.Page, error) {
			page, err := l.fetch(ctx, at)
			page.Records = slices.DeleteFunc(page.Records, func(raw []byte) bool {
				id := parseRow(raw).id
				return id > hole[0] && id <= hole[1]
			})
			return page, err
		}), Options{Limit: 50, InFlight: 1, LookBeyond: true})
		found, err := collect(s.Slices(t.Context()))
		if err == nil && len(found) < 300-hole[1]+hole[0] {
			t.Errorf("hole %v: %d rows, and nothing was noticed", hole, len(found))
		}
	}
}
