package outbox

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"

	"solarmirror/store/identity"
	"solarmirror/store/sqlitefile"
)

// The error texts of rows that became ambiguous or, with reasonEvidence, done.
const (
	reasonInterrupted = "it was cut off while it was being sent: the platform may have created it"
	reasonSent        = "it was sent, and this row says otherwise: it was put back from a backup, or another program changed it"
	reasonNoLog       = "the send log beside this outbox is missing, incomplete or of another outbox: the row may have been sent"
	reasonOvertaken   = "this outbox was put back from a backup, and the mirror knows the row as %s since"
	reasonEvidence    = "created: the mirror holds a request of this company"
)

// StateError: the move does not start from the row's state.
type StateError struct {
	ID     int64
	State  State
	Wanted string // the move, as a participle: "cancelled"
	Remedy string // the next thing to do
}

func (e *StateError) Error() string {
	return fmt.Sprintf("row %d is %s and cannot be %s; %s", e.ID, e.State, e.Wanted, e.Remedy)
}

// move is one change of state.
type move struct {
	to          State
	httpStatus  int
	err         string
	nextAttempt time.Time // of a row that goes back to pending; zero: at once
	byUser      bool      // a user looked for the company on the platform
}

// apply makes a move, in the send log too, and returns the row after it. The statement that moves a
// row to a final state also erases its password.
func (o *Outbox) apply(tx *sqlx.Tx, row Row, m move) (Row, error) {
	final := m.to == StateDone || m.to == StateRejected || m.to == StateCancelled
	var finished any
	if final {
		finished = sqlitefile.FormatTime(o.now())
	}
	var status any
	if m.httpStatus != 0 {
		status = m.httpStatus
	}
	_, err := tx.Exec(`UPDATE company_outbox SET state = ?, revision = revision + 1, http_status = ?, error = ?,
		next_attempt_at = ?, finished_at = ?, password = CASE WHEN ? THEN NULL ELSE password END WHERE id = ?`,
		string(m.to), status, sqlitefile.NullableText(m.err), sqlitefile.NullableTime(m.nextAttempt), finished, final, row.ID)
	if err != nil {
		return Row{}, err
	}
	if m.byUser {
		if err := o.logOrphans(tx, row, m.to); err != nil {
			return Row{}, err
		}
	}
	// Other moves are of rows that were not sent.
	if m.to == StateAmbiguous || row.State == StateAmbiguous || row.State == StateSending {
		if err := o.logMove(tx, row, m.to); err != nil {
			return Row{}, err
		}
	}
	return selectRow(tx, row.ID)
}

// logMove makes the send log agree with the state that a row moves to.
func (o *Outbox) logMove(tx *sqlx.Tx, row Row, to State) error {
	log, err := o.verifiedSendLog(tx)
	if err != nil {
		return err
	}
	return o.logEvents(tx, log.eventsFor(row, to)...)
}

// change makes a move of one row from one of the states, and returns the row after it.
func (o *Outbox) change(ctx context.Context, id int64, wanted, remedy string, m move, from ...State) (Row, error) {
	var row Row
	err := o.update(ctx, func(tx *sqlx.Tx) (err error) {
		if row, err = selectRow(tx, id); err != nil {
			return err
		}
		if !slices.Contains(from, row.State) {
			return &StateError{ID: id, State: row.State, Wanted: wanted, Remedy: remedy}
		}
		row, err = o.apply(tx, row, m)
		return err
	})
	if err != nil {
		return Row{}, fmt.Errorf("outbox: %w", err)
	}
	return row, nil
}

// Reject moves a pending row that is invalid to rejected.
func (o *Outbox) Reject(ctx context.Context, id int64, why string) (Row, error) {
	return o.change(ctx, id, "rejected", "leave it", move{to: StateRejected, err: why}, StatePending)
}

// Postpone keeps a pending row from being sent until a time.
func (o *Outbox) Postpone(ctx context.Context, id int64, why string, until time.Time) (Row, error) {
	return o.change(ctx, id, "postponed", "leave it", move{to: StatePending, err: why, nextAttempt: until}, StatePending)
}

// Cancel moves a pending row to cancelled.
func (o *Outbox) Cancel(ctx context.Context, id int64) (Row, error) {
	return o.change(ctx, id, "cancelled", "only a pending row can", move{to: StateCancelled}, StatePending)
}

// Doubt moves a pending row to ambiguous.
func (o *Outbox) Doubt(ctx context.Context, id int64, why string) (Row, error) {
	return o.change(ctx, id, "put in doubt", "leave it", move{to: StateAmbiguous, err: why}, StatePending)
}

// Resolve moves an ambiguous row by the decision of a user: to done when created, which means that
// the platform has the company, else back to pending. The decision also applies to logged sends of
// the company by rows that are no longer in the outbox.
func (o *Outbox) Resolve(ctx context.Context, id int64, created bool) (Row, error) {
	m := move{to: StatePending, byUser: true}
	if created {
		m = move{to: StateDone, err: "created, by a person's word", byUser: true}
	}
	return o.change(ctx, id, "resolved", "only an ambiguous row can", m, StateAmbiguous)
}

// Confirm moves an ambiguous row to done because of [Creations.Evidence].
func (o *Outbox) Confirm(ctx context.Context, id int64) (Row, error) {
	return o.change(ctx, id, "confirmed", "only an ambiguous row can", move{to: StateDone, err: reasonEvidence}, StateAmbiguous)
}

// Retry makes a pending row due at once, or moves a rejected row to pending. correction, which the
// caller validates, replaces the row's company. A rejected row needs one, because its password was
// erased.
func (o *Outbox) Retry(ctx context.Context, id int64, correction *Company) (Row, error) {
	var row Row
	err := o.update(ctx, func(tx *sqlx.Tx) (err error) {
		if row, err = selectRow(tx, id); err != nil {
			return err
		}
		if row.State != StatePending && row.State != StateRejected {
			return &StateError{ID: id, State: row.State, Wanted: "tried again", Remedy: retryRemedy(row)}
		}
		if row, err = o.apply(tx, row, move{to: StatePending}); err != nil || correction == nil {
			return err
		}
		if err := o.setCompany(tx, row, *correction); err != nil {
			return err
		}
		row, err = selectRow(tx, id)
		return err
	})
	if err != nil {
		return Row{}, fmt.Errorf("outbox: %w", err)
	}
	return row, nil
}

func retryRemedy(row Row) string {
	if row.State == StateAmbiguous {
		return fmt.Sprintf("find out whether the platform has the company, then `solarmirror outbox resolve %d --as done` or `--as pending`", row.ID)
	}
	return "queue the company again with `solarmirror outbox add`"
}

func (o *Outbox) setCompany(tx *sqlx.Tx, row Row, c Company) error {
	if !row.AllowDuplicate {
		candidates, err := o.candidates(tx)
		if err != nil {
			return err
		}
		if duplicate := findDuplicate(candidates, c, row); duplicate != nil {
			return duplicate
		}
	}
	set, values := "password = ?", []any{o.storedPassword(c.Password, row.IntentID)}
	for i, v := range companyValues(c) {
		set, values = set+", "+companyFields[i]+" = ?", append(values, v)
	}
	_, err := tx.Exec("UPDATE company_outbox SET "+set+" WHERE id = ?", append(values, row.ID)...)
	return err
}

// Claim moves a pending row to sending, durably. The caller then sends it and calls Settle. If it
// could not send, it calls Settle with an outcome that goes back to pending.
//
// Errors: [*StateError] when the row is no longer equal to wanted or its intent was sent before;
// [*DuplicateError] as from [Outbox.Add], unless the row allows duplicates.
func (o *Outbox) Claim(ctx context.Context, wanted Row) (Row, error) {
	var row Row
	begun := false
	err := o.update(ctx, func(tx *sqlx.Tx) (err error) {
		if row, err = selectRow(tx, wanted.ID); err != nil {
			return err
		}
		if row.State != StatePending || row != wanted {
			return &StateError{ID: row.ID, State: row.State, Wanted: "sent", Remedy: "another program changed it; run `solarmirror push` again"}
		}
		if err := o.checkSendable(tx, row); err != nil {
			return err
		}
		now := sqlitefile.FormatTime(o.now())
		if _, err := tx.Exec(`UPDATE company_outbox SET state = 'sending', revision = revision + 1, attempts = attempts + 1, claimed_at = ?,
			next_attempt_at = NULL WHERE id = ?`, now, row.ID); err != nil {
			return err
		}
		if _, err := tx.Exec(`INSERT INTO company_outbox_attempts (outbox_id, started_at) VALUES (?, ?)`, row.ID, now); err != nil {
			return err
		}
		if row, err = selectRow(tx, row.ID); err != nil {
			return err
		}
		begun = true
		return o.logMove(tx, row, StateSending)
	})
	if err != nil {
		if begun {
			// Nothing was sent. If this fails too, the next Recover makes the row ambiguous.
			_ = o.update(context.WithoutCancel(ctx), func(tx *sqlx.Tx) error { return o.logMove(tx, row, StatePending) })
		}
		return Row{}, fmt.Errorf("claim in the outbox: %w", err)
	}
	return row, nil
}

// checkSendable returns an error when the row's intent was sent, or when its company is a duplicate
// that the row does not allow.
func (o *Outbox) checkSendable(tx *sqlx.Tx, row Row) error {
	log, err := o.verifiedSendLog(tx)
	if err != nil {
		return err
	}
	if _, sent := log.sends[row.IntentID]; sent {
		return &StateError{ID: row.ID, State: row.State, Wanted: "sent", Remedy: "it has been sent; run `solarmirror push` again, which puts it in doubt"}
	}
	if row.AllowDuplicate {
		return nil
	}
	candidates, err := o.candidates(tx)
	if err != nil {
		return err
	}
	if duplicate := findDuplicate(candidates, row.Company, row); duplicate != nil {
		return duplicate
	}
	return nil
}

// Settlement is the outcome of an attempt.
type Settlement struct {
	State       State  // the row's next state: done, rejected, ambiguous or pending
	Outcome     string // value of company_outbox_attempts.outcome
	HTTPStatus  int    // 0 without an answer
	Error       string
	NextAttempt time.Time // of a row that goes back to pending; zero: at once
}

// Settle records the outcome of the attempt that [Outbox.Claim] began; claimed is the row that
// Claim returned. Settle ignores the end of ctx, because every send must be recorded. The row moves
// to the state of the outcome even if another program has changed it meanwhile. If another program
// has deleted it, only the send log records the outcome.
func (o *Outbox) Settle(ctx context.Context, claimed Row, s Settlement) (Row, error) {
	settled := claimed
	err := o.update(context.WithoutCancel(ctx), func(tx *sqlx.Tx) error {
		if err := o.endAttempt(tx, claimed.ID, s); err != nil {
			return err
		}
		// By intent, because another program may have changed the id.
		rows, err := selectRows(tx, "WHERE intent_id = ?", claimed.IntentID)
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			settled.State, settled.Error, settled.HTTPStatus = s.State, s.Error, s.HTTPStatus
			settled.Revision++
			return o.logMove(tx, claimed, s.State)
		}
		row := rows[0]
		if row.State != StateSending {
			o.log.Warn().Int64("outbox_id", row.ID).Str("state", string(row.State)).Msg("another program changed the row while it was being sent")
			if row, err = o.apply(tx, row, move{to: StateAmbiguous}); err != nil {
				return err
			}
		}
		settled, err = o.apply(tx, row, move{to: s.State, httpStatus: s.HTTPStatus, err: s.Error, nextAttempt: s.NextAttempt})
		return err
	})
	if err != nil {
		return Row{}, fmt.Errorf("record the outcome of row %d: %w", claimed.ID, err)
	}
	return settled, nil
}

// endAttempt ends the unfinished attempt of a row. A row has one exactly while it is sending.
func (o *Outbox) endAttempt(tx *sqlx.Tx, id int64, s Settlement) error {
	var status any
	if s.HTTPStatus != 0 {
		status = s.HTTPStatus
	}
	now := sqlitefile.FormatTime(o.now())
	result, err := tx.Exec(`UPDATE company_outbox_attempts SET finished_at = ?, outcome = ?, http_status = ?, error = ?
		WHERE outbox_id = ? AND finished_at IS NULL`, now, s.Outcome, status, sqlitefile.NullableText(s.Error), id)
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n > 0 {
		return err
	}
	// Another program deleted the attempt.
	_, err = tx.Exec(`INSERT INTO company_outbox_attempts (outbox_id, started_at, finished_at, outcome, http_status, error)
		VALUES (?, ?, ?, ?, ?, ?)`, id, now, now, s.Outcome, status, sqlitefile.NullableText(s.Error))
	return err
}

// Purge deletes the rows that were finished before a time, with their attempts, and returns the
// number of rows.
func (o *Outbox) Purge(ctx context.Context, finishedBefore time.Time) (int64, error) {
	var purged int64
	err := o.update(ctx, func(tx *sqlx.Tx) error {
		const old = "SELECT id FROM company_outbox WHERE finished_at < ?"
		if _, err := tx.Exec("DELETE FROM company_outbox_attempts WHERE outbox_id IN ("+old+")", sqlitefile.FormatTime(finishedBefore)); err != nil {
			return err
		}
		result, err := tx.Exec("DELETE FROM company_outbox WHERE id IN ("+old+")", sqlitefile.FormatTime(finishedBefore))
		if err != nil {
			return err
		}
		purged, err = result.RowsAffected()
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("purge the outbox: %w", err)
	}
	return purged, nil
}

// ErasePasswords erases the passwords of ambiguous rows that were claimed before a time, and
// returns the number of rows.
func (o *Outbox) ErasePasswords(ctx context.Context, claimedBefore time.Time) (int64, error) {
	var erased int64
	err := o.update(ctx, func(tx *sqlx.Tx) error {
		result, err := tx.Exec(`UPDATE company_outbox SET password = NULL
			WHERE state = 'ambiguous' AND password IS NOT NULL AND coalesce(claimed_at, created_at) < ?`, sqlitefile.FormatTime(claimedBefore))
		if err != nil {
			return err
		}
		erased, err = result.RowsAffected()
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("erase the passwords of old doubts: %w", err)
	}
	return erased, nil
}

// Delete erases a person or company: it deletes the rows of a CPF or CNPJ in any state, with their
// attempts, and removes the tag of the number from the send log. It returns the rows' intent ids.
func (o *Outbox) Delete(ctx context.Context, taxID string) ([]string, error) {
	var intents []string
	err := o.update(ctx, func(tx *sqlx.Tx) error {
		id := identity.PlainTaxID(taxID)
		where := " WHERE " + identity.PlainTaxSQL("coalesce(cnpj, '')") + " = ? OR " + identity.PlainTaxSQL("coalesce(cpf, '')") + " = ?"
		if err := tx.Select(&intents, "SELECT intent_id FROM company_outbox"+where, id, id); err != nil {
			return err
		}
		if _, err := tx.Exec("DELETE FROM company_outbox_attempts WHERE outbox_id IN (SELECT id FROM company_outbox"+where+")", id, id); err != nil {
			return err
		}
		if _, err := tx.Exec("DELETE FROM company_outbox"+where, id, id); err != nil {
			return err
		}
		return o.removeTag(taxTag(taxID))
	})
	if err != nil {
		return nil, fmt.Errorf("erase from the outbox: %w", err)
	}
	return intents, nil
}
