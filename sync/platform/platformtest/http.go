package platformtest

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const apiPrefix = "/api/v2/"

// arrival is an HTTP request as it came in.
type arrival struct {
	*http.Request
	number int64     // from 1, over all requests
	now    time.Time // by the platform's clock
}

// answer is a status with its body, JSON unless the header says otherwise.
type answer struct {
	status int
	header http.Header // beside those that every answer has; may be nil
	body   []byte
	fault  Fault // that spoiled it, or will on its way

	// transmit, where it is set, ends the call in place of an answer.
	transmit func(http.ResponseWriter, *http.Request)
}

func (a *answer) set(name, value string) {
	if a.header == nil {
		a.header = http.Header{}
	}
	a.header.Set(name, value)
}

// failed is the envelope of a refused call.
func failed(status int, format string, args ...any) answer {
	return answer{status: status, body: envelope("null", fmt.Sprintf(format, args...))}
}

// envelope returns {"data":…,"error":"…"}; an empty message stands for null.
func envelope(data, message string) []byte {
	w := &jsonWriter{}
	w.open('{')
	w.key("data")
	w.b = append(w.b, data...)
	w.strOrNull("error", strings.ToValidUTF8(message, "?"))
	w.close('}')
	return w.b
}

// ServeHTTP answers one call of the interface. The world first catches up with the clock.
func (p *Platform) ServeHTTP(w http.ResponseWriter, r *http.Request) { p.respond(r).send(w, r) }

func (p *Platform) respond(r *http.Request) *delivery {
	c := arrival{Request: r, number: p.served.Add(1)}
	p.mu.Lock()
	c.now = p.settle(c.number)
	p.mu.Unlock()
	a := p.answer(c)
	if a.fault != "" {
		p.mu.Lock()
		p.faults.served[a.fault]++
		p.mu.Unlock()
	}
	if a.status == http.StatusUnauthorized {
		a.set("WWW-Authenticate", "Bearer")
	}
	return p.deliver(c, a)
}

func (p *Platform) answer(c arrival) answer {
	path, ok := strings.CutPrefix(c.URL.Path, apiPrefix)
	if !ok {
		return failed(http.StatusNotFound, "Not found")
	}
	if !p.authorized(c.Header.Get("Authorization"), c.number) {
		return failed(http.StatusUnauthorized, "Unauthorized")
	}
	part := strings.Split(path, "/")
	method, serve := http.MethodGet, (func() answer)(nil)
	switch {
	case part[0] == "requests" && len(part) == 4:
		parse := func(values url.Values) (query, error) { return parseRequestQuery(part[1], values, p.zone) }
		serve = func() answer { return p.list(c, parse, part[2], part[3]) }
	case part[0] == "equipments" && len(part) == 3:
		parse := func(values url.Values) (query, error) { return parseEquipmentQuery(values, p.zone) }
		serve = func() answer { return p.list(c, parse, part[1], part[2]) }
	case path == "company":
		method, serve = http.MethodPost, func() answer { return p.takeCompanies(c.Request, c.now) }
	default:
		return failed(http.StatusNotFound, "Not found")
	}
	if c.Method != method {
		refused := failed(http.StatusMethodNotAllowed, "Method not allowed")
		refused.set("Allow", method)
		return refused
	}
	return serve()
}

// authorized asks for the token that counts at the request of the given number.
func (p *Platform) authorized(header string, number int64) bool {
	want := p.token
	if p.faults.rotation != 0 && number >= p.faults.rotation {
		want = p.nextToken
	}
	scheme, token, _ := strings.Cut(header, " ")
	return strings.EqualFold(scheme, "Bearer") && token == want && token != ""
}

// list answers one page of a list, if nothing befalls it.
func (p *Platform) list(c arrival, parse func(url.Values) (query, error), pageNumber, pageLimit string) answer {
	values, err := url.ParseQuery(c.URL.RawQuery)
	if err != nil {
		return failed(http.StatusBadRequest, "query string: %v", err)
	}
	if p.dialect.Filters == FiltersIgnored {
		values = nil
	}
	q, err := parse(values)
	if err != nil {
		return failed(http.StatusBadRequest, "%v", err)
	}
	fault := p.stir(c, q)
	if a, ok := p.instead(fault, c); ok {
		return a
	}
	a := p.page(c, q, pageNumber, pageLimit, fault)
	a.body = spoilBody(a.fault, a.body)
	return a
}

// stir lets the world churn and the schedule decide, as the arrival of a list request makes them.
func (p *Platform) stir(c arrival, q query) Fault {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.world.churn(p.churn, c.number, q)
	return p.faults.next(c.number, c.URL.RequestURI())
}

// page renders one page, its records spoiled where that is the fault.
func (p *Platform) page(c arrival, q query, pageNumber, pageLimit string, fault Fault) answer {
	window, refusal, ok := p.dialect.window(pageNumber, pageLimit)
	if !ok {
		refusal.fault = fault
		return refusal
	}
	documents, total := p.take(c.number, q, window)
	ofRecords := fault == FaultBadUTF8 || fault == FaultNullIDs
	if ofRecords && len(documents) == 0 {
		fault = ""
	}
	w := &jsonWriter{b: make([]byte, 0, 1024+len(documents)*6144)}
	p.dialect.wrap(w, "", total, func(w *jsonWriter) {
		for i := range documents {
			w.comma()
			if ofRecords {
				w.b = append(w.b, spoilRecord(fault, documents[i].appendJSON(nil), i, len(documents)/2)...)
				continue
			}
			w.b = documents[i].appendJSON(w.b)
		}
	})
	return answer{status: http.StatusOK, body: w.b, fault: fault}
}

// take holds the world still just long enough to copy the state of one page.
func (p *Platform) take(number int64, q query, wanted window) (documents []document, total int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	d := throw(p.world.seed, streamPages, uint64(number))
	if p.dialect.Pages == PagesRepeat && wanted.number > 1 && d.chance(repeatShare) {
		wanted.number--
	}
	list := p.lists.list(p.world, q, p.dialect.Order)
	rankOf := func(i uint32) rank { return q.rank(p.world, p.dialect.Order, i) }
	list = p.dialect.Order.shuffled(list, &d, rankOf)
	list = p.world.withTwins(list)
	for _, i := range page(list, wanted.number, wanted.limit) {
		document := q.document(p.world, i&^twin)
		document.bad = i&twin != 0
		documents = append(documents, document)
	}
	return documents, len(list)
}

// repeatShare is how many of the pages beyond the first PagesRepeat answers with the one before.
const repeatShare = 0.25

// acceptsGzip reads an Accept-Encoding header: gzip named, and not with a weight of zero.
func acceptsGzip(header string) bool {
	for coding := range strings.SplitSeq(header, ",") {
		name, parameter, _ := strings.Cut(coding, ";")
		if !strings.EqualFold(strings.TrimSpace(name), "gzip") {
			continue
		}
		weight, given := strings.CutPrefix(strings.TrimSpace(parameter), "q=")
		q, err := strconv.ParseFloat(weight, 64)
		return !given || err == nil && q > 0
	}
	return false
}
