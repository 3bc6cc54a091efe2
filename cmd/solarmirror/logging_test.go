package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"solarmirror/cmd/internal/config"
)

// logged returns what one line at each of two levels leaves in the log.
func logged(t *testing.T, settings config.Log, colour bool) string {
	t.Helper()
	var out bytes.Buffer
	log, err := newLogger(&out, settings, colour)
	if err != nil {
		t.Fatal(err)
	}
	log.Info().Int("rows", 3).Msg("page read")
	log.Warn().Msg("slow")
	return out.String()
}

func TestLogOffATerminalIsJSON(t *testing.T) {
	t.Parallel()
	var line struct {
		Level, Time, Message string
		Rows                 int
	}
	first, _, _ := strings.Cut(logged(t, config.Log{Level: "info", Format: "auto"}, true), "\n")
	if err := json.Unmarshal([]byte(first), &line); err != nil {
		t.Fatalf("%v: %s", err, first)
	}
	if line.Level != "info" || line.Time == "" || line.Message != "page read" || line.Rows != 3 {
		t.Errorf("line is %s", first)
	}
}

func TestLogLevel(t *testing.T) {
	t.Parallel()
	if got := logged(t, config.Log{Level: "warn", Format: "json"}, false); strings.Contains(got, "page read") || !strings.Contains(got, "slow") {
		t.Errorf("at warn: %s", got)
	}
	if _, err := newLogger(&bytes.Buffer{}, config.Log{Level: "loud"}, false); err == nil {
		t.Error("takes a level that is none")
	}
}

func TestLogConsole(t *testing.T) {
	t.Parallel()
	plain := logged(t, config.Log{Level: "info", Format: "console"}, false)
	if !strings.Contains(plain, "INF page read rows=3") || strings.Contains(plain, "\x1b") {
		t.Errorf("without colour: %q", plain)
	}
	if coloured := logged(t, config.Log{Level: "info", Format: "console"}, true); !strings.Contains(coloured, "\x1b[") {
		t.Errorf("with colour: %q", coloured)
	}
}
