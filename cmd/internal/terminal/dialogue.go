package terminal

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/term"
)

// Dialogue asks questions on the terminal that standard input is.
type Dialogue struct {
	fd  int
	in  *bufio.Reader
	out io.Writer // shows the questions
}

// NewDialogue returns a dialogue on in, which must be a terminal.
func NewDialogue(in io.Reader, out io.Writer) *Dialogue {
	return &Dialogue{fd: int(in.(interface{ Fd() uintptr }).Fd()), in: bufio.NewReader(in), out: out}
}

// Run asks questions until they are answered or ctx ends. In the latter case it turns the
// terminal's echo on again, which AskHidden may have turned off; the pending read ends with the
// process.
func (d *Dialogue) Run(ctx context.Context, questions func() error) error {
	before, err := term.GetState(d.fd)
	if err != nil {
		return fmt.Errorf("ask on the terminal: %w", err)
	}
	answered := make(chan error, 1)
	go func() { answered <- questions() }()
	select {
	case err := <-answered:
		return err
	case <-ctx.Done():
		fmt.Fprintln(d.out)
		return errors.Join(ctx.Err(), term.Restore(d.fd, before))
	}
}

// Ask asks one question and reads the line that answers it.
func (d *Dialogue) Ask(question string) (string, error) {
	fmt.Fprint(d.out, question)
	line, err := d.in.ReadString('\n')
	if err != nil {
		fmt.Fprintln(d.out)
		return "", err
	}
	return strings.TrimSpace(line), nil
}

// AskHidden is Ask without showing what is typed.
func (d *Dialogue) AskHidden(question string) (string, error) {
	fmt.Fprint(d.out, question)
	secret, err := term.ReadPassword(d.fd)
	fmt.Fprintln(d.out)
	return string(secret), err
}

// Tell shows one line that is no question.
func (d *Dialogue) Tell(line string) { fmt.Fprintln(d.out, line) }

// Confirm asks whether to go on. Any other answer than y is no, which is an error.
func (d *Dialogue) Confirm(ctx context.Context, question string) error {
	return d.Run(ctx, func() error {
		answer, err := d.Ask(question + " [y/N] ")
		if err == nil && strings.EqualFold(answer, "y") {
			return nil
		}
		return errors.New("nothing was changed")
	})
}
