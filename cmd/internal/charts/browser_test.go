package charts

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"solarmirror/cmd/internal/testtools"
)

// TestInBrowser looks at charts of every kind with Chromium: no text covers another or is cut.
// TEST_SCREENSHOTS names a directory for pictures.
func TestInBrowser(t *testing.T) {
	t.Parallel()
	browser := testtools.OpenBrowser(t)
	var body strings.Builder
	for _, c := range every() {
		body.WriteString(render(t, c))
		spark, err := c.Spark()
		if err != nil {
			t.Fatal(err)
		}
		body.WriteString(`<p class="card">` + string(spark) + "</p>\n")
	}
	page := `<!DOCTYPE html><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:"><link rel="icon" href="data:,">
<meta name="color-scheme" content="light dark"><style>` + CSS + `
body { max-width: 48rem; margin: 1rem auto; padding: 0 1rem; font: 16px/1.5 system-ui, sans-serif; overflow-wrap: break-word; }
@media (prefers-color-scheme: dark) { body { background: #141b26; color: #dbe3ee; } }
.chart { margin: 2rem 0 .5rem; } .card { width: 8rem; margin: 0; } .grey { filter: grayscale(1); }
</style>`
	for name, class := range map[string]string{"charts": "", "charts-grey": "grey"} {
		file := filepath.Join(t.TempDir(), name+".html")
		if err := os.WriteFile(file, []byte(page+`<body class="`+class+`">`+body.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, v := range []testtools.View{{Width: 390, Height: 844}, {Width: 1440, Height: 900}, {Width: 1440, Height: 900, Dark: true}, {Width: 703, Height: 1000, Paper: true}} {
			sight := browser.Look(name, "file://"+file, v)
			if sight.ContentWidth > v.Width {
				t.Errorf("%s at %d pixels is %d wide", name, v.Width, sight.ContentWidth)
			}
			for _, fault := range slices.Concat(sight.Complaints, sight.Collisions, sight.Requests) {
				t.Errorf("%s at %d pixels: %s", name, v.Width, fault)
			}
		}
	}
}
