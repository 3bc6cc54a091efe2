package terminal

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"golang.org/x/term"
)

// Dialogue asks questions when standard input is a terminal.
type Dialogue struct {
	fd  int
	in  *bufio.Reader
	out io.Writer // for the questions
}

// NewDialogue returns a dialogue on in, which must be a terminal.
func NewDialogue(in io.Reader, out io.Writer) *Dialogue {
	return &Dialogue{fd: int(in.(interface{ Fd() uintptr }).Fd()), in: bufio.NewReader(in), out: out}
}

// Run calls questions. It returns when questions returns or ctx is canceled. In the second case it
// turns the terminal's echo on again, because AskHidden may have turned it off; the pending read
// ends with the process.
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

// Ask prints one question and returns the line typed.
func (d *Dialogue) Ask(question string) (string, error) {
	fmt.Fprint(d.out, question)
	line, err := d.in.ReadString('\n')
	if err != nil {
		fmt.Fprintln(d.out)
		return "", err
	}
	return strings.TrimSpace(line), nil
}

// AskHidden is Ask without echo.
func (d *Dialogue) AskHidden(question string) (string, error) {
	fmt.Fprint(d.out, question)
	secret, err := term.ReadPassword(d.fd)
	fmt.Fprintln(d.out)
	return string(secret), err
}

// Hushed calls work. What is typed meanwhile is kept for the next question and not shown: it may be
// the answer to one without echo.
func (d *Dialogue) Hushed(work func() error) error {
	before, err := term.GetState(d.fd)
	if err == nil {
		err = hush(d.fd)
	}
	if err != nil {
		return fmt.Errorf("turn the echo of the terminal off: %w", err)
	}
	return errors.Join(work(), term.Restore(d.fd, before))
}

// Tell prints one line.
func (d *Dialogue) Tell(line string) { fmt.Fprintln(d.out, line) }

// Confirm asks for a yes. It returns an error for any answer other than y.
func (d *Dialogue) Confirm(ctx context.Context, question string) error {
	return d.Run(ctx, func() error {
		answer, err := d.Ask(question + " [y/N] ")
		if err == nil && slices.Contains([]string{"y", "yes", "s", "sim"}, strings.ToLower(answer)) {
			return nil
		}
		return errors.New("nothing was changed")
	})
}
