package outboxcmd

import (
	"context"
	"errors"
	"fmt"
	"io"

	"solarmirror/store/outbox"
	"solarmirror/sync/push"
)

// Batch is a list of companies to queue.
type Batch struct {
	options QueueOptions
	valid   []outbox.Company
	lines   []int // of valid
	invalid int
}

// QueueOptions say how companies are queued.
type QueueOptions struct {
	DryRun         bool // queue nothing
	SkipInvalid    bool // queue the valid companies although others are not
	AllowDuplicate bool // queue companies although the outbox has others with the same CPF, CNPJ or e-mail
}

// NewBatch returns the valid companies of entries, and writes to w what is wrong with the others.
// It fails when nothing may be queued.
func NewBatch(entries []push.Entry, o QueueOptions, w io.Writer) (*Batch, error) {
	b := &Batch{options: o}
	for _, e := range entries {
		if e.Err != nil {
			b.invalid++
			fmt.Fprintf(w, "line %d: %v\n", e.Line, e.Err)
			continue
		}
		b.valid, b.lines = append(b.valid, e.Company), append(b.lines, e.Line)
	}
	switch {
	case len(entries) == 0:
		return nil, errors.New("there is no company to queue")
	case o.DryRun:
		return b, nil
	case b.invalid > 0 && !o.SkipInvalid:
		return nil, fmt.Errorf("nothing was queued: %d of %d companies are not valid", b.invalid, len(entries))
	case len(b.valid) == 0:
		return nil, fmt.Errorf("nothing was queued: none of %d companies is valid", len(entries))
	}
	return b, nil
}

// Queue adds the companies to the outbox, all or none.
func (b *Batch) Queue(ctx context.Context, box *outbox.Outbox) ([]outbox.Row, error) {
	rows, err := box.Add(ctx, b.valid, b.options.AllowDuplicate)
	var duplicate *outbox.DuplicateError
	if errors.As(err, &duplicate) {
		return nil, fmt.Errorf("nothing was queued: line %d: %w", b.lines[duplicate.Index], duplicate)
	}
	return rows, err
}

// DryRun says line by line what Queue would do: on out what it would queue, on faults what it would
// not. Only the outbox knows the duplicates.
func (b *Batch) DryRun(ctx context.Context, box *outbox.Outbox, out, faults io.Writer) error {
	refused := b.invalid
	for i, company := range b.valid {
		found, err := box.Duplicate(ctx, company)
		if err != nil {
			return err
		}
		if found == nil || b.options.AllowDuplicate {
			fmt.Fprintf(out, "line %d: ok\n", b.lines[i])
			continue
		}
		refused++
		fmt.Fprintf(faults, "line %d: %v\n", b.lines[i], found)
	}
	if refused > 0 {
		return fmt.Errorf("%d of %d companies could not be queued", refused, b.invalid+len(b.valid))
	}
	return nil
}
