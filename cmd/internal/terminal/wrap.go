package terminal

import (
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"
)

// Width is the number of columns of a terminal; 0 for any other stream.
func Width(stream any) int {
	f, hasFd := stream.(interface{ Fd() uintptr })
	if !hasFd {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// leastText is the number of columns that wrapped text has at least, however narrow the terminal is.
const leastText = 20

// Paragraph prints the whole text, harmless, with every line indented. On a terminal, lines are
// wrapped at its width; a word that is longer is left to the terminal.
func Paragraph(w io.Writer, indent, text string) error {
	return wrapped(w, Width(w), indent, text)
}

func wrapped(w io.Writer, width int, indent, text string) error {
	var out strings.Builder
	room := max(width-utf8.RuneCountInString(indent), leastText)
	for line := range strings.SplitSeq(strings.TrimRight(HarmlessLines(text), "\n"), "\n") {
		out.WriteString(indent)
		used := 0
		for i, word := range strings.Split(line, " ") {
			n := utf8.RuneCountInString(word)
			switch {
			case i == 0:
			case width > 0 && used+1+n > room:
				out.WriteString("\n" + indent)
				used = 0
			default:
				out.WriteString(" ")
				used++
			}
			out.WriteString(word)
			used += n
		}
		out.WriteString("\n")
	}
	_, err := io.WriteString(w, out.String())
	return err
}
