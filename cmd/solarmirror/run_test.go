package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"solarmirror/store"
	"solarmirror/store/sqlitefile"
	"solarmirror/sync/platform"
	"solarmirror/sync/platform/platformtest"
	"solarmirror/sync/schedule"
)

// small is a world that is read in no time.
func small(t *testing.T) platformtest.Options {
	t.Helper()
	return platformtest.Options{Seed: 9, Requests: 30, Equipments: smallCatalogue()}
}

// do runs a job once, and returns what the log says of it.
func (s *scene) do(t *testing.T, name string) (outcome schedule.Outcome, line string, err error) {
	t.Helper()
	return s.doUnder(t, t.Context(), name)
}

func (s *scene) doUnder(t *testing.T, ctx context.Context, name string) (outcome schedule.Outcome, line string, err error) {
	t.Helper()
	s.stop = func(cause error) { s.ended = cause }
	s.log.Reset()
	for _, j := range s.jobs(nil) {
		if j.Name == name {
			outcome, err = j.Run(ctx)
			return outcome, s.log.String(), err
		}
	}
	t.Fatalf("there is no job %s", name)
	return "", "", nil
}

func (s *scene) mustDo(t *testing.T, name string) string {
	t.Helper()
	outcome, line, err := s.do(t, name)
	if outcome != schedule.OK || err != nil {
		t.Fatalf("%s: %s, %v", name, outcome, err)
	}
	return line
}

func TestPushIsSkippedWhileAnotherHoldsTheOutbox(t *testing.T) {
	t.Parallel()
	s := newScene(t, small(t))
	if err := os.Mkdir(filepath.Dir(s.config.Outbox.Path), 0o700); err != nil {
		t.Fatal(err)
	}
	held, err := sqlitefile.AcquireLock(t.Context(), s.config.Outbox.Path, "push", false)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Release()
	outcome, line, err := s.do(t, jobPush)
	if outcome != schedule.Skipped || err == nil || !strings.Contains(line, `"level":"warn"`) || !strings.Contains(line, "is held by `solarmirror push`") {
		t.Errorf("%s, %v\n%s", outcome, err, line)
	}
}

// A job waits for the mirror's lock, and asks the platform for nothing until it has it.
func TestJobWaitsForTheMirror(t *testing.T) {
	t.Parallel()
	s := newScene(t, small(t))
	held, err := sqlitefile.AcquireLock(t.Context(), s.config.Mirror.Path, "backfill", false)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		time.Sleep(50 * time.Millisecond) // longer than a job would take to begin
		n := s.platform.Served()
		if n > 0 {
			done <- fmt.Errorf("%d requests were sent meanwhile", n)
			return
		}
		done <- held.Release()
	}()
	if line := s.mustDo(t, jobSync); !strings.Contains(line, `"job":"sync","outcome":"ok","did":{"run":1,"records":`) ||
		!strings.Contains(line, "is held by `solarmirror backfill`") {
		t.Errorf("the log says %s", line)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// Between two jobs the mirror may be put back from a backup, or taken away.
func TestJobOpensTheMirrorAnew(t *testing.T) {
	t.Parallel()
	s := newScene(t, small(t))
	s.mustDo(t, jobSync)
	backup, err := os.ReadFile(s.config.Mirror.Path)
	if err != nil {
		t.Fatal(err)
	}
	s.clock.ms.Add((20 * 24 * time.Hour).Milliseconds())
	s.mustDo(t, jobSync)
	want := s.mirror.content(t)

	for _, put := range []func() error{
		func() error { return os.WriteFile(s.config.Mirror.Path+".new", backup, 0o644) },
		func() error { return os.Rename(s.config.Mirror.Path+".new", s.config.Mirror.Path) },
	} {
		if err := put(); err != nil {
			t.Fatal(err)
		}
	}
	s.mustDo(t, jobSync)
	if got := s.mirror.content(t); !cmp.Equal(want, got) {
		t.Errorf("after the old one was put back:\n%.2000s", cmp.Diff(want, got))
	}
	if err := os.Remove(s.config.Mirror.Path); err != nil {
		t.Fatal(err)
	}
	s.mustDo(t, jobSync)
	if runs := s.mirror.strings(t, "SELECT command || ' ' || trigger || ' ' || outcome FROM _runs"); !cmp.Equal(runs, []string{"sync schedule ok"}) {
		t.Errorf("runs of the new mirror: %v", runs)
	}
}

// A damaged mirror ends the worker, so that nothing is written any more; no other failure does. It is told before the end.
func TestDamageEndsTheRun(t *testing.T) {
	t.Parallel()
	to := newTold(t)
	s := newScene(t, small(t), "SOLARMIRROR_ALERTS_URLS="+to.hook)
	s.mustDo(t, jobSync)
	damage(t, s.config.Mirror.Path)
	s.worker.clock = schedule.SystemClock{} // by which the sync was missed
	err := s.run(t.Context(), false)
	if !errors.Is(err, sqlitefile.ErrCorrupt) || exitCode(t.Context(), err) != exitFailed || !strings.Contains(err.Error(), "solarmirror restore --from DIR") {
		t.Errorf("the run ended with %v", err)
	}
	if messages, _ := to.take(); !cmp.Equal(messages, []string{"O banco de dados está danificado"}) {
		t.Errorf("told: %q", messages)
	}
}

func TestRefusedTokenIsLoudAndKeepsTheSchedule(t *testing.T) {
	t.Parallel()
	token := filepath.Join(t.TempDir(), "token")
	write := func(text string) {
		if err := os.WriteFile(token, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("expired")
	s := newScene(t, small(t), "SOLARMIRROR_PLATFORM_TOKEN_FILE="+token)
	for range 2 {
		outcome, line, err := s.do(t, jobSync)
		var auth *platform.AuthError
		if outcome != schedule.Failed || !errors.As(err, &auth) || !strings.Contains(line, `"level":"error","job":"sync","outcome":"failed"`) || strings.Contains(line, "expired") {
			t.Errorf("%s, %v\n%s", outcome, err, line)
		}
	}
	write(simulationToken)
	s.mustDo(t, jobSync)
}

// What runs is in the ledger; a push that finds nothing to do, as most do, is not.
func TestRunsOfJobs(t *testing.T) {
	t.Parallel()
	s := newScene(t, small(t))
	for _, job := range []string{jobSync, jobPush, jobFullEquipments, jobVerify, jobPublish, jobPush} {
		s.mustDo(t, job)
	}
	if err := s.queue(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	s.mustDo(t, jobPush)
	s.mustDo(t, jobPush)
	want := []string{"sync ok", "full_equipments ok", "verify ok", "publish ok", "push ok"}
	if diff := cmp.Diff(want, s.mirror.strings(t, "SELECT command || ' ' || outcome FROM _runs WHERE trigger = 'schedule' ORDER BY run_id")); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
	if got := s.mirror.strings(t, "SELECT records || ' ' || inserted FROM _runs WHERE command = 'push'"); !cmp.Equal(got, []string{"1 1"}) {
		t.Errorf("the push counted %v", got)
	}
	copied := program{dir: filepath.Dir(s.config.Publish.Path), mirror: filepath.Base(s.config.Publish.Path)}
	if got := copied.strings(t, "SELECT outcome FROM _runs"); !cmp.Equal(got, []string{"ok", "ok", "ok"}) {
		t.Errorf("runs in the published copy ended %v", got)
	}
	s.clock.ms.Add((20 * 24 * time.Hour).Milliseconds())
	if outcome, _, err := s.do(t, jobVerify); outcome != schedule.OK || err != nil {
		t.Errorf("a verification that finds what the next sync settles: %s, %v", outcome, err)
	}
	if outcome, _, err := s.do(t, jobVerify); outcome != schedule.Partial || err == nil {
		t.Errorf("a verification that finds the same again: %s, %v", outcome, err)
	}
}

// What a job last did is what counts for whether a run was missed.
func TestLastStarts(t *testing.T) {
	t.Parallel()
	s := newScene(t, small(t))
	last := func() map[string]time.Time {
		t.Helper()
		list, err := s.lastStarts(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	if got := last(); len(got) > 0 {
		t.Errorf("without a mirror: %v", got)
	}
	began := s.clock.Now()
	s.mustDo(t, jobSync)
	want := map[string]time.Time{jobSync: began, jobFullEquipments: began, jobFullRequests: began} // the first sync reads everything
	if diff := cmp.Diff(want, last()); diff != "" {
		t.Errorf("after the first sync (-want +got):\n%s", diff)
	}
	s.clock.ms.Add(time.Second.Milliseconds())
	s.mustDo(t, jobVerify)
	want[jobVerify] = s.clock.Now()
	s.exec(t, "INSERT INTO _runs (command, trigger, started_at, outcome) VALUES ('sync', 'schedule', '2026-03-12 00:00:00.000', 'interrupted')",
		"INSERT INTO _runs (command, trigger, started_at, outcome) VALUES ('verify', 'manual', '2026-03-12 00:00:00.000', 'ok')")
	if diff := cmp.Diff(want, last()); diff != "" {
		t.Errorf("interrupted runs and those of people do not count (-want +got):\n%s", diff)
	}
	s.exec(t, "UPDATE _meta SET schema_version = 1") // an upgrade
	if diff := cmp.Diff(want, last()); diff != "" {
		t.Errorf("of an older mirror (-want +got):\n%s", diff)
	}
	s.exec(t, "UPDATE _meta SET base_url = 'https://other.example'")
	var other *store.OtherPlatformError
	if _, err := s.lastStarts(t.Context()); !errors.As(err, &other) {
		t.Errorf("of another platform's mirror: %v", err)
	}
}

func (s *scene) exec(t *testing.T, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+s.config.Mirror.Path+"?mode=rw&_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, statement := range statements {
		if _, err := db.Exec(statement); err != nil {
			t.Fatalf("%v in %s", err, statement)
		}
	}
}

// A reader that keeps looking at an old state keeps the WAL from being emptied, which is warned of until it has ended.
func TestWALThatAReaderKeeps(t *testing.T) {
	t.Parallel()
	s := newScene(t, small(t))
	s.maxWAL = 1 << 10
	const warning = "the mirror's WAL is large"
	if line := s.mustDo(t, jobSync); strings.Contains(line, warning) {
		t.Errorf("without a reader: %s", line)
	}
	reader := s.mirror.open(t)
	tx, err := reader.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var n int
	if err := tx.QueryRow("SELECT count(*) FROM requests").Scan(&n); err != nil {
		t.Fatal(err)
	}
	s.clock.ms.Add((20 * 24 * time.Hour).Milliseconds())
	if line := s.mustDo(t, jobSync); !strings.Contains(line, warning) {
		t.Errorf("with a reader: %s", line)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if line := s.mustDo(t, jobSync); strings.Contains(line, warning) {
		t.Errorf("after the reader has ended: %s", line)
	}
}

// A job that does not end when it is told to is not waited for longer than ten seconds; the error names it.
func TestStopDoesNotWaitForEver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		jobs := schedule.New([]schedule.Job{{Name: "stubborn", Spec: mustSpec(t, "* * * * *"), Run: func(context.Context) (schedule.Outcome, error) {
			<-release
			return schedule.OK, nil
		}}}, schedule.Options{Zone: time.UTC, Clock: schedule.SystemClock{}})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		began := time.Now()
		err := drain(ctx, jobs)
		if took := time.Since(began) - time.Minute; err == nil || !strings.Contains(err.Error(), "stubborn") || took > 10*time.Second {
			t.Errorf("stopped after %v with %v", took, err)
		}
		close(release)
	})
}

func mustSpec(t *testing.T, text string) schedule.Spec {
	t.Helper()
	spec, err := schedule.ParseSpec(text)
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

// A stopped run leaves no goroutine behind, whatever it was doing. It is not parallel, since others' goroutines would count.
func TestStoppedRunLeavesNothingBehind(t *testing.T) {
	s := newScene(t, small(t))
	before := goleak.IgnoreCurrent()
	s.worker.clock = schedule.SystemClock{}
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		for s.platform.Served() < 3 {
			time.Sleep(time.Millisecond)
		}
		cancel(errInterrupted)
	}()
	if err := s.run(ctx, false); err != nil {
		t.Errorf("the run ended with %v", err)
	}
	s.client.Close()
	http.DefaultClient.CloseIdleConnections()
	goleak.VerifyNone(t, before, goleak.IgnoreTopFunction("net/http.(*conn).serve"), goleak.IgnoreAnyFunction("net/http.(*connReader).backgroundRead"))
	if got := s.mirror.outcomeOf(t, jobSync); got != "interrupted" {
		t.Errorf("the sync ended %q", got)
	}
	for _, unwanted := range []string{`"level":"error"`, "context canceled"} { // a stop is no failure
		if said := s.log.String(); strings.Contains(said, unwanted) {
			t.Errorf("the log has %s:\n%s", unwanted, said)
		}
	}
}
