package outbox

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"solarmirror/store"
	"solarmirror/store/identity"
	"solarmirror/store/sqlitefile"
	"solarmirror/store/storetest"
)

func outboxPath(t *testing.T) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "private", "outbox.db")
}

func openOutbox(t *testing.T, path string, key *SealingKey) *Outbox {
	t.Helper()
	o, err := Open(t.Context(), path, Options{Now: fixedClock, Key: key})
	must(t, err)
	t.Cleanup(func() { must(t, o.Close()) })
	return o
}

func newKey(t *testing.T) *SealingKey {
	t.Helper()
	path := filepath.Join(t.TempDir(), "keys", "key")
	must(t, sqlitefile.GenerateKey(path))
	key, err := ReadSealingKey(t.Context(), path)
	must(t, err)
	return key
}

// applicant returns company number n.
func applicant(n int) Company {
	return Company{
		Name: "Ana", Email: fmt.Sprintf("ana%d@example.com", n), CNPJ: fmt.Sprintf("11.222.333/%04d-00", n), Password: Password(fmt.Sprintf("canary-%d-password", n)),
	}
}

func addOne(t *testing.T, o *Outbox, n int) Row {
	t.Helper()
	rows, err := o.Add(t.Context(), []Company{applicant(n)}, false)
	must(t, err)
	return rows[0]
}

func TestOutboxIsPrivate(t *testing.T) {
	t.Parallel()
	path := outboxPath(t)
	o, err := Open(t.Context(), path, Options{Now: fixedClock})
	must(t, err)
	must(t, o.Close())
	dir := filepath.Dir(path)
	for name, want := range map[string]os.FileMode{dir: 0o700, path: 0o600, sendLogPath(path): 0o600} {
		info, err := os.Stat(name)
		must(t, err)
		if info.Mode().Perm() != want {
			t.Errorf("%s has mode %o, want %o", filepath.Base(name), info.Mode().Perm(), want)
		}
	}
	for name, private := range map[string]os.FileMode{dir: 0o700, path: 0o600, sendLogPath(path): 0o600} {
		for _, wide := range []os.FileMode{0o040, 0o004, 0o020, 0o002} {
			must(t, os.Chmod(name, private|wide))
			_, err := Open(t.Context(), path, Options{Now: fixedClock})
			var mode *sqlitefile.ModeError
			if !errors.As(err, &mode) || !strings.HasSuffix(err.Error(), fmt.Sprintf("run `chmod %o %s`", private, name)) {
				t.Errorf("mode %o of %s: %v", private|wide, filepath.Base(name), err)
			}
		}
		must(t, os.Chmod(name, private))
	}
}

func TestOutboxRefusesOtherFiles(t *testing.T) {
	t.Parallel()
	path := outboxPath(t)
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must(t, os.WriteFile(path, []byte(strings.Repeat("no database at all ", 100)), 0o600))
	if _, err := Open(t.Context(), path, Options{}); !errors.Is(err, ErrNotOutbox) {
		t.Errorf("a text file: %v", err)
	}
	must(t, os.Remove(path))
	m, err := store.Open(t.Context(), path, store.Options{})
	must(t, err)
	must(t, m.Close())
	must(t, os.Chmod(path, 0o600))
	if _, err := Open(t.Context(), path, Options{}); !errors.Is(err, ErrNotOutbox) {
		t.Errorf("a mirror: %v", err)
	}
	newer := outboxPath(t)
	o := openOutbox(t, newer, nil)
	_, err = o.db.Exec("UPDATE _outbox SET schema_version = 99")
	must(t, err)
	var tooNew *sqlitefile.NewerError
	if _, err := Open(t.Context(), newer, Options{}); !errors.As(err, &tooNew) {
		t.Errorf("a newer outbox: %v", err)
	}
}

func TestOutboxPragmas(t *testing.T) {
	t.Parallel()
	o := openOutbox(t, outboxPath(t), nil)
	for pragma, want := range map[string]string{"journal_mode": "delete", "synchronous": "3", "secure_delete": "1"} {
		var got string
		must(t, o.db.Get(&got, "PRAGMA "+pragma))
		if got != want {
			t.Errorf("%s is %s, want %s", pragma, got, want)
		}
	}
}

func TestAddRefusesDuplicates(t *testing.T) {
	t.Parallel()
	o := openOutbox(t, outboxPath(t), nil)
	addOne(t, o, 1)
	sameTax, sameMail := applicant(2), applicant(3)
	sameTax.CNPJ = identity.PlainTaxID(applicant(1).CNPJ) // another spelling
	sameMail.Email = " ANA1@example.com"
	for what, c := range map[string]Company{"CPF or CNPJ": sameTax, "e-mail": sameMail} {
		_, err := o.Add(t.Context(), []Company{applicant(9), c}, false)
		var duplicate *DuplicateError
		if !errors.As(err, &duplicate) || duplicate.Entry != 2 || duplicate.ID != 1 || duplicate.What != what {
			t.Errorf("%s: %v", what, err)
		}
		if _, err := o.Add(t.Context(), []Company{c}, true); err != nil {
			t.Errorf("%s, allowed: %v", what, err)
		}
	}
	if _, err := o.Add(t.Context(), []Company{applicant(8), applicant(8)}, false); err == nil {
		t.Error("twice in one call is not noticed")
	}
	if rows, err := o.Rows(t.Context()); err != nil || len(rows) != 3 {
		t.Errorf("%d rows, %v; refused ones leave none", len(rows), err)
	}
	_, err := o.Cancel(t.Context(), 1)
	must(t, err)
	for _, id := range []int64{2, 3} {
		_, err := o.Cancel(t.Context(), id)
		must(t, err)
	}
	added, err := o.Add(t.Context(), []Company{sameTax}, false)
	if err != nil {
		t.Fatalf("cancelled rows count: %v", err)
	}
	must(t, claimAndSettle(o, added[0].ID, Settlement{State: StateDone, Outcome: "done"}))
	var duplicate *DuplicateError
	if _, err := o.Add(t.Context(), []Company{applicant(1)}, false); !errors.As(err, &duplicate) || duplicate.ID != added[0].ID || duplicate.State != StateDone {
		t.Errorf("a row that is done does not count: %v", err)
	}
	if found, err := o.Duplicates(t.Context(), []Company{applicant(1)}); err != nil || len(found) != 1 || found[0].ID != added[0].ID {
		t.Errorf("a dry run says %v, %v", found, err)
	}
	twice := []Company{applicant(60), applicant(61), applicant(60)}
	if _, err := o.Add(t.Context(), twice, false); !errors.As(err, &duplicate) || duplicate.Entry != 3 || duplicate.Earlier != 1 {
		t.Errorf("of two equal companies it says %v", err)
	}
	if found, err := o.Duplicates(t.Context(), twice); err != nil || len(found) != 1 || found[0].Entry != 3 || found[0].Earlier != 1 {
		t.Errorf("of two equal companies a dry run says %v, %v", found, err)
	}
}

// TestMoves tries every move from every state.
func TestMoves(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	correction := applicant(50)
	bring := map[State]func(o *Outbox) error{
		StatePending:   func(*Outbox) error { return nil },
		StateSending:   func(o *Outbox) error { _, err := claim(o, 1); return err },
		StateCancelled: func(o *Outbox) error { _, err := o.Cancel(ctx, 1); return err },
		StateRejected:  func(o *Outbox) error { _, err := o.Reject(ctx, 1, "invalid"); return err },
		StateDone:      settled(StateDone),
		StateAmbiguous: settled(StateAmbiguous),
	}
	changes := map[string]struct {
		do   func(o *Outbox) (Row, error)
		from map[State]State
	}{
		"cancel":         {func(o *Outbox) (Row, error) { return o.Cancel(ctx, 1) }, map[State]State{StatePending: StateCancelled}},
		"reject":         {func(o *Outbox) (Row, error) { return o.Reject(ctx, 1, "x") }, map[State]State{StatePending: StateRejected}},
		"postpone":       {func(o *Outbox) (Row, error) { return o.Postpone(ctx, 1, "x", start) }, map[State]State{StatePending: StatePending}},
		"claim":          {func(o *Outbox) (Row, error) { return claim(o, 1) }, map[State]State{StatePending: StateSending}},
		"retry":          {func(o *Outbox) (Row, error) { return o.Retry(ctx, 1, &correction) }, map[State]State{StatePending: StatePending, StateRejected: StatePending}},
		"resolve done":   {func(o *Outbox) (Row, error) { return o.Resolve(ctx, 1, true) }, map[State]State{StateAmbiguous: StateDone}},
		"resolve resend": {func(o *Outbox) (Row, error) { return o.Resolve(ctx, 1, false) }, map[State]State{StateAmbiguous: StatePending}},
		"confirm":        {func(o *Outbox) (Row, error) { return o.Confirm(ctx, 1) }, map[State]State{StateAmbiguous: StateDone}},
	}
	at := func(t *testing.T, from State) (*Outbox, Row) {
		o := openOutbox(t, outboxPath(t), nil)
		addOne(t, o, 1)
		_, err := o.Recover(ctx)
		must(t, errors.Join(err, bring[from](o)))
		row, err := o.Row(ctx, 1)
		must(t, err)
		return o, row
	}
	for from := range bring {
		t.Run("from "+string(from), func(t *testing.T) {
			t.Parallel()
			o, before := at(t, from)
			for name, change := range changes {
				want, allowed := change.from[from]
				if allowed {
					o, before := at(t, from)
					if got, err := change.do(o); err != nil || got.State != want || got.Revision != before.Revision+1 {
						t.Errorf("%s: %s (revision %d), %v; want %s", name, got.State, got.Revision, err, want)
					}
					continue
				}
				var refused *StateError
				if _, err := change.do(o); !errors.As(err, &refused) || refused.State != from {
					t.Errorf("%s: %v, want a refusal", name, err)
				}
			}
			if after, err := o.Row(ctx, 1); err != nil || !cmp.Equal(before, after) {
				t.Errorf("refused changes change the row: %v", err)
			}
		})
	}
}

func settled(state State) func(o *Outbox) error {
	return func(o *Outbox) error {
		return claimAndSettle(o, 1, Settlement{State: state, Outcome: string(state)})
	}
}

// claim claims a row in its current state.
func claim(o *Outbox, id int64) (Row, error) {
	row, err := o.Row(context.Background(), id)
	if err != nil {
		return row, err
	}
	return o.Claim(context.Background(), row)
}

func claimAndSettle(o *Outbox, id int64, s Settlement) error {
	row, err := claim(o, id)
	if err != nil {
		return err
	}
	_, err = o.Settle(context.Background(), row, s)
	return err
}

func TestRetryTakesTheCorrection(t *testing.T) {
	t.Parallel()
	o := openOutbox(t, outboxPath(t), newKey(t))
	addOne(t, o, 1)
	_, err := o.Reject(t.Context(), 1, "invalid: name is missing")
	must(t, err)
	corrected := applicant(2)
	row, err := o.Retry(t.Context(), 1, &corrected)
	must(t, err)
	password, err := o.Password(t.Context(), 1)
	if err != nil || password != corrected.Password || row.Email != corrected.Email || row.Error != "" || !row.FinishedAt.IsZero() {
		t.Errorf("%+v, %v", row, err)
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	raw := []byte("0123456789abcdef0123456789ABCDE\n") // 32 bytes, the last one white space
	dir := t.TempDir()
	write := func(name string, content []byte) string {
		path := filepath.Join(dir, name)
		must(t, os.WriteFile(path, content, 0o600))
		return path
	}
	var sealed []byte
	for i, path := range []string{
		write("raw", raw), write("hex", []byte(hex.EncodeToString(raw)+"\n")), write("base64", []byte(base64.StdEncoding.EncodeToString(raw)+"\n")),
		write("url", []byte(base64.RawURLEncoding.EncodeToString(raw))),
	} {
		key, err := ReadSealingKey(t.Context(), path)
		must(t, err)
		if i == 0 {
			sealed = key.seal("secret", "intent")
		}
		if got, err := key.open(sealed, "intent"); err != nil || got != "secret" {
			t.Errorf("%s: %v", filepath.Base(path), err)
		}
		for name, wrong := range map[string][]byte{"cut": sealed[:len(sealed)-1], "empty": nil, "short": sealed[:5], "turned": append(append([]byte{}, sealed[:20]...), append([]byte{sealed[20] ^ 1}, sealed[21:]...)...)} {
			if _, err := key.open(wrong, "intent"); !errors.Is(err, ErrSealed) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if _, err := key.open(sealed, "another intent"); !errors.Is(err, ErrSealed) {
			t.Errorf("in another row: %v", err)
		}
	}
	for name, content := range map[string]string{"short": "abc", "long": strings.Repeat("a", 100), "nothing": ""} {
		if _, err := ReadSealingKey(t.Context(), write(name, []byte(content))); err == nil || strings.Contains(err.Error(), "abc") {
			t.Errorf("%s: %v", name, err)
		}
	}
	open := write("open", raw)
	must(t, os.Chmod(open, 0o640))
	var mode *sqlitefile.ModeError
	if _, err := ReadSealingKey(t.Context(), open); !errors.As(err, &mode) {
		t.Errorf("a key others may read: %v", err)
	}
	if err := sqlitefile.GenerateKey(open); !errors.Is(err, os.ErrExist) {
		t.Errorf("a key is written over: %v", err)
	}
}

func TestPasswordIsNeverPrinted(t *testing.T) {
	t.Parallel()
	c := applicant(1)
	encoded, err := json.Marshal(c)
	must(t, err)
	var logged bytes.Buffer
	logger := zerolog.New(&logged)
	logger.Info().Interface("company", c).Any("password", c.Password).Str("text", fmt.Sprint(c.Password)).Send()
	for _, text := range []string{
		string(encoded), logged.String(), fmt.Sprintf("%v %+v %#v %s %q %x %d", c, c, c, c, c, c, c.Password), fmt.Sprint(Row{Company: c}), fmt.Errorf("%v", c).Error(), c.Password.String(),
	} {
		if strings.Contains(text, "canary") || strings.Contains(text, hex.EncodeToString([]byte("canary"))) {
			t.Errorf("the password shows in %s", text)
		}
	}
}

// TestErasedPasswordsLeaveNoBytes searches every file of the outbox for erased passwords.
func TestErasedPasswordsLeaveNoBytes(t *testing.T) {
	t.Parallel()
	for _, sealed := range []bool{false, true} {
		t.Run(fmt.Sprint("sealed ", sealed), func(t *testing.T) {
			t.Parallel()
			path := outboxPath(t)
			o := openOutbox(t, path, nil)
			const rows = 36 // several pages of them
			var list []Company
			for n := range rows {
				c := applicant(n)
				c.Patio = strings.Repeat("x", 37*(n%5)) // rows of different sizes move
				list = append(list, c)
			}
			_, err := o.Add(t.Context(), list, false)
			must(t, err)
			if storetest.Traces(t, path, "canary-") == 0 {
				t.Fatal("plain passwords are not found, so nothing can be proved")
			}
			if sealed {
				openOutbox(t, path, newKey(t))
				if n := storetest.Traces(t, path, "canary-"); n != 0 {
					t.Errorf("%d plain passwords are left after sealing", n)
				}
				return
			}
			_, err = o.Recover(t.Context())
			must(t, err)
			for id := int64(1); id <= rows; id++ {
				switch id % 3 {
				case 0:
					_, err = o.Cancel(t.Context(), id)
				case 1:
					_, err = o.Reject(t.Context(), id, "invalid")
				default:
					err = claimAndSettle(o, id, Settlement{State: StateDone, Outcome: "done", HTTPStatus: 200})
				}
				must(t, err)
				if left := fmt.Sprintf("canary-%d-password", id-1); storetest.Traces(t, path, left) != 0 {
					t.Errorf("row %d is finished, and its password is still in the files", id)
				}
			}
		})
	}
}

func TestPurge(t *testing.T) {
	t.Parallel()
	o := openOutbox(t, outboxPath(t), nil)
	for n := range 3 {
		addOne(t, o, n)
	}
	_, err := o.Cancel(t.Context(), 1)
	must(t, err)
	if n, err := o.Purge(t.Context(), start); err != nil || n != 0 {
		t.Errorf("%d, %v", n, err)
	}
	if n, err := o.Purge(t.Context(), start.Add(time.Millisecond)); err != nil || n != 1 {
		t.Errorf("%d, %v", n, err)
	}
	if addOne(t, o, 7).ID != 4 {
		t.Error("a number is used twice")
	}
}
