package push

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"solarmirror/store"
	"solarmirror/store/outbox"
	"solarmirror/store/sqlitefile"
	"solarmirror/sync/platform"
	"solarmirror/sync/platform/platformtest"
)

func TestPush(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.add(companies(3)...)
	report, err := r.push()
	must(t, err)
	if d := cmp.Diff(&Report{Done: 3}, report); d != "" {
		t.Error(d)
	}
	stored := r.platform.Companies()
	if len(stored) != 3 {
		t.Fatalf("the platform has %d companies, want 3", len(stored))
	}
	first := stored[0]
	first.CreatedAt = time.Time{}
	want := platformtest.Company{
		Name: "Ana", Surname: "Souza", Email: "ana0@integradora.example.com", Password: "canary-password-0", CNPJ: "00.000.001/0001-36", Cellphone: "(11) 91234-5678",
		Address: platformtest.CompanyAddress{CEP: "01310-100", State: "SP", City: "São Paulo", Patio: "Avenida Paulista", Number: "1"},
	}
	if d := cmp.Diff(want, first); d != "" {
		t.Error(d)
	}
	report, err = r.push()
	must(t, err)
	if d := cmp.Diff(&Report{}, report); d != "" {
		t.Errorf("a second push: %s", d)
	}
	if got := text(t, r.mirrorPath(), "SELECT group_concat(state || ' ' || tax_id_masked || ' ' || email_masked) FROM company_creations WHERE outbox_id = 1"); got != "done **.000.***/****-** a***@integradora.example.com" {
		t.Errorf("the mirror says %q", got)
	}
}

// TestOutcomes is the table of what each answer makes of a row.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	for outcome, want := range map[platformtest.CompanyOutcome]struct {
		state     outbox.State
		attempt   string
		processed int
	}{
		platformtest.CompanyAsDeserved:    {outbox.StateDone, "done", 1},
		platformtest.CompanyNoSuccess:     {outbox.StateRejected, "rejected", 0},
		platformtest.CompanyBadRequest:    {outbox.StateRejected, "rejected", 0},
		platformtest.CompanyConflict:      {outbox.StateRejected, "rejected", 0},
		platformtest.CompanyUnprocessable: {outbox.StateRejected, "rejected", 0},
		platformtest.CompanyUnauthorized:  {outbox.StatePending, "unauthorized", 0},
		platformtest.CompanyForbidden:     {outbox.StatePending, "unauthorized", 0},
		platformtest.CompanyThrottled:     {outbox.StatePending, "throttled", 0},
		platformtest.CompanyTimedOut408:   {outbox.StateAmbiguous, "ambiguous", 0},
		platformtest.CompanyServerError:   {outbox.StateAmbiguous, "ambiguous", 0},
		platformtest.CompanyBadGateway:    {outbox.StateAmbiguous, "ambiguous", 1},
		platformtest.CompanyRedirect:      {outbox.StateAmbiguous, "ambiguous", 0},
		platformtest.CompanyResetBefore:   {outbox.StateAmbiguous, "ambiguous", 0},
		platformtest.CompanyResetAfter:    {outbox.StateAmbiguous, "ambiguous", 1},
		platformtest.CompanySilentAfter:   {outbox.StateAmbiguous, "ambiguous", 1},
		platformtest.CompanyCutAnswer:     {outbox.StateAmbiguous, "ambiguous", 1},
		platformtest.CompanyContradiction: {outbox.StateAmbiguous, "ambiguous", 1},
	} {
		t.Run("answer "+string(outcome), func(t *testing.T) {
			t.Parallel()
			r := newRig(t, always(outcome))
			if outcome == platformtest.CompanySilentAfter {
				r.timeout = 200 * time.Millisecond
			}
			r.add(company(0))
			_, err := r.push()
			row := r.rows()[0]
			if row.State != want.state {
				t.Errorf("the row is %s (%s), want %s", row.State, row.Error, want.state)
			}
			if final := want.state == outbox.StateDone || want.state == outbox.StateRejected; row.HasPassword == final {
				t.Errorf("password kept: %v", row.HasPassword)
			}
			var auth *platform.AuthError
			var incomplete *IncompleteError
			switch {
			case want.attempt == "unauthorized" != errors.As(err, &auth):
				t.Errorf("the run ended with %v", err)
			case (want.state == outbox.StateAmbiguous || want.attempt == "throttled") != errors.As(err, &incomplete):
				t.Errorf("the run ended with %v", err)
			}
			if got := text(t, r.outboxPath(), "SELECT outcome FROM company_outbox_attempts"); got != want.attempt {
				t.Errorf("the attempt ended as %q, want %q", got, want.attempt)
			}
			if got := text(t, r.mirrorPath(), "SELECT state FROM company_creations"); got != string(want.state) {
				t.Errorf("the mirror says %q", got)
			}
			count := r.platform.CompanyCounts()[company(0).CNPJ]
			if outcome != platformtest.CompanyResetBefore && (count.Received != 1 || count.Processed != want.processed) {
				t.Errorf("the platform counts %+v", count)
			}
			// Whatever was left undecided, pushing again at once sends nothing but what was refused
			// for its token.
			before := r.platform.Served()
			_, _ = r.push()
			if again := r.platform.Served() - before; again != 0 && want.attempt != "unauthorized" {
				t.Errorf("%d requests more", again)
			}
		})
	}
}

func TestUnreachableIsSentLater(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.add(companies(5)...)
	url := r.server.URL
	r.server.URL = "http://127.0.0.1:1"
	report, err := r.push()
	var incomplete *IncompleteError
	if !errors.As(err, &incomplete) || report.Postponed != maxUnclear || report.Unsent != 5-maxUnclear {
		t.Fatalf("%+v, %v", report, err)
	}
	row := r.rows()[0]
	if row.State != outbox.StatePending || !row.NextAttemptAt.Equal(r.clock.now().Add(time.Minute)) || !row.HasPassword {
		t.Errorf("the row is %s, next at %v", row.State, row.NextAttemptAt)
	}
	r.server.URL = url
	if report, err := r.push(); err != nil || report.Done != 2 {
		t.Errorf("before their time: %+v, %v", report, err)
	}
	r.clock.advance(time.Minute)
	if report, err := r.push(); err != nil || report.Done != 3 {
		t.Errorf("in their time: %+v, %v", report, err)
	}
}

func TestBackOff(t *testing.T) {
	t.Parallel()
	for attempts, want := range map[int64]time.Duration{1: time.Minute, 2: 2 * time.Minute, 5: 16 * time.Minute, 9: 256 * time.Minute, 10: 6 * time.Hour, 1000: 6 * time.Hour} {
		if got := backOff(attempts); got != want {
			t.Errorf("after %d attempts %v, want %v", attempts, got, want)
		}
	}
}

func TestThrottledWaitsAsAsked(t *testing.T) {
	t.Parallel()
	calls := 0
	r := newRig(t, func(*platformtest.CompanyCall) platformtest.CompanyOutcome {
		if calls++; calls == 1 {
			return platformtest.CompanyThrottled
		}
		return platformtest.CompanyAsDeserved
	})
	r.add(companies(2)...)
	report, _ := r.push()
	if report.Postponed != 1 || report.Done != 1 {
		t.Errorf("%+v", report)
	}
	r.clock.advance(time.Minute)
	if report, err := r.push(); err != nil || report.Done != 1 {
		t.Errorf("%+v, %v", report, err)
	}
}

func TestPoisonRow(t *testing.T) {
	t.Parallel()
	for poison, rows := range map[platformtest.CompanyOutcome]int{
		platformtest.CompanyServerError: 100, platformtest.CompanyUnprocessable: 10, platformtest.CompanyThrottled: 10,
	} {
		t.Run(string(poison), func(t *testing.T) {
			t.Parallel()
			r := newRig(t, func(call *platformtest.CompanyCall) platformtest.CompanyOutcome {
				if call.TaxID() == company(7).CNPJ {
					return poison
				}
				return platformtest.CompanyAsDeserved
			})
			r.add(companies(rows)...)
			report, _ := r.push()
			if report.Done != rows-1 {
				t.Errorf("%+v", report)
			}
		})
	}
}

func TestOutageLeavesTheQueueAlone(t *testing.T) {
	t.Parallel()
	r := newRig(t, always(platformtest.CompanyBadGateway))
	r.add(companies(20)...)
	report, err := r.push()
	if report.Ambiguous != maxUnclear || report.Unsent != 20-maxUnclear {
		t.Errorf("%+v, %v", report, err)
	}
}

func TestRefusedTokenStopsTheRun(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.add(companies(3)...)
	r.token = "another"
	report, err := r.push()
	var auth *platform.AuthError
	if !errors.As(err, &auth) || auth.Status != 401 || !strings.HasPrefix(err.Error(), "POST /api/v2/company: ") {
		t.Fatalf("%+v, %v", report, err)
	}
	if r.platform.Served() != 1 {
		t.Errorf("%d requests, want 1", r.platform.Served())
	}
	r.token = token
	if report, err := r.push(); err != nil || report.Done != 3 {
		t.Errorf("with the right token: %+v, %v", report, err)
	}
}

func TestForeignRows(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.add(company(0))
	execSQL(t, r.outboxPath(),
		// The example of the README.
		`INSERT INTO company_outbox (name, email, password, cnpj) VALUES ('Ana', 'a@example.com', 'canary', '11222333000181')`,
		`INSERT INTO company_outbox (name, email, cnpj, address_state) VALUES ('', 'nobody', '11.222.333/0001-82', 'XX')`,
		`INSERT INTO company_outbox (name, email, password, cnpj) VALUES ('B', 'b@example.com', 'canary', '11.222.333/0001-81')`,
		`INSERT INTO company_outbox (name, email, password, cpf, allow_duplicate) VALUES ('C', 'ana0@integradora.example.com', 'canary', '52998224725', 1)`,
		`INSERT INTO company_outbox (name, email, password, cpf) VALUES (x'ff', 'd@example.com', 'canary', 52998224725)`)
	report, err := r.push()
	must(t, err)
	want := map[int64]outbox.State{1: "done", 2: "done", 3: "rejected", 4: "rejected", 5: "rejected", 6: "rejected"}
	if d := cmp.Diff(want, r.states()); d != "" {
		t.Error(d)
	}
	if report.Done != 2 || report.Rejected != 4 {
		t.Errorf("%+v", report)
	}
	wrong := r.rows()[2].Error
	if want := "invalid: name is missing; password is missing; email is no e-mail address; write it name@example.com; " +
		"CNPJ has wrong check digits; address.state is no federative unit; write two letters such as SP"; wrong != want {
		t.Errorf("all faults at once: %q, want %q", wrong, want)
	}
	for _, moves := range []string{
		`INSERT INTO company_outbox (name, state) VALUES ('x', 'done')`, `UPDATE company_outbox SET state = 'pending', finished_at = NULL WHERE id = 1`,
		`UPDATE company_outbox SET state = 'sent' WHERE id = 1`, `UPDATE company_outbox SET password = 'x' WHERE id = 1`,
	} {
		if err := tryExec(r.outboxPath(), moves); err == nil {
			t.Errorf("the file allows %s", moves)
		}
	}
}

func TestDuplicateWaitsForNoOne(t *testing.T) {
	t.Parallel()
	r := newRig(t, always(platformtest.CompanyBadGateway))
	r.add(company(0))
	_, _ = r.push() // in doubt, so still open
	execSQL(t, r.outboxPath(), `INSERT INTO company_outbox (name, email, password, cpf) VALUES ('B', 'ANA0@integradora.example.com', 'canary', '529.982.247-25')`)
	report, _ := r.push()
	if report.Rejected != 1 || r.platform.Served() != 1 || !strings.Contains(r.rows()[1].Error, "row 1 of the outbox is still open and has the same e-mail") {
		t.Errorf("%+v, %q", report, r.rows()[1].Error)
	}
}

func TestEvidence(t *testing.T) {
	t.Parallel()
	at := func(hours int) string {
		return sqlitefile.FormatTime(newClock().now().Add(time.Duration(hours) * time.Hour))
	}
	request := func(key int, created, seen string) string {
		return fmt.Sprintf(`INSERT INTO requests (request_key, request_type, id, budget_created, _first_seen_at) VALUES (%d, 'budget', 'r%d', '%s', '%s')`, key, key, created, seen)
	}
	ours := strings.NewReplacer(".", "", "/", "", "-", "").Replace(company(0).CNPJ) // not even written the same
	buys := func(key int, id string) string {
		return fmt.Sprintf(`INSERT INTO request_companies (request_key, cnpj) VALUES (%d, '%s')`, key, id)
	}
	billed := func(key int, id string) string {
		return fmt.Sprintf(`INSERT INTO request_invoices (request_key, cnpj) VALUES (%d, '%s')`, key, id)
	}
	for name, c := range map[string]struct {
		mirror []string
		want   outbox.State
	}{
		"nothing":                         {nil, outbox.StateAmbiguous},
		"a request since":                 {[]string{request(1, at(1), at(2)), buys(1, ours)}, outbox.StateDone},
		"of another company":              {[]string{request(1, at(1), at(2)), buys(1, company(1).CNPJ)}, outbox.StateAmbiguous},
		"created before":                  {[]string{request(1, at(-1), at(2)), buys(1, ours)}, outbox.StateAmbiguous},
		"first seen before":               {[]string{request(1, at(1), at(2)), buys(1, ours), request(2, at(-9), at(-8)), buys(2, ours)}, outbox.StateAmbiguous},
		"billed before":                   {[]string{request(1, at(1), at(2)), buys(1, ours), request(2, at(-9), at(-8)), billed(2, ours)}, outbox.StateAmbiguous},
		"billed since, by another seller": {[]string{request(1, at(1), at(2)), buys(1, company(1).CNPJ), billed(1, ours)}, outbox.StateAmbiguous},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, always(platformtest.CompanyResetAfter))
			r.add(company(0))
			_, _ = r.push()
			execSQL(t, r.mirrorPath(), c.mirror...)
			r.clock.advance(3 * time.Hour)
			_, err := r.push()
			if err != nil {
				t.Error(err)
			}
			row := r.rows()[0]
			if row.State != c.want || row.HasPassword != (c.want == outbox.StateAmbiguous) {
				t.Errorf("the row is %s (%s), want %s", row.State, row.Error, c.want)
			}
			if r.platform.Served() != 1 {
				t.Errorf("%d requests, want 1", r.platform.Served())
			}
			if got := text(t, r.mirrorPath(), "SELECT state FROM company_creations"); got != string(c.want) {
				t.Errorf("the mirror says %q", got)
			}
		})
	}
}

func TestOldDoubtsLoseTheirPassword(t *testing.T) {
	t.Parallel()
	r := newRig(t, always(platformtest.CompanyResetAfter))
	r.add(company(0))
	_, _ = r.push()
	r.clock.advance(7 * 24 * time.Hour)
	if report, err := r.push(); err != nil || report.Erased != 0 || !r.rows()[0].HasPassword {
		t.Errorf("on the day: %+v, %v", report, err)
	}
	r.clock.advance(time.Second)
	if report, err := r.push(); err != nil || report.Erased != 1 || r.rows()[0].HasPassword || r.rows()[0].State != outbox.StateAmbiguous {
		t.Errorf("after it: %+v, %v", report, err)
	}
}

func TestFinishedRowsArePurged(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.add(company(0))
	_, err := r.push()
	must(t, err)
	r.clock.advance(90*24*time.Hour + time.Second)
	if report, err := r.push(); err != nil || report.Purged != 1 || len(r.rows()) != 0 {
		t.Errorf("%+v, %v", report, err)
	}
}

// TestLongSyncDoesNotRefuse holds the mirror's lock, and its write lock for a moment, as a sync
// does.
func TestLongSyncDoesNotRefuse(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.add(companies(3)...)
	lock, err := sqlitefile.AcquireLock(t.Context(), r.mirrorPath(), "sync", false)
	must(t, err)
	defer lock.Release()
	mirror, err := store.Open(t.Context(), r.mirrorPath(), store.Options{Now: r.clock.now})
	must(t, err)
	defer mirror.Close()
	page, err := mirror.Begin(t.Context())
	must(t, err)
	go func() {
		time.Sleep(50 * time.Millisecond) // a page takes as long; the push waits for it
		if err := page.Commit(); err != nil {
			t.Error(err)
		}
	}()
	if report, err := r.push(); err != nil || report.Done != 3 {
		t.Errorf("%+v, %v", report, err)
	}
}

func TestUnreadableMirrorStopsThePush(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.add(company(0))
	execSQL(t, r.mirrorPath(), "CREATE TRIGGER sick BEFORE INSERT ON company_creations WHEN NEW.state = 'sending' BEGIN SELECT RAISE(ABORT, 'disk trouble'); END")
	execSQL(t, r.mirrorPath(), "CREATE TRIGGER sick2 BEFORE UPDATE ON company_creations WHEN NEW.state = 'sending' BEGIN SELECT RAISE(ABORT, 'disk trouble'); END")
	_, err := r.push()
	if err == nil || !strings.Contains(err.Error(), "disk trouble") || r.platform.Served() != 0 {
		t.Fatalf("%v after %d requests", err, r.platform.Served())
	}
	if row := r.rows()[0]; row.State != outbox.StatePending {
		t.Errorf("the row is %s", row.State)
	}
}

func TestWithoutMirror(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.dir = t.TempDir()
	r.add(company(0))
	if report, err := r.push(); err != nil || report.Done != 1 {
		t.Fatalf("%+v, %v", report, err)
	}
	mirror, err := store.Open(t.Context(), r.mirrorPath(), store.Options{Now: r.clock.now})
	must(t, err)
	must(t, mirror.Close())
	_, err = r.push()
	must(t, err)
	if got := text(t, r.mirrorPath(), "SELECT state FROM company_creations"); got != "done" {
		t.Errorf("the mirror made later says %q", got)
	}
}

func TestInterruptedPushEndsItsPost(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r := newRig(t, func(*platformtest.CompanyCall) platformtest.CompanyOutcome {
		cancel() // the signal comes while the platform works
		return platformtest.CompanyAsDeserved
	})
	r.add(companies(3)...)
	report, err := r.pushUnder(ctx)
	if !errors.Is(err, context.Canceled) || report.Done != 1 || report.Unsent != 2 {
		t.Fatalf("%+v, %v", report, err)
	}
	if d := cmp.Diff(map[int64]outbox.State{1: "done", 2: "pending", 3: "pending"}, r.states()); d != "" {
		t.Error(d)
	}
}

func TestSealedPasswords(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	keyPath := filepath.Join(r.dir, "key")
	must(t, sqlitefile.GenerateKey(keyPath))
	key, err := outbox.ReadSealingKey(t.Context(), keyPath)
	must(t, err)
	r.add(company(0)) // plain as yet
	r.key = key
	r.add(company(1))
	if got := text(t, r.outboxPath(), "SELECT group_concat(typeof(password)) FROM company_outbox"); got != "blob,blob" {
		t.Errorf("passwords are stored as %s", got)
	}
	r.key = nil
	report, err := r.push()
	if report.Postponed != 2 || r.platform.Served() != 0 {
		t.Errorf("without the key: %+v, %v", report, err)
	}
	r.clock.advance(time.Hour)
	r.key = key
	if report, err := r.push(); err != nil || report.Done != 2 {
		t.Errorf("with the key: %+v, %v", report, err)
	}
	if got := r.platform.Companies()[1].Password; got != "canary-password-1" {
		t.Error("the platform got another password")
	}
}
