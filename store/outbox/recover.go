package outbox

import (
	"context"
	"errors"
	"fmt"

	"github.com/jmoiron/sqlx"
)

// Recover makes every row ambiguous that may have been sent but has another state: rows that an
// interrupted run was sending, and rows restored from a backup or changed by another program. It
// returns the rows that became ambiguous. The caller holds the outbox's lock.
func (o *Outbox) Recover(ctx context.Context) ([]Row, error) {
	var doubts []Row
	err := o.update(ctx, func(tx *sqlx.Tx) error {
		_, err := o.verifiedSendLog(tx)
		logLost := errors.Is(err, errSendLogIncomplete)
		if logLost {
			err = o.renewIdentity(tx)
		}
		if err != nil {
			return err
		}
		doubts, err = o.reconcile(tx, logLost)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("recover the outbox: %w", err)
	}
	return doubts, nil
}

// reconcile makes rows and send log agree: an intent that has begun in the log is ambiguous, one
// that was created is done or ambiguous, and the other way round. logLost: the log was missing,
// incomplete or of another outbox, so any pending row may have been sent.
func (o *Outbox) reconcile(tx *sqlx.Tx, logLost bool) (doubts []Row, err error) {
	log, err := o.verifiedSendLog(tx)
	if err != nil {
		return nil, err
	}
	rows, err := selectRows(tx, "ORDER BY id")
	if err != nil {
		return nil, err
	}
	unfinished, err := unfinishedAttempts(tx)
	if err != nil {
		return nil, err
	}
	var missing []send
	for _, r := range rows {
		if r.State == StateSending || unfinished[r.ID] {
			if err := o.endAttempt(tx, r.ID, Settlement{Outcome: string(StateAmbiguous), Error: reasonInterrupted}); err != nil {
				return nil, err
			}
		}
		reason := log.doubt(r, unfinished[r.ID], logLost)
		if reason == "" {
			if r.State == StateAmbiguous || r.State == StateDone {
				missing = append(missing, log.eventsFor(r, r.State)...)
			}
			continue
		}
		doubtful, err := o.apply(tx, r, move{to: StateAmbiguous, err: reason})
		if err != nil {
			return nil, err
		}
		doubts = append(doubts, doubtful)
	}
	return doubts, o.logEvents(tx, missing...)
}

// unfinishedAttempts returns the ids of the rows with an attempt that has not ended.
func unfinishedAttempts(tx *sqlx.Tx) (map[int64]bool, error) {
	var list []int64
	if err := tx.Select(&list, "SELECT outbox_id FROM company_outbox_attempts WHERE finished_at IS NULL"); err != nil {
		return nil, err
	}
	unfinished := map[int64]bool{}
	for _, id := range list {
		unfinished[id] = true
	}
	return unfinished, nil
}

// doubt returns why a row becomes ambiguous, or "" when it stays as it is.
func (l *sendLog) doubt(r Row, unfinished, logLost bool) string {
	last, sent := l.sends[r.IntentID]
	switch {
	case r.State == StateSending, r.State != StateAmbiguous && unfinished:
		return reasonInterrupted
	case r.State == StateAmbiguous, r.State == StateDone && (!sent || last.event == sendCreated):
		return ""
	case sent, r.State == StatePending && l.untagged[r.IntentID] > r.Attempts:
		return reasonSent
	case logLost && r.State == StatePending:
		return reasonNoLog
	}
	return ""
}

// Overtaken finds pending and ambiguous rows of which the mirror has a later revision, or another
// state in the same revision: the outbox was restored from a backup. It makes these rows ambiguous
// and returns them. known is from [Creations.Known].
func (o *Outbox) Overtaken(ctx context.Context, known map[string]Creation) ([]Row, error) {
	var doubts []Row
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
			// The move below then gives the row a higher revision than the mirror's.
			if _, err := tx.Exec("UPDATE company_outbox SET revision = ? WHERE id = ?", mirrored.Revision, r.ID); err != nil {
				return err
			}
			doubtful, err := o.apply(tx, r, move{to: StateAmbiguous, err: fmt.Sprintf(reasonOvertaken, mirrored.State)})
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
