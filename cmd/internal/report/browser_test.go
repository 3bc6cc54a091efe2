package report

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"solarmirror/cmd/internal/testtools"
)

// paperWidth is what the margins leave of an A4 sheet, in CSS pixels.
const paperWidth = 703

// TestInBrowser opens the report from a disk with Chromium, JavaScript off: nothing scrolls sideways, no label covers another, and nothing is asked
// for. Then it is printed, with the tables that a screen folds away. TEST_SCREENSHOTS names a directory for pictures of it.
func TestInBrowser(t *testing.T) {
	t.Parallel()
	toText := testtools.Program(t, "pdftotext", "poppler-utils")
	browser, m := testtools.OpenBrowser(t), syncedMirror(t)
	for language, l := range languages {
		file := filepath.Join(t.TempDir(), "report.html")
		must(t, WriteFile(t.Context(), file, m, Options{Language: l, Zone: saoPaulo(t), Now: now}))
		for _, v := range []testtools.View{
			{Width: 390, Height: 844}, {Width: 1280, Height: 900}, {Width: 1280, Height: 900, Dark: true}, {Width: paperWidth, Height: 1000, Paper: true},
		} {
			sight := browser.Look("report-"+language, "file://"+file, v)
			if sight.ContentWidth > v.Width {
				t.Errorf("%s, %d pixels: it is %d wide", language, v.Width, sight.ContentWidth)
			}
			for _, fault := range append(append(sight.Complaints, sight.Collisions...), sight.Requests...) {
				t.Errorf("%s, %d pixels: %s", language, v.Width, fault)
			}
		}
		pdf := filepath.Join(filepath.Dir(file), "report.pdf")
		must(t, os.WriteFile(pdf, browser.Print("file://"+file), 0o600))
		text, err := exec.Command(toText, "-layout", pdf, "-").Output()
		must(t, err)
		printed := map[string]bool{}
		for line := range strings.Lines(string(text)) {
			printed[strings.Join(strings.Fields(line), " ")] = true
		}
		page, err := os.ReadFile(file)
		must(t, err)
		totals := 0
		for id, section := range parse(t, string(page)) {
			for _, table := range section.tables {
				if last := table.rows[len(table.rows)-1]; last[0] == "Total" {
					totals++
					if !printed[strings.Join(last, " ")] {
						t.Errorf("%s: of %s there is not on paper: %q", language, id, last)
					}
				}
			}
		}
		if totals != 7 {
			t.Errorf("%s: %d tables have totals, want 7", language, totals)
		}
	}
}
