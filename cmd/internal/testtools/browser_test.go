package testtools_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"solarmirror/cmd/internal/testtools"
)

// TestBrowserSees shows it a page with everything it is to notice, and a good one.
func TestBrowserSees(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/good" {
			fmt.Fprint(w, `<!DOCTYPE html><link rel="icon" href="data:,"><meta name="viewport" content="width=device-width"><svg width="300"><text x="5" y="20">one</text><text x="5" y="60">two</text></svg>`)
			return
		}
		w.Header().Set("Content-Security-Policy", "style-src 'none'; script-src 'unsafe-inline'")
		fmt.Fprint(w, `<!DOCTYPE html><link rel="icon" href="data:,"><style>b { color: red }</style><script>document.title = "ran"; alert(1)</script>
			<img src="/picture" width="900" height="1"><figure style="margin: 0">
			<svg width="300" style="overflow: visible"><text x="5" y="20">one</text><text x="9" y="24">two</text><text x="-40" y="80">three</text></svg></figure>`)
	}))
	defer server.Close()
	browser := testtools.OpenBrowser(t)
	view := testtools.View{Width: 390, Height: 500}
	bad := browser.Look("bad", server.URL+"/bad", view)
	if bad.ContentWidth < 900 || len(bad.Complaints) == 0 || !slices.Equal(bad.Requests, []string{server.URL + "/picture"}) ||
		!slices.Equal(bad.Collisions, []string{"two covers one", "three is cut off"}) {
		t.Errorf("%+v", bad)
	}
	good := browser.Look("good", server.URL+"/good", view)
	if good.ContentWidth > view.Width || len(good.Complaints)+len(good.Requests)+len(good.Collisions) > 0 {
		t.Errorf("%+v", good)
	}
	if page := browser.Print(server.URL + "/good"); !bytes.HasPrefix(page, []byte("%PDF-")) {
		t.Errorf("printed %.20q", page)
	}
}
