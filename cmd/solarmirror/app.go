package main

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"sync"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"solarmirror/cmd/internal/config"
	"solarmirror/cmd/internal/doctor"
	"solarmirror/cmd/internal/terminal"
)

// app is what every command shares: the standard streams, the configuration and
// the logger. The configuration is read at the first call of config, so a faulty
// file does not stop a command that needs none.
type app struct {
	stdin  io.Reader
	stdout io.Writer // data
	stderr io.Writer // logs, progress, errors

	flags  globalFlags
	config func() (config.Config, error)  // loads once
	log    func() (zerolog.Logger, error) // made once; fails as config does
}

// globalFlags are the flags every command takes.
type globalFlags struct {
	configPath string
	logFormat  string
	logLevel   string
	quiet      bool
}

func newApp(stdin io.Reader, stdout, stderr io.Writer) *app {
	a := &app{stdin: stdin, stdout: stdout, stderr: stderr}
	a.config = sync.OnceValues(a.loadConfig)
	a.log = sync.OnceValues(a.newLogger)
	return a
}

// register adds the global flags to the root's persistent ones.
func (f *globalFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.configPath, "config", "", "configuration `file` (default "+config.DefaultPath+", where there is one)")
	flags.StringVar(&f.logFormat, "log-format", "", "log `format`: json or console (default: console on a terminal)")
	flags.StringVar(&f.logLevel, "log-level", "", "least `level` logged: trace, debug, info, warn, error (default info)")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "no progress; log warnings and errors only")
}

// overrides lists the flags given that stand for keys of the configuration.
func (f globalFlags) overrides() []config.Flag {
	var out []config.Flag
	if f.logFormat != "" {
		out = append(out, config.Flag{Name: "--log-format", Key: "log.format", Value: f.logFormat})
	}
	if f.logLevel != "" {
		out = append(out, config.Flag{Name: "--log-level", Key: "log.level", Value: f.logLevel})
	}
	if f.quiet {
		out = append(out, config.Flag{Name: "--quiet", Key: "log.level", Value: "warn"})
	}
	return out
}

func (a *app) loadConfig() (config.Config, error) {
	return config.Load(config.Source{Path: a.flags.configPath, Environ: os.Environ(), Flags: a.flags.overrides()})
}

func (a *app) newLogger() (zerolog.Logger, error) {
	c, err := a.config()
	if err != nil {
		return zerolog.Nop(), err
	}
	return newLogger(a.stderr, c.Log, terminal.Colour(a.stderr))
}

// configAndLog returns what most commands begin with.
func (a *app) configAndLog() (config.Config, zerolog.Logger, error) {
	c, err := a.config()
	if err != nil {
		return config.Config{}, zerolog.Nop(), err
	}
	log, err := a.log()
	return c, log, err
}

// doctorOptions are those of the configuration in force, or the error of loading it.
func (a *app) doctorOptions() doctor.Options {
	o := doctor.Options{ConfigPath: a.flags.configPath}
	o.Config, o.ConfigErr = a.config()
	if o.ConfigErr == nil {
		o.Log, o.ConfigErr = a.log()
	}
	return o
}

// encodeLines prints one JSON object per line.
func encodeLines[T any](w io.Writer, rows []T) error {
	encoder := json.NewEncoder(w)
	for _, row := range rows {
		if err := encoder.Encode(row); err != nil {
			return err
		}
	}
	return nil
}

// notEmpty returns nil, a JSON null, for the empty text.
func notEmpty(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// confirm asks on a terminal; elsewhere it wants --yes.
func (a *app) confirm(cmd *cobra.Command, yes bool, question string) error {
	if yes {
		return nil
	}
	if !terminal.Is(a.stdin) {
		return &usageError{command: cmd.CommandPath(), err: errors.New("there is no terminal to ask on; add --yes to do it without a question")}
	}
	return terminal.NewDialogue(a.stdin, a.stderr).Confirm(cmd.Context(), question)
}
