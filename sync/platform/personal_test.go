package platform

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// No error repeats personal data that the platform wrote into its answer. Its words and ids stay.
func TestErrorsHoldNoPersonalData(t *testing.T) {
	t.Parallel()
	const said = `cannot save ana.cliente@example.com, CPF111.444.777-35 of order 507f1f77bcf86cd799439011`
	for name, answer := range map[string]string{
		"status":    `{"error":"` + said + `"}`,
		"an object": `{"error":{"text":"` + strings.Replace(said, "@", `\u0040`, 1) + `"}}`,
		"a total":   `{"data":[],"totalItems":"111.444.777-35"}`,
		"a key":     `{"ana.cliente@example.com":[],"111.444.777-35":1}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, code := range []int{200, 400} {
				server := serve(t, func(w http.ResponseWriter, _ *http.Request) {
					w.WriteHeader(code)
					fmt.Fprint(w, answer)
				})
				page, err := listOrders(t, newClient(t, testConfig(server.URL)))
				text := fmt.Sprint(err)
				if page != nil {
					text += page.TotalNote
				}
				for _, secret := range []string{"ana", "example.com", "111", "777"} {
					if strings.Contains(text, secret) {
						t.Errorf("%d: %q is in %q", code, secret, text)
					}
				}
				if strings.Contains(answer, "507f") && !strings.Contains(text, "507f1f77bcf86cd799439011") {
					t.Errorf("%d: the id is not in %q", code, text)
				}
			}
		})
	}
}

func TestWithoutPersonalData(t *testing.T) {
	t.Parallel()
	person := rapid.OneOf(
		rapid.StringMatching(`[a-z]{1,8}(\.[a-z0-9]{1,8})?(\+[a-z]{1,3})?(@|%40)[a-z]{1,9}(\.[a-z]{2,3}){1,2}`),
		rapid.StringMatching(`[0-9]{3}\.?[0-9]{3}\.?[0-9]{3}[-–/ ]?[0-9]{2}`),
		rapid.StringMatching(`[0-9]{2}\.?[0-9]{3}\.?[0-9]{3}/?[0-9]{4}-?[0-9]{2}`),
		rapid.StringMatching(`(\+55 ?)?(\([0-9]{2}\)|[0-9]{2}) ?9?[0-9]{4}[- .]?[0-9]{4}`),
	)
	kept := rapid.OneOf(
		rapid.StringMatching(`[a-z]{1,9}`), rapid.StringMatching(`[0-9]{1,7}[a-z]`), rapid.StringMatching(`[0-9a-f]{23}[a-f]`),
		rapid.StringMatching(`[a-f][0-9a-f]{7}(-[0-9a-f]{4}){3}-[0-9]{12}`),
	)
	rapid.Check(t, func(t *rapid.T) {
		before, after, who := kept.Draw(t, "before"), kept.Draw(t, "after"), person.Draw(t, "person")
		label := rapid.SampledFrom([]string{" ", ": ", " e-mail=", " \"", " tel:"}).Draw(t, "label")
		end := rapid.SampledFrom([]string{" ", ", ", "\" ", "; "}).Draw(t, "end")
		want := before + label + "…" + end + after
		if got := withoutPersonalData(before + label + who + end + after); got != want {
			t.Errorf("%q became %q, want %q", who, got, want)
		}
	})
}
