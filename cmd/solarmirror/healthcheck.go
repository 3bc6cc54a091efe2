package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"
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
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answered %s: another program may have that address; see [http] listen", address, response.Status)
	}
	_, err = fmt.Fprintln(a.stdout, "alive")
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
