package export

import (
	"context"
	"database/sql"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	"github.com/rs/zerolog"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"solarmirror/schema"
	"solarmirror/store"
	"solarmirror/store/sqlitefile"
	"solarmirror/store/testsize"
	"solarmirror/sync/platform"
	"solarmirror/sync/platform/platformtest"
	"solarmirror/sync/pull"
	"solarmirror/sync/scan"
)

// syncedOnce is the directory of a mirror that several tests read.
var syncedOnce string

// TestMain makes properties cheap; -rapid.checks asks for more. It is the program of [writesWorkbook]
// too.
func TestMain(m *testing.M) {
	if path := os.Getenv(writesWorkbook); path != "" {
		writeWorkbookBeside(path)
		return
	}
	testsize.Properties(12)
	var err error
	if syncedOnce, err = os.MkdirTemp("", "export-test"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if err := os.RemoveAll(syncedOnce); err != nil {
			panic(err)
		}
		os.Exit(code)
	}))
}

func must(t rapid.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

var now = time.Date(2026, 3, 10, 15, 0, 0, 0, time.UTC)

// emptyMirror is a new file, open for writing.
func emptyMirror(t *testing.T) *store.Mirror {
	t.Helper()
	m := openMirror(t, t.TempDir())
	t.Cleanup(func() { must(t, m.Close()) })
	return m
}

func openMirror(t rapid.TB, dir string) *store.Mirror {
	t.Helper()
	m, err := store.Open(context.Background(), filepath.Join(dir, "mirror.db"), store.Options{Now: func() time.Time { return now }})
	must(t, err)
	return m
}

var fillSynced sync.Once

// syncedMirror is a mirror of a simulated platform whose records drift from its documentation, read twice with 30 days between, and of some
// records at the edges. It is open for reading.
func syncedMirror(t *testing.T) *store.Mirror {
	t.Helper()
	fillSynced.Do(func() {
		m := openMirror(t, syncedOnce)
		defer func() { must(t, m.Close()) }()
		syncTwice(t, m)
		insert(t, m, schema.Requests, map[string]any{
			"request_key": int64(1)<<53 + 1, "request_type": "order", "id": "edges", "name": "", "notes": "São \"João\",\r\n;日本\n", "code": " 007",
			"order_created": "1969-12-31 23:59:59.999", "billing_date": "1969-02-28", "final_value": 0.1, "original_value": 9007199254740993.0, "discount": 1e300,
			"surcharge": -0.005, "removed": int64(1), "_hash": []byte{0, 255, 10},
		})
		insert(t, m, schema.Requests, map[string]any{"request_key": 1 << 54, "request_type": "budget", "id": "no month"})
	})
	m, err := store.OpenReadOnly(t.Context(), filepath.Join(syncedOnce, "mirror.db"))
	must(t, err)
	t.Cleanup(func() { must(t, m.Close()) })
	return m
}

func syncTwice(t *testing.T, m *store.Mirror) {
	t.Helper()
	at := now
	const token = "a-token"
	clock := func() time.Time { return at }
	server := httptest.NewServer(platformtest.New(platformtest.Options{
		Seed: 1, Requests: testsize.Fewer(150), Token: token, Clock: clock, Dialect: platformtest.Dialect{Drift: platformtest.DriftAll | platformtest.DriftBad},
	}))
	defer server.Close()
	client, err := platform.New(platform.Config{
		BaseURL: server.URL, Token: func(context.Context) (string, error) { return token, nil },
		RequestsPerSecond: 10_000, Log: zerolog.Nop(), Now: clock,
	})
	must(t, err)
	defer client.Close()
	zone, err := time.LoadLocation("America/Sao_Paulo")
	must(t, err)
	engine := &pull.Engine{
		Client: client, Mirror: m, Zone: zone, OverlapDays: 2, Paging: pull.Paging{FirstPage: scan.FindFirstPage, Limit: 50}, InFlight: 4,
		Now: clock, Log: zerolog.Nop(),
	}
	for range 2 {
		_, err := engine.Sync(context.Background(), pull.Options{Streams: pull.Streams(), Full: true, Trigger: store.TriggerManual})
		must(t, err)
		at = at.AddDate(0, 0, 30)
	}
}

// exec writes to a mirror's file behind the mirror's back, whatever the tables' own checks say.
func exec(t rapid.TB, m *store.Mirror, statement string, args ...any) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+m.Path()+"?mode=rw&_pragma=busy_timeout(5000)&_pragma=ignore_check_constraints(1)")
	must(t, err)
	defer db.Close()
	if _, err := db.Exec(statement, args...); err != nil {
		t.Fatalf("%v in %s", err, statement)
	}
}

// insert writes one row of values laid out in the columns of a table; columns not named are NULL, or whatever is not NULL.
func insert(t rapid.TB, m *store.Mirror, table *schema.Table, values map[string]any) {
	t.Helper()
	args := make([]any, len(table.Columns))
	for i, c := range table.Columns {
		args[i] = values[c.Name]
		if args[i] == nil && !nullable(table, c) {
			args[i] = map[schema.Type]any{
				schema.Text: "", schema.Real: 0.0, schema.Date: "2020-01-01", schema.Timestamp: "2020-01-01 00:00:00.000", schema.Blob: []byte{},
			}[c.Type]
			if args[i] == nil {
				args[i] = int64(0)
			}
		}
	}
	exec(t, m, fmt.Sprintf("INSERT OR REPLACE INTO %s (%s) VALUES (%s)", table.Name, strings.Join(table.ColumnNames(), ", "),
		strings.TrimSuffix(strings.Repeat("?, ", len(args)), ", ")), args...)
}

func mustExport(t rapid.TB, m *store.Mirror, o Options) Report {
	t.Helper()
	o.Now = func() time.Time { return now }
	report, err := Run(context.Background(), m, o)
	must(t, err)
	return report
}

// stored returns the rows of a table as SQLite has them.
func stored(t rapid.TB, m *store.Mirror, table *schema.Table) [][]any {
	t.Helper()
	result, err := m.Query(context.Background(), "SELECT "+strings.Join(table.ColumnNames(), ", ")+" FROM "+table.Name)
	must(t, err)
	defer result.Close()
	var rows [][]any
	for row, err := range result.Rows() {
		must(t, err)
		rows = append(rows, row)
	}
	return rows
}

func manifestOf(t rapid.TB, dir string) *Manifest {
	t.Helper()
	root, err := os.OpenRoot(dir)
	must(t, err)
	defer root.Close()
	m, err := readManifest(root)
	must(t, err)
	return m
}

// sameAsMirror compares a Parquet export with SQLite: every value of every table, what the manifest says of it, and that there are no other files.
func sameAsMirror(t rapid.TB, m *store.Mirror, dir string) {
	t.Helper()
	manifest := manifestOf(t, dir)
	if manifest.State != complete {
		t.Fatalf("the export is %s", manifest.State)
	}
	listed := []string{ManifestName, ManifestName + ".lock"}
	for i, table := range schema.All() {
		var rows [][]any
		for _, f := range manifest.Tables[i].Files {
			listed = append(listed, f.Path)
			part := readParquet(t, filepath.Join(dir, f.Path), table)
			if int64(len(part)) != f.Rows {
				t.Errorf("%s: %d rows, the manifest says %d", f.Path, len(part), f.Rows)
			}
			rows = append(rows, part...)
		}
		if int64(len(rows)) != manifest.Tables[i].Rows {
			t.Errorf("%s: %d rows, the manifest says %d", table.Name, len(rows), manifest.Tables[i].Rows)
		}
		if d := cmp.Diff(lines(stored(t, m, table)), lines(rows)); d != "" {
			t.Fatalf("%s (- mirror, + export):\n%s", table.Name, d)
		}
	}
	slices.Sort(listed)
	if d := cmp.Diff(listed, filesIn(t, dir)); d != "" {
		t.Errorf("files (- listed, + there):\n%s", d)
	}
}

// lines are rows as text, with the values' types, sorted.
func lines(rows [][]any) []string {
	list := make([]string, len(rows))
	for i, row := range rows {
		list[i] = fmt.Sprintf("%#v", row)
	}
	slices.Sort(list)
	return list
}

func filesIn(t rapid.TB, dir string) (files []string) {
	t.Helper()
	must(t, filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		files = append(files, filepath.ToSlash(name))
		return err
	}))
	slices.Sort(files)
	return files
}

// readParquet reads a file back into what SQLite stores.
func readParquet(t rapid.TB, path string, table *schema.Table) (rows [][]any) {
	t.Helper()
	file, err := os.Open(path)
	must(t, err)
	defer file.Close()
	info, err := file.Stat()
	must(t, err)
	f, err := parquet.OpenFile(file, info.Size())
	must(t, err)
	reader := parquet.NewGenericReader[any](f)
	defer reader.Close()
	buffer := make([]parquet.Row, 100)
	for {
		n, err := reader.ReadRows(buffer)
		for _, row := range buffer[:n] {
			values := make([]any, len(table.Columns))
			for _, v := range row {
				values[v.Column()] = fromParquet(table.Columns[v.Column()], v)
			}
			rows = append(rows, values)
		}
		if err != nil {
			if n == 0 && err.Error() != "EOF" {
				t.Fatal(err)
			}
			return rows
		}
	}
}

func fromParquet(c schema.Column, v parquet.Value) any {
	if v.IsNull() {
		return nil
	}
	switch c.Type {
	case schema.Text:
		return string(v.ByteArray())
	case schema.Blob:
		return append([]byte{}, v.ByteArray()...)
	case schema.Real:
		return v.Double()
	case schema.Boolean:
		if v.Boolean() {
			return int64(1)
		}
		return int64(0)
	case schema.Date:
		return time.Unix(int64(v.Int32())*secondsPerDay, 0).UTC().Format(time.DateOnly)
	case schema.Timestamp:
		return sqlitefile.FormatTime(time.UnixMicro(v.Int64()))
	}
	return v.Int64()
}

// writesWorkbook names the mirror that a process of this test binary writes a workbook of.
const writesWorkbook = "EXPORT_TEST_WORKBOOK_OF"

// writeWorkbookBeside writes a workbook beside a mirror.
func writeWorkbookBeside(path string) {
	debug.SetGCPercent(50) // as the program does
	m, err := store.OpenReadOnly(context.Background(), path)
	if err != nil {
		panic(err)
	}
	defer m.Close()
	o := WorkbookOptions{Path: filepath.Join(filepath.Dir(path), "v.xlsx"), Zone: time.UTC, Now: now}
	if _, err := Workbook(context.Background(), m, o); err != nil {
		panic(err)
	}
}
