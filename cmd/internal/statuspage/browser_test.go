package statuspage

import (
	"net/http/httptest"
	"strings"
	"testing"

	"solarmirror/cmd/internal/testtools"
)

// TestInBrowser looks at the page with Chromium, JavaScript off: nothing scrolls sideways from a phone's width to a desktop's, and the
// browser has nothing to complain of, refused styles among it, no label covers another, and nobody else is asked for anything. TEST_SCREENSHOTS names a directory for pictures of it.
func TestInBrowser(t *testing.T) {
	browser := testtools.OpenBrowser(t)
	full, empty := newWorld(t), newWorld(t)
	full.fill(t)
	phone, desktop := testtools.View{Width: 390, Height: 844}, testtools.View{Width: 1440, Height: 900}
	darkPhone, darkDesktop := phone, desktop
	darkPhone.Dark, darkDesktop.Dark = true, true
	for _, page := range []struct {
		name  string
		world *world
		views []testtools.View
	}{
		{"status", full, []testtools.View{phone, darkPhone, {Width: 768, Height: 1024}, desktop, darkDesktop}},
		{"status-empty", empty, []testtools.View{phone, darkDesktop}},
	} {
		server := httptest.NewServer(New(page.world.options()))
		defer server.Close()
		for _, v := range page.views {
			sight := browser.Look(page.name, server.URL, v)
			if sight.ContentWidth > v.Width {
				t.Errorf("%s at %d pixels is %d wide", page.name, v.Width, sight.ContentWidth)
			}
			for _, fault := range append(sight.Complaints, sight.Collisions...) {
				t.Errorf("%s at %d pixels: %s", page.name, v.Width, fault)
			}
			for _, request := range sight.Requests {
				if !strings.HasPrefix(request, server.URL+"/") {
					t.Errorf("%s asks for %s", page.name, request)
				}
			}
		}
	}
}
