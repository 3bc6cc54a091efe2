package statuspage

import (
	"net/http/httptest"
	"testing"

	"solarmirror/cmd/internal/testtools"
)

// TestInBrowser looks at the page with Chromium, JavaScript off: nothing scrolls sideways from a phone's width to a desktop's, and the
// browser has nothing to complain of, refused styles among it. TEST_SCREENSHOTS names a directory for pictures of it.
func TestInBrowser(t *testing.T) {
	browser := testtools.OpenBrowser(t)
	full, empty := newWorld(t), newWorld(t)
	full.fill(t)
	for name, w := range map[string]*world{"status": full, "status-empty": empty} {
		o := w.options()
		server := httptest.NewServer(New(o))
		defer server.Close()
		for _, v := range []testtools.View{{Width: 390, Height: 844}, {Width: 768, Height: 1024}, {Width: 1440, Height: 900}, {Width: 390, Height: 844, Dark: true}, {Width: 1440, Height: 900, Dark: true}} {
			sight := browser.Look(name, server.URL, v)
			if sight.ContentWidth > v.Width {
				t.Errorf("%s at %d pixels is %d wide", name, v.Width, sight.ContentWidth)
			}
			for _, complaint := range sight.Complaints {
				t.Errorf("%s at %d pixels: %s", name, v.Width, complaint)
			}
		}
	}
}
