package main

import (
	"fmt"
	"io"
	"time"

	"github.com/rs/zerolog"

	"solarmirror/cmd/internal/config"
	"solarmirror/cmd/internal/terminal"
)

// newLogger returns the program's logger: one JSON object a line, or lines for
// people where the format says so.
func newLogger(w io.Writer, settings config.Log, colour bool) (zerolog.Logger, error) {
	level, err := zerolog.ParseLevel(settings.Level)
	if err != nil {
		return zerolog.Nop(), fmt.Errorf("log level %s: %w", settings.Level, err)
	}
	isTerminal := terminal.Is(w)
	if isTerminal {
		w = terminal.AboveBar{Terminal: w}
	}
	out := zerolog.SyncWriter(w)
	if settings.Format == "console" || settings.Format == "auto" && isTerminal {
		out = zerolog.ConsoleWriter{Out: out, NoColor: !colour, TimeFormat: time.TimeOnly, FormatPrepare: harmlessFields}
	}
	return zerolog.New(out).Level(level).With().Timestamp().Logger(), nil
}

// harmlessFields makes each text of an event harmless: the console writer prints the message
// unquoted.
func harmlessFields(event map[string]any) error {
	for name, value := range event {
		if text, ok := value.(string); ok {
			event[name] = terminal.Harmless(text)
		}
	}
	return nil
}
