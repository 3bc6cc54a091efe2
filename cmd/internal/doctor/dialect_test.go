package doctor

import (
	"errors"
	"net/http"
	"testing"

	"solarmirror/store"
	"solarmirror/sync/pull"
	"solarmirror/sync/scan"
)

func TestDialect(t *testing.T) {
	t.Parallel()
	remembered := pull.Dialect{Numbering: scan.Numbering{First: 0, Known: true, Limit: 3, Envelope: "array"}}
	asked := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" && r.URL.Path != "/api/v2/requests/order/0/3" {
			t.Errorf("asked for %s", r.URL)
		}
		answering(3)(w, r)
	})
	for _, tc := range []struct {
		name      string
		handler   http.Handler
		dialect   string
		elsewhere bool // the mirror is another platform's
		want      Verdict
		says      string
	}{
		{"fits", asked, remembered.String(), false, OK, "first page 0, page limit 3, envelope array: still so"},
		{"page refused", replying(400, ""), remembered.String(), false, Warning, "solarmirror sync"},
		{"refused with 200", replying(200, `{"error":"limit"}`), remembered.String(), false, Warning, "refused now"},
		{"more rows than asked for", answering(4), remembered.String(), false, Warning, "4 rows"},
		{"another envelope", replying(200, `{"data":[{}]}`), remembered.String(), false, OK, "now answers as data"},
		{"token refused", replying(401, ""), remembered.String(), false, Skipped, "see reachability"},
		{"nothing remembered", asked, "", false, Skipped, "the first sync"},
		{"mirror of another platform", asked, remembered.String(), true, Failed, "https://elsewhere.example"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			base := serve(t, tc.handler)
			f := newFacts(t, "PLATFORM_BASE_URL="+base, "PLATFORM_TOKEN=hunter2")
			if tc.elsewhere {
				base = "https://elsewhere.example"
			}
			makeMirror(t, f, func(m *store.Mirror) error {
				return errors.Join(m.Bind(t.Context(), base), m.SetDialect(t.Context(), tc.dialect))
			})
			f.gather(t.Context())
			expect(t, runCheck(t, "dialect", f), tc.want, tc.says)
		})
	}
}
