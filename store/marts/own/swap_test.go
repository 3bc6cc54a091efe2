package own

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"solarmirror/schema"
	"solarmirror/store"
	"solarmirror/store/owntables"
	"solarmirror/store/storetest"
)

// bigRows take several transactions.
const bigRows = 5 * rowsAtOnce

func bigSQL(generation int) string {
	return fmt.Sprintf("WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < %d) SELECT n, %d AS v, 'words ' || n AS t FROM r", bigRows, generation)
}

// buildForever is a process that builds one mart with other rows each time until it is killed.
func buildForever(path string) error {
	dir := filepath.Join(filepath.Dir(path), "own")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	m, err := store.Open(context.Background(), path, store.Options{OwnMarts: store.OwnMarts{Dir: dir, Timeout: time.Minute}})
	if err != nil {
		return err
	}
	for i := 0; ; i++ {
		if err := os.WriteFile(filepath.Join(dir, "big.sql"), []byte(bigSQL(i)), 0o644); err != nil {
			return err
		}
		if err := Build(context.Background(), m); err != nil {
			return err
		}
		if i == 0 {
			fmt.Fprintln(os.Stdout, "ready")
		}
	}
}

// TestKilledBuild: a reader has the rows of one build, whatever happens, and a build that was
// killed leaves nothing that the next does not remove.
func TestKilledBuild(t *testing.T) {
	t.Parallel()
	path := mirrorPath(t)
	for parts := 0; parts < 3; { // each time at another moment; a build may end before it is killed
		child := storetest.Child(t, "build", path)
		reader, err := store.OpenReadOnly(t.Context(), path)
		must(t, err)
		seen := map[int]bool{}
		whole := func() {
			var got struct{ N, Least, Most int }
			must(t, reader.Reader().GetContext(t.Context(), &got, "SELECT count(*) AS n, min(v) AS least, max(v) AS most FROM my_big"))
			if got.N != bigRows || got.Least != got.Most {
				t.Fatalf("%+v", got)
			}
			seen[got.Least] = true
		}
		hasPart := func() bool {
			found, err := owntables.HasPart(t.Context(), reader.Reader())
			must(t, err)
			return found
		}
		for len(seen) < 3 || !hasPart() {
			whole()
		}
		must(t, child.Process.Kill())
		_ = child.Wait()
		whole()
		if hasPart() {
			parts++
		}
		storetest.Sound(t, reader.Reader())
		must(t, reader.Close())
	}
	m, err := store.Open(t.Context(), path, store.Options{OwnMarts: store.OwnMarts{Dir: filepath.Join(filepath.Dir(path), "own"), Timeout: time.Minute}})
	m = storetest.Opened(t, m, err)
	must(t, Build(t.Context(), m))
	if found, err := owntables.HasPart(t.Context(), m.Reader()); err != nil || found {
		t.Errorf("the next build leaves what the killed one wrote: %v", err)
	}
}

// TestLayout: a table of an own mart is no change of the others, by which exports go.
func TestLayout(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	layout := func() int64 {
		s, err := d.mirror.Snapshot(t.Context())
		must(t, err)
		defer s.Close()
		return s.Layout()
	}
	before := layout()
	for i := range 3 {
		d.file("a.sql", fmt.Sprintf("SELECT %d AS n", i))
		d.refresh()
	}
	d.remove("a.sql")
	d.refresh()
	if after := layout(); after != before {
		t.Errorf("from %d to %d", before, after)
	}
	d.run("CREATE TABLE x (a)")
	if after := layout(); after == before {
		t.Error("another table changes nothing")
	}
}

// TestMigration: a change of the schema leaves own marts and their rows of the dictionary.
func TestMigration(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.run("CREATE VIEW others AS SELECT v FROM my_a", "CREATE VIEW broken AS SELECT * FROM nowhere")
	d.file("a.sql", "SELECT code AS v FROM requests WHERE code = 'C1'")
	d.refresh()
	d.file("a.sql", "SELECT code AS v FROM requests WHERE code = 'C2'") // under views, one of them broken
	d.refresh()
	d.wants("C2", "SELECT v AS x FROM others")
	d.run(fmt.Sprintf("UPDATE _meta SET schema_version = %d", schema.Version-1))
	d.open(d.mirror.Path(), time.Minute)
	d.wants("C2", "SELECT v AS x FROM my_a")
	d.wants("v", "SELECT column_name AS x FROM _columns WHERE table_name = 'my_a'")
	d.open(d.mirror.Path(), time.Minute)
	d.wants(fmt.Sprint(schema.Version), "SELECT schema_version AS x FROM _meta")
}

// TestForeignTables: a statement reads tables that others made, which count as personal.
func TestForeignTables(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.run("CREATE TABLE targets (kind TEXT, target REAL)", "INSERT INTO targets VALUES ('kit', 10), ('solo', 20)", "CREATE VIEW v AS SELECT * FROM targets")
	d.file("a.sql", "SELECT r.code, t.target FROM requests AS r JOIN targets AS t ON t.kind = r.kind ORDER BY code")
	d.file("b.sql", "SELECT kind FROM v")
	d.file("c.sql", "-- public: n\nSELECT count(kind) AS n FROM targets")
	d.refresh()
	d.wants("C1:10.0 C2:10.0 C3:20.0", "SELECT code || ':' || target AS x FROM my_a")
	d.wants("code:0 target:1", "SELECT column_name || ':' || personal AS x FROM _columns WHERE table_name = 'my_a' ORDER BY 1")
	if got := d.errorOf("my_b"); !strings.Contains(got, "no such table: v") {
		t.Errorf("a view: %q", got)
	}
	if got := d.errorOf("my_c"); !strings.Contains(got, "targets.kind") {
		t.Errorf("public: %q", got)
	}
	// A table of the same name that is not ours stays.
	d.run("CREATE TABLE my_hand (note TEXT)", "INSERT INTO my_hand VALUES ('by hand')")
	d.file("hand.sql", "SELECT 1 AS one")
	d.refresh()
	d.wants("by hand", "SELECT note AS x FROM my_hand")
	if got := d.errorOf("my_hand"); !strings.Contains(got, "drop that table") {
		t.Errorf("a table that was there: %q", got)
	}
}

// TestTooLarge: a value that is too large is a failure like others.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.file("a.sql", "SELECT zeroblob(70000000) AS v")
	d.refresh()
	if got := d.errorOf("my_a"); !strings.Contains(got, "too big") {
		t.Errorf("%q", got)
	}
}

// BenchmarkSwap measures how long the write lock is held for a mart of a million rows.
func BenchmarkSwap(b *testing.B) {
	dir := b.TempDir()
	m, err := store.Open(b.Context(), mirrorPath(b), store.Options{OwnMarts: store.OwnMarts{Dir: dir, Timeout: time.Hour}})
	m = storetest.Opened(b, m, err)
	for i := range b.N + 1 {
		must(b, os.WriteFile(filepath.Join(dir, "big.sql"), []byte(strings.ReplaceAll(bigSQL(i), fmt.Sprint(bigRows), "1000000")), 0o644))
		longest := make(chan time.Duration)
		ctx, cancel := context.WithCancel(b.Context())
		go func() { longest <- waits(ctx, m) }()
		began := time.Now()
		must(b, Build(b.Context(), m))
		cancel()
		b.ReportMetric(time.Since(began).Seconds(), "s/build")
		b.ReportMetric(float64((<-longest).Milliseconds()), "ms-longest-wait")
	}
	list, err := owntables.Ledger(b.Context(), m.Reader(), "main")
	must(b, err)
	b.ReportMetric(float64(list[0].DurationMS), "ms-computed")
}

// waits writes as another process would, with its own connection, and returns how long the slowest
// transaction waited.
func waits(ctx context.Context, m *store.Mirror) (longest time.Duration) {
	other, err := store.OpenBeside(context.Background(), m.Path(), []string{"busy_timeout(60000)"})
	if err != nil {
		panic(err)
	}
	defer other.Close()
	for ctx.Err() == nil {
		began := time.Now()
		if _, err := other.Exec("UPDATE _meta SET dialect = dialect"); err != nil {
			panic(err)
		}
		longest = max(longest, time.Since(began))
		time.Sleep(time.Millisecond)
	}
	return longest
}
