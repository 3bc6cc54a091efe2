package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"solarmirror/store"
	"solarmirror/store/sqlitefile"
	"solarmirror/store/testsize"
	"solarmirror/sync/platform/platformtest"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"solarmirror":      main,
		withFurtherStreams: func() { declareFurtherStreams(); main() },
	})
}

// TestScripts runs testdata/script/*.txtar, whole command lines against the real
// binary. Beside testscript's own commands there is "exits N command…", which
// asks for an exact exit code, "lock FILE", which holds a database's lock to
// the script's end, "read FILE", which keeps a transaction open that reads a
// database until "unread FILE", and "reject FILE STREAM RECORD", which keeps a record as one that
// an older program could not read; and the condition [race] is the race detector.
// Each script has simulated platforms of its own: $PLATFORM, $OTHER_PLATFORM,
// $HALF_PLATFORM, which fails to list budgets, and $GONE_PLATFORM, which fails to list
// anything; their token is $TOKEN.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup:               setUp,
		Condition:           condition,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "lock": lock, "read": read, "unread": unread, "reject": reject, "edit": edit,
		},
	})
}

func setUp(env *testscript.Env) error {
	env.Setenv("GORACE", "atexit_sleep_ms=0") // a race-built binary sleeps a second at its end otherwise
	env.Setenv("TOKEN", simulationToken)
	simulated := platformtest.New(platformtest.Options{Seed: 1, Requests: 120, Equipments: smallCatalogue(), Token: simulationToken})
	for name, handler := range map[string]http.Handler{
		"PLATFORM": simulated, "OTHER_PLATFORM": simulated, "HALF_PLATFORM": withoutBudgets(simulated), "GONE_PLATFORM": http.NotFoundHandler(),
	} {
		server := httptest.NewServer(handler)
		env.Defer(server.Close)
		env.Setenv(name, server.URL)
	}
	return nil
}

// condition is one that a script may ask for beside testscript's own.
func condition(name string) (bool, error) {
	if name != "race" {
		return false, fmt.Errorf("unknown condition %q", name)
	}
	return testsize.Race, nil
}

func withoutBudgets(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "/budget/") {
			http.Error(w, "no such list", http.StatusNotFound)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func lock(ts *testscript.TestScript, negated bool, args []string) {
	if negated || len(args) != 1 {
		ts.Fatalf("usage: lock FILE")
	}
	held, err := sqlitefile.AcquireLock(context.Background(), ts.MkAbs(args[0]), "sync", false)
	ts.Check(err)
	ts.Defer(func() { ts.Check(held.Release()) })
}

// readers are the open ones of "read", by file.
var readers sync.Map

func read(ts *testscript.TestScript, negated bool, args []string) {
	if negated || len(args) != 1 {
		ts.Fatalf("usage: read FILE")
	}
	db, err := sql.Open("sqlite", "file:"+ts.MkAbs(args[0])+"?mode=ro")
	ts.Check(err)
	tx, err := db.Begin()
	ts.Check(err)
	_, err = tx.Exec("SELECT count(*) FROM company_creations")
	ts.Check(err)
	end := sync.OnceFunc(func() { ts.Check(errors.Join(tx.Rollback(), db.Close())) })
	readers.Store(ts.MkAbs(args[0]), end)
	ts.Defer(end)
}

func unread(ts *testscript.TestScript, negated bool, args []string) {
	if negated || len(args) != 1 {
		ts.Fatalf("usage: unread FILE")
	}
	end, _ := readers.LoadAndDelete(ts.MkAbs(args[0]))
	end.(func())()
}

func reject(ts *testscript.TestScript, negated bool, args []string) {
	if negated || len(args) != 3 {
		ts.Fatalf("usage: reject FILE STREAM RECORD")
	}
	mirror, err := store.Open(context.Background(), ts.MkAbs(args[0]), store.Options{})
	ts.Check(err)
	tx, err := mirror.Begin(context.Background())
	ts.Check(err)
	_, err = tx.Reject(store.Reject{Stream: args[1], Source: "/api/v2/there", Reason: "too new", Raw: []byte(ts.ReadFile(args[2]))})
	ts.Check(errors.Join(err, tx.Commit(), mirror.Close()))
}

func edit(ts *testscript.TestScript, negated bool, args []string) {
	if negated || len(args) < 2 {
		ts.Fatalf("usage: edit FILE SQL…")
	}
	db, err := sql.Open("sqlite", "file:"+ts.MkAbs(args[0])+"?mode=rw")
	ts.Check(err)
	for _, statement := range args[1:] {
		_, err := db.Exec(statement)
		ts.Check(err)
	}
	ts.Check(db.Close())
}

func exits(ts *testscript.TestScript, negated bool, args []string) {
	if negated || len(args) < 2 {
		ts.Fatalf("usage: exits code command [args…]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	var failed *exec.ExitError
	switch err := ts.Exec(args[1], args[2:]...); {
	case errors.As(err, &failed):
		got = failed.ExitCode()
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}
