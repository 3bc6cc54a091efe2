package terminal

import (
	"strings"
	"testing"
)

// TestWrapped: no word is lost, and no line is wider than the terminal but for a word that is.
func TestWrapped(t *testing.T) {
	t.Parallel()
	const text = "orders: no connexão to\x1b the platform\nsee https://platform.example.com/a/long/address now\n"
	for width, want := range map[int]string{
		0:  "  orders: no connexão to  the platform\n  see https://platform.example.com/a/long/address now\n",
		24: "  orders: no connexão to\n   the platform\n  see\n  https://platform.example.com/a/long/address\n  now\n",
	} {
		var out strings.Builder
		if err := wrapped(&out, width, "  ", text); err != nil || out.String() != want {
			t.Errorf("%d columns:\n%s, want\n%s", width, out.String(), want)
		}
	}
}
