// Package terminal is what commands use to talk to a person at a terminal: tables, questions, and
// text from the platform made harmless.
//
// A [Table] prints rows in columns. A [Dialogue] asks questions on the terminal that standard
// input is. Text that is not ours must not steer a terminal (escape sequences, bidirectional
// controls): tables call [Harmless] themselves; any other print of such text must.
package terminal

import (
	"io"
	"os"
	"strings"
	"unicode"

	"golang.org/x/term"
)

// Is reports whether a stream is a terminal.
func Is(stream any) bool {
	f, hasFd := stream.(interface{ Fd() uintptr })
	return hasFd && term.IsTerminal(int(f.Fd()))
}

// Colour reports whether colored text may go to w: a terminal, and NO_COLOR not set
// (https://no-color.org).
func Colour(w io.Writer) bool { return Is(w) && os.Getenv("NO_COLOR") == "" }

// EraseLine empties the line that a terminal's cursor is on.
const EraseLine = "\r\x1b[K"

// AboveBar writes to a terminal whose last line may be a progress bar: each write replaces the bar,
// which is drawn again below it.
type AboveBar struct{ Terminal io.Writer }

func (w AboveBar) Write(p []byte) (int, error) {
	if _, err := io.WriteString(w.Terminal, EraseLine+string(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Harmless replaces control characters and bidirectional controls by spaces.
func Harmless(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
			return ' '
		}
		return r
	}, s)
}

// HarmlessLines calls Harmless for each line.
func HarmlessLines(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = Harmless(line)
	}
	return strings.Join(lines, "\n")
}
