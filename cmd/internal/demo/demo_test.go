package demo

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	_ "time/tzdata"

	"solarmirror/cmd/internal/report"
	"solarmirror/cmd/internal/testtools"
)

// The demo's report prints on at most seven pages of A4.
func TestReportOnPaper(t *testing.T) {
	info, browser := testtools.Program(t, "pdfinfo", "poppler-utils"), testtools.OpenBrowser(t)
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.Mkdir(Dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := Run(t.Context(), io.Discard, io.Discard, true); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("report.pdf", browser.Print("file://"+filepath.Join(dir, Dir, report.FileName)), 0o600); err != nil {
		t.Fatal(err)
	}
	facts, err := exec.Command(info, "report.pdf").Output()
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`(?m)^Pages: +[1-7]$`).Match(facts) {
		t.Errorf("%s", facts)
	}
}
