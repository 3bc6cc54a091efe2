package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"

	"github.com/spf13/cobra"

	"solarmirror/cmd/internal/buildinfo"
	"solarmirror/sync/platform/platformtest"
)

// simulationToken is what the simulated platform accepts; it guards nothing.
const simulationToken = "simulated-token"

// simulationNextToken is what it accepts after the fault token-rotation.
const simulationNextToken = "simulated-token-2"

type simulateFlags struct {
	listen     string
	seed       uint64
	requests   int
	equipments string
	dialect    string
	faults     string
}

func newSimulateCommand(a *app) *cobra.Command {
	var f simulateFlags
	cmd := &cobra.Command{
		Use:   "simulate",
		Short: "Serve a simulated platform to try things on",
		Long: `Serve a simulated platform: the whole interface over believable data that lives
on as time passes. The same seed gives the same platform.

--dialect says how it speaks where the interface is silent, as name=value pairs
with commas between. The names and their values, the default first:
` + platformtest.DialectHelp() + `
--faults says what goes wrong with its lists, with commas between:
` + platformtest.FaultsHelp() + `From a token-rotation on, "` + simulationNextToken + `" is the token.`,
		Example: `  solarmirror simulate --requests 20000 --seed 7
  solarmirror simulate --dialect first=0,envelope=data,total=string,cap=20,over=clamp,drift=all
  solarmirror simulate --faults rate=0.1,kinds=429+reset+cut,redirect307@5`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o, err := f.options()
			if err != nil {
				return &usageError{command: cmd.CommandPath(), err: err}
			}
			return a.simulate(cmd.Context(), f, o)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.listen, "listen", "127.0.0.1:8900", "`address` to serve on")
	flags.Uint64Var(&f.seed, "seed", 1, "seed of everything in it")
	flags.IntVar(&f.requests, "requests", 2000, "how many budgets and orders there are at the start")
	flags.StringVar(&f.equipments, "equipments", "", "catalogue `file`, one record of the platform's form per line, in place of generated items of the same types")
	flags.StringVar(&f.dialect, "dialect", "", "how it speaks, as `name=value,...`")
	flags.StringVar(&f.faults, "faults", "", "what goes wrong, as `name=value,...` or kind@request")
	return cmd
}

// options are the platform's, but for its catalogue.
func (f simulateFlags) options() (o platformtest.Options, err error) {
	o = platformtest.Options{Seed: f.seed, Requests: f.requests, Token: simulationToken, NextToken: simulationNextToken}
	if o.Dialect, err = platformtest.ParseDialect(f.dialect); err != nil {
		return o, fmt.Errorf("--%w", err)
	}
	if o.Faults, err = platformtest.ParseFaults(f.faults); err != nil {
		return o, fmt.Errorf("--%w", err)
	}
	return o, nil
}

func (a *app) simulate(ctx context.Context, f simulateFlags, o platformtest.Options) (err error) {
	if o.Equipments, err = loadEquipments(f.equipments); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", f.listen)
	if err != nil {
		return fmt.Errorf("simulate: %w; choose another address with --listen", err)
	}
	handler := platformtest.New(o)
	url, allow := "http://"+listener.Addr().String(), ""
	if at, ok := listener.Addr().(*net.TCPAddr); ok && !at.IP.IsLoopback() {
		allow = " SOLARMIRROR_PLATFORM_ALLOW_PLAIN_HTTP=true"
	}
	fmt.Fprintf(a.stdout, `simulated platform at %s

Mirror it from another terminal:
  SOLARMIRROR_PLATFORM_BASE_URL=%s SOLARMIRROR_PLATFORM_TOKEN=%s%s %s sync
`, url, url, simulationToken, allow, buildinfo.Command())
	return platformtest.Serve(ctx, listener, handler)
}

func loadEquipments(path string) ([]json.RawMessage, error) {
	if path == "" {
		return nil, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("simulate: %w", err)
	}
	defer file.Close()
	records, err := platformtest.LoadEquipments(file)
	if err != nil {
		return nil, fmt.Errorf("simulate: %s: %w", path, err)
	}
	return records, nil
}
