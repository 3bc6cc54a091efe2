package outboxcmd

import (
	"context"
	"fmt"
	"io"

	"solarmirror/store"
	"solarmirror/sync/push"
)

// ReadCorrection reads a file of one company, "-" being stdin; nil when from is empty.
func ReadCorrection(from string, stdin io.Reader) (*store.Company, error) {
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
func Retry(ctx context.Context, outbox *store.Outbox, id int64, correction *store.Company) (store.OutboxRow, error) {
	if correction == nil {
		if err := needsNoCorrection(ctx, outbox, id); err != nil {
			return store.OutboxRow{}, err
		}
	}
	return outbox.Retry(ctx, id, correction)
}

// needsNoCorrection refuses a row that the next push would only reject.
func needsNoCorrection(ctx context.Context, outbox *store.Outbox, id int64) error {
	row, err := outbox.Row(ctx, id)
	if err != nil {
		return err
	}
	if row.State != store.StateRejected && row.State != store.StatePending {
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
