package platformtest

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// CompanyOutcome is how a call of POST /company ends.
type CompanyOutcome string

// The outcomes. Each of them but the first overrules what the call deserves; "processed" ones do what it asks all the same.
const (
	CompanyAsDeserved    CompanyOutcome = ""              // created, or refused by the rules: 200, 400 for an invalid one, 409 for a duplicate
	CompanyNoSuccess     CompanyOutcome = "no-success"    // 200 with success false
	CompanyBadRequest    CompanyOutcome = "400"           //
	CompanyUnauthorized  CompanyOutcome = "401"           //
	CompanyForbidden     CompanyOutcome = "403"           //
	CompanyTimedOut408   CompanyOutcome = "408"           //
	CompanyConflict      CompanyOutcome = "409"           //
	CompanyUnprocessable CompanyOutcome = "422"           //
	CompanyThrottled     CompanyOutcome = "429"           // with Retry-After: 1
	CompanyServerError   CompanyOutcome = "500"           //
	CompanyBadGateway    CompanyOutcome = "502"           // processed: a gateway lost the answer
	CompanyRedirect      CompanyOutcome = "307"           // to elsewhere on the same host
	CompanyResetBefore   CompanyOutcome = "reset-before"  // the connection is reset before the body is read
	CompanyResetAfter    CompanyOutcome = "reset-after"   // processed, then reset
	CompanySilentAfter   CompanyOutcome = "silent-after"  // processed, and never answered
	CompanyCutAnswer     CompanyOutcome = "cut"           // processed, the answer ends half-way
	CompanyContradiction CompanyOutcome = "contradiction" // processed, 200 with success true and an error
	CompanyBlockedPage   CompanyOutcome = "403 page"      // the web page of a proxy that did not let the call through
	CompanyReplacedPage  CompanyOutcome = "409 page"      // processed: the web page of a proxy that did not let the answer through
)

// CompanyOutcomes lists every outcome.
func CompanyOutcomes() []CompanyOutcome {
	return []CompanyOutcome{
		CompanyAsDeserved, CompanyNoSuccess, CompanyBadRequest, CompanyUnauthorized, CompanyForbidden, CompanyTimedOut408, CompanyConflict,
		CompanyUnprocessable, CompanyThrottled, CompanyServerError, CompanyBadGateway, CompanyRedirect, CompanyResetBefore, CompanyResetAfter,
		CompanySilentAfter, CompanyCutAnswer, CompanyContradiction, CompanyBlockedPage, CompanyReplacedPage,
	}
}

// processed says whether a call that ends so has done what it was asked.
func (o CompanyOutcome) processed() bool {
	switch o {
	case CompanyAsDeserved, CompanyBadGateway, CompanyResetAfter, CompanySilentAfter, CompanyCutAnswer, CompanyContradiction, CompanyReplacedPage:
		return true
	}
	return false
}

// CompanyCall is one call of POST /company that is about to be decided on.
type CompanyCall struct {
	N int64 // its number, from 1

	request *http.Request
	body    []byte
	read    bool
}

// TaxID returns the CNPJ, or else the CPF, of the first company asked for; "" when the body holds none. It reads the body.
func (c *CompanyCall) TaxID() string {
	companies, err := parseCompanies(c.bytes())
	if err != nil || len(companies) == 0 {
		return ""
	}
	return companies[0].CNPJ + companies[0].CPF
}

func (c *CompanyCall) bytes() []byte {
	if !c.read {
		c.body, _ = io.ReadAll(io.LimitReader(c.request.Body, maxCreateBody+1)) // a cut body is one that cannot be parsed
		c.read = true
	}
	return c.body
}

// CompanyCount is what happened to one tax number.
type CompanyCount struct {
	Received  int // calls whose body arrived with it
	Processed int // calls that created it
}

// companyDesk counts calls of POST /company.
type companyDesk struct {
	mu     sync.Mutex
	calls  int64
	counts map[string]CompanyCount
}

// CompanyCounts returns what happened to every tax number that arrived, formatted as it came.
func (p *Platform) CompanyCounts() map[string]CompanyCount {
	p.desk.mu.Lock()
	defer p.desk.mu.Unlock()
	return maps.Clone(p.desk.counts)
}

func (d *companyDesk) next() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.calls++
	return d.calls
}

// count notes one call for a tax number.
func (d *companyDesk) count(taxID string, created bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.counts == nil {
		d.counts = map[string]CompanyCount{}
	}
	c := d.counts[taxID]
	c.Received++
	if created {
		c.Processed++
	}
	d.counts[taxID] = c
}

// takeCompanies decides on one call and answers it.
func (p *Platform) takeCompanies(r *http.Request, now time.Time) answer {
	call := &CompanyCall{N: p.desk.next(), request: r}
	outcome := CompanyAsDeserved
	if p.companyOutcome != nil {
		outcome = p.companyOutcome(call)
	}
	if outcome == CompanyResetBefore {
		return answer{transmit: resetConnection}
	}
	taxID := call.TaxID()
	deserved := failed(http.StatusInternalServerError, "Internal error")
	if outcome.processed() {
		r.Body = io.NopCloser(bytes.NewReader(call.bytes()))
		deserved = p.createCompanies(r, now)
	}
	p.desk.count(taxID, outcome.processed() && deserved.status == http.StatusOK)
	return outcome.answer(deserved)
}

func (o CompanyOutcome) answer(deserved answer) answer {
	switch o {
	case CompanyAsDeserved:
		return deserved
	case CompanyNoSuccess:
		return notCreated(http.StatusOK, fmt.Errorf("refused by a rule nobody wrote down"))
	case CompanyResetAfter:
		return answer{transmit: resetConnection}
	case CompanySilentAfter:
		return answer{transmit: waitForever}
	case CompanyCutAnswer:
		return answer{transmit: func(w http.ResponseWriter, r *http.Request) { cutAnswer(w, deserved.body) }}
	case CompanyContradiction:
		return answer{status: http.StatusOK, body: envelope(`{"success":true}`, "partly stored")}
	case CompanyBlockedPage:
		return proxyPage(http.StatusForbidden)
	case CompanyReplacedPage:
		return proxyPage(http.StatusConflict)
	}
	status, _ := strconv.Atoi(string(o)) // the other outcomes are named by their status
	refused := failed(status, "%s", strings.ToLower(http.StatusText(status)))
	switch o {
	case CompanyThrottled:
		refused.header = http.Header{"Retry-After": {"1"}}
	case CompanyRedirect:
		refused.header = http.Header{"Location": {apiPrefix + "elsewhere"}}
	}
	return refused
}

func proxyPage(status int) answer {
	page := fmt.Sprintf("<!DOCTYPE html>\n<html><title>%d</title><p>Blocked by the proxy.</html>\n", status)
	return answer{status: status, header: http.Header{"Content-Type": {"text/html"}}, body: []byte(page)}
}

func hijack(w http.ResponseWriter) net.Conn {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // a recorder or HTTP/2: ending the stream is the nearest thing
	}
	return conn
}

func resetConnection(w http.ResponseWriter, _ *http.Request) {
	conn := hijack(w)
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // so that closing sends a reset
	}
	_ = conn.Close()
}

// waitForever says nothing until the client goes away.
func waitForever(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

func cutAnswer(w http.ResponseWriter, body []byte) {
	conn := hijack(w)
	_, _ = fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body[:len(body)/2])
	_ = conn.Close()
}
