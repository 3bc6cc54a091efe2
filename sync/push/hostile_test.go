package push

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"solarmirror/store/outbox"
	"solarmirror/sync/platform/platformtest"
)

// during runs statements as another program, one after the other, at the first POST. Some may be
// refused.
func during(outcome platformtest.CompanyOutcome, r **rig, statements ...string) func(*platformtest.CompanyCall) platformtest.CompanyOutcome {
	return func(call *platformtest.CompanyCall) platformtest.CompanyOutcome {
		if call.N == 1 {
			for _, s := range statements {
				_ = tryExec((*r).outboxPath(), s)
			}
		}
		return outcome
	}
}

func TestSQLEndsNoPost(t *testing.T) {
	t.Parallel()
	refused := map[string]string{}
	var r *rig
	r = newRig(t, func(*platformtest.CompanyCall) platformtest.CompanyOutcome {
		for _, state := range []string{"pending', password = 'x", "ambiguous", "cancelled", "done', password = NULL, finished_at = '2026-01-01"} {
			s := "UPDATE company_outbox SET state = '" + state + "'"
			if err := tryExec(r.outboxPath(), s); err != nil {
				refused[s] = err.Error()
			}
		}
		return platformtest.CompanyAsDeserved
	})
	r.add(company(0))
	report, err := r.push()
	if err != nil || report.Done != 1 {
		t.Errorf("%+v, %v", report, err)
	}
	if len(refused) != 4 {
		t.Errorf("refused were %v", refused)
	}
	for s, why := range refused {
		if !strings.Contains(why, "only solarmirror push takes a row of company_outbox out of the state sending") && !strings.Contains(why, "does not allow this change of state") {
			t.Errorf("%s: %s", s, why)
		}
	}
}

// TestOtherProgramDuringAPost changes the outbox while a POST is under way, in every way we could
// think of. Two more pushes send nothing again, and what the platform answered stands in the row,
// where there is one.
func TestOtherProgramDuringAPost(t *testing.T) {
	t.Parallel()
	const again = "UPDATE company_outbox SET state = 'pending', finished_at = NULL, password = 'canary'"
	const copied = "INSERT INTO company_outbox (name, email, password, cnpj) SELECT name, email, 'canary', cnpj FROM company_outbox"
	for name, statements := range map[string][]string{
		"pending":                     {again},
		"no attempts":                 {"DELETE FROM company_outbox_attempts", again},
		"an end of its own":           {"UPDATE company_outbox_attempts SET finished_at = '2026-01-01 00:00:00.000', outcome = 'unsent'", again},
		"cancelled":                   {"UPDATE company_outbox_attempts SET finished_at = '2026-01-01 00:00:00.000'", again, "UPDATE company_outbox SET state = 'cancelled', password = NULL, finished_at = created_at"},
		"no triggers":                 {"DROP TRIGGER company_outbox_moves", "DROP TRIGGER company_outbox_sending", again},
		"no triggers, all as new":     {"DROP TRIGGER company_outbox_moves", "DROP TRIGGER company_outbox_sending", again + ", attempts = 0, revision = 0, claimed_at = NULL", "DELETE FROM company_outbox_attempts"},
		"another intent":              {"UPDATE company_outbox SET intent_id = 'another-intent'"},
		"another intent, and pending": {"DELETE FROM company_outbox_attempts", "DROP TRIGGER company_outbox_sending", again + ", intent_id = 'another-intent'"},
		"another id":                  {"UPDATE company_outbox SET id = 77"},
		"another company":             {"UPDATE company_outbox SET cnpj = NULL, cpf = '529.982.247-25', email = 'b@example.com'"},
		"a copy":                      {copied},
		"a copy in its place":         {strings.Replace(strings.Replace(copied, "INSERT INTO company_outbox (", "REPLACE INTO company_outbox (id, ", 1), "SELECT ", "SELECT id, ", 1)},
		"deleted":                     {"DELETE FROM company_outbox"},
		"deleted and queued again":    {"CREATE TABLE kept AS SELECT * FROM company_outbox", "DELETE FROM company_outbox", "DELETE FROM company_outbox_attempts", strings.ReplaceAll(copied, "FROM company_outbox", "FROM kept")},
		"sends forgotten":             {"UPDATE _outbox SET sends = 0", "DELETE FROM company_outbox_attempts", again},
		"another identity":            {"UPDATE _outbox SET identity = 'x'", again},
	} {
		for outcome, want := range map[platformtest.CompanyOutcome]outbox.State{platformtest.CompanyAsDeserved: outbox.StateDone, platformtest.CompanyResetAfter: outbox.StateAmbiguous} {
			t.Run(fmt.Sprintf("%s, answer %q", name, outcome), func(t *testing.T) {
				t.Parallel()
				var r *rig
				r = newRig(t, during(outcome, &r, statements...))
				r.dir = t.TempDir() // no mirror, which would know better
				r.add(company(0))
				intent := r.rows()[0].IntentID
				for range 3 {
					_, _ = r.push()
					r.clock.advance(7 * time.Hour)
				}
				if n := r.platform.Served(); n != 1 {
					t.Errorf("%d POSTs", n)
				}
				for _, row := range r.rows() {
					switch {
					case row.IntentID == intent && row.State != want && row.State != outbox.StateAmbiguous:
						t.Errorf("row %d is %s (%s), want %s", row.ID, row.State, row.Error, want)
					case row.State == outbox.StatePending, row.State == outbox.StateSending:
						t.Errorf("row %d is %s", row.ID, row.State)
					case row.IntentID != intent && want == outbox.StateAmbiguous && len(r.rows()) == 1 && row.State != outbox.StateAmbiguous:
						t.Errorf("the doubt stands nowhere: row %d is %s (%s)", row.ID, row.State, row.Error)
					}
				}
			})
		}
	}
}

// TestSendLogDeletedDuringAPost: the error says what the next push does.
func TestSendLogDeletedDuringAPost(t *testing.T) {
	t.Parallel()
	var r *rig
	r = newRig(t, func(*platformtest.CompanyCall) platformtest.CompanyOutcome {
		_ = os.Remove(r.outboxPath() + ".sends")
		return platformtest.CompanyAsDeserved
	})
	r.add(companies(2)...)
	_, err := r.push()
	const says = "what became of row 1 could not be written down, and the next push puts it in doubt"
	if err == nil || !strings.Contains(err.Error(), says) {
		t.Errorf("%v", err)
	}
	report, _ := r.push()
	if report.Doubted != 2 || r.platform.Served() != 1 {
		t.Errorf("%+v after %d POSTs", report, r.platform.Served())
	}
}

// TestOtherProgramBetweenPushes has another program undo what a push found out.
func TestOtherProgramBetweenPushes(t *testing.T) {
	t.Parallel()
	for name, statement := range map[string]string{
		"pending":            "UPDATE company_outbox SET state = 'pending'",
		"done":               "UPDATE company_outbox SET state = 'done', password = NULL, finished_at = created_at",
		"rejected":           "UPDATE company_outbox SET state = 'rejected', password = NULL, finished_at = created_at",
		"pending, as if new": "UPDATE company_outbox SET state = 'pending', attempts = 0, revision = 0, claimed_at = NULL, error = NULL",
		"pending again":      "UPDATE company_outbox SET state = 'pending', revision = revision + 9",
		"its attempt open":   "UPDATE company_outbox_attempts SET finished_at = NULL",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, always(platformtest.CompanyResetAfter))
			r.dir = t.TempDir()
			r.add(company(0))
			_, _ = r.push()
			execSQL(t, r.outboxPath(), statement)
			_, _ = r.push()
			if row := r.rows()[0]; row.State != outbox.StateAmbiguous || r.platform.Served() != 1 {
				t.Errorf("the row is %s (%s) after %d POSTs", row.State, row.Error, r.platform.Served())
			}
			o := r.outbox()
			defer o.Close()
			if _, err := o.Resolve(t.Context(), 1, true); err != nil {
				t.Fatal(err)
			}
			_, err := r.push()
			must(t, err)
			if row := r.rows()[0]; row.State != outbox.StateDone {
				t.Errorf("a person's word does not last: %s (%s)", row.State, row.Error)
			}
		})
	}
}

// TestAttemptWithoutAnEnd has rows whose columns look innocent.
func TestAttemptWithoutAnEnd(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.add(companies(2)...)
	execSQL(t, r.outboxPath(), "INSERT INTO company_outbox_attempts (outbox_id, started_at) VALUES (1, '2026-11-03 11:00:00.000')")
	report, err := r.push()
	if report.Doubted != 1 || report.Done != 1 || !strings.Contains(fmt.Sprint(err), "in doubt") {
		t.Errorf("%+v, %v", report, err)
	}
	if d := cmp.Diff(map[int64]outbox.State{1: "ambiguous", 2: "done"}, r.states()); d != "" {
		t.Error(d)
	}
}

const cnpj, cpf = "11.222.333/0001-81", "529.982.247-25"

// TestSameCompanyTwice queues companies twice, in every spelling that is sent, where it matters how
// the first one ended.
func TestSameCompanyTwice(t *testing.T) {
	t.Parallel()
	insert := func(n int, cnpj, cpf string, allow int) string {
		return fmt.Sprintf("INSERT INTO company_outbox (name, email, password, cnpj, cpf, allow_duplicate) VALUES ('Ana', 'ana%d@example.com', 'canary', %s, %s, %d)", n, cnpj, cpf, allow)
	}
	cnpjs := []string{"'11.222.333/0001-81'", "'11222333000181'", "' 11222333000181 '", "char(9) || '11222333000181' || char(10)", "11222333000181", "x'3131323232333333303030313831'"}
	letters := []string{"'12.ABC.345/01DE-35'", "'12abc34501de35'", "'12.abc.345/01de-35'"}
	cpfs := []string{"'529.982.247-25'", "'52998224725'", "' 529.982.247-25'", "52998224725"}
	for first, want := range map[platformtest.CompanyOutcome]struct {
		state outbox.State
		says  string
		sent  int64 // POSTs in all
	}{
		platformtest.CompanyAsDeserved:    {outbox.StateRejected, "duplicate: row 1 of the outbox is done and has the same CPF or CNPJ", 1},
		platformtest.CompanyResetAfter:    {outbox.StateRejected, "duplicate: row 1 of the outbox is still open and has the same CPF or CNPJ", 1},
		platformtest.CompanyThrottled:     {outbox.StateRejected, "duplicate: row 1 of the outbox is still open and has the same CPF or CNPJ", 1},
		platformtest.CompanyUnprocessable: {outbox.StateDone, "", 2},
	} {
		for _, spellings := range [][]string{cnpjs, letters, cpfs} {
			for i, other := range spellings {
				if first != platformtest.CompanyAsDeserved && other != cnpjs[1] {
					continue // the spelling has nothing to do with it
				}
				t.Run(fmt.Sprintf("answer %q, %s", first, other), func(t *testing.T) {
					t.Parallel()
					r := newRig(t, func(call *platformtest.CompanyCall) platformtest.CompanyOutcome {
						if call.N == 1 {
							return first
						}
						return platformtest.CompanyAsDeserved
					})
					row := func(n int, spelling string, allow int) string {
						if &spellings[0] == &cpfs[0] {
							return insert(n, "' '", spelling, allow)
						}
						return insert(n, spelling, "'529.982.247-25'", allow) // which does not travel
					}
					r.add(company(5))
					execSQL(t, r.outboxPath(), "DELETE FROM company_outbox; DELETE FROM sqlite_sequence", row(1, spellings[len(spellings)-1-i], 0), row(2, other, 0), row(3, other, 0))
					_, _ = r.push()
					rows := r.rows()
					if rows[1].State != want.state || !strings.HasPrefix(rows[1].Error, want.says) || rows[2].State != outbox.StateRejected || r.platform.Served() != want.sent {
						t.Errorf("the second is %s (%s), the third %s, after %d POSTs", rows[1].State, rows[1].Error, rows[2].State, r.platform.Served())
					}
					execSQL(t, r.outboxPath(), row(4, other, 1))
					if _, _ = r.push(); r.platform.Served() != want.sent+1 {
						t.Errorf("one that allows it: %d POSTs", r.platform.Served())
					}
				})
			}
		}
	}
}

// TestCompanyOfARowThatIsGone queues a company again after its row went.
func TestCompanyOfARowThatIsGone(t *testing.T) {
	t.Parallel()
	again := company(0)
	again.Email = "other@example.com"
	for name, c := range map[string]struct {
		first platformtest.CompanyOutcome
		gone  func(r *rig) error
		want  outbox.State
		says  string
	}{
		"purged": {platformtest.CompanyAsDeserved, func(r *rig) error {
			o := r.outbox()
			defer o.Close()
			_, err := o.Purge(t.Context(), r.clock.now().Add(time.Hour))
			return err
		}, outbox.StateRejected, "was created, by a row that is no longer in the outbox"},
		"deleted when done": {platformtest.CompanyAsDeserved, func(r *rig) error { return tryExec(r.outboxPath(), "DELETE FROM company_outbox") },
			outbox.StateRejected, "was created, by a row that is no longer in the outbox"},
		"deleted in doubt": {platformtest.CompanyServerError, func(r *rig) error { return tryExec(r.outboxPath(), "DELETE FROM company_outbox") },
			outbox.StateAmbiguous, "was sent and may be created, by a row that is no longer in the outbox"},
		"deleted when refused": {platformtest.CompanyConflict, func(r *rig) error { return tryExec(r.outboxPath(), "DELETE FROM company_outbox") },
			outbox.StateDone, ""},
		"changed since": {platformtest.CompanyAsDeserved, func(r *rig) error {
			return tryExec(r.outboxPath(), "UPDATE company_outbox SET cnpj = '"+cnpj+"', email = 'b@example.com'")
		}, outbox.StateRejected, "row 1 of the outbox is done and has the same CPF or CNPJ"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, func(call *platformtest.CompanyCall) platformtest.CompanyOutcome {
				if call.N == 1 {
					return c.first
				}
				return platformtest.CompanyAsDeserved
			})
			r.add(company(0))
			_, _ = r.push()
			must(t, c.gone(r))
			o := r.outbox()
			defer o.Close()
			if _, err := o.Add(t.Context(), []outbox.Company{again}, false); (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("added: %v", err)
			}
			execSQL(t, r.outboxPath(), fmt.Sprintf("INSERT INTO company_outbox (name, email, password, cnpj) SELECT 'Ana', '%s', 'canary', '%s' WHERE NOT EXISTS (SELECT 1 FROM company_outbox WHERE state = 'pending')", again.Email, again.CNPJ))
			_, _ = r.push()
			rows := r.rows()
			last := rows[len(rows)-1]
			if last.State != c.want || !strings.Contains(last.Error, c.says) {
				t.Errorf("it is %s (%s)", last.State, last.Error)
			}
			if c.want != outbox.StateAmbiguous {
				return
			}
			_, err := o.Resolve(t.Context(), last.ID, false)
			must(t, err)
			if report, err := r.push(); err != nil || report.Done != 1 || r.platform.Served() != 2 {
				t.Errorf("a person looked for it: %+v, %v", report, err)
			}
		})
	}
}
