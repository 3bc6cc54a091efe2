package outboxcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"solarmirror/cmd/internal/terminal"
	"solarmirror/store/outbox"
	"solarmirror/sync/push"
)

var errInputEnded = errors.New("nothing was queued: the input ended before all was answered")

// Ask asks for the fields of one company on a terminal, each again until the answer is valid. An
// empty answer leaves a field empty.
func Ask(ctx context.Context, d *terminal.Dialogue) ([]push.Entry, error) {
	var c outbox.Company
	err := d.Run(ctx, func() error {
		err := askFields(d, &c)
		if err == nil {
			err = askPassword(d, &c)
		}
		if errors.Is(err, io.EOF) {
			return errInputEnded
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return []push.Entry{{Line: 1, Company: c, Err: push.Validate(c)}}, nil
}

func askFields(d *terminal.Dialogue, c *outbox.Company) error {
	for _, q := range []struct {
		label, field string // field is the name in push.Fault
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
			continue // the platform ignores the CPF of a company with a CNPJ
		}
		for valid := false; !valid; {
			answer, err := d.Ask(q.label + ": ")
			if err != nil {
				return err
			}
			*q.to = answer
			if c.HasStateInscription = ""; c.StateInscription != "" {
				c.HasStateInscription = "sim"
			}
			*c = push.Normalise(*c)
			valid = accepts(d, *c, q.field)
		}
	}
	return nil
}

// askPassword asks twice, because the typed password is not shown.
func askPassword(d *terminal.Dialogue, c *outbox.Company) error {
	for {
		password, err := d.AskHidden("Password (not shown): ")
		c.Password = outbox.Password(password)
		if err != nil {
			return err
		}
		if !accepts(d, *c, "password") {
			continue
		}
		again, err := d.AskHidden("The password again: ")
		if err != nil {
			return err
		}
		if outbox.Password(again) == c.Password {
			return nil
		}
		d.Tell("  the two differ")
	}
}

// accepts reports whether one field is valid, and prints its faults.
func accepts(d *terminal.Dialogue, c outbox.Company, field string) bool {
	var invalid *push.InvalidError
	if !errors.As(push.Validate(c), &invalid) {
		return true
	}
	faults := slices.DeleteFunc(invalid.Faults, func(f push.Fault) bool { return f.Field != field })
	for _, fault := range faults {
		d.Tell(fmt.Sprintf("  %v", fault))
	}
	return len(faults) == 0
}
