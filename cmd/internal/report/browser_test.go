package report

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"solarmirror/cmd/internal/testtools"
)

// paperWidth is what the margins leave of an A4 sheet, in CSS pixels.
const paperWidth = 703

// TestInBrowser opens the report from a disk with Chromium, JavaScript off: nothing scrolls sideways or
// is cut, no label covers another, and nothing is asked for. Then it is printed: on few pages, with the
// tables that carry more than their charts. TEST_SCREENSHOTS names a directory for pictures of it.
func TestInBrowser(t *testing.T) {
	t.Parallel()
	toText, info := testtools.Program(t, "pdftotext", "poppler-utils"), testtools.Program(t, "pdfinfo", "poppler-utils")
	browser, m := testtools.OpenBrowser(t), syncedMirror(t)
	for language, l := range languages {
		file := filepath.Join(t.TempDir(), "report.html")
		must(t, WriteFile(t.Context(), file, m, Options{Language: l, Zone: saoPaulo(t), Now: now}))
		for _, v := range []testtools.View{
			{Width: 390, Height: 844}, {Width: 1440, Height: 900}, {Width: 1440, Height: 900, Dark: true},
			{Width: paperWidth, Height: 1000, Paper: true},
		} {
			sight := browser.Look("report-"+language, "file://"+file, v)
			if sight.ContentWidth > v.Width {
				t.Errorf("%s, %d pixels: it is %d wide", language, v.Width, sight.ContentWidth)
			}
			for _, fault := range slices.Concat(sight.Complaints, sight.Collisions, sight.Requests, sight.Scrolling) {
				t.Errorf("%s, %d pixels: %s", language, v.Width, fault)
			}
		}
		pdf := filepath.Join(filepath.Dir(file), "report.pdf")
		must(t, os.WriteFile(pdf, browser.Print("file://"+file), 0o600))
		facts, err := exec.Command(info, pdf).Output()
		must(t, err)
		if !regexp.MustCompile(`(?m)^Pages: +[1-7]$`).Match(facts) || !regexp.MustCompile(`(?m)^Page size: .*A4`).Match(facts) {
			t.Errorf("%s: want at most seven pages of A4: %s", language, facts)
		}
		text, err := exec.Command(toText, "-layout", pdf, "-").Output()
		must(t, err)
		printed := strings.Join(strings.Fields(string(text)), " ")
		page, err := os.ReadFile(file)
		must(t, err)
		if len(page) > 1<<20 {
			t.Errorf("%s: %d bytes", language, len(page))
		}
		sections, lines := parse(t, string(page)), 0
		for _, id := range []string{"revenue", "margin", "funnel", "states", "sellers", "pipeline", "prices", "freshness"} {
			for _, table := range sections[id].tables {
				for _, row := range table.rows[1:] {
					lines++
					if !strings.Contains(printed, strings.Join(strings.Fields(strings.Join(row, " ")), " ")) {
						t.Errorf("%s: of %s there is not on paper: %q", language, id, row)
					}
				}
			}
		}
		if lines < 100 {
			t.Errorf("%s: only %d lines were looked for on paper", language, lines)
		}
	}
}
