package push

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"solarmirror/store/outbox"
	"solarmirror/sync/platform"
)

// Pusher sends what is due. The caller holds the outbox's lock.
type Pusher struct {
	Client *platform.Client
	Outbox *outbox.Outbox
	Mirror *outbox.Creations // nil while there is no mirror
	// Keep is how long finished rows stay, KeepAmbiguous how long a doubtful row keeps its
	// password; 0 is for ever.
	Keep          time.Duration
	KeepAmbiguous time.Duration
	Now           func() time.Time
	Log           zerolog.Logger
}

// Report is what a push did. Counts are of rows.
type Report struct {
	Confirmed int   // doubts settled by evidence
	Doubted   int   // found half done, or forgotten by a backup
	Done      int   // created
	Rejected  int   // invalid, duplicate or refused by the platform
	Ambiguous int   // sent, and in doubt
	Postponed int   // pending again
	Unsent    int   // due, and not come to before the run ended
	Purged    int64 // finished long ago, and deleted
	Erased    int64 // passwords of old doubts
}

// IncompleteError is a push that left something undecided.
type IncompleteError struct {
	Done    int // rows that were decided
	Reasons []string
}

func (e *IncompleteError) Error() string { return strings.Join(e.Reasons, "; ") }

const (
	firstWait = time.Minute
	maxWait   = 6 * time.Hour
	// maxUnclear is how many companies in a row may come to nothing clear before the run ends.
	maxUnclear = 3
)

// Push settles what is half done, then sends what is due. The report says what was done in any
// case. An [*IncompleteError] says that the outbox was worked through and something in it is
// undecided; a refused token is a [*platform.AuthError].
func (p *Pusher) Push(ctx context.Context) (*Report, error) {
	report := &Report{}
	if err := p.settleOld(ctx, report); err != nil {
		return report, err
	}
	if err := p.tidy(ctx, report); err != nil {
		return report, err
	}
	due, err := p.Outbox.Due(ctx)
	if err != nil {
		return report, err
	}
	return report, p.sendAll(ctx, due, report)
}

// settleOld brings outbox and mirror to agree before anything is sent.
func (p *Pusher) settleOld(ctx context.Context, report *Report) error {
	doubts, err := p.Outbox.Recover(ctx)
	if err != nil {
		return err
	}
	report.Doubted += p.warn(doubts)
	if p.Mirror == nil {
		return nil
	}
	known, err := p.Mirror.Known(ctx)
	if err != nil {
		return err
	}
	doubts, err = p.Outbox.Overtaken(ctx, known)
	if err != nil {
		return err
	}
	report.Doubted += p.warn(doubts)
	if err := p.confirm(ctx, report); err != nil {
		return err
	}
	return p.tellMissing(ctx, known)
}

func (p *Pusher) warn(doubts []outbox.Row) int {
	for _, row := range doubts {
		p.Log.Warn().Int64("outbox_id", row.ID).Str("error", row.Error).Msg("row is in doubt")
	}
	return len(doubts)
}

// confirm looks for evidence of the doubtful.
func (p *Pusher) confirm(ctx context.Context, report *Report) error {
	rows, err := p.Outbox.Rows(ctx, outbox.StateAmbiguous)
	if err != nil {
		return err
	}
	for _, row := range rows {
		proven, err := p.Mirror.Evidence(ctx, row.TaxID(), row.ClaimedAt)
		if err != nil {
			return err
		}
		if !proven {
			continue
		}
		if _, err := p.Outbox.Confirm(ctx, row.ID); err != nil && !movedMeanwhile(err) {
			return err
		}
		p.Log.Info().Int64("outbox_id", row.ID).Msg("row confirmed by a mirrored request")
		report.Confirmed++
	}
	return nil
}

// movedMeanwhile says that another command was faster with a row.
func movedMeanwhile(err error) bool {
	var state *outbox.StateError
	return errors.As(err, &state) || errors.Is(err, outbox.ErrNoRow)
}

// tellMissing tells the mirror of rows it knows nothing or something earlier of.
func (p *Pusher) tellMissing(ctx context.Context, known map[string]outbox.Creation) error {
	rows, err := p.Outbox.Rows(ctx)
	if err != nil {
		return err
	}
	var missing []outbox.Row
	for _, row := range rows {
		mirrored, ok := known[row.IntentID]
		if !ok || mirrored.Revision < row.Revision {
			missing = append(missing, row)
		}
	}
	return p.Mirror.Record(ctx, missing...)
}

// tidy forgets what is kept no longer.
func (p *Pusher) tidy(ctx context.Context, report *Report) (err error) {
	if p.KeepAmbiguous > 0 {
		if report.Erased, err = p.Outbox.ErasePasswords(ctx, p.Now().Add(-p.KeepAmbiguous)); err != nil {
			return err
		}
	}
	if p.Keep > 0 {
		report.Purged, err = p.Outbox.Purge(ctx, p.Now().Add(-p.Keep))
	}
	return err
}

func (p *Pusher) sendAll(ctx context.Context, due []int64, report *Report) error {
	unclear := 0
	for i, id := range due {
		if err := ctx.Err(); err != nil {
			report.Unsent = len(due) - i
			return err
		}
		row, err := p.sendOne(ctx, id)
		if err != nil {
			report.Unsent = len(due) - i - 1
			if row.State != outbox.StateDone && row.State != outbox.StateRejected && row.State != outbox.StateAmbiguous {
				report.Unsent++
			}
			return err
		}
		switch row.State {
		case outbox.StateDone:
			report.Done++
			unclear = 0
		case outbox.StateRejected:
			report.Rejected++
			unclear = 0
		case outbox.StateAmbiguous:
			report.Ambiguous++
			unclear++
		case outbox.StatePending:
			report.Postponed++
			unclear++
		}
		if unclear == maxUnclear {
			report.Unsent = len(due) - i - 1
			break
		}
	}
	return report.incomplete()
}

// incomplete returns an [*IncompleteError] when something is left undecided.
func (r *Report) incomplete() error {
	var reasons []string
	if doubts := r.Ambiguous + r.Doubted; doubts > 0 {
		reasons = append(reasons, fmt.Sprintf("in doubt and not to be sent again by itself: %d; see `solarmirror outbox list ambiguous`", doubts))
	}
	if r.Postponed > 0 {
		reasons = append(reasons, fmt.Sprintf("not sent yet, waiting for the next attempt: %d; see `solarmirror outbox list pending`", r.Postponed))
	}
	if r.Unsent > 0 {
		reasons = append(reasons, fmt.Sprintf("not tried, after %d in a row had come to nothing clear: %d; run `solarmirror push` again when the platform is well", maxUnclear, r.Unsent))
	}
	if len(reasons) == 0 {
		return nil
	}
	return &IncompleteError{Done: r.Done + r.Rejected + r.Confirmed, Reasons: reasons}
}

// sendOne takes one row as far as it goes and returns it. An error ends the run: the platform
// refuses the token, or something of ours is broken. A row that another command moved meanwhile
// comes back as the zero row.
func (p *Pusher) sendOne(ctx context.Context, id int64) (outbox.Row, error) {
	row, company, err := p.examine(ctx, id)
	switch {
	case movedMeanwhile(err):
		return outbox.Row{}, nil
	case err != nil:
		return outbox.Row{}, err
	case company == nil:
		p.tell(ctx, row)
		return row, nil
	}
	return p.post(ctx, row, *company)
}

// examine returns the company of a row that can be sent; a row that cannot is rejected or
// postponed, and comes without.
func (p *Pusher) examine(ctx context.Context, id int64) (outbox.Row, *outbox.Company, error) {
	row, err := p.Outbox.Row(ctx, id)
	if err != nil {
		return row, nil, err
	}
	company := Normalise(row.Company)
	company.Password, err = p.Outbox.Password(ctx, id)
	if errors.Is(err, outbox.ErrSealed) {
		row, err = p.Outbox.Postpone(ctx, id, err.Error(), p.Now().Add(firstWait))
		return row, nil, err
	}
	if err != nil {
		return row, nil, err
	}
	if invalid := Validate(company); invalid != nil {
		row, err = p.Outbox.Reject(ctx, id, "invalid: "+invalid.Error())
		return row, nil, err
	}
	return row, &company, nil
}

// post sends one company and settles its row.
func (p *Pusher) post(ctx context.Context, row outbox.Row, company outbox.Company) (outbox.Row, error) {
	var claimed outbox.Row // of ID 0 until it is
	var broken error       // what kept the claim from being written down everywhere
	result := p.Client.CreateCompany(ctx, wire(company), func() error {
		claimed, broken = p.Outbox.Claim(ctx, row)
		if broken == nil && p.Mirror != nil {
			broken = p.Mirror.Record(ctx, claimed)
		}
		return broken
	})
	var duplicate *outbox.DuplicateError
	switch {
	case claimed.ID == row.ID:
	case errors.As(broken, &duplicate):
		return p.turnAway(ctx, row.ID, duplicate)
	case movedMeanwhile(broken):
		return outbox.Row{}, nil
	default: // the call ended before the row was touched
		return outbox.Row{}, result.Err
	}
	settled, err := p.Outbox.Settle(ctx, claimed, p.settlement(claimed, result))
	if err != nil {
		return settled, fmt.Errorf("what became of row %d could not be written down, and the next push puts it in doubt: %w", row.ID, err)
	}
	p.logRow(settled, result)
	p.tell(ctx, settled)
	if result.Outcome == platform.Unauthorized {
		return settled, result.Err
	}
	return settled, broken
}

// turnAway rejects a duplicate. One of a doubt that has no row stands for that doubt from now on.
func (p *Pusher) turnAway(ctx context.Context, id int64, duplicate *outbox.DuplicateError) (row outbox.Row, err error) {
	if duplicate.ID == 0 && duplicate.State != outbox.StateDone {
		row, err = p.Outbox.Doubt(ctx, id, duplicate.Error())
	} else {
		row, err = p.Outbox.Reject(ctx, id, "duplicate: "+duplicate.Error())
	}
	if movedMeanwhile(err) {
		return outbox.Row{}, nil
	}
	if err == nil {
		p.tell(ctx, row)
	}
	return row, err
}

// settlement says where a claimed row goes.
func (p *Pusher) settlement(claimed outbox.Row, result platform.CreateResult) outbox.Settlement {
	s := outbox.Settlement{Outcome: string(result.Outcome), HTTPStatus: result.Status}
	if result.Err != nil {
		s.Error = result.Err.Error()
	}
	switch result.Outcome {
	case platform.Created:
		s.State = outbox.StateDone
	case platform.Rejected:
		s.State = outbox.StateRejected
	case platform.Unauthorized:
		s.State = outbox.StatePending
	case platform.Unsent, platform.Throttled:
		s.State = outbox.StatePending
		s.NextAttempt = p.Now().Add(max(backOff(claimed.Attempts), result.Wait))
	default:
		s.State = outbox.StateAmbiguous
	}
	return s
}

// backOff is the time until the next attempt, after as many as the row has had.
func backOff(attempts int64) time.Duration {
	wait := firstWait
	for range attempts - 1 {
		if wait *= 2; wait >= maxWait {
			return maxWait
		}
	}
	return wait
}

func (p *Pusher) logRow(row outbox.Row, result platform.CreateResult) {
	event := p.Log.Info()
	if row.State != outbox.StateDone {
		event = p.Log.Warn().AnErr("cause", result.Err)
	}
	event.Int64("outbox_id", row.ID).Str("state", string(row.State)).Int("status", row.HTTPStatus).Int64("attempts", row.Attempts).Msg("company sent")
}

// tell tells the mirror where a row stands. When that fails the next run does it: only a claim must
// be known before going on.
func (p *Pusher) tell(ctx context.Context, row outbox.Row) {
	if p.Mirror == nil {
		return
	}
	if err := p.Mirror.Record(context.WithoutCancel(ctx), row); err != nil {
		p.Log.Warn().AnErr("cause", err).Int64("outbox_id", row.ID).Msg("the mirror was not told; the next push does it")
	}
}

// wire is the company in the platform's form. A CPF beside a CNPJ would be ignored, so it does not
// travel.
func wire(c outbox.Company) platform.Company {
	if c.CNPJ != "" {
		c.CPF = ""
	}
	return platform.Company{
		Name: c.Name, Surname: c.Surname, Email: c.Email, Password: c.Password.Reveal(), CPF: c.CPF, CNPJ: c.CNPJ,
		Address: platform.CompanyAddress{
			CEP: c.CEP, State: c.State, City: c.City, Patio: c.Patio, Number: c.Number, Neighborhood: c.Neighborhood, Complement: c.Complement,
		},
		Cellphone: c.Cellphone, Responsible: c.Responsible, HasStateInscription: c.HasStateInscription, StateInscription: c.StateInscription,
	}
}
