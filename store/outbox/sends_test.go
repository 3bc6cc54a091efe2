package outbox

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSendLogCutOff(t *testing.T) {
	t.Parallel()
	path := outboxPath(t)
	o := openOutbox(t, path, nil)
	row := addOne(t, o, 1)
	addOne(t, o, 2)
	f, err := os.OpenFile(sendLogPath(path), os.O_APPEND|os.O_WRONLY, 0)
	must(t, err)
	_, err = f.WriteString(row.IntentID) // an incomplete line: it was not sent
	must(t, errors.Join(err, f.Close()))
	if doubts, err := o.Recover(t.Context()); err != nil || len(doubts) != 0 {
		t.Fatalf("%d rows in doubt, %v", len(doubts), err)
	}
	if _, err := claim(o, 2); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(sendLogPath(path))
	must(t, err)
	if lines := strings.Count(string(content), "\n"); lines != 2 || strings.Contains(string(content), row.IntentID) {
		t.Errorf("the log is %q", content)
	}
}

func TestSendLogSurvivesAFailedWrite(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sends")
	must(t, rewriteSendLog(path, "x", keepEvents))
	log, err := readSendLog(path)
	must(t, err)
	first, second, third := send{"first", "-", sendBegun}, send{"second", "-", sendBegun}, send{"third", "-", sendCreated}
	must(t, log.add([]send{first}))
	log.path += ".elsewhere" // cannot be written
	if err := log.add([]send{second}); err == nil {
		t.Fatal("a failed write is not noticed")
	}
	log.path = path
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	must(t, err)
	_, err = f.WriteString("second - beg") // a line cut by a power cut
	must(t, errors.Join(err, f.Close()))
	must(t, log.add([]send{third, first, {"first", "-", sendFreed}}))
	again, err := readSendLog(path)
	must(t, err)
	if d := cmp.Diff(map[string]send{"third": third}, again.sends, cmp.AllowUnexported(send{})); d != "" || again.total != 4 || again.identity != "x" {
		t.Errorf("%d events, identity %s: %s", again.total, again.identity, d)
	}
}

// TestOutboxOfVersion1 opens an outbox whose send log has only the intent of each attempt.
func TestOutboxOfVersion1(t *testing.T) {
	t.Parallel()
	path := outboxPath(t)
	o := openOutbox(t, path, nil)
	var intents []string
	for n := range 4 {
		intents = append(intents, addOne(t, o, n).IntentID)
	}
	must(t, claimAndSettle(o, 2, Settlement{State: StatePending, Outcome: "throttled"}))
	must(t, claimAndSettle(o, 4, Settlement{State: StateDone, Outcome: "done"}))
	for _, statement := range []string{
		"UPDATE _outbox SET schema_version = 1, sends = 2", "DROP TRIGGER company_outbox_sending",
		// Interrupted, and resolved by a user.
		"UPDATE company_outbox_attempts SET finished_at = NULL WHERE outbox_id = 4",
	} {
		_, err := o.db.Exec(statement)
		must(t, err)
	}
	text, err := os.ReadFile(sendLogPath(path))
	must(t, err)
	title, _, _ := strings.Cut(string(text), "\n")
	// Row 3 was restored from a backup that was made before its send.
	must(t, os.WriteFile(sendLogPath(path), []byte(strings.Join([]string{title, intents[1], intents[2], intents[3], ""}, "\n")), 0o600))

	o = openOutbox(t, path, nil)
	doubts, err := o.Recover(t.Context())
	must(t, err)
	if len(doubts) != 1 || doubts[0].ID != 3 || doubts[0].Error != reasonSent {
		t.Errorf("in doubt are %v", doubts)
	}
	if _, err := o.db.Exec("DELETE FROM company_outbox WHERE id = 4"); err != nil {
		t.Fatal(err)
	}
	var duplicate *DuplicateError
	if _, err := o.Add(t.Context(), []Company{applicant(3)}, false); !errors.As(err, &duplicate) || duplicate.ID != 0 || duplicate.State != StateDone {
		t.Errorf("the log was not told of row 4: %v", err)
	}
	if _, err := claim(o, 2); err != nil {
		t.Errorf("what waited does not wait: %v", err)
	}
	if _, err := o.db.Exec("UPDATE company_outbox SET state = 'pending' WHERE id = 2"); err == nil {
		t.Error("the triggers are those of version 1")
	}
}

// TestSendLogOfAnother removes the send log, and later the outbox: the log is then of another
// outbox.
func TestSendLogOfAnother(t *testing.T) {
	t.Parallel()
	path := outboxPath(t)
	o := openOutbox(t, path, nil)
	addOne(t, o, 1)
	addOne(t, o, 2)
	must(t, claimAndSettle(o, 1, Settlement{State: StateAmbiguous, Outcome: "ambiguous"}))
	must(t, os.Remove(sendLogPath(path)))
	const remedy = "run `solarmirror push`, which puts in doubt what may have been sent"
	_, err := o.Resolve(t.Context(), 1, false)
	if !errors.Is(err, errSendLogIncomplete) || !strings.HasSuffix(err.Error(), remedy) {
		t.Errorf("resolved without a log: %v", err)
	}
	if _, err := claim(o, 2); !errors.Is(err, errSendLogIncomplete) {
		t.Errorf("claimed without a log: %v", err)
	}
	doubts, err := o.Recover(t.Context())
	if err != nil || len(doubts) != 1 || doubts[0].ID != 2 || doubts[0].Error != reasonNoLog {
		t.Errorf("in doubt are %v, %v", doubts, err)
	}
	for id := int64(1); id <= 2; id++ {
		_, err := o.Resolve(t.Context(), id, id == 1)
		must(t, err)
	}
	// The outbox is deleted and created again: the log still lists the created company.
	must(t, os.Remove(path))
	o = openOutbox(t, path, nil)
	var duplicate *DuplicateError
	if _, err := o.Add(t.Context(), []Company{applicant(2), applicant(1)}, false); !errors.As(err, &duplicate) || duplicate.Entry != 2 {
		t.Errorf("added to a new outbox: %v", err)
	}
	if doubts, err := o.Recover(t.Context()); err != nil || len(doubts) != 0 {
		t.Errorf("in doubt are %v, %v", doubts, err)
	}
	// After an erasure the number is no duplicate.
	if _, err := o.Delete(t.Context(), applicant(1).CNPJ); err != nil {
		t.Fatal(err)
	}
	if _, err := o.Add(t.Context(), []Company{applicant(1)}, false); err != nil {
		t.Error(err)
	}
	text, err := os.ReadFile(sendLogPath(path))
	must(t, err)
	if strings.Contains(string(text), taxTag(applicant(1).CNPJ)) {
		t.Errorf("the log is\n%s", text)
	}
}
