package statuspage

import (
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"solarmirror/cmd/internal/testtools"
)

// TestInBrowser looks at the page with Chromium, JavaScript off: nothing scrolls sideways from a phone's width to a
// desktop's, neither the page nor a table on it, and the browser has nothing to complain of, refused styles among it,
// no label covers another, and nobody else is asked for anything. TEST_SCREENSHOTS names a directory for pictures.
func TestInBrowser(t *testing.T) {
	browser := testtools.OpenBrowser(t)
	full, empty, well, outage := newWorld(t), newWorld(t), newWorld(t), newWorld(t)
	full.fill(t)
	well.fillWell(t)
	phone, desktop := testtools.View{Width: 390, Height: 844}, testtools.View{Width: 1440, Height: 900}
	darkPhone, darkDesktop := phone, desktop
	darkPhone.Dark, darkDesktop.Dark = true, true
	for _, page := range []struct {
		name    string
		options Options
		views   []testtools.View
	}{
		{"status", full.options(), []testtools.View{phone, darkPhone, {Width: 768, Height: 1024}, {Width: 910, Height: 768}, {Width: 1024, Height: 768}, desktop, darkDesktop}},
		{"status-empty", empty.options(), []testtools.View{phone, darkDesktop}},
		{"status-well", well.options(), []testtools.View{darkPhone, desktop}},
		{"status-outage", outage.inOutage(t), []testtools.View{phone, darkPhone, desktop, darkDesktop}},
	} {
		server := httptest.NewServer(New(page.options))
		defer server.Close()
		for _, lang := range []string{"en", "pt"} {
			for _, v := range page.views {
				v.Language = lang
				name := page.name + "-" + lang
				sight := browser.Look(name, server.URL, v)
				if sight.ContentWidth > v.Width {
					t.Errorf("%s at %d pixels is %d wide", name, v.Width, sight.ContentWidth)
				}
				for _, fault := range slices.Concat(sight.Complaints, sight.Collisions, sight.Scrolling) {
					t.Errorf("%s at %d pixels: %s", name, v.Width, fault)
				}
				for _, request := range sight.Requests {
					if !strings.HasPrefix(request, server.URL+"/") {
						t.Errorf("%s asks for %s", name, request)
					}
				}
			}
		}
	}
}
