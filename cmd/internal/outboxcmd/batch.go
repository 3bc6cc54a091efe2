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
	lines   []int // of the companies in valid
	invalid int
}

// QueueOptions are the flags of the commands that queue companies.
type QueueOptions struct {
	DryRun         bool // queue nothing
	SkipInvalid    bool // queue the valid companies even if others are invalid
	AllowDuplicate bool // queue companies even if the outbox has their CPF, CNPJ or e-mail
}

// NewBatch returns a batch of the valid companies in entries, and writes the errors of the others
// to w. It fails when the options let nothing be queued.
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

// Queue adds all companies to the outbox, or none if one fails.
func (b *Batch) Queue(ctx context.Context, box *outbox.Outbox) ([]outbox.Row, error) {
	rows, err := box.Add(ctx, b.valid, b.options.AllowDuplicate)
	var duplicate *outbox.DuplicateError
	if errors.As(err, &duplicate) {
		return nil, fmt.Errorf("nothing was queued: line %d: %w", b.lines[duplicate.Index], duplicate)
	}
	return rows, err
}

// DryRun prints a line for each valid company: to out if Queue would accept it, else to faults. It
// needs the outbox to find duplicates.
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
