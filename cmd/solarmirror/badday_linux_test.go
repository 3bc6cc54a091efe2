package main

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"solarmirror/cmd/internal/testtools"
	"solarmirror/store/sqlitefile"
	"solarmirror/sync/platform/platformtest"
	"solarmirror/sync/schedule"
)

// fault makes system calls of a program on the files named fail with an error, from the nth on.
func fault(cause string, nth int, calls string, files ...string) wrapper {
	return func(t *testing.T, p *program) []string {
		t.Helper()
		strace := testtools.Program(t, "strace", "strace")
		if out, err := exec.Command(strace, "-qq", "-o", os.DevNull, "true").CombinedOutput(); err != nil {
			testtools.Refused(t, "trace a program", strings.TrimSpace(string(out)))
		}
		args := []string{strace, "-f", "-qq", "-o", os.DevNull, "-e", "trace=" + calls, "-e", fmt.Sprintf("inject=%s:error=%s:when=%d+", calls, cause, nth)}
		for _, f := range files {
			args = append(args, "-P", filepath.Join(p.dir, f))
		}
		return args
	}
}

// limited runs a program under a limit of the system, which anyone may set.
func limited(limit string) wrapper {
	return func(t *testing.T, _ *program) []string {
		t.Helper()
		return []string{testtools.Program(t, "prlimit", "util-linux"), limit}
	}
}

// unprivileged runs a program as a user who may do what modes say: root may do anything.
func unprivileged(t *testing.T, _ *program) []string {
	t.Helper()
	if os.Geteuid() != 0 {
		return nil
	}
	return []string{testtools.Program(t, "setpriv", "util-linux"), "--inh-caps=-all", "--bounding-set=-all"}
}

const writes = "pwrite64,fsync,fdatasync,ftruncate"

// A disk that fails, a limit, a file or a directory that may not be written: the error names cause, file and next command. Nothing is half
// written, and the sync after it ends where an undisturbed one does.
func TestBadDaysOfTheDisk(t *testing.T) {
	t.Parallel()
	chmod := func(mode os.FileMode, suffixes ...string) func(*testing.T, *sufferer) {
		return func(t *testing.T, s *sufferer) {
			for _, suffix := range suffixes {
				path := s.file(suffix)
				if suffix == "." {
					path = s.dir
				}
				if err := os.Chmod(path, mode); err != nil && !os.IsNotExist(err) {
					t.Fatal(err)
				}
			}
		}
	}
	full := []string{"disk is full: m.db: make room and run the same command again"}
	ill := []string{"input/output error: the system refused to ", "m.db: look for a failing disk", "`solarmirror doctor`"}
	barred := []string{"no access", "let this user write to it", "`ls -la ."}
	runBadDays(t, []badDay{
		{name: "no room for the file", under: fault("ENOSPC", 1, writes, "m.db"), code: exitFailed, says: full},
		{name: "no room for pages", under: fault("ENOSPC", 150, "pwrite64", "m.db-wal"), code: exitFailed, says: full},
		{name: "a limit of file size", under: limited("--fsize=1000000"), code: exitFailed, late: true, says: ill, ledger: "failed input/output"},
		{name: "no files at all", under: limited("--fsize=0"), code: exitFailed, says: []string{"input/output error", "m.db", "`ulimit -f`"}},
		{name: "pages are not written", under: fault("EIO", 110, "pwrite64", "m.db-wal"), code: exitFailed, late: true, says: ill},
		{name: "nothing is synced", under: fault("EIO", 1, "fsync,fdatasync", "m.db", "m.db-wal"), code: exitFailed, says: ill},
		{name: "shared memory is not made", under: fault("EIO", 1, "ftruncate", "m.db-shm"), code: exitFailed, says: ill},
		// What SQLite says of a disk that cannot be read is that the file is damaged.
		{name: "pages are not read", earlier: true, under: fault("EIO", 10, "pread64", "m.db"), code: exitFailed,
			says: []string{"database is damaged: m.db", "`dmesg`", "`solarmirror restore --from DIR`"}},
		{name: "a read-only directory", begin: chmod(0o555, "."), under: unprivileged, end: chmod(0o755, "."), code: exitFailed, says: barred},
		{name: "a mirror in a read-only directory", earlier: true, begin: func(t *testing.T, s *sufferer) {
			if err := errors.Join(os.Remove(s.file("-wal")), os.Remove(s.file("-shm"))); err != nil {
				t.Fatal(err)
			}
			chmod(0o555, ".")(t, s)
		}, under: unprivileged, end: chmod(0o755, "."), code: exitFailed, says: barred},
		{name: "a read-only file", earlier: true, begin: chmod(0o444, ""), under: unprivileged, end: chmod(0o644, "", "-wal", "-shm"), code: exitFailed, says: barred},
		{name: "a file of somebody else", earlier: true, begin: chmod(0, ""), under: unprivileged, end: chmod(0o644, "", "-wal", "-shm"), code: exitFailed, says: barred},
		{name: "too few files may be open", under: limited("--nofile=9"), code: exitFailed, says: []string{"m.db", "`ulimit -n`"}},
	})
}

// mountDisk makes a disk of a size at a directory, or with MS_REMOUNT gives the one there another size.
func mountDisk(t *testing.T, disk string, flags uintptr, size string) {
	t.Helper()
	if err := os.MkdirAll(disk, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("solarmirror-test", disk, "tmpfs", flags, "size="+size); err != nil {
		testtools.Refused(t, "mount a small disk", err)
	}
	if flags == 0 {
		t.Cleanup(func() {
			if err := syscall.Unmount(disk, 0); err != nil {
				t.Error(err)
			}
		})
	}
}

// A disk of copies that is full is named with the next command. Nothing half written is left once it has room.
func TestCopiesOnAFullDisk(t *testing.T) {
	t.Parallel()
	s, out := newCopyScene(t)
	s.mustDo(t, jobSync)
	mountDisk(t, out, 0, "40k")
	for _, job := range copyJobs {
		outcome, _, err := s.do(t, job)
		if outcome != schedule.Failed || !errors.Is(err, sqlitefile.ErrDiskFull) || !strings.Contains(err.Error(), "make room") || !strings.Contains(err.Error(), " "+job+" --") {
			t.Errorf("%s: %s, %v", job, outcome, err)
		}
	}
	mountDisk(t, out, syscall.MS_REMOUNT, "64m")
	for _, job := range copyJobs {
		s.mustDo(t, job)
	}
	checkNoParts(t, out)
}

// A disk that fills up in the middle of a sync, and has room again.
func TestBadDayOfAFullDisk(t *testing.T) {
	t.Parallel()
	size := func(flags uintptr, size string) func(*testing.T, *sufferer) {
		return func(t *testing.T, s *sufferer) {
			disk := filepath.Join(s.dir, "disk")
			mountDisk(t, disk, flags, size)
			s.mirror = "disk/m.db"
		}
	}
	runBadDays(t, []badDay{
		{name: "no room for all", begin: size(0, "1200k"), end: size(syscall.MS_REMOUNT, "64m"), code: exitFailed, late: true, ledger: "failed full",
			says: []string{"disk is full: disk/m.db: make room and run the same command again"}},
		{name: "no room at all", begin: size(0, "4k"), end: size(syscall.MS_REMOUNT, "64m"), code: exitFailed, says: []string{"disk is full", "make room"}},
	})
}

// Whatever fails of an outbox's disk, and whenever: nothing is sent that is not in the send log, nothing twice, and the pushes after it settle the rest.
func TestBadDaysOfTheOutboxDisk(t *testing.T) {
	t.Parallel()
	files := []string{"private/outbox.db", "private/outbox.db-journal", "private/outbox.db.sends"}
	for name, under := range map[string]wrapper{
		"the send log is not synced": fault("EIO", 1, "fsync", files[2]),
		"no room for the claim":      fault("ENOSPC", 1, "pwrite64", files[:2]...),
		"no room after a while":      fault("ENOSPC", 20, writes, files...),
		"the disk fails later":       fault("EIO", 32, writes, files...),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			platform := platformtest.New(badWorld())
			var known atomic.Pointer[program] // the platform looks at its send log
			var posts atomic.Int64
			p := newProgram(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodPost {
					log, err := os.ReadFile(filepath.Join(known.Load().dir, files[2]))
					if sent := posts.Add(1); err != nil || int64(strings.Count(string(log), "\n")) < 1+sent { // it begins with a title
						t.Errorf("POST %d while the send log says %q, %v", sent, log, err)
					}
				}
				platform.ServeHTTP(w, r)
			}))
			known.Store(p)
			p.env = []string{"SOLARMIRROR_OUTBOX_PATH=" + files[0]}
			p.mustExit(t, exitOK, queuedCompanies(t, 3), "outbox", "add")
			code, said := p.underOf(t, under(t, p), "", "push", "-q")
			if code != exitFailed || !strings.Contains(said, "outbox.db") || !strings.Contains(said, "run the same command again") &&
				!strings.Contains(said, "then the same command again") {
				t.Errorf("exit code %d; it said:\n%s", code, said)
			}
			if name == "the send log is not synced" || name == "no room for the claim" {
				if sent := posts.Load(); sent > 0 {
					t.Errorf("%d were sent without a word in the log", sent)
				}
			}
			if code, said := p.underOf(t, nil, "", "push", "-q"); code != exitOK && !strings.Contains(said, "in doubt") {
				t.Errorf("afterwards: exit code %d; it said:\n%s", code, said)
			}
			for id, c := range platform.CompanyCounts() {
				if c.Received > 1 {
					t.Errorf("%s was sent %d times", id, c.Received)
				}
			}
			// What the first push claimed and did not send waits a minute; what it sent and could not note is in doubt.
			if out := p.mustExit(t, exitOK, "", "outbox", "list", "--json"); strings.Count(out, `"done"`)+strings.Count(out, `"ambiguous"`) < 2 {
				t.Errorf("the outbox says:\n%s", out)
			}
		})
	}
}
