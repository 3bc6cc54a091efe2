package main

import (
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"solarmirror/sync/platform/platformtest"
)

// userGroup is a user and its group, by number.
type userGroup struct{ uid, gid uint32 }

var (
	owner     = userGroup{4001, 4000}
	colleague = userGroup{4002, 4000} // in the owner's group
	stranger  = userGroup{4003, 4003}
)

// office is a directory where several users run solarmirror.
type office struct {
	dir, umask string
	env        []string
}

// newOffice makes a directory of the owner. The program is in bin.
func newOffice(t *testing.T, bin, umask string) office {
	t.Helper()
	server := httptest.NewServer(platformtest.New(platformtest.Options{Seed: 1, Requests: 60, Equipments: smallCatalogue(), Token: simulationToken}))
	t.Cleanup(server.Close)
	o := office{dir: t.TempDir(), umask: umask, env: []string{
		"SOLARMIRROR_PLATFORM_BASE_URL=" + server.URL, "SOLARMIRROR_PLATFORM_TOKEN=" + simulationToken, "SOLARMIRROR_PLATFORM_REQUESTS_PER_SECOND=1000",
	}}
	makePassable(t, o.dir)
	noError(t, os.Chown(o.dir, int(owner.uid), int(owner.gid)))
	o.env = append(o.env, "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "TMPDIR=/tmp", "HOME="+o.dir)
	return o
}

// makePassable lets other users pass a directory of [testing.T.TempDir], and the one above it.
func makePassable(t *testing.T, dir string) {
	t.Helper()
	noError(t, errors.Join(os.Chmod(dir, 0o755), os.Chmod(filepath.Dir(dir), 0o755)))
}

// copyProgram copies this program out of a directory that other users cannot pass, and returns the
// directory of the copy.
func copyProgram(t *testing.T) (bin string) {
	t.Helper()
	bin = t.TempDir()
	makePassable(t, bin)
	self, err := os.Executable()
	noError(t, err)
	from, err := os.Open(self)
	noError(t, err)
	defer from.Close()
	file, err := os.OpenFile(filepath.Join(bin, "solarmirror"), os.O_CREATE|os.O_WRONLY, 0o755)
	noError(t, err)
	_, err = io.Copy(file, from)
	noError(t, err)
	noError(t, file.Close())
	return bin
}

func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// try runs shell commands as a user.
func (o office) try(who userGroup, commands string) (string, error) {
	cmd := exec.Command("sh", "-eu", "-c", "umask "+o.umask+"\n"+commands)
	cmd.Dir, cmd.Env = o.dir, o.env
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: who.uid, Gid: who.gid}}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (o office) succeeds(t *testing.T, who userGroup, commands string) string {
	t.Helper()
	out, err := o.try(who, commands)
	if err != nil {
		t.Fatalf("%+v, umask %s: %s: %v\n%s", who, o.umask, commands, err, out)
	}
	return out
}

func (o office) fails(t *testing.T, who userGroup, commands string) {
	t.Helper()
	if out, err := o.try(who, commands); err == nil {
		t.Errorf("%+v, umask %s: %s must be refused\n%s", who, o.umask, commands, out)
	}
}

// TestReadersOfTheGroup: with the default file_mode a colleague of the owner's group reads what
// holds personal data, at any time and without a right to write; a stranger reads what is masked.
// The owner syncs on after both of them.
func TestReadersOfTheGroup(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("needs root, to be other users")
	}
	bin := copyProgram(t)
	const count = `solarmirror query --format csv "SELECT count(*) FROM requests"`
	for _, tc := range []struct {
		umask     string
		directory os.FileMode // of the mirror; 0: the first sync makes it
	}{{"002", 0}, {"002", os.ModeSetgid | 0o775}, {"077", 0}, {"000", 0}} {
		t.Run(fmt.Sprintf("umask %s, directory %o", tc.umask, tc.directory.Perm()), func(t *testing.T) {
			t.Parallel()
			o := newOffice(t, bin, tc.umask)
			if tc.directory != 0 {
				o.succeeds(t, owner, "mkdir -p data/mirror")
				noError(t, os.Chmod(filepath.Join(o.dir, "data", "mirror"), tc.directory))
			}
			for range 2 {
				o.succeeds(t, owner, "solarmirror -q sync --full")
				if got := o.succeeds(t, colleague, count); !strings.Contains(got, "\n60\n") {
					t.Errorf("the colleague sees %q", got)
				}
				o.fails(t, stranger, count)
			}
			o.succeeds(t, owner, `
				solarmirror publish
				solarmirror export --format csv --to data/whole
				solarmirror export --format csv --to data/shared/masked --from data/published/solarmirror.db
				solarmirror report --out data/whole.html
				SOLARMIRROR_MIRROR_PATH=data/published/solarmirror.db solarmirror report --out data/masked.html`)
			for _, file := range []string{"whole/requests.csv", "whole/manifest.json", "whole.html", "mirror/solarmirror.db", "mirror/solarmirror.db-wal"} {
				o.succeeds(t, colleague, "cat data/"+file)
				o.fails(t, stranger, "cat data/"+file)
			}
			for _, file := range []string{"published/solarmirror.db", "shared/masked/requests.csv", "shared/masked/manifest.json", "masked.html"} {
				o.succeeds(t, stranger, "cat data/"+file)
			}
			o.succeeds(t, stranger, `SOLARMIRROR_MIRROR_PATH=data/published/solarmirror.db `+count)
		})
	}
}
