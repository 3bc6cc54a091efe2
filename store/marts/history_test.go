package marts

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"solarmirror/schema"
	"solarmirror/store"
	"solarmirror/store/dealclass"
	"solarmirror/store/marts/martstest"
	"solarmirror/store/sqlitefile"
)

// TestRandomHistories: after any history of the records, refreshes that were cut off among it, the
// marts are those that are built from nothing, and those that package martstest computes from the
// records. Plain SQLite gives the rows of each summary.
func TestRandomHistories(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		path, err := os.MkdirTemp(dir, "")
		if err != nil {
			rt.Fatal(err)
		}
		w := &world{T: rt, path: filepath.Join(path, "mirror.db"), now: time.Date(2026, 3, 9, 22, 30, 0, 0, time.UTC), lists: dealclass.Default()}
		w.must(os.WriteFile(w.path, emptyFile(t), 0o600))
		w.open()
		defer func() { w.must(w.m.Close(), os.RemoveAll(path)) }()
		for range 12 {
			w.transaction((*world).newDeal)
			w.transaction((*world).newItem)
		}
		w.refresh()
		for range rapid.IntRange(1, 6).Draw(rt, "refreshes") {
			for range rapid.IntRange(0, 8).Draw(rt, "changes") {
				w.transaction(w.draw(actions...))
			}
			w.transaction((*world).advance)
			w.cutOff()
			w.refresh()
			w.compare()
		}
		w.comparePlain(t)
	})
}

// world is a mirror whose history is drawn.
type world struct {
	*rapid.T
	m     *store.Mirror
	path  string
	now   time.Time
	lists dealclass.Lists
	tx    *store.Tx // the open one
	ids   int
}

var saoPaulo = sync.OnceValue(func() *time.Location {
	zone, err := time.LoadLocation("America/Sao_Paulo")
	if err != nil {
		panic(err)
	}
	return zone
})

// emptyFile returns the file of a mirror without records. Creating one takes longer than a history.
func emptyFile(t *testing.T) []byte {
	t.Helper()
	content, err := madeOnce()
	must(t, err)
	return content
}

var madeOnce = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "marts-test-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "empty.db")
	m, err := store.Open(context.Background(), path, store.Options{})
	if err != nil {
		return nil, err
	}
	if err := m.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

func (w *world) must(errs ...error) {
	w.Helper()
	for _, err := range errs {
		if err != nil {
			w.Fatal(err)
		}
	}
}

func (w *world) open() {
	w.Helper()
	m, err := store.Open(context.Background(), w.path, store.Options{Now: func() time.Time { return w.now }, Zone: saoPaulo(), PowerUnit: store.KWp, Deals: w.lists})
	w.must(err)
	w.m = m
}

// transaction runs an action of a history.
func (w *world) transaction(action func(*world)) {
	w.Helper()
	w.must(w.m.Update(context.Background(), func(tx *store.Tx) error {
		w.tx = tx
		action(w)
		return nil
	}))
}

func (w *world) exec(query string, args ...any) {
	w.Helper()
	_, err := w.tx.Exec(query, query, args...)
	w.must(err)
}

func (w *world) refresh() {
	w.Helper()
	w.must(Refresh(context.Background(), w.m))
}

// countdown is a context that ends when it has been asked a number of times whether it has. Package
// store asks before each transaction.
type countdown struct {
	context.Context
	left atomic.Int64
	done chan struct{}
}

func (c *countdown) Done() <-chan struct{} { return c.done }

func (c *countdown) Err() error {
	left := c.left.Add(-1)
	if left == -1 {
		close(c.done)
	}
	if left < 0 {
		return context.Canceled
	}
	return nil
}

// cutOff may begin a refresh that does not end, and let more happen then. A refresh asks its context
// about 12 times.
func (w *world) cutOff() {
	for range rapid.IntRange(0, 2).Draw(w.T, "cut off") {
		ctx := &countdown{Context: context.Background(), done: make(chan struct{})}
		ctx.left.Store(int64(rapid.IntRange(0, 15).Draw(w.T, "after")))
		_ = Refresh(ctx, w.m)
		if rapid.Bool().Draw(w.T, "and restarted") {
			w.must(w.m.Close())
			w.open()
		}
		for range rapid.IntRange(0, 3).Draw(w.T, "changes") {
			w.transaction(w.draw(actions...))
		}
	}
	if rapid.IntRange(0, 9).Draw(w.T, "other lists") == 0 {
		w.must(w.m.Close())
		w.lists = dealclass.Default()
		for _, list := range []*[]string{&w.lists.Cancelled, &w.lists.Lost, &w.lists.Closed, &w.lists.CancelledPayment} {
			if rapid.Bool().Draw(w.T, "without") {
				*list = []string{}
			} else if rapid.Bool().Draw(w.T, "with novo") {
				var err error
				*list, err = dealclass.Extend(*list, "NÓVO")
				w.must(err)
			}
		}
		w.open()
	}
}

// rows returns every row that a refresh writes, by table.
func (w *world) rows() map[string][]string {
	all := map[string][]string{}
	for _, t := range schema.Derived() {
		var list []string
		w.must(w.m.Reader().Select(&list, fmt.Sprintf("SELECT json_array(%s) AS line FROM %s ORDER BY 1", strings.Join(t.ColumnNames(), ", "), t.Name)))
		all[t.Name] = list
	}
	return all
}

func (w *world) compare() {
	w.Helper()
	result, err := martstest.Reconcile(context.Background(), w.m, store.KWp)
	w.must(err)
	if len(result.Differences) > 0 {
		w.Fatalf("not what the records say:\n%s", strings.Join(result.Differences, "\n"))
	}
	kept := w.rows()
	w.must(Rebuild(context.Background(), w.m))
	if d := cmp.Diff(w.rows(), kept); d != "" {
		w.Fatalf("-built from nothing +kept in step:\n%s", d)
	}
	var pending int
	w.must(w.m.Reader().Get(&pending, "SELECT count(*) FROM _stale"))
	if pending != 0 {
		w.Fatalf("%d rows in _stale after a refresh", pending)
	}
}

// comparePlain runs the SELECT of each summary in SQLite without functions of ours.
func (w *world) comparePlain(t *testing.T) {
	w.Helper()
	plain := plainRows(t, w.path)
	for _, s := range schema.Summaries {
		want := plain(SQL(s))
		got := plain(fmt.Sprintf("SELECT %s FROM %s", strings.Join(s.ColumnNames(), ", "), s.Name))
		if d := cmp.Diff(want, got); d != "" {
			w.Fatalf("%s (-its SELECT +its rows):\n%s", s.Name, d)
		}
	}
}

// draw picks one action.
func (w *world) draw(from ...named) func(*world) {
	names := make([]string, len(from))
	for i, a := range from {
		names[i] = a.name
	}
	name := rapid.SampledFrom(names).Draw(w.T, "action")
	return from[slices.Index(names, name)].do
}

// named is an action with the name under which a failure reports it.
type named struct {
	name string
	do   func(*world)
}

func (w *world) timestamp() string { return sqlitefile.FormatTime(w.now) }
