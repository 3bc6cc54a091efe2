package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"solarmirror/cmd/internal/config"
	"solarmirror/cmd/internal/terminal"
	"solarmirror/cmd/internal/words"
	"solarmirror/store"
)

func newOutboxListCommand(a *app) *cobra.Command {
	var asJSON bool
	var states []string
	for _, s := range store.OutboxStates() {
		states = append(states, string(s))
	}
	cmd := &cobra.Command{
		Use:       "list [state…]",
		Short:     "List the rows of the outbox, oldest first",
		Long:      "List the rows of the outbox, oldest first, in all states or in those named:\n" + strings.Join(states, ", ") + ".",
		Example:   "  solarmirror outbox list ambiguous rejected",
		ValidArgs: states,
		RunE: func(cmd *cobra.Command, args []string) error {
			var wanted []store.OutboxState
			for _, arg := range args {
				if !slices.Contains(states, arg) {
					return &usageError{command: cmd.CommandPath(), err: fmt.Errorf("there is no state %q; did you mean %q?", arg, config.Nearest(arg, states))}
				}
				wanted = append(wanted, store.OutboxState(arg))
			}
			return a.withOutbox(cmd.Context(), func(_ config.Config, outbox *store.Outbox) error {
				rows, err := outbox.Rows(cmd.Context(), wanted...)
				if err != nil {
					return err
				}
				return a.printRows(rows, asJSON)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object per row")
	return cmd
}

// rowJSON is a row as --json prints it: whole, but for the password.
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

func rowResult(r store.OutboxRow) rowJSON {
	return rowJSON{
		ID: r.ID, IntentID: r.IntentID, State: string(r.State), Name: r.Name, Surname: r.Surname, Email: r.Email, CPF: r.CPF, CNPJ: r.CNPJ,
		HasPassword: r.HasPassword, AllowDuplicate: r.AllowDuplicate, Attempts: r.Attempts, CreatedAt: r.CreatedAt,
		NextAttemptAt: words.Known(r.NextAttemptAt), ClaimedAt: words.Known(r.ClaimedAt), FinishedAt: words.Known(r.FinishedAt),
		HTTPStatus: r.HTTPStatus, Error: r.Error,
	}
}

func (a *app) printRows(rows []store.OutboxRow, asJSON bool) error {
	if asJSON {
		encoder := json.NewEncoder(a.stdout)
		for _, r := range rows {
			if err := encoder.Encode(rowResult(r)); err != nil {
				return err
			}
		}
		return nil
	}
	if len(rows) == 0 {
		_, err := fmt.Fprintln(a.stdout, "There are no such rows.")
		return err
	}
	t := terminal.NewTable("id", "state", "tax number", "e-mail", "queued (UTC)", "attempts", "next (UTC)", "error")
	for _, r := range rows {
		t.Add(r.ID, string(r.State), store.MaskTaxID(r.TaxID()), store.MaskEmail(r.Email), words.Minute(r.CreatedAt), r.Attempts,
			words.MinuteOrNil(words.Known(r.NextAttemptAt)), terminal.Cell(r.Error))
	}
	return t.Write(a.stdout)
}

func newOutboxShowCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "show ID",
		Short:   "Print one row of the outbox whole, but for its password",
		Example: "  solarmirror outbox show 3",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := rowNumber(cmd, args[0])
			if err != nil {
				return err
			}
			return a.withOutbox(cmd.Context(), func(_ config.Config, outbox *store.Outbox) error {
				row, err := outbox.Row(cmd.Context(), id)
				if err != nil {
					return err
				}
				attempts, err := outbox.Attempts(cmd.Context(), id)
				if err != nil {
					return err
				}
				return a.printRow(row, attempts, asJSON)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

func (a *app) printRow(r store.OutboxRow, attempts []store.OutboxAttempt, asJSON bool) error {
	if asJSON {
		out := rowResult(r)
		for _, at := range attempts {
			out.History = append(out.History, attemptJSON{at.StartedAt, words.Known(at.FinishedAt), at.Outcome, at.HTTPStatus, at.Error})
		}
		return json.NewEncoder(a.stdout).Encode(out)
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
			fmt.Fprintf(a.stdout, "%-18s  %s\n", line.label, terminal.Harmless(line.value))
		}
	}
	if len(attempts) == 0 {
		return nil
	}
	t := terminal.NewTable("attempt (UTC)", "outcome", "status", "error")
	for _, at := range attempts {
		outcome := at.Outcome
		if outcome == "" {
			outcome = "cut off"
		}
		t.Add(words.Minute(at.StartedAt), outcome, at.HTTPStatus, terminal.Cell(at.Error))
	}
	fmt.Fprintln(a.stdout)
	return t.Write(a.stdout)
}
