package outbox

import (
	"context"
	"errors"
	"fmt"

	"github.com/jmoiron/sqlx"
)

// Recover puts in doubt every row that may have been sent and does not say so: rows that were being
// sent when a run was cut off, and rows that were put back from a backup or changed by another
// program. It returns the rows now in doubt. The caller holds the outbox's lock.
func (o *Outbox) Recover(ctx context.Context) ([]Row, error) {
	var doubts []Row
	err := o.update(ctx, func(tx *sqlx.Tx) error {
		_, err := o.ownSends(tx)
		lost := errors.Is(err, errSendLog)
		if lost {
			err = o.renewSends(tx)
		}
		if err != nil {
			return err
		}
		doubts, err = o.doubt(tx, lost)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("recover the outbox: %w", err)
	}
	return doubts, nil
}

// doubt brings rows and send log to agree: what the log holds as begun is ambiguous, what it holds
// as created is done or ambiguous, and the other way round.
func (o *Outbox) doubt(tx *sqlx.Tx, lost bool) (doubts []Row, err error) {
	log, err := o.ownSends(tx)
	if err != nil {
		return nil, err
	}
	rows, err := selectRows(tx, "ORDER BY id")
	if err != nil {
		return nil, err
	}
	var list []int64
	if err := tx.Select(&list, "SELECT outbox_id FROM company_outbox_attempts WHERE finished_at IS NULL"); err != nil {
		return nil, err
	}
	underWay := map[int64]bool{}
	for _, id := range list {
		underWay[id] = true
	}
	var missing []send
	for _, r := range rows {
		if r.State == StateSending || underWay[r.ID] {
			if err := o.endAttempt(tx, r.ID, Settlement{Outcome: string(StateAmbiguous), Error: whyCutOff}); err != nil {
				return nil, err
			}
		}
		last, sent := log.sends[r.IntentID]
		why := ""
		switch {
		case r.State == StateSending, r.State != StateAmbiguous && underWay[r.ID]:
			why = whyCutOff
		case r.State == StateAmbiguous, r.State == StateDone && (!sent || last.event == sendCreated):
			missing = append(missing, log.events(r, r.State)...)
			continue
		case sent, r.State == StatePending && log.untagged[r.IntentID] > r.Attempts:
			why = whySent
		case lost && r.State == StatePending:
			why = whyNoLog
		default:
			continue
		}
		if err := o.apply(tx, r, move{to: StateAmbiguous, err: why}); err != nil {
			return nil, err
		}
		doubtful, err := selectRow(tx, r.ID)
		if err != nil {
			return nil, err
		}
		doubts = append(doubts, doubtful)
	}
	return doubts, o.note(tx, missing...)
}

// Overtaken puts in doubt the rows of which the mirror knows another or a later change of state
// than this file, which must then have been put back from a backup. known are the mirror's by
// intent. It returns the rows now in doubt.
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
			// From here on the row is ahead of the mirror again.
			if _, err := tx.Exec("UPDATE company_outbox SET revision = ? WHERE id = ?", mirrored.Revision, r.ID); err != nil {
				return err
			}
			m := move{to: StateAmbiguous, err: fmt.Sprintf(whyFurther, mirrored.State)}
			if err := o.apply(tx, r, m); err != nil {
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
