package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"solarmirror/sync/platform/platformtest"
)

// TestDoubtIsSettledByEvidence leaves two companies in doubt: a new one, which the platform created before the connection broke, and one
// that had long been its customer. Both buy in the days that follow. The mirror proves the first, and says nothing of the second.
func TestDoubtIsSettledByEvidence(t *testing.T) {
	t.Parallel()
	const fresh = "11.222.333/0001-81"
	var passed atomic.Int64 // how far the platform is ahead of us
	platform := platformtest.New(platformtest.Options{
		Seed: 3, Requests: 200, Token: simulationToken, Clock: func() time.Time { return time.Now().Add(time.Duration(passed.Load())) },
		CompanyOutcome: func(call *platformtest.CompanyCall) platformtest.CompanyOutcome {
			if call.TaxID() == fresh {
				return platformtest.CompanyResetAfter
			}
			return platformtest.CompanyServerError
		},
	})
	old := bestCustomer(t, platform)
	p := newProgram(t, platform)
	p.mustExit(t, exitOK, "", "sync", "orders", "budgets")
	p.mustExit(t, exitOK, fmt.Sprintf(`[{"name":"Ana","email":"ana@example.com","password":"one","CNPJ":%q},
		{"name":"Bia","email":"bia@example.com","password":"two","CNPJ":%q}]`, fresh, old), "outbox", "add")
	p.mustExit(t, exitFailed, "", "push")
	states := "SELECT state FROM company_creations ORDER BY outbox_id"
	if got := p.strings(t, states); !cmp.Equal(got, []string{"ambiguous", "ambiguous"}) {
		t.Fatalf("after the push: %v", got)
	}

	passed.Store(int64(20 * 24 * time.Hour))
	p.mustExit(t, exitOK, "", "push")
	if got := p.strings(t, states); !cmp.Equal(got, []string{"ambiguous", "ambiguous"}) {
		t.Fatalf("with nothing new in the mirror: %v", got)
	}
	p.mustExit(t, exitOK, "", "sync", "orders", "budgets")
	for _, taxID := range []string{fresh, old} {
		if n := p.strings(t, fmt.Sprintf(`SELECT count(*) FROM requests JOIN request_companies USING (request_key)
			WHERE cnpj = '%s' AND budget_created > (SELECT max(created_at) FROM company_creations)`, taxID)); n[0] == "0" {
			t.Fatalf("%s has bought nothing since, so nothing is proved", taxID)
		}
	}
	if out := p.mustExit(t, exitOK, "", "push"); !regexp.MustCompile(`doubts settled +1\n`).MatchString(out) {
		t.Errorf("the push says:\n%s", out)
	}
	if got := p.strings(t, states); !cmp.Equal(got, []string{"done", "ambiguous"}) {
		t.Errorf("with their requests in the mirror: %v", got)
	}
	for taxID, want := range map[string]platformtest.CompanyCount{fresh: {Received: 1, Processed: 1}, old: {Received: 1}} {
		if got := platform.CompanyCounts()[taxID]; got != want {
			t.Errorf("%s: the platform counts %+v, want %+v", taxID, got, want)
		}
	}
}

// bestCustomer is the CNPJ of the company with the most requests.
func bestCustomer(t *testing.T, p *platformtest.Platform) string {
	t.Helper()
	count, best := map[string]int{}, ""
	for rec := range p.Records(platformtest.ResourceBudgets) {
		var r struct{ Company struct{ CNPJ string } }
		if err := json.Unmarshal(rec.JSON, &r); err != nil {
			t.Fatal(err)
		}
		if r.Company.CNPJ == "" {
			continue
		}
		if count[r.Company.CNPJ]++; count[r.Company.CNPJ] > count[best] {
			best = r.Company.CNPJ
		}
	}
	return best
}

// mustExit runs a command line to its end and returns what it printed.
func (p *program) mustExit(t *testing.T, want int, stdin string, args ...string) string {
	t.Helper()
	cmd := p.command(t, args...)
	var out, errs strings.Builder
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &errs
	if code := exitCodeOf(t, cmd, cmd.Run()); code != want {
		t.Fatalf("%v: exit code %d, want %d\n%s", args, code, want, errs.String())
	}
	return out.String()
}
