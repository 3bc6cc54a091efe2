package own

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"solarmirror/store"
	"solarmirror/store/storetest"
	"solarmirror/store/testsize"
)

func TestMain(m *testing.M) {
	storetest.PlayChild(map[string]func(path string) error{"build": buildForever})
	testsize.Properties(40)
	goleak.VerifyTestMain(m)
}

var (
	must       = storetest.Must
	mirrorPath = storetest.MirrorPath
)

// desk is a mirror with a directory of own marts.
type desk struct {
	*testing.T
	mirror *store.Mirror
	dir    string
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{T: t, dir: t.TempDir()}
	d.open(mirrorPath(t), time.Minute)
	d.run("INSERT INTO _marts (marts_id, recipe, as_of, refreshed_at) VALUES (1, 'test', '2026-03-04', '2026-03-04 05:06:07.089')")
	d.run(`INSERT INTO requests (request_key, request_type, id, code, kind, final_value, order_created, api_sent, billing_date, notes, responsible_email)
		VALUES (1, 'order', 'a', 'C1', 'kit', 100.5, '2026-03-01 10:00:00.000', 1, '2026-03-02', 'canary-notes', 'canary@example.com'),
		       (2, 'order', 'b', 'C2', 'kit', 50, '2026-03-02 10:00:00.000', 0, '2026-03-03', 'canary-notes', 'canary@example.com'),
		       (3, 'budget', 'c', 'C3', 'solo', 7, NULL, NULL, NULL, NULL, NULL)`)
	return d
}

func (d *desk) open(path string, timeout time.Duration) {
	d.Helper()
	m, err := store.Open(d.Context(), path, store.Options{Now: time.Now, OwnMarts: store.OwnMarts{Dir: d.dir, Timeout: timeout}})
	d.mirror = storetest.Opened(d.T, m, err)
}

func (d *desk) run(statements ...string) {
	d.Helper()
	must(d.T, d.mirror.Update(context.Background(), func(tx *store.Tx) error {
		for _, s := range statements {
			if _, err := tx.Exec(s, s); err != nil {
				return err
			}
		}
		return nil
	}))
}

// changed makes all own marts due, as a refresh of the others does.
func (d *desk) changed() {
	d.Helper()
	d.run("UPDATE _marts SET refreshed_at = strftime('%Y-%m-%d %H:%M:%f', refreshed_at, '+1 second')")
}

func (d *desk) file(name, text string) {
	d.Helper()
	must(d.T, os.WriteFile(filepath.Join(d.dir, name), []byte(text), 0o644))
}

func (d *desk) remove(name string) {
	d.Helper()
	must(d.T, os.Remove(filepath.Join(d.dir, name)))
}

func (d *desk) refresh() {
	d.Helper()
	must(d.T, Refresh(d.Context(), d.mirror))
}

// text reads one value as text.
func (d *desk) text(query string, args ...any) (s string) {
	d.Helper()
	must(d.T, d.mirror.Reader().GetContext(d.Context(), &s, "SELECT coalesce(group_concat(x, ' '), '') FROM (SELECT CAST(x AS TEXT) AS x FROM ("+query+"))", args...))
	return s
}

// wants compares what a query gives, its column x row by row.
func (d *desk) wants(want, query string, args ...any) {
	d.Helper()
	if got := d.text(query, args...); got != want {
		d.Errorf("%s: got %q, want %q", query, got, want)
	}
}

func (d *desk) errorOf(table string) string {
	d.Helper()
	return d.text("SELECT coalesce(error, '') AS x FROM _own_marts WHERE table_name = ?", table)
}
