package outbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"

	"solarmirror/store/sqlitefile"
)

// Forecast is what a push would do with a row now.
type Forecast struct {
	Row
	// Next is sending for a row that would be sent, or that another push is sending. Others would
	// become rejected or ambiguous, or stay pending until later.
	Next   State
	Reason string // why this push would not send it
}

// Forecast returns what a push would do with each pending row, and with each row that it would
// first put in doubt, by id. known is from [ReadKnown]; nil without a mirror. validate returns an
// error for a company that would be rejected. Forecast writes nothing.
//
// What depends on the platform is left out: of two rows that are duplicates the first is taken to be
// created.
func (o *Outbox) Forecast(ctx context.Context, known map[string]Creation, validate func(Company) error) ([]Forecast, error) {
	var list []Forecast
	err := o.update(ctx, func(tx *sqlx.Tx) error {
		f, err := o.newForecaster(ctx, tx, known)
		if err != nil {
			return err
		}
		f.validate = validate
		rows, err := selectRows(tx, "ORDER BY id")
		if err != nil {
			return err
		}
		if rows, err = f.beingSent(rows, &list); err != nil {
			return err
		}
		rows = slices.DeleteFunc(rows, func(r Row) bool {
			reason := f.doubt(r)
			if reason != "" {
				list = append(list, f.settle(r, StateAmbiguous, reason))
			}
			return reason != "" || r.State != StatePending
		})
		for _, r := range rows {
			forecast, err := f.pending(ctx, tx, r)
			if err != nil {
				return err
			}
			list = append(list, forecast)
		}
		slices.SortFunc(list, func(a, b Forecast) int { return cmp.Compare(a.ID, b.ID) })
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("look ahead in the outbox: %w", err)
	}
	return list, nil
}

// forecaster follows the steps of a push without its writes.
type forecaster struct {
	*Outbox
	sends      *sendLog
	logLost    bool
	unfinished map[int64]bool
	known      map[string]Creation
	candidates []candidate // as they would be after the rows so far
	validate   func(Company) error
	at         time.Time
}

func (o *Outbox) newForecaster(ctx context.Context, tx *sqlx.Tx, known map[string]Creation) (*forecaster, error) {
	f := &forecaster{Outbox: o, known: known, at: o.now()}
	_, err := o.verifiedSendLog(tx)
	if f.logLost = errors.Is(err, errSendLogIncomplete); err != nil && !f.logLost {
		return nil, err
	}
	if f.sends, err = o.loadSendLog(); err != nil {
		return nil, err
	}
	if f.unfinished, err = unfinishedAttempts(tx); err != nil {
		return nil, err
	}
	f.candidates, err = o.candidates(tx)
	return f, err
}

// beingSent moves the rows that another push is sending from rows to list. It asks for the lock only
// when a row is sending, and within the transaction, during which that push cannot settle the row.
func (f *forecaster) beingSent(rows []Row, list *[]Forecast) ([]Row, error) {
	isSending := func(r Row) bool { return r.State == StateSending }
	if !slices.ContainsFunc(rows, isSending) {
		return rows, nil
	}
	locked, err := sqlitefile.Locked(f.path)
	if err != nil || !locked {
		return rows, err
	}
	return slices.DeleteFunc(rows, func(r Row) bool {
		if isSending(r) {
			*list = append(*list, f.settle(r, StateSending, "being sent by another push"))
		}
		return isSending(r)
	}), nil
}

// doubt is what Recover and Overtaken would find.
func (f *forecaster) doubt(r Row) string {
	if reason := f.sends.doubt(r, f.unfinished[r.ID], f.logLost); reason != "" {
		return reason
	}
	if mirrored, ok := f.known[r.IntentID]; ok && r.State == StatePending && mirrored.ahead(r) {
		return fmt.Sprintf(reasonOvertaken, mirrored.State)
	}
	return ""
}

// pending is what a push would do with a pending row that is not in doubt.
func (f *forecaster) pending(ctx context.Context, tx *sqlx.Tx, r Row) (Forecast, error) {
	if !r.due(f.at) {
		return f.settle(r, StatePending, "not due before "+sqlitefile.FormatTime(r.NextAttemptAt)+" UTC"), nil
	}
	company := r.Company
	var err error
	company.Password, err = f.password(ctx, tx, r.ID)
	if errors.Is(err, ErrSealed) {
		return f.settle(r, StatePending, err.Error()), nil
	}
	if err != nil {
		return Forecast{}, err
	}
	if err := f.validate(company); err != nil {
		return f.settle(r, StateRejected, err.Error()), nil
	}
	duplicate := findDuplicate(f.candidates, r.Company, r)
	switch {
	case duplicate == nil || r.AllowDuplicate:
		return f.settle(r, StateSending, ""), nil
	case duplicate.ID == 0 && duplicate.State != StateDone:
		return f.settle(r, StateAmbiguous, duplicate.Error()), nil
	}
	return f.settle(r, StateRejected, duplicate.Error()), nil
}

// settle makes the forecast of a row count for the rows after it.
func (f *forecaster) settle(r Row, next State, reason string) Forecast {
	switch next {
	case StateRejected:
		f.candidates = slices.DeleteFunc(f.candidates, func(c candidate) bool { return c.intent == r.IntentID })
	case StateAmbiguous:
		f.candidates = append(f.candidates, candidate{id: r.ID, intent: r.IntentID, state: next, tag: taxTag(r.TaxID()), email: plainEmail(r.Email)})
	}
	return Forecast{Row: r, Next: next, Reason: reason}
}
