package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"solarmirror/cmd/internal/statuspage"
)

func newHealthcheckCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "healthcheck",
		Short: `Ask the running "solarmirror run" whether it is alive`,
		Long: `Ask /healthz of the address that [http] listen names, as a container's HEALTHCHECK does. The exit code
is 0 when it answers and 1 when it does not, a faulty configuration included.`,
		Example: "  solarmirror healthcheck",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := a.healthcheck(cmd.Context()); err != nil {
				return errors.New(err.Error()) // without its type: container engines know 0 and 1 only
			}
			return nil
		},
	}
}

// healthWait is how long an answer may take.
const healthWait = 5 * time.Second

func (a *app) healthcheck(ctx context.Context) error {
	c, err := a.config()
	if err != nil {
		return err
	}
	if c.HTTP.Listen == "" {
		return errors.New("nobody can be asked: the status page is off; give [http] listen an address")
	}
	ctx, cancel := context.WithTimeout(ctx, healthWait)
	defer cancel()
	address := dialAddress(c.HTTP.Listen)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/healthz", nil)
	if err != nil {
		return fmt.Errorf("healthcheck: %w", err)
	}
	transport := &http.Transport{DisableKeepAlives: true} // and no proxy
	response, err := transport.RoundTrip(request)
	if err != nil {
		return fmt.Errorf(`no answer from %s: %w; is "solarmirror run" running there, with the same [http] listen?`, address, err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, 1<<10))
	if err != nil {
		return fmt.Errorf("no answer from %s: %w", address, err)
	}
	if response.StatusCode != http.StatusOK || string(body) != statuspage.Alive {
		return fmt.Errorf(`%s answered %s, but not as "solarmirror run": another program uses that address; give [http] listen another port`, address, response.Status)
	}
	_, err = fmt.Fprint(a.stdout, statuspage.Alive)
	return err
}

// dialAddress is where to reach a server that listens at an address, which may stand for every interface.
func dialAddress(listen string) string {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return listen
	}
	switch ip := net.ParseIP(host); {
	case host == "", ip != nil && ip.IsUnspecified() && ip.To4() != nil:
		host = "127.0.0.1"
	case ip != nil && ip.IsUnspecified():
		host = "::1"
	}
	return net.JoinHostPort(host, port)
}
