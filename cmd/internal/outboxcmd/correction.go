package outboxcmd

import (
	"context"
	"fmt"
	"io"

	"solarmirror/store/outbox"
	"solarmirror/sync/push"
)

// ReadCorrection reads a file of one company, "-" being stdin; nil when from is empty.
func ReadCorrection(from string, stdin io.Reader) (*outbox.Company, error) {
	if from == "" {
		return nil, nil
	}
	entries, err := ReadFile(from, "json", stdin)
	if err != nil {
		return nil, err
	}
	if len(entries) != 1 {
		return nil, fmt.Errorf("%s holds %d companies; one is wanted", from, len(entries))
	}
	if entries[0].Err != nil {
		return nil, fmt.Errorf("%s: %w", from, entries[0].Err)
	}
	return &entries[0].Company, nil
}

// Retry makes a pending row due at once, or queues a rejected one again, with the corrected company
// if there is one.
func Retry(ctx context.Context, box *outbox.Outbox, id int64, correction *outbox.Company) (outbox.Row, error) {
	if correction == nil {
		if err := needsNoCorrection(ctx, box, id); err != nil {
			return outbox.Row{}, err
		}
	}
	return box.Retry(ctx, id, correction)
}

// needsNoCorrection refuses a row that the next push would only reject.
func needsNoCorrection(ctx context.Context, box *outbox.Outbox, id int64) error {
	row, err := box.Row(ctx, id)
	if err != nil {
		return err
	}
	if row.State != outbox.StateRejected && row.State != outbox.StatePending {
		return nil // Retry says what can be done
	}
	company := push.Normalise(row.Company)
	company.Password = "is not read here"
	err = push.Validate(company)
	switch {
	case err != nil:
		return fmt.Errorf("row %d is not valid: %w; correct it with `solarmirror outbox retry %d --from FILE`", id, err, id)
	case !row.HasPassword:
		return fmt.Errorf("the password of row %d was erased; give the company again with `solarmirror outbox retry %d --from FILE`", id, id)
	}
	return nil
}
