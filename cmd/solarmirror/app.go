package main

import (
	"io"
	"os"
	"sync"

	"github.com/rs/zerolog"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"solarmirror/cmd/internal/config"
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
	return newLogger(a.stderr, c.Log, colour(a.stderr))
}

// terminal reports whether w is a terminal.
func terminal(w io.Writer) bool {
	f, isFile := w.(*os.File)
	return isFile && term.IsTerminal(int(f.Fd()))
}

// colour reports whether coloured text may go to w: a terminal, and NO_COLOR not
// set (https://no-color.org).
func colour(w io.Writer) bool {
	return terminal(w) && os.Getenv("NO_COLOR") == ""
}
