package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"solarmirror/sync/platform/platformtest"
)

// newRestorer is a program with a backup in copies and a row in its mirror that the backup lacks.
func newRestorer(t *testing.T) *program {
	t.Helper()
	p := newProgram(t, platformtest.New(badWorld()))
	p.mirror, p.env = "data/m.db", []string{"SOLARMIRROR_OUTBOX_PATH=private/o.db"}
	p.mustExit(t, exitOK, queuedCompanies(t, 1), "outbox", "add")
	p.mustExit(t, exitOK, "", "sync", "-q", "equipments")
	p.mustExit(t, exitOK, "", "backup", "--to", "copies")
	p.mustExit(t, exitOK, "", "sync", "-q", "orders")
	return p
}

// state is what the mirror has, and all files but locks and what readers of its WAL leave.
func (p *program) state(t *testing.T) (list []string) {
	t.Helper()
	for _, dir := range []string{"data", "private"} {
		entries, err := os.ReadDir(filepath.Join(p.dir, dir))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if name, _, kept := strings.Cut(e.Name(), ".replaced-"); kept {
				list = append(list, name+" kept")
			} else if !strings.HasSuffix(name, "-wal") && !strings.HasSuffix(name, "-shm") && !strings.HasSuffix(name, ".lock") {
				list = append(list, name)
			}
		}
	}
	return append(list, strings.Fields(p.mustExit(t, exitOK, "", "query", "--format", "csv", "SELECT count(*) > 0 AS orders FROM requests"))...)
}

var restoredState = []string{"m.db", "m.db kept", "o.db", "o.db kept", "o.db.sends", "orders", "0"}

func TestRestoreAsks(t *testing.T) {
	t.Parallel()
	p := newRestorer(t)
	before := p.state(t)
	for _, c := range []struct {
		typed string
		code  int
		want  []string
	}{{"n\n", exitFailed, before}, {"Sim\n", exitOK, restoredState}} {
		person := sit(t, p.command(t, "restore", "--from", "copies"))
		person.waitFor("Replace data/m.db by copies/mirror-")
		person.waitFor("? [y/N] ")
		person.keys(c.typed)
		person.mustEnd(c.code)
		if d := cmp.Diff(c.want, p.state(t)); d != "" {
			t.Errorf("after %q:\n%s", c.typed, d)
		}
	}
}

// TestRestoreOnABadDisk: a restore that cannot go on changes nothing, or is finished by the next
// command.
func TestRestoreOnABadDisk(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		mode  os.FileMode // of the mirror's directory
		under wrapper
		says  string
		done  bool // by the next command
	}{
		{"a directory that may not be written", 0o555, unprivileged, "no access", false},
		{"no room for the copy of the outbox", 0o755, fault("ENOSPC", 1, "write", "private/o.db.restoring"), "disk is full", false},
		{"no room for the copy of the mirror", 0o755, fault("ENOSPC", 5, "write", "data/m.db.restoring"), "disk is full", false},
		{"a disk without hard links", 0o755, fault("EPERM", 1, "linkat", "data/m.db"), "must know hard links", false},
		{"a disk that fails at the last moment", 0o755, fault("EIO", 1, "renameat,renameat2", "data/m.db.restoring"), "which the next command tries again", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newRestorer(t)
			want := p.state(t)
			if err := os.Chmod(filepath.Join(p.dir, "data"), c.mode); err != nil {
				t.Fatal(err)
			}
			code, said := p.underOf(t, c.under(t, p), "", "restore", "--from", "copies", "--yes")
			if err := os.Chmod(filepath.Join(p.dir, "data"), 0o755); err != nil {
				t.Fatal(err)
			}
			if code != exitFailed || !strings.Contains(said, c.says) {
				t.Errorf("exit code %d; it said:\n%s", code, said)
			}
			if c.done {
				want = restoredState
				p.mustExit(t, exitOK, "", "status")
			}
			if d := cmp.Diff(want, p.state(t)); d != "" {
				t.Error(d)
			}
		})
	}
}
