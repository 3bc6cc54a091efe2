package config

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"solarmirror/cmd/internal/alerts"
)

// Given says whether anybody is alerted.
func (a Alerts) Given() bool {
	return len(a.URLs) > 0 || a.URLsFile != "" || a.PingURL != "" || a.PingURLFile != ""
}

// Addresses returns the addresses to alert. A file of them is read anew at each call; one that
// cannot be read, or holds a line that is no address, is an *Error that quotes none; the other
// addresses come with it.
func (a Alerts) Addresses(ctx context.Context) ([]string, error) {
	var list []string
	for _, address := range a.URLs {
		list = append(list, address.Reveal())
	}
	if a.URLsFile == "" {
		return list, nil
	}
	text, err := readSecret(ctx, "alerts.urls_file", a.URLsFile, "an address a line")
	if err != nil {
		return nil, err
	}
	var problems []string
	none := true
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		none = false
		if err := alerts.CheckAddress(line); err != nil {
			problems = append(problems, fmt.Sprintf("alerts.urls_file: line %d of %s %v", i+1, a.URLsFile, err))
			continue
		}
		list = append(list, line)
	}
	if none {
		problems = []string{fmt.Sprintf("alerts.urls_file: there is no address in %s; write one a line into it", a.URLsFile)}
	}
	if problems != nil {
		return list, &Error{Problems: problems}
	}
	return list, nil
}

// CheckFiles returns all that is wrong with the files of the addresses, as they are now.
func (a Alerts) CheckFiles(ctx context.Context) (problems []string) {
	_, urls := a.Addresses(ctx)
	_, ping := a.Ping(ctx)
	for _, err := range []error{urls, ping} {
		var faults *Error
		switch {
		case errors.As(err, &faults):
			problems = append(problems, faults.Problems...)
		case err != nil:
			problems = append(problems, err.Error())
		}
	}
	return problems
}

// Ping returns the address to ping, "" for none. A file that holds it is read anew at each call.
func (a Alerts) Ping(ctx context.Context) (string, error) {
	if a.PingURLFile == "" {
		return a.PingURL.Reveal(), nil
	}
	address, err := readSecret(ctx, "alerts.ping_url_file", a.PingURLFile, "the address")
	if err != nil {
		return "", err
	}
	if err := alerts.CheckPing(address); err != nil {
		return "", &Error{Problems: []string{fmt.Sprintf("alerts.ping_url_file: what is in %s %v", a.PingURLFile, err)}}
	}
	return address, nil
}

// setAddresses names every address that is none. It quotes none: they hold passwords.
func setAddresses(to *[]Secret, text string) error {
	var list []Secret
	var faults []error
	for i, address := range splitList(text) {
		if err := alerts.CheckAddress(address); err != nil {
			faults = append(faults, fmt.Errorf("number %d %w", i+1, err))
		}
		list = append(list, Secret(address))
	}
	*to = list
	return errors.Join(faults...)
}

func setPing(to *Secret, text string) error {
	if text != "" {
		if err := alerts.CheckPing(text); err != nil {
			return err
		}
	}
	*to = Secret(text)
	return nil
}
