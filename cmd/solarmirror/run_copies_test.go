package main

import (
	"context"
	"errors"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"solarmirror/cmd/internal/config"
	"solarmirror/cmd/internal/status"
	"solarmirror/cmd/internal/statuspage"
	"solarmirror/store/sqlitefile"
	"solarmirror/sync/schedule"
)

// copyJobs are the jobs that newCopyScene schedules.
var copyJobs = []string{jobReport, jobExport, jobBackup}

// newCopyScene is a scene whose worker also makes reports, exports and backups, in s.out.
func newCopyScene(t *testing.T, settings ...string) (s *scene, out string) {
	t.Helper()
	out = t.TempDir()
	s = newScene(t, small(t), append(copySettings(out), settings...)...)
	return s, out
}

func copySettings(out string) []string {
	return []string{
		"SOLARMIRROR_SCHEDULE_REPORT=20 */2 * * *", "SOLARMIRROR_REPORT_PATH=" + filepath.Join(out, "page", "sales.html"), "SOLARMIRROR_REPORT_LANG=en",
		"SOLARMIRROR_SCHEDULE_EXPORT=25 */2 * * *", "SOLARMIRROR_EXPORT_PATH=" + filepath.Join(out, "files"),
		"SOLARMIRROR_SCHEDULE_BACKUP=30 */2 * * *", "SOLARMIRROR_BACKUP_PATH=" + filepath.Join(out, "backups"), "SOLARMIRROR_BACKUP_KEEP=2",
	}
}

// names lists what is in a directory, but for locks.
func names(t *testing.T, dir string) (list []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".lock") {
			list = append(list, e.Name())
		}
	}
	return list
}

// What the jobs write is what the commands write, under the settings.
func TestCopies(t *testing.T) {
	t.Parallel()
	s, out := newCopyScene(t, "SOLARMIRROR_EXPORT_FORMAT=excel-br", "SOLARMIRROR_EXPORT_SOURCE=published")
	if err := s.queue(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	s.mustDo(t, jobSync)
	s.mustDo(t, jobPublish)
	began := s.clock.Now()
	for range 3 {
		for _, job := range copyJobs {
			s.mustDo(t, job)
		}
		s.clock.ms.Add(time.Second.Milliseconds())
	}
	page, err := os.ReadFile(s.config.Report.Path)
	if err != nil || !strings.Contains(string(page), `<html lang="en"`) {
		t.Errorf("the report, %v, begins %.200s", err, page)
	}
	table := filepath.Join(out, "files", "requests.csv")
	text, err := os.ReadFile(table)
	if err != nil || !strings.HasPrefix(string(text), "\ufeff") {
		t.Errorf("the table, %v, begins %.200s", err, text)
	}
	for path, want := range map[string]os.FileMode{s.config.Report.Path: 0o640, table: 0o644, s.config.Backup.Path: os.ModeDir | 0o700} { // the published copy is masked
		if info, err := os.Stat(path); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v; want mode %v", path, info, err, want)
		}
	}
	var kinds []string
	for _, name := range names(t, s.config.Backup.Path) {
		kind, _, _ := strings.Cut(name, "-")
		kinds = append(kinds, kind)
	}
	if d := cmp.Diff([]string{"mirror", "mirror", "outbox", "outbox"}, kinds); d != "" {
		t.Errorf("backups: %s", d)
	}
	want := []string{"report schedule ok 3", "export schedule ok 3", "backup schedule ok 3"}
	if d := cmp.Diff(want, s.mirror.strings(t, "SELECT command || ' ' || trigger || ' ' || outcome || ' ' || count(*) FROM _runs WHERE run_id > 2 GROUP BY command ORDER BY min(run_id)")); d != "" {
		t.Errorf("runs: %s", d)
	}
	last, err := s.lastStarts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range s.jobs(nil) {
		if alone := j.Name == jobPush; alone != (j.Line != mirrorLine) {
			t.Errorf("%s takes turns in the line %s", j.Name, j.Line)
		}
	}
	for _, job := range copyJobs {
		if got := last[job]; !got.Equal(began.Add(2 * time.Second)) {
			t.Errorf("%s last started at %v", job, got)
		}
	}
}

// A source that is the mirror is exported with the mode of the mirror, and with a warning where its marts are behind.
func TestExportOfTheMirror(t *testing.T) {
	t.Parallel()
	s, out := newCopyScene(t)
	s.mustDo(t, jobSync)
	if line := s.mustDo(t, jobExport); strings.Contains(line, status.MartsBehind) {
		t.Errorf("the log says %s", line)
	}
	s.exec(t, "INSERT INTO _stale (table_name, key, name) VALUES ('bi_requests', 0, '')")
	for _, job := range []string{jobReport, jobExport} {
		if line := s.mustDo(t, job); !strings.Contains(line, status.MartsBehind) {
			t.Errorf("the log says %s", line)
		}
	}
	if info, err := os.Stat(filepath.Join(out, "files", "equipments", "part.parquet")); err != nil || info.Mode() != 0o640 {
		t.Errorf("%v, %v", info, err)
	}
}

// A job that fails names the cause and the command that does the same, is in ledger, page and metrics, and works again when the cause is gone.
func TestCopiesThatFail(t *testing.T) {
	t.Parallel()
	write := func(t *testing.T, path, text string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		name, job string
		settings  []string
		spoil     func(t *testing.T, s *scene, out string)
		mend      func(t *testing.T, s *scene, out string)
		says      []string
	}{
		{name: "a report below a file", job: jobReport,
			spoil: func(t *testing.T, _ *scene, out string) { write(t, filepath.Join(out, "page"), "") },
			mend:  func(t *testing.T, _ *scene, out string) { remove(t, filepath.Join(out, "page")) },
			says:  []string{"create the directory of the report: ", "page: file exists", "this job by hand: `", "report --lang en --out ", "sales.html`"}},
		{name: "a report over another file", job: jobReport,
			spoil: func(t *testing.T, s *scene, _ string) { write(t, s.config.Report.Path, "notes") },
			mend:  func(t *testing.T, s *scene, _ string) { remove(t, s.config.Report.Path) },
			says:  []string{"no HTML page, so it is left as it is"}},
		{name: "a backup that others may read", job: jobBackup,
			spoil: func(t *testing.T, s *scene, _ string) {
				if err := errors.Join(os.Mkdir(s.config.Backup.Path, 0o755), os.Chmod(s.config.Backup.Path, 0o755)); err != nil {
					t.Fatal(err)
				}
			},
			mend: func(t *testing.T, s *scene, _ string) { remove(t, s.config.Backup.Path) },
			says: []string{"run `chmod 700 ", "backup --to ", " --keep 2`"}},
		{name: "an export among other files", job: jobExport,
			spoil: func(t *testing.T, _ *scene, out string) { write(t, filepath.Join(out, "files", "notes.txt"), "notes") },
			mend:  func(t *testing.T, _ *scene, out string) { remove(t, filepath.Join(out, "files", "notes.txt")) },
			says:  []string{"name a new directory, or an empty one", "export --format parquet --to "}},
		{name: "an export of no copy", job: jobExport, settings: []string{"SOLARMIRROR_EXPORT_SOURCE=published", "SOLARMIRROR_EXPORT_FORMAT=excel-br"},
			spoil: func(*testing.T, *scene, string) {},
			mend:  func(t *testing.T, s *scene, _ string) { s.mustDo(t, jobPublish) },
			says:  []string{"no database; make it anew with `solarmirror publish`", "export --format csv --style excel-br --source published"}},
		{name: "an export of a damaged copy", job: jobExport, settings: []string{"SOLARMIRROR_EXPORT_SOURCE=published"},
			spoil: func(t *testing.T, s *scene, _ string) {
				s.mustDo(t, jobPublish)
				damage(t, s.config.Publish.Path)
			},
			mend: func(t *testing.T, s *scene, _ string) {
				remove(t, s.config.Publish.Path)
				s.mustDo(t, jobPublish)
			},
			says: []string{"database is damaged; make it anew with `solarmirror publish`"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s, out := newCopyScene(t, tc.settings...)
			s.mustDo(t, jobSync)
			tc.spoil(t, s, out)
			outcome, line, err := s.do(t, tc.job)
			if outcome != schedule.Failed || err == nil || !strings.Contains(line, `"level":"error","job":"`+tc.job+`","outcome":"failed"`) {
				t.Fatalf("%s, %v\n%s", outcome, err, line)
			}
			for _, words := range tc.says {
				if !strings.Contains(err.Error(), words) {
					t.Errorf("the error says nothing of %q: %v", words, err)
				}
			}
			if s.ended != nil {
				t.Errorf("the worker would have ended: %v", s.ended)
			}
			if got := s.mirror.outcomeOf(t, tc.job); got != "failed" {
				t.Errorf("the ledger says %q", got)
			}
			names := map[string]string{jobReport: "Sales report", jobBackup: "Backup", jobExport: "Export"}
			if page := s.pageOf(t, "/"); !strings.Contains(page, "The last run failed: "+names[tc.job]) {
				t.Errorf("the page does not say that %s failed", tc.job)
			}
			tc.mend(t, s, out)
			s.clock.ms.Add(time.Second.Milliseconds())
			s.mustDo(t, tc.job)
		})
	}
}

// pageOf is what the status page serves at a path.
func (s *scene) pageOf(t *testing.T, path string) string {
	t.Helper()
	h := statuspage.New(statuspage.Options{
		Mirror: s.config.Mirror.Path, Outbox: s.config.Outbox.Path, Zone: s.config.ScheduleZone(), Now: s.clock.Now, Log: s.worker.log,
		Jobs: schedule.New(s.jobs(nil), schedule.Options{Zone: s.config.ScheduleZone(), Clock: s.clock}).Status,
	})
	r := httptest.NewRequestWithContext(t.Context(), "GET", path, nil)
	r.Header.Set("Accept-Language", "en")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Body.String()
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
}

// damage overwrites all of a database but the pages that say which tables there are.
func damage(t *testing.T, path string) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	info, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	_, err = file.WriteAt(make([]byte, info.Size()-64*4096), 64*4096)
	if err := errors.Join(err, file.Close()); err != nil {
		t.Fatal(err)
	}
}

// Before the first sync there is nothing to copy.
func TestCopiesWithoutAMirror(t *testing.T) {
	t.Parallel()
	s, _ := newCopyScene(t)
	for _, job := range copyJobs {
		if outcome, _, err := s.do(t, job); outcome != schedule.Failed || !errors.Is(err, sqlitefile.ErrNoDatabase) || !strings.Contains(err.Error(), "run `solarmirror sync` first") {
			t.Errorf("%s: %s, %v", job, outcome, err)
		}
	}
}

// While somebody's command writes to the same place, the job is skipped.
func TestCopiesBesideACommand(t *testing.T) {
	t.Parallel()
	s, _ := newCopyScene(t)
	s.mustDo(t, jobSync)
	for job, lock := range map[string]string{jobBackup: filepath.Join(s.config.Backup.Path, "backup"), jobExport: filepath.Join(s.config.Export.Path, "manifest.json")} {
		if err := os.Mkdir(filepath.Dir(lock), 0o700); err != nil {
			t.Fatal(err)
		}
		held, err := sqlitefile.AcquireLock(t.Context(), lock, job, false)
		if err != nil {
			t.Fatal(err)
		}
		if outcome, line, err := s.do(t, job); outcome != schedule.Skipped || !strings.Contains(line, "is held by `solarmirror "+job+"`") {
			t.Errorf("%s: %s, %v\n%s", job, outcome, err, line)
		}
		if err := held.Release(); err != nil {
			t.Fatal(err)
		}
		s.mustDo(t, job)
	}
}

// cancelClock ends a context when it is asked for the time.
type cancelClock struct {
	*simClock
	after  int // so many times
	cancel context.CancelFunc
}

func (c *cancelClock) Now() time.Time {
	if c.after--; c.after == 0 {
		c.cancel()
	}
	return c.simClock.Now()
}

// A job that is stopped in its middle is neither failed nor done, and the next one leaves nothing of it.
func TestCopiesStopped(t *testing.T) {
	t.Parallel()
	for _, job := range copyJobs {
		t.Run(job, func(t *testing.T) {
			t.Parallel()
			s, out := newCopyScene(t)
			s.mustDo(t, jobSync)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			s.worker.clock = &cancelClock{simClock: s.clock, after: 4, cancel: cancel} // asked for by the schedule, the log, the ledger, and in the middle
			outcome, line, err := s.doUnder(t, ctx, job)
			if outcome != schedule.Interrupted || err == nil || strings.Contains(line, `"level":"error"`) || strings.Contains(err.Error(), "open mirror") {
				t.Errorf("%s, %v\n%s", outcome, err, line)
			}
			s.worker.clock = s.clock
			last, err := s.lastStarts(t.Context())
			if _, done := last[job]; done || err != nil {
				t.Errorf("it counts as done: %v, %v", last, err)
			}
			s.mustDo(t, job)
			checkNoParts(t, out)
		})
	}
}

// A job removes what a killed one left.
func TestCopiesAfterKill(t *testing.T) {
	t.Parallel()
	s, out := newCopyScene(t)
	s.mustDo(t, jobSync)
	for _, left := range []string{"page/.sales.html.42", "backups/mirror-20260309T000000.000Z.db.part", "backups/outbox-20260309T000000.000Z.db.part-journal", "files/.staging/0.tmp"} {
		path := filepath.Join(out, filepath.FromSlash(left))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte("half"), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	// Of a database, the file beside it is found by the file.
	if err := os.WriteFile(filepath.Join(out, "backups", "outbox-20260309T000000.000Z.db.part"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, job := range copyJobs {
		s.mustDo(t, job)
	}
	checkNoParts(t, out)
}

// checkNoParts looks for temporary files.
func checkNoParts(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if path != dir && (strings.HasPrefix(e.Name(), ".") || strings.Contains(e.Name(), ".part")) && !strings.HasSuffix(e.Name(), ".parquet") {
			t.Errorf("%s is left", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A path that no job could ever write to ends the worker before it begins.
func TestRunRefusesOutputs(t *testing.T) {
	t.Parallel()
	s, out := newCopyScene(t)
	if err := os.WriteFile(filepath.Join(out, "files"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // ends what is not refused
	err := s.run(ctx, false)
	var fault *config.Error
	if !errors.As(err, &fault) || exitCode(t.Context(), err) != exitUsage || !strings.Contains(err.Error(), "SOLARMIRROR_EXPORT_PATH: ") {
		t.Errorf("the run ended with %v", err)
	}
	if n := s.platform.Served(); n > 0 {
		t.Errorf("%d requests were sent", n)
	}
}

// All jobs, those that are off too, are on the page and in /metrics.
func TestPageOfCopies(t *testing.T) {
	t.Parallel()
	s := newScene(t, small(t))
	s.mustDo(t, jobSync)
	page, metrics := s.pageOf(t, "/"), s.pageOf(t, "/metrics")
	for job, name := range map[string]string{jobReport: "Sales report", jobExport: "Export", jobBackup: "Backup"} {
		if !strings.Contains(page, ">"+name+"<") || !strings.Contains(metrics, `job="`+job+`"`) {
			t.Errorf("%s is not on the page or not in /metrics:\n%s", job, metrics)
		}
	}
}
