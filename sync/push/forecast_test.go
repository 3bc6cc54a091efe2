package push

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	"solarmirror/store/outbox"
	"solarmirror/store/sqlitefile"
)

// forecast is what a dry run of a push says. It must change no file.
func (r *rig) forecast() ([]outbox.Forecast, error) {
	r.t.Helper()
	before := r.privateFiles()
	o, err := outbox.OpenReadOnly(r.t.Context(), r.outboxPath(), outbox.Options{Now: r.clock.now, Key: r.key})
	if err != nil {
		return nil, err
	}
	known, err := outbox.ReadKnown(r.t.Context(), r.mirrorPath())
	if err != nil && !errors.Is(err, sqlitefile.ErrNoDatabase) {
		r.t.Fatal(err)
	}
	list, err := o.Forecast(r.t.Context(), known, func(c outbox.Company) error { return Validate(Normalise(c)) })
	must(r.t, errors.Join(err, o.Close()))
	if after := r.privateFiles(); after != before {
		r.t.Errorf("the dry run wrote:\n%s\nbefore:\n%s", after, before)
	}
	return list, nil
}

// privateFiles is the content of the outbox's directory.
func (r *rig) privateFiles() string {
	r.t.Helper()
	var list bytes.Buffer
	must(r.t, filepath.WalkDir(filepath.Dir(r.outboxPath()), func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		fmt.Fprintf(&list, "%s %x\n", path, sha256.Sum256(content))
		return err
	}))
	return list.String()
}

// TestForecast has another program change the outbox file at random, as in TestOtherPrograms, while
// the platform behaves: each push must then do what the dry run before it said, and nothing else.
func TestForecast(t *testing.T) {
	t.Parallel()
	said := map[outbox.State]int{}
	for seed := range uint64(*programSeeds) {
		p := newPrograms(t, seed)
		p.calm, p.timeout = true, time.Minute // it does not answer late, however busy the machine is
		p.add(companies(6)...)
		for range 8 {
			p.interfere(1 + p.dice.IntN(4))
			_ = p.queueAgain()
			p.compareForecast(said, seed)
			p.clock.advance(7 * time.Hour)
		}
	}
	t.Logf("rows would be %v", said)
	for _, state := range []outbox.State{outbox.StateSending, outbox.StateRejected, outbox.StateAmbiguous} {
		if said[state] == 0 {
			t.Errorf("no row would be %s, so nothing is proved of such", state)
		}
	}
}

func (p *programs) compareForecast(said map[outbox.State]int, seed uint64) {
	p.t.Helper()
	must(p.t, p.outbox().Close()) // makes the file where it is missing
	list, err := p.forecast()
	must(p.t, err)
	before := p.states()
	served := p.platform.Served()
	if _, err := p.pushUnder(p.t.Context()); err != nil && !errors.As(err, new(*IncompleteError)) {
		p.t.Fatal(err)
	}
	sent := int64(0)
	after := map[int64]outbox.Row{}
	for _, row := range p.rows() {
		after[row.ID] = row
	}
	for _, f := range list {
		said[f.Next]++
		got := after[f.ID]
		want := f.Next
		if f.Next == outbox.StateSending {
			want = outbox.StateDone
			sent++
			if got.AllowDuplicate && got.State == outbox.StateRejected && got.HTTPStatus != 0 {
				want = outbox.StateRejected // the platform does not allow it
			}
		}
		if got.State != want {
			p.t.Errorf("seed %d: row %d would be %s (%s), and became %s (%s)", seed, f.ID, f.Next, f.Reason, got.State, got.Error)
		}
		before[f.ID] = got.State
	}
	for id, row := range after {
		if before[id] != row.State {
			p.t.Errorf("seed %d: row %d became %s, and nothing was said of it: %s", seed, id, row.State, row.Error)
		}
	}
	if n := p.platform.Served() - served; n != sent {
		p.t.Errorf("seed %d: %d companies were sent, and %d said to be", seed, n, sent)
	}
}

// TestForecastOfLaterRows looks at what stays pending, and at files that are missing.
func TestForecastOfLaterRows(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	if _, err := r.forecast(); !errors.Is(err, sqlitefile.ErrNoDatabase) {
		t.Errorf("without an outbox: %v", err)
	}
	keyPath := filepath.Join(t.TempDir(), "key")
	must(t, sqlitefile.GenerateKey(keyPath))
	key, err := outbox.ReadSealingKey(t.Context(), keyPath)
	must(t, err)
	r.key = key
	r.add(companies(2)...)
	execSQL(t, r.outboxPath(), "UPDATE company_outbox SET next_attempt_at = '2026-11-03 13:00:00.000' WHERE id = 2")
	r.key = nil
	list, err := r.forecast()
	must(t, err)
	if len(list) != 2 || list[0].Next != outbox.StatePending || list[1].Next != outbox.StatePending {
		t.Fatalf("without the key: %+v", list)
	}
	if got, want := list[0].Reason, "row 1: the password is sealed with another key: set [outbox] key_file"; got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
	if got, want := list[1].Reason, "not due before 2026-11-03 13:00:00.000 UTC"; got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
	r.key = key
	r.clock.advance(time.Hour)
	list, err = r.forecast()
	must(t, err)
	for _, f := range list {
		if f.Next != outbox.StateSending {
			t.Errorf("with the key, an hour later: %+v", f)
		}
	}
}

// TestForecastOfRestoredOutbox: only the mirror knows that row 2 was cancelled since. Row 1 is then
// the duplicate of a doubt, although it is the older row.
func TestForecastOfRestoredOutbox(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.add(company(0))
	execSQL(t, r.outboxPath(), "INSERT INTO company_outbox (name, email, password, cnpj) SELECT name, 'b@example.com', 'canary-password', cnpj FROM company_outbox")
	backup, err := os.ReadFile(r.outboxPath())
	must(t, err)
	o := r.outbox()
	row, err := o.Cancel(t.Context(), 2)
	must(t, err)
	mirror, err := outbox.OpenCreations(t.Context(), r.mirrorPath())
	must(t, errors.Join(err, mirror.Record(t.Context(), row), mirror.Close(), o.Close()))
	must(t, os.WriteFile(r.outboxPath(), backup, 0o600))

	list, err := r.forecast()
	must(t, err)
	want := map[int64]outbox.State{1: outbox.StateRejected, 2: outbox.StateAmbiguous}
	for _, f := range list {
		if f.Next != want[f.ID] {
			t.Errorf("row %d would be %s (%s), want %s", f.ID, f.Next, f.Reason, want[f.ID])
		}
	}
	if _, err := r.push(); err == nil || len(list) != 2 {
		t.Errorf("%d rows; the push ended with %v", len(list), err)
	}
	if got := r.states(); !maps.Equal(got, want) {
		t.Errorf("the push left %v", got)
	}
}
