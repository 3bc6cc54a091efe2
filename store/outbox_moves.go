package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"
)

// Why a row came to be in doubt, as its error says.
const (
	whyCutOff   = "it was cut off while it was being sent: the platform may have created it"
	whySent     = "this outbox was put back from a backup, and the row has been sent since: the platform may have created it"
	whyNoLog    = "the send log beside this outbox is missing or belongs to another: the row may have been sent"
	whyFurther  = "this outbox was put back from a backup, and the mirror knows the row as %s since"
	whyEvidence = "created: the mirror holds a request of this company"
)

// StateError says that a row does not stand where a move begins.
type StateError struct {
	ID     int64
	State  OutboxState
	Wanted string // what was to be done: "cancelled"
	Remedy string
}

func (e *StateError) Error() string {
	return fmt.Sprintf("row %d is %s and cannot be %s; %s", e.ID, e.State, e.Wanted, e.Remedy)
}

// move is one change of state.
type move struct {
	to     OutboxState
	status int
	err    string
	// nextAttempt is of a row that goes back to pending; zero is at once.
	nextAttempt time.Time
	// attempts is raised to at least this, for sends that the row has forgotten.
	attempts int64
}

// apply makes a move. Reaching a final state erases the password in the same statement.
func (o *Outbox) apply(tx *sqlx.Tx, id int64, m move) error {
	final := m.to == StateDone || m.to == StateRejected || m.to == StateCancelled
	var finished any
	if final {
		finished = FormatTime(o.now())
	}
	var status any
	if m.status != 0 {
		status = m.status
	}
	result, err := tx.Exec(`UPDATE company_outbox SET state = ?, revision = revision + 1, attempts = max(attempts, ?), http_status = ?, error = ?,
		next_attempt_at = ?, finished_at = ?, password = CASE WHEN ? THEN NULL ELSE password END WHERE id = ?`,
		string(m.to), m.attempts, status, nullableText(m.err), nullableTime(m.nextAttempt), finished, final, id)
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n != 1 {
		return errors.Join(err, fmt.Errorf("%w: %d", ErrNoRow, id))
	}
	return nil
}

// change makes the move of one row that stands in one of the states, and returns the row after it.
func (o *Outbox) change(ctx context.Context, id int64, wanted, remedy string, m move, from ...OutboxState) (OutboxRow, error) {
	var row OutboxRow
	err := o.update(ctx, func(tx *sqlx.Tx) (err error) {
		if row, err = selectRow(tx, id); err != nil {
			return err
		}
		if !standsIn(row, from) {
			return &StateError{ID: id, State: row.State, Wanted: wanted, Remedy: remedy}
		}
		if err := o.apply(tx, id, m); err != nil {
			return err
		}
		row, err = selectRow(tx, id)
		return err
	})
	if err != nil {
		return OutboxRow{}, fmt.Errorf("outbox: %w", err)
	}
	return row, nil
}

func standsIn(row OutboxRow, states []OutboxState) bool {
	for _, s := range states {
		if row.State == s {
			return true
		}
	}
	return false
}

// Reject finishes a pending row that is not fit to be sent.
func (o *Outbox) Reject(ctx context.Context, id int64, why string) (OutboxRow, error) {
	return o.change(ctx, id, "rejected", "leave it", move{to: StateRejected, err: why}, StatePending)
}

// Postpone keeps a pending row back until a time.
func (o *Outbox) Postpone(ctx context.Context, id int64, why string, until time.Time) (OutboxRow, error) {
	return o.change(ctx, id, "postponed", "leave it", move{to: StatePending, err: why, nextAttempt: until}, StatePending)
}

// Cancel gives a pending row up.
func (o *Outbox) Cancel(ctx context.Context, id int64) (OutboxRow, error) {
	return o.change(ctx, id, "cancelled", "only a pending row can", move{to: StateCancelled}, StatePending)
}

// Resolve settles a doubt by a person's word: created is true when the platform has the company, and false when the row is to be
// sent again.
func (o *Outbox) Resolve(ctx context.Context, id int64, created bool) (OutboxRow, error) {
	m := move{to: StatePending}
	if created {
		m = move{to: StateDone, err: "created, by a person's word"}
	}
	return o.change(ctx, id, "resolved", "only an ambiguous row can", m, StateAmbiguous)
}

// Confirm settles a doubt by evidence found in the mirror.
func (o *Outbox) Confirm(ctx context.Context, id int64) (OutboxRow, error) {
	return o.change(ctx, id, "confirmed", "only an ambiguous row can", move{to: StateDone, err: whyEvidence}, StateAmbiguous)
}

// Retry makes a pending row due at once, or queues a rejected one again. With correction the company takes the place of the row's own,
// which a rejected row needs, since its password was erased; the company should be valid.
func (o *Outbox) Retry(ctx context.Context, id int64, correction *Company) (OutboxRow, error) {
	var row OutboxRow
	err := o.update(ctx, func(tx *sqlx.Tx) (err error) {
		if row, err = selectRow(tx, id); err != nil {
			return err
		}
		if !standsIn(row, []OutboxState{StatePending, StateRejected}) {
			return &StateError{ID: id, State: row.State, Wanted: "tried again", Remedy: retryRemedy(row)}
		}
		if err := o.apply(tx, id, move{to: StatePending}); err != nil {
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
		return OutboxRow{}, fmt.Errorf("outbox: %w", err)
	}
	return row, nil
}

func retryRemedy(row OutboxRow) string {
	if row.State == StateAmbiguous {
		return fmt.Sprintf("find out whether the platform has the company, then `solarmirror outbox resolve %d --as done` or `--as pending`", row.ID)
	}
	return "queue the company again with `solarmirror outbox add`"
}

func (o *Outbox) replace(tx *sqlx.Tx, row OutboxRow, c Company) error {
	if !row.AllowDuplicate {
		if other, what, err := openDuplicate(tx, c, row.ID); err != nil {
			return err
		} else if other != 0 {
			return &DuplicateError{ID: other, What: what}
		}
	}
	set, values := "password = ?", []any{o.stored(c.Password, row.IntentID)}
	for i, v := range companyValues(c) {
		set, values = set+", "+companyFields[i]+" = ?", append(values, v)
	}
	_, err := tx.Exec("UPDATE company_outbox SET "+set+" WHERE id = ?", append(values, row.ID)...)
	return err
}

// Claim makes a pending row sending, for good: the caller sends it next and then calls Settle, or nothing was sent and it calls Settle
// with an outcome that goes back to pending. Recover must have been called. [*StateError] when another command was faster.
func (o *Outbox) Claim(ctx context.Context, id int64) (OutboxRow, error) {
	if o.sends == nil {
		return OutboxRow{}, fmt.Errorf("claim row %d: the outbox was not recovered", id)
	}
	var row OutboxRow
	err := o.update(ctx, func(tx *sqlx.Tx) (err error) {
		if row, err = selectRow(tx, id); err != nil {
			return err
		}
		if row.State != StatePending {
			return &StateError{ID: id, State: row.State, Wanted: "sent", Remedy: "leave it"}
		}
		now := FormatTime(o.now())
		for _, step := range []struct {
			query string
			args  []any
		}{
			{`UPDATE company_outbox SET state = 'sending', revision = revision + 1, attempts = attempts + 1, claimed_at = ?, next_attempt_at = NULL WHERE id = ?`, []any{now, id}},
			{`INSERT INTO company_outbox_attempts (outbox_id, started_at) VALUES (?, ?)`, []any{id, now}},
			{`UPDATE _outbox SET sends = ?`, []any{o.sends.total + 1}},
		} {
			if _, err := tx.Exec(step.query, step.args...); err != nil {
				return err
			}
		}
		row, err = selectRow(tx, id)
		return err
	})
	if err != nil {
		return OutboxRow{}, fmt.Errorf("claim in the outbox: %w", err)
	}
	return row, o.sends.add(row.IntentID)
}

// Settlement is the outcome of one attempt.
type Settlement struct {
	State       OutboxState // where the row goes: done, rejected, ambiguous or pending
	Outcome     string      // as company_outbox_attempts.outcome names it
	HTTPStatus  int         // 0 without an answer
	Error       string
	NextAttempt time.Time // of a row that goes back to pending; zero is at once
}

// Settle records the outcome of the attempt a Claim began. It works although ctx has ended: what was sent must be written down.
func (o *Outbox) Settle(ctx context.Context, id int64, s Settlement) (OutboxRow, error) {
	var row OutboxRow
	err := o.update(context.WithoutCancel(ctx), func(tx *sqlx.Tx) (err error) {
		if err := o.apply(tx, id, move{to: s.State, status: s.HTTPStatus, err: s.Error, nextAttempt: s.NextAttempt}); err != nil {
			return err
		}
		if err := o.endAttempt(tx, id, s); err != nil {
			return err
		}
		row, err = selectRow(tx, id)
		return err
	})
	if err != nil {
		return OutboxRow{}, fmt.Errorf("record the outcome of row %d: %w", id, err)
	}
	return row, nil
}

func (o *Outbox) endAttempt(tx *sqlx.Tx, id int64, s Settlement) error {
	var status any
	if s.HTTPStatus != 0 {
		status = s.HTTPStatus
	}
	_, err := tx.Exec(`UPDATE company_outbox_attempts SET finished_at = ?, outcome = ?, http_status = ?, error = ?
		WHERE attempt_id = (SELECT max(attempt_id) FROM company_outbox_attempts WHERE outbox_id = ?)`,
		FormatTime(o.now()), s.Outcome, status, nullableText(s.Error), id)
	return err
}

// Purge deletes the rows that were finished before a time, with their attempts, and returns how many.
func (o *Outbox) Purge(ctx context.Context, finishedBefore time.Time) (int64, error) {
	var purged int64
	err := o.update(ctx, func(tx *sqlx.Tx) error {
		const old = "SELECT id FROM company_outbox WHERE finished_at < ?"
		if _, err := tx.Exec("DELETE FROM company_outbox_attempts WHERE outbox_id IN ("+old+")", FormatTime(finishedBefore)); err != nil {
			return err
		}
		result, err := tx.Exec("DELETE FROM company_outbox WHERE id IN ("+old+")", FormatTime(finishedBefore))
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

// ErasePasswords forgets the passwords of ambiguous rows that were claimed before a time, and returns how many.
func (o *Outbox) ErasePasswords(ctx context.Context, claimedBefore time.Time) (int64, error) {
	var erased int64
	err := o.update(ctx, func(tx *sqlx.Tx) error {
		result, err := tx.Exec(`UPDATE company_outbox SET password = NULL
			WHERE state = 'ambiguous' AND password IS NOT NULL AND coalesce(claimed_at, created_at) < ?`, FormatTime(claimedBefore))
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

// Recover reads the send log and puts in doubt what may have been sent without this file knowing: rows that were being sent
// when a run was cut off, and rows of an outbox put back from a backup. It returns the rows now in doubt. The caller
// holds the outbox's lock.
func (o *Outbox) Recover(ctx context.Context) ([]OutboxRow, error) {
	var doubts []OutboxRow
	err := o.update(ctx, func(tx *sqlx.Tx) error {
		var meta struct {
			Identity string `db:"identity"`
			Sends    int64  `db:"sends"`
		}
		if err := tx.Get(&meta, "SELECT identity, sends FROM _outbox"); err != nil {
			return err
		}
		log, found, err := openSendLog(sendLogPath(o.path), meta.Identity)
		if err != nil {
			return err
		}
		// A claim is one ahead of the log for a moment; more than that, and the log is an older one.
		if found && meta.Sends > log.total+1 {
			found = false
			_ = log.close()
		}
		counts := map[string]int64{}
		if found {
			o.sends, counts = log, log.counts
		}
		if doubts, err = o.doubt(tx, !found, counts); err != nil {
			return err
		}
		if found {
			_, err = tx.Exec("UPDATE _outbox SET sends = ?", log.total)
			return err
		}
		return o.replaceSendLog(tx)
	})
	if err != nil {
		return nil, fmt.Errorf("recover the outbox: %w", err)
	}
	return doubts, nil
}

// replaceSendLog begins a log of a new identity. Killed before the commit, the outbox keeps the old identity and is recovered
// again.
func (o *Outbox) replaceSendLog(tx *sqlx.Tx) error {
	identity := newIdentity()
	if err := createSendLog(sendLogPath(o.path), identity); err != nil {
		return err
	}
	log, found, err := openSendLog(sendLogPath(o.path), identity)
	if err != nil || !found {
		return errors.Join(err, errors.New("the send log just made is gone"))
	}
	o.sends = log
	_, err = tx.Exec("UPDATE _outbox SET identity = ?, sends = 0", identity)
	return err
}

// doubt makes ambiguous what may have been sent.
func (o *Outbox) doubt(tx *sqlx.Tx, noLog bool, sends map[string]int64) (doubts []OutboxRow, err error) {
	rows, err := selectRows(tx, "WHERE state IN ('sending', 'pending', 'ambiguous') ORDER BY id")
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		why, sent := "", sends[r.IntentID]
		switch {
		case r.State == StateAmbiguous:
			if sent > r.Attempts {
				if _, err := tx.Exec("UPDATE company_outbox SET attempts = ? WHERE id = ?", sent, r.ID); err != nil {
					return nil, err
				}
			}
			continue
		case r.State == StateSending:
			why = whyCutOff
		case noLog:
			why = whyNoLog
		case sent > r.Attempts:
			why = whySent
		default:
			continue
		}
		if err := o.apply(tx, r.ID, move{to: StateAmbiguous, err: why, attempts: sent}); err != nil {
			return nil, err
		}
		doubtful, err := selectRow(tx, r.ID)
		if err != nil {
			return nil, err
		}
		doubts = append(doubts, doubtful)
	}
	return doubts, nil
}

// Overtaken puts in doubt the rows of which the mirror knows another or a later change of state than this file, which must then have
// been put back from a backup. known are the mirror's by intent. It returns the rows now in doubt.
func (o *Outbox) Overtaken(ctx context.Context, known map[string]Creation) ([]OutboxRow, error) {
	var doubts []OutboxRow
	err := o.update(ctx, func(tx *sqlx.Tx) error {
		rows, err := selectRows(tx, "WHERE state IN ('pending', 'ambiguous') ORDER BY id")
		if err != nil {
			return err
		}
		for _, r := range rows {
			mirrored, ok := known[r.IntentID]
			if !ok || !mirrored.ahead(r) {
				continue
			}
			// From here on the row is ahead of the mirror again.
			if _, err := tx.Exec("UPDATE company_outbox SET revision = ? WHERE id = ?", mirrored.Revision, r.ID); err != nil {
				return err
			}
			m := move{to: StateAmbiguous, err: fmt.Sprintf(whyFurther, mirrored.State), attempts: mirrored.Attempts}
			if err := o.apply(tx, r.ID, m); err != nil {
				return err
			}
			doubtful, err := selectRow(tx, r.ID)
			if err != nil {
				return err
			}
			doubts = append(doubts, doubtful)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("compare the outbox with the mirror: %w", err)
	}
	return doubts, nil
}

// Delete removes the rows of a CPF or CNPJ with their attempts, whatever their state, for an erasure request. It returns
// the intents they were.
func (o *Outbox) Delete(ctx context.Context, taxID string) ([]string, error) {
	var intents []string
	err := o.update(ctx, func(tx *sqlx.Tx) error {
		id := PlainTaxID(taxID)
		where := " WHERE " + plainTaxSQL("coalesce(cnpj, '')") + " = ? OR " + plainTaxSQL("coalesce(cpf, '')") + " = ?"
		if err := tx.Select(&intents, "SELECT intent_id FROM company_outbox"+where, id, id); err != nil {
			return err
		}
		if _, err := tx.Exec("DELETE FROM company_outbox_attempts WHERE outbox_id IN (SELECT id FROM company_outbox"+where+")", id, id); err != nil {
			return err
		}
		_, err := tx.Exec("DELETE FROM company_outbox"+where, id, id)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("erase from the outbox: %w", err)
	}
	return intents, nil
}
