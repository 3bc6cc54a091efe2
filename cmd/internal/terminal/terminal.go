// Package terminal prints tables, asks questions on a terminal, and removes control characters from
// text.
//
// A [Table] prints rows in columns. A [Dialogue] asks questions when standard input is a terminal.
// [AboveBar] keeps log lines and a progress bar apart.
//
// Text from outside the program, such as the platform's, must not control the terminal with escape
// sequences or bidirectional controls. A table passes its text through [Harmless]; code that prints
// such text without a table must call Harmless itself.
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

// Colour reports whether w may receive colored text: w is a terminal and NO_COLOR is not set
// (https://no-color.org).
func Colour(w io.Writer) bool { return Is(w) && os.Getenv("NO_COLOR") == "" }

// EraseLine clears the line of the cursor.
const EraseLine = "\r\x1b[K"

// AboveBar writes to a terminal whose last line may be a progress bar. Each write erases the bar,
// which its owner draws again below the text.
type AboveBar struct{ Terminal io.Writer }

func (w AboveBar) Write(p []byte) (int, error) {
	if _, err := io.WriteString(w.Terminal, EraseLine+string(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Harmless replaces each control character and each bidirectional control with a space.
func Harmless(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
			return ' '
		}
		return r
	}, s)
}

// HarmlessLines is Harmless but for line breaks, which it keeps.
func HarmlessLines(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = Harmless(line)
	}
	return strings.Join(lines, "\n")
}
