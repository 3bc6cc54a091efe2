package outbox

import (
	"context"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"

	"solarmirror/store/identity"
	"solarmirror/store/sqlitefile"
)

// Why a row came to be in doubt, as its error says.
const (
	whyCutOff   = "it was cut off while it was being sent: the platform may have created it"
	whySent     = "it was sent, and this row says otherwise: it was put back from a backup, or another program changed it"
	whyNoLog    = "the send log beside this outbox is missing, incomplete or of another outbox: the row may have been sent"
	whyFurther  = "this outbox was put back from a backup, and the mirror knows the row as %s since"
	whyEvidence = "created: the mirror holds a request of this company"
)

// StateError says that a row does not stand where a move begins.
type StateError struct {
	ID     int64
	State  State
	Wanted string // what was to be done: "cancelled"
	Remedy string
}

func (e *StateError) Error() string {
	return fmt.Sprintf("row %d is %s and cannot be %s; %s", e.ID, e.State, e.Wanted, e.Remedy)
}

// move is one change of state.
type move struct {
	to     State
	status int
	err    string
	// nextAttempt is of a row that goes back to pending; zero is at once.
	nextAttempt time.Time
	// word says that a person looked for the company on the platform.
	word bool
}

// apply makes a move, in the send log too. Reaching a final state erases the password in the same
// statement.
func (o *Outbox) apply(tx *sqlx.Tx, row Row, m move) error {
	final := m.to == StateDone || m.to == StateRejected || m.to == StateCancelled
	var finished any
	if final {
		finished = sqlitefile.FormatTime(o.now())
	}
	var status any
	if m.status != 0 {
		status = m.status
	}
	_, err := tx.Exec(`UPDATE company_outbox SET state = ?, revision = revision + 1, http_status = ?, error = ?,
		next_attempt_at = ?, finished_at = ?, password = CASE WHEN ? THEN NULL ELSE password END WHERE id = ?`,
		string(m.to), status, sqlitefile.NullableText(m.err), sqlitefile.NullableTime(m.nextAttempt), finished, final, row.ID)
	if err != nil {
		return err
	}
	if m.to != StateAmbiguous && row.State != StateAmbiguous && row.State != StateSending {
		return nil // nothing was sent
	}
	if m.word {
		if err := o.noteOrphans(tx, row, m.to); err != nil {
			return err
		}
	}
	return o.noteMove(tx, row, m.to)
}

// noteMove has the send log say the same of a row as its state.
func (o *Outbox) noteMove(tx *sqlx.Tx, row Row, to State) error {
	log, err := o.ownSends(tx)
	if err != nil {
		return err
	}
	return o.note(tx, log.events(row, to)...)
}

// change makes the move of one row that stands in one of the states, and returns the row after it.
func (o *Outbox) change(ctx context.Context, id int64, wanted, remedy string, m move, from ...State) (Row, error) {
	var row Row
	err := o.update(ctx, func(tx *sqlx.Tx) (err error) {
		if row, err = selectRow(tx, id); err != nil {
			return err
		}
		if !standsIn(row, from) {
			return &StateError{ID: id, State: row.State, Wanted: wanted, Remedy: remedy}
		}
		if err := o.apply(tx, row, m); err != nil {
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

func standsIn(row Row, states []State) bool {
	for _, s := range states {
		if row.State == s {
			return true
		}
	}
	return false
}

// Reject finishes a pending row that is not fit to be sent.
func (o *Outbox) Reject(ctx context.Context, id int64, why string) (Row, error) {
	return o.change(ctx, id, "rejected", "leave it", move{to: StateRejected, err: why}, StatePending)
}

// Postpone keeps a pending row back until a time.
func (o *Outbox) Postpone(ctx context.Context, id int64, why string, until time.Time) (Row, error) {
	return o.change(ctx, id, "postponed", "leave it", move{to: StatePending, err: why, nextAttempt: until}, StatePending)
}

// Cancel gives a pending row up.
func (o *Outbox) Cancel(ctx context.Context, id int64) (Row, error) {
	return o.change(ctx, id, "cancelled", "only a pending row can", move{to: StateCancelled}, StatePending)
}

// Doubt puts a pending row in doubt.
func (o *Outbox) Doubt(ctx context.Context, id int64, why string) (Row, error) {
	return o.change(ctx, id, "put in doubt", "leave it", move{to: StateAmbiguous, err: why}, StatePending)
}

// Resolve settles a doubt by a person's word: created is true when the platform has the company,
// and false when the row is to be sent again. The word is of the company, so it counts for sends of
// rows that are no longer in the outbox as well.
func (o *Outbox) Resolve(ctx context.Context, id int64, created bool) (Row, error) {
	m := move{to: StatePending, word: true}
	if created {
		m = move{to: StateDone, err: "created, by a person's word", word: true}
	}
	return o.change(ctx, id, "resolved", "only an ambiguous row can", m, StateAmbiguous)
}

// Confirm settles a doubt by evidence found in the mirror.
func (o *Outbox) Confirm(ctx context.Context, id int64) (Row, error) {
	return o.change(ctx, id, "confirmed", "only an ambiguous row can", move{to: StateDone, err: whyEvidence}, StateAmbiguous)
}

// Retry makes a pending row due at once, or queues a rejected one again. With correction the
// company takes the place of the row's own, which a rejected row needs, since its password was
// erased; the company should be valid.
func (o *Outbox) Retry(ctx context.Context, id int64, correction *Company) (Row, error) {
	var row Row
	err := o.update(ctx, func(tx *sqlx.Tx) (err error) {
		if row, err = selectRow(tx, id); err != nil {
			return err
		}
		if !standsIn(row, []State{StatePending, StateRejected}) {
			return &StateError{ID: id, State: row.State, Wanted: "tried again", Remedy: retryRemedy(row)}
		}
		if err := o.apply(tx, row, move{to: StatePending}); err != nil {
			return err
		}
		if correction != nil {
			if err := o.replace(tx, row, *correction); err != nil {
				return err
			}
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

func (o *Outbox) replace(tx *sqlx.Tx, row Row, c Company) error {
	if !row.AllowDuplicate {
		rivals, err := o.rivals(tx)
		if err != nil {
			return err
		}
		if duplicate := duplicateOf(rivals, c, row); duplicate != nil {
			return duplicate
		}
	}
	set, values := "password = ?", []any{o.stored(c.Password, row.IntentID)}
	for i, v := range companyValues(c) {
		set, values = set+", "+companyFields[i]+" = ?", append(values, v)
	}
	_, err := tx.Exec("UPDATE company_outbox SET "+set+" WHERE id = ?", append(values, row.ID)...)
	return err
}

// Claim makes a pending row sending, for good: the caller sends it next and then calls Settle, or
// nothing was sent and it calls Settle with an outcome that goes back to pending. [*StateError]
// when the row is no longer as wanted, [*DuplicateError] when its company waits, is in doubt or was
// created in another row, and the row does not allow for it.
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
		if err := o.mayBeSent(tx, row); err != nil {
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
		return o.noteMove(tx, row, StateSending)
	})
	if err != nil {
		if begun { // nothing is sent; where this fails as well, the next Recover puts the row in doubt
			_ = o.update(context.WithoutCancel(ctx), func(tx *sqlx.Tx) error { return o.noteMove(tx, row, StatePending) })
		}
		return Row{}, fmt.Errorf("claim in the outbox: %w", err)
	}
	return row, nil
}

// mayBeSent refuses what has been sent already.
func (o *Outbox) mayBeSent(tx *sqlx.Tx, row Row) error {
	log, err := o.ownSends(tx)
	if err != nil {
		return err
	}
	if _, sent := log.sends[row.IntentID]; sent {
		return &StateError{ID: row.ID, State: row.State, Wanted: "sent", Remedy: "it has been sent; run `solarmirror push` again, which puts it in doubt"}
	}
	if row.AllowDuplicate {
		return nil
	}
	rivals, err := o.rivals(tx)
	if err != nil {
		return err
	}
	if duplicate := duplicateOf(rivals, row.Company, row); duplicate != nil {
		return duplicate
	}
	return nil
}

// Settlement is the outcome of one attempt.
type Settlement struct {
	State       State  // where the row goes: done, rejected, ambiguous or pending
	Outcome     string // as company_outbox_attempts.outcome names it
	HTTPStatus  int    // 0 without an answer
	Error       string
	NextAttempt time.Time // of a row that goes back to pending; zero is at once
}

// Settle records the outcome of the attempt a Claim began; claimed is the row that it returned. It
// works although ctx has ended: what was sent must be written down. What another program did to the
// row meanwhile does not change what was sent: the row, wherever it stands now, goes where the
// outcome says. Of a row that is gone the send log is told.
func (o *Outbox) Settle(ctx context.Context, claimed Row, s Settlement) (Row, error) {
	settled := claimed
	err := o.update(context.WithoutCancel(ctx), func(tx *sqlx.Tx) error {
		if err := o.endAttempt(tx, claimed.ID, s); err != nil {
			return err
		}
		rows, err := selectRows(tx, "WHERE intent_id = ?", claimed.IntentID) // its id may be another by now
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			settled.State, settled.Error, settled.HTTPStatus = s.State, s.Error, s.HTTPStatus
			settled.Revision++
			return o.noteMove(tx, claimed, s.State)
		}
		row := rows[0]
		if row.State != StateSending {
			o.log.Warn().Int64("outbox_id", row.ID).Str("state", string(row.State)).Msg("another program changed the row while it was being sent")
			if err := o.apply(tx, row, move{to: StateAmbiguous}); err != nil {
				return err
			}
			row.State = StateAmbiguous
		}
		if err := o.apply(tx, row, move{to: s.State, status: s.HTTPStatus, err: s.Error, nextAttempt: s.NextAttempt}); err != nil {
			return err
		}
		settled, err = selectRow(tx, row.ID)
		return err
	})
	if err != nil {
		return Row{}, fmt.Errorf("record the outcome of row %d: %w", claimed.ID, err)
	}
	return settled, nil
}

// endAttempt ends the attempt of a row that is under way. A row is in the state sending as long as
// there is one.
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
	// Another program deleted it.
	_, err = tx.Exec(`INSERT INTO company_outbox_attempts (outbox_id, started_at, finished_at, outcome, http_status, error)
		VALUES (?, ?, ?, ?, ?, ?)`, id, now, now, s.Outcome, status, sqlitefile.NullableText(s.Error))
	return err
}

// Purge deletes the rows that were finished before a time, with their attempts, and returns how
// many.
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

// ErasePasswords forgets the passwords of ambiguous rows that were claimed before a time, and
// returns how many.
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

// Delete removes the rows of a CPF or CNPJ with their attempts, whatever their state, for an
// erasure request, and what the send log tells them by. It returns the intents they were.
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
		return o.forgetTag(taxTag(taxID))
	})
	if err != nil {
		return nil, fmt.Errorf("erase from the outbox: %w", err)
	}
	return intents, nil
}
