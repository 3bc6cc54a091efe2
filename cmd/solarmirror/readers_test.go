package main

import (
	"bytes"
	"context"
	"database/sql"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"solarmirror/store"
	"solarmirror/store/testsize"
	"solarmirror/sync/platform/platformtest"
)

// TestReaders opens mirrors with programs that nobody here wrote, as analysts do. The full mirror comes from a platform whose records drift and
// cannot all be keyed, synced twice with 30 days between, and then holds what no platform is likely to send; the masked one is its
// published copy; the empty one has no rows but its dictionary.
func TestReaders(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	full, masked, empty := filepath.Join(dir, "solarmirror.db"), filepath.Join(dir, "masked.db"), filepath.Join(dir, "empty.db")
	config := syncTwice(t, full)
	addExtremes(t, full)
	command(t, config, "publish", "--to", masked)
	mirror, err := store.Open(context.Background(), empty, store.Options{Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	if err := mirror.Close(); err != nil {
		t.Fatal(err)
	}
	for name, reader := range map[string]func(t *testing.T, file string){
		"odbc": readWithODBC, "sqlite3": readWithShell, "summaries": readSummaries, "pandas": readWithPandas, "duckdb": readWithDuckDB,
		"jdbc": readWithJDBC, "r": readWithR, "node": readWithNode, "libreoffice": readWithOffice,
	} {
		t.Run(name+"/full", func(t *testing.T) { t.Parallel(); reader(t, full) })
		t.Run(name+"/masked", func(t *testing.T) { t.Parallel(); reader(t, masked) })
		t.Run(name+"/empty", func(t *testing.T) { t.Parallel(); reader(t, empty) })
	}
}

// syncTwice mirrors a simulated platform with the sync command, and again all of it when 30 days have passed there. It returns
// the configuration file.
func syncTwice(t *testing.T, file string) (config string) {
	t.Helper()
	const month = 30 * 24 * time.Hour
	var behind atomic.Int64
	behind.Store(int64(month))
	server := httptest.NewServer(platformtest.New(platformtest.Options{
		Seed: 7, Requests: testsize.Fewer(200), Equipments: smallCatalogue(), Token: simulationToken,
		Clock:   func() time.Time { return time.Now().Add(-time.Duration(behind.Load())) },
		Dialect: platformtest.Dialect{Drift: platformtest.DriftAll | platformtest.DriftBad},
	}))
	t.Cleanup(server.Close)
	config = filepath.Join(filepath.Dir(file), "config.toml")
	key := filepath.Join(filepath.Dir(file), "pseudonym.key")
	if err := os.WriteFile(key, []byte(strings.Repeat("5a", 32)), 0o600); err != nil {
		t.Fatal(err)
	}
	settings := "[platform]\nbase_url = " + strconv.Quote(server.URL) + "\ntoken = " + strconv.Quote(simulationToken) +
		"\nrequests_per_second = 10000\n[mirror]\npath = " + strconv.Quote(file) +
		"\n[publish]\npseudonym_key_file = " + strconv.Quote(key) + "\n"
	if err := os.WriteFile(config, []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	command(t, config, "sync")
	behind.Store(0)
	command(t, config, "sync", "--full")
	return config
}

// command runs one of this program's own, which must succeed.
func command(t *testing.T, config string, args ...string) {
	t.Helper()
	var out, problems bytes.Buffer
	if code := run(context.Background(), append([]string{"--config", config, "--quiet"}, args...), nil, &out, &problems); code != exitOK {
		t.Fatalf("%v: exit code %d\n%s%s", args, code, out.String(), problems.String())
	}
}

// big is beyond what 32 bits hold.
const big = 3_000_000_000

// addExtremes writes values into the mirror that are right for their columns and hard for readers.
func addExtremes(t *testing.T, file string) {
	t.Helper()
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	long := strings.Repeat("não é só ASCII; 太陽 ☀ ", 10_000)
	for _, change := range []struct {
		sql  string
		args []any
	}{
		{"UPDATE request_payments SET condition_quantity_of_installments = ? WHERE request_key IN (SELECT request_key FROM request_payments LIMIT 3)", []any{big}},
		{"UPDATE requests SET notes = ?, final_value = 9007199254740991, total_power = 0.1 WHERE request_key = 1", []any{long}},
		{"UPDATE requests SET billing_date = '1899-12-31', order_created = '1969-12-31 23:59:59.999', notes = '' WHERE request_key = 2", nil},
		{"UPDATE requests SET billing_date = '2199-12-31', order_created = '2199-12-31 00:00:00.001', final_value = -0.01 WHERE request_key = 3", nil},
	} {
		result, err := db.Exec(change.sql, change.args...)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := result.RowsAffected(); err != nil || n == 0 {
			t.Fatalf("%s: %d rows, %v", change.sql, n, err)
		}
	}
}

// output runs a program of others and returns what it printed.
func output(t *testing.T, cmd *exec.Cmd) []byte {
	t.Helper()
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s%s", cmd.Path, err, out.Bytes(), problems.Bytes())
	}
	return out.Bytes()
}
