package main

import (
	"bytes"
	"database/sql"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"solarmirror/cmd/internal/testtools"
	"solarmirror/sync/platform/platformtest"
)

// TestBesideLitestream syncs beside the real Litestream. No sync waits for it, nothing else minds it,
// and what it restores is the mirror.
func TestBesideLitestream(t *testing.T) {
	t.Parallel()
	litestream := testtools.GoProgram(t, "litestream")
	now := time.Now()
	p := newProgram(t, platformtest.New(platformtest.Options{
		Seed: 3, Requests: 80, Equipments: smallCatalogue(), Token: simulationToken, Clock: func() time.Time { return now },
	}))
	p.mustExit(t, exitOK, "", "sync", "-q")
	stop := replicate(t, litestream, p)

	left := 0
	for range 3 {
		said := p.says(t, "sync", "--full", "--log-level", "debug", "--log-format", "json")
		if strings.Contains(said, `"waited_ms":1000`) {
			t.Errorf("the sync waited: %s", said)
		}
		left += strings.Count(said, `"waited_ms":0`)
	}
	if left == 0 {
		t.Error("every WAL was emptied: Litestream held none")
	}
	p.says(t, "verify")
	if said := p.says(t, "doctor"); !strings.Contains(said, "which Litestream empties while it runs") {
		t.Errorf("doctor says\n%s", said)
	}
	for _, masked := range []string{"true", "false"} {
		p.env = append(p.env, "SOLARMIRROR_PUBLISH_MASK_PERSONAL_DATA="+masked)
		p.says(t, "publish", "--to", masked+".db")
		if n := numberIn(t, filepath.Join(p.dir, masked+".db"), "SELECT count(*) FROM sqlite_master WHERE name LIKE '%litestream%'"); n != 0 {
			t.Errorf("masked: %s: %d tables of Litestream were published", masked, n)
		}
	}
	stop()
	p.says(t, "sync", "equipments")
	if info, err := os.Stat(filepath.Join(p.dir, p.mirror+"-wal")); err != nil || info.Size() != 0 {
		t.Errorf("Litestream has ended, and the WAL stays: %v, %v", info, err)
	}
	const history = "SELECT count(*) + sum(request_key) FROM request_status_history"
	want := numberIn(t, filepath.Join(p.dir, p.mirror), history)
	restored := exec.Command(litestream, "restore", "-o", "restored.db", "file://"+p.dir+"/replica")
	restored.Dir = p.dir
	output(t, restored)
	p.mirror = "restored.db"
	p.says(t, "sync")
	if got := numberIn(t, filepath.Join(p.dir, p.mirror), history); got != want {
		t.Errorf("%d restored, want %d", got, want)
	}
	p.says(t, "verify")
}

// says runs one command line, which must succeed, and returns all that it printed.
func (p *program) says(t *testing.T, args ...string) string {
	t.Helper()
	out, err := p.command(t, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return string(out)
}

// replicate runs Litestream until stop.
func replicate(t *testing.T, litestream string, p *program) (stop func()) {
	t.Helper()
	file := filepath.Join(p.dir, p.mirror)
	cmd := exec.Command(litestream, "replicate", file, "file://"+p.dir+"/replica")
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	for end := time.Now().Add(time.Minute); numberIn(t, file, "SELECT count(*) FROM sqlite_master WHERE name = '_litestream_seq'") == 0; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("Litestream does not begin:\n%s", log.String())
		}
	}
	time.Sleep(time.Second) // until its first read transaction
	return func() {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		if err := <-ended; err != nil {
			t.Errorf("Litestream: %v\n%s", err, log.String())
		}
	}
}

func numberIn(t *testing.T, file, query string) (n int64) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+file+"?mode=ro&_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRow(query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
