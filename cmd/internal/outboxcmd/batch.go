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
	numbers []int // of the companies in valid among the entries, from 1
	invalid int
}

// QueueOptions are the flags of the commands that queue companies.
type QueueOptions struct {
	JSON           bool // print the queued rows as JSON
	DryRun         bool // queue nothing
	SkipInvalid    bool // queue the valid companies even if others are invalid
	AllowDuplicate bool // queue companies even if the outbox has their CPF, CNPJ or e-mail
}

// NewBatch returns a batch of the valid companies in entries, and writes the errors of the others
// to w. It fails when the options let nothing be queued.
func NewBatch(entries []push.Entry, o QueueOptions, w io.Writer) (*Batch, error) {
	b := &Batch{options: o}
	for i, e := range entries {
		if e.Err != nil {
			b.invalid++
			fmt.Fprintf(w, "line %d: %v\n", e.Line, e.Err)
			continue
		}
		b.valid, b.lines, b.numbers = append(b.valid, e.Company), append(b.lines, e.Line), append(b.numbers, i+1)
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
		return nil, fmt.Errorf("nothing was queued: line %d: %w", b.lines[duplicate.Entry-1], b.numbered(duplicate))
	}
	return rows, err
}

// numbered counts the entries that are not valid too.
func (b *Batch) numbered(d *outbox.DuplicateError) error {
	inInput := *d
	inInput.Entry = b.numbers[d.Entry-1]
	if d.Earlier > 0 {
		inInput.Earlier = b.numbers[d.Earlier-1]
	}
	return &inInput
}

// DryRun prints a line for each valid company: to out if Queue would accept it, else to faults. It
// needs the outbox to find duplicates.
func (b *Batch) DryRun(ctx context.Context, box *outbox.Outbox, out, faults io.Writer) error {
	refused := b.invalid
	duplicates := map[int]*outbox.DuplicateError{}
	if !b.options.AllowDuplicate {
		found, err := box.Duplicates(ctx, b.valid)
		if err != nil {
			return err
		}
		for _, d := range found {
			duplicates[d.Entry-1] = d
		}
	}
	for i, line := range b.lines {
		duplicate := duplicates[i]
		if duplicate == nil {
			fmt.Fprintf(out, "line %d: ok\n", line)
			continue
		}
		refused++
		fmt.Fprintf(faults, "line %d: %v\n", line, b.numbered(duplicate))
	}
	if refused > 0 {
		return fmt.Errorf("%d of %d companies could not be queued", refused, b.invalid+len(b.valid))
	}
	return nil
}
