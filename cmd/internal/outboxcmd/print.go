package outboxcmd

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"solarmirror/cmd/internal/buildinfo"
	"solarmirror/cmd/internal/terminal"
	"solarmirror/cmd/internal/words"
	"solarmirror/store/identity"
	"solarmirror/store/outbox"
)

// PrintQueued prints new rows and the command that sends them.
func PrintQueued(w io.Writer, rows []outbox.Row) error {
	t := terminal.NewTable("id", "tax number", "e-mail", "state")
	for _, r := range rows {
		t.Add(r.ID, identity.MaskTaxID(r.TaxID()), identity.MaskEmail(r.Email), string(r.State))
	}
	if err := t.Write(w); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\nSend them with \"%s push\".\n", buildinfo.Command())
	return err
}

// RowFields are the fields of a row's JSON, for the help.
const RowFields = "id, intent_id, state, name, surname, email, cpf, cnpj, has_password, allow_duplicate, attempts, created_at, next_attempt_at, claimed_at, finished_at, http_status, error"

// rowJSON is a row without its password.
type rowJSON struct {
	ID             int64         `json:"id"`
	IntentID       string        `json:"intent_id"`
	State          string        `json:"state"`
	Name           string        `json:"name"`
	Surname        string        `json:"surname"`
	Email          string        `json:"email"`
	CPF            string        `json:"cpf"`
	CNPJ           string        `json:"cnpj"`
	HasPassword    bool          `json:"has_password"`
	AllowDuplicate bool          `json:"allow_duplicate"`
	Attempts       int64         `json:"attempts"`
	CreatedAt      time.Time     `json:"created_at"`
	NextAttemptAt  *time.Time    `json:"next_attempt_at"`
	ClaimedAt      *time.Time    `json:"claimed_at"`
	FinishedAt     *time.Time    `json:"finished_at"`
	HTTPStatus     int           `json:"http_status,omitempty"`
	Error          string        `json:"error,omitempty"`
	History        []attemptJSON `json:"history,omitempty"`
}

type attemptJSON struct {
	StartedAt  time.Time  `json:"started_at"`
	FinishedAt *time.Time `json:"finished_at"`
	Outcome    string     `json:"outcome"`
	HTTPStatus int        `json:"http_status,omitempty"`
	Error      string     `json:"error,omitempty"`
}

func newRowJSON(r outbox.Row) rowJSON {
	return rowJSON{
		ID: r.ID, IntentID: r.IntentID, State: string(r.State), Name: r.Name, Surname: r.Surname, Email: r.Email, CPF: r.CPF, CNPJ: r.CNPJ,
		HasPassword: r.HasPassword, AllowDuplicate: r.AllowDuplicate, Attempts: r.Attempts, CreatedAt: r.CreatedAt,
		NextAttemptAt: words.Known(r.NextAttemptAt), ClaimedAt: words.Known(r.ClaimedAt), FinishedAt: words.Known(r.FinishedAt),
		HTTPStatus: r.HTTPStatus, Error: r.Error,
	}
}

// PrintRows prints rows as a table, or as one JSON object per line.
func PrintRows(w io.Writer, rows []outbox.Row, asJSON bool) error {
	if asJSON {
		encoder := json.NewEncoder(w)
		for _, r := range rows {
			if err := encoder.Encode(newRowJSON(r)); err != nil {
				return err
			}
		}
		return nil
	}
	if len(rows) == 0 {
		_, err := fmt.Fprintln(w, "There are no such rows.")
		return err
	}
	t := terminal.NewTable("id", "state", "tax number", "e-mail", "queued (UTC)", "attempts", "next (UTC)", "error")
	for _, r := range rows {
		t.Add(r.ID, string(r.State), identity.MaskTaxID(r.TaxID()), identity.MaskEmail(r.Email), words.Minute(r.CreatedAt), r.Attempts,
			words.MinuteOrNil(words.Known(r.NextAttemptAt)), terminal.Cell(r.Error))
	}
	return t.Write(w)
}

// PrintRow prints all fields of one row except its password, and its attempts.
func PrintRow(w io.Writer, r outbox.Row, attempts []outbox.Attempt, asJSON bool) error {
	if asJSON {
		out := newRowJSON(r)
		for _, at := range attempts {
			out.History = append(out.History, attemptJSON{at.StartedAt, words.Known(at.FinishedAt), at.Outcome, at.HTTPStatus, at.Error})
		}
		return json.NewEncoder(w).Encode(out)
	}
	password := "erased"
	if r.HasPassword {
		password = "kept"
	}
	for _, line := range []struct{ label, value string }{
		{"id", fmt.Sprint(r.ID)}, {"intent", r.IntentID}, {"state", string(r.State)}, {"error", r.Error},
		{"contact", strings.TrimSpace(r.Name + " " + r.Surname)}, {"e-mail", r.Email}, {"password", password}, {"CNPJ", r.CNPJ}, {"CPF", r.CPF},
		{"address", strings.Join(slices.DeleteFunc([]string{r.Patio, r.Number, r.Complement, r.Neighborhood, r.CEP, r.City, r.Company.State}, func(s string) bool { return s == "" }), ", ")},
		{"mobile", r.Cellphone}, {"responsible", r.Responsible}, {"state registration", r.StateInscription}, {"queued (UTC)", words.Minute(r.CreatedAt)},
	} {
		if line.value != "" {
			fmt.Fprintf(w, "%-18s  %s\n", line.label, terminal.Harmless(line.value))
		}
	}
	if len(attempts) == 0 {
		return nil
	}
	t := terminal.NewTable("attempt (UTC)", "outcome", "status", "error")
	for _, at := range attempts {
		t.Add(words.Minute(at.StartedAt), cmp.Or(at.Outcome, "cut off"), at.HTTPStatus, terminal.Cell(at.Error))
	}
	fmt.Fprintln(w)
	return t.Write(w)
}
