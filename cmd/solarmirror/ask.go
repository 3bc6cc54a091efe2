package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"golang.org/x/term"

	"solarmirror/store/outbox"
	"solarmirror/sync/push"
)

// isTerminal reports whether r is one.
func isTerminal(r io.Reader) bool {
	f, ok := r.(interface{ Fd() uintptr })
	return ok && term.IsTerminal(int(f.Fd()))
}

// converse asks questions on the terminal that standard input is, until they are answered or ctx ends. In the latter case the terminal gets
// back the echo that a password may have taken from it; the read that still waits ends with the process.
func (a *app) converse(ctx context.Context, questions func(fd int) error) error {
	fd := int(a.stdin.(interface{ Fd() uintptr }).Fd())
	before, err := term.GetState(fd)
	if err != nil {
		return fmt.Errorf("ask on the terminal: %w", err)
	}
	answered := make(chan error, 1)
	go func() { answered <- questions(fd) }()
	select {
	case err := <-answered:
		return err
	case <-ctx.Done():
		fmt.Fprintln(a.stderr)
		return errors.Join(ctx.Err(), term.Restore(fd, before))
	}
}

// ask puts one question and reads the line that answers it.
func (a *app) ask(in *bufio.Reader, question string) (string, error) {
	fmt.Fprint(a.stderr, question)
	line, err := in.ReadString('\n')
	if err != nil {
		fmt.Fprintln(a.stderr)
		return "", err
	}
	return strings.TrimSpace(line), nil
}

// askHidden is ask for what the screen shall not show.
func (a *app) askHidden(fd int, question string) (outbox.Password, error) {
	fmt.Fprint(a.stderr, question)
	secret, err := term.ReadPassword(fd)
	fmt.Fprintln(a.stderr)
	return outbox.Password(secret), err
}

// errGivenUp is a person who ends the input in place of an answer.
var errGivenUp = errors.New("nothing was queued: the input ended before all was answered")

// askCompany asks for one company, and for each field again until it is valid. Empty answers are left out.
func (a *app) askCompany(ctx context.Context) ([]push.Entry, error) {
	var c outbox.Company
	err := a.converse(ctx, func(fd int) error {
		err := a.askFields(&c)
		if err == nil {
			err = a.askPassword(fd, &c)
		}
		if errors.Is(err, io.EOF) {
			return errGivenUp
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return []push.Entry{{Line: 1, Company: c, Err: push.Validate(c)}}, nil
}

func (a *app) askFields(c *outbox.Company) error {
	in := bufio.NewReader(a.stdin)
	for _, q := range []struct {
		label, field string // the field as faults name it
		to           *string
	}{
		{"First name of the contact", "name", &c.Name}, {"Surname", "surname", &c.Surname}, {"E-mail", "email", &c.Email},
		{"CNPJ (empty for an individual)", "CNPJ", &c.CNPJ}, {"CPF", "CPF", &c.CPF}, {"CEP", "address.CEP", &c.CEP},
		{"State (UF)", "address.state", &c.State}, {"City", "address.city", &c.City}, {"Street", "address.patio", &c.Patio},
		{"Number", "address.number", &c.Number}, {"Neighbourhood", "address.neighborhood", &c.Neighborhood},
		{"Complement", "address.complement", &c.Complement}, {"Mobile number", "cellphone", &c.Cellphone},
		{"Responsible collaborator's e-mail", "responsible", &c.Responsible},
		{"State registration (empty for none)", "stateInscription", &c.StateInscription},
	} {
		if q.field == "CPF" && c.CNPJ != "" {
			continue // the platform would ignore it
		}
		for valid := false; !valid; {
			answer, err := a.ask(in, q.label+": ")
			if err != nil {
				return err
			}
			*q.to = answer
			if c.HasStateInscription = ""; c.StateInscription != "" {
				c.HasStateInscription = "sim"
			}
			*c = push.Normalise(*c)
			valid = a.accepts(*c, q.field)
		}
	}
	return nil
}

// askPassword asks twice, since nobody sees what is typed.
func (a *app) askPassword(fd int, c *outbox.Company) error {
	for {
		var err error
		if c.Password, err = a.askHidden(fd, "Password (not shown): "); err != nil {
			return err
		}
		if !a.accepts(*c, "password") {
			continue
		}
		again, err := a.askHidden(fd, "The password again: ")
		if err != nil {
			return err
		}
		if again == c.Password {
			return nil
		}
		fmt.Fprintln(a.stderr, "  the two differ")
	}
}

// accepts says what is wrong with one field, if something is.
func (a *app) accepts(c outbox.Company, field string) bool {
	var invalid *push.InvalidError
	if !errors.As(push.Validate(c), &invalid) {
		return true
	}
	faults := slices.DeleteFunc(invalid.Faults, func(f push.Fault) bool { return f.Field != field })
	for _, fault := range faults {
		fmt.Fprintf(a.stderr, "  %v\n", fault)
	}
	return len(faults) == 0
}

// confirmed asks whether to go on. Any other answer than y is no.
func (a *app) confirmed(ctx context.Context, question string) error {
	return a.converse(ctx, func(int) error {
		answer, err := a.ask(bufio.NewReader(a.stdin), question+" [y/N] ")
		if err == nil && strings.EqualFold(answer, "y") {
			return nil
		}
		return errors.New("nothing was changed")
	})
}
