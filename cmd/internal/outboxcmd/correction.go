package outboxcmd

import (
	"context"
	"fmt"
	"io"

	"solarmirror/store/outbox"
	"solarmirror/sync/push"
)

// ReadCorrection reads one company from the JSON file from; "-" is stdin. It returns nil when from
// is empty.
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

// Retry makes a pending row due now, or queues a rejected row again. A correction, if not nil,
// replaces the company of the row.
func Retry(ctx context.Context, box *outbox.Outbox, id int64, correction *outbox.Company) (outbox.Row, error) {
	if correction == nil {
		if err := checkSendable(ctx, box, id); err != nil {
			return outbox.Row{}, err
		}
	}
	return box.Retry(ctx, id, correction)
}

// checkSendable returns an error for a row that the next push would reject.
func checkSendable(ctx context.Context, box *outbox.Outbox, id int64) error {
	row, err := box.Row(ctx, id)
	if err != nil {
		return err
	}
	if row.State != outbox.StateRejected && row.State != outbox.StatePending {
		return nil // outbox.Retry returns the error for these states
	}
	company := push.Normalise(row.Company)
	company.Password = "placeholder" // rows are read without their password
	err = push.Validate(company)
	switch {
	case err != nil:
		return fmt.Errorf("row %d is not valid: %w; correct it with `solarmirror outbox retry %d --from FILE`", id, err, id)
	case !row.HasPassword:
		return fmt.Errorf("the password of row %d was erased; give the company again with `solarmirror outbox retry %d --from FILE`", id, id)
	}
	return nil
}
