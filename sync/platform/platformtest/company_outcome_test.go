package platformtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCompanyOutcomes calls once for each outcome, and once more for a duplicate.
func TestCompanyOutcomes(t *testing.T) {
	t.Parallel()
	const refused, lost = "refused", "lost"
	want := map[CompanyOutcome]struct {
		answer    string
		processed bool
	}{
		CompanyAsDeserved:    {"200 " + created, true},
		CompanyNoSuccess:     {`200 {"data":{"success":false},"error":"refused by a rule nobody wrote down"}`, false},
		CompanyBadRequest:    {`400 {"data":null,"error":"bad request"}`, false},
		CompanyUnauthorized:  {`401 {"data":null,"error":"unauthorized"}`, false},
		CompanyForbidden:     {`403 {"data":null,"error":"forbidden"}`, false},
		CompanyTimedOut408:   {`408 {"data":null,"error":"request timeout"}`, false},
		CompanyConflict:      {`409 {"data":null,"error":"conflict"}`, false},
		CompanyUnprocessable: {`422 {"data":null,"error":"unprocessable entity"}`, false},
		CompanyThrottled:     {`429 {"data":null,"error":"too many requests"}`, false},
		CompanyServerError:   {`500 {"data":null,"error":"internal server error"}`, false},
		CompanyBadGateway:    {`502 {"data":null,"error":"bad gateway"}`, true},
		CompanyRedirect:      {`307 {"data":null,"error":"temporary redirect"}`, false},
		CompanyResetBefore:   {refused, false},
		CompanyResetAfter:    {refused, true},
		CompanyCutAnswer:     {lost, true},
		CompanyContradiction: {`200 {"data":{"success":true},"error":"partly stored"}`, true},
		CompanyBlockedPage:   {"403 <!DOCTYPE html>\n<html><title>403</title><p>Blocked by the proxy.</html>\n", false},
		CompanyReplacedPage:  {"409 <!DOCTYPE html>\n<html><title>409</title><p>Blocked by the proxy.</html>\n", true},
	}
	for _, outcome := range CompanyOutcomes() {
		if outcome == CompanySilentAfter {
			continue // never answers; the tests of push meet it
		}
		t.Run("answer "+string(outcome), func(t *testing.T) {
			t.Parallel()
			p := New(Options{Token: "t", CompanyOutcome: func(call *CompanyCall) CompanyOutcome {
				if call.N == 1 {
					return outcome
				}
				return CompanyAsDeserved
			}})
			server := httptest.NewServer(p)
			defer server.Close()
			if got := postOnce(t, server.URL); got != want[outcome].answer {
				t.Errorf("answered %s, want %s", got, want[outcome].answer)
			}
			if got := len(p.Companies()) == 1; got != want[outcome].processed {
				t.Errorf("created: %v", got)
			}
			count := CompanyCount{Received: 1}
			if outcome == CompanyResetBefore {
				count.Received = 0
			}
			if want[outcome].processed {
				count.Processed = 1
			}
			taxID := validCompany()["CNPJ"].(string)
			if d := cmp.Diff(count, p.CompanyCounts()[taxID]); d != "" {
				t.Error(d)
			}
			again := postOnce(t, server.URL)
			if duplicate := strings.HasPrefix(again, "409 "); duplicate != want[outcome].processed {
				t.Errorf("the second call is answered %s", again)
			}
		})
	}
}

// postOnce returns the status and body of the answer, or what there is instead.
func postOnce(t *testing.T, url string) string {
	t.Helper()
	body, err := json.Marshal(map[string]any{"create": []any{validCompany()}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequest("POST", url+"/api/v2/company", strings.NewReader(string(body)))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer t")
	r.Header.Set("Content-Type", "application/json")
	resp, err := (&http.Transport{DisableKeepAlives: true, DisableCompression: true}).RoundTrip(r)
	if err != nil {
		return "refused"
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return "lost"
	}
	return fmt.Sprintf("%d %s", resp.StatusCode, answer)
}
