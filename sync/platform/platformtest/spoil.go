package platformtest

import (
	"net/http"
	"slices"
	"strconv"
	"time"
)

// What faults do to an answer's content. What they do to its way stands in delivery.

// instead returns the answer of a fault that needs no page.
func (p *Platform) instead(fault Fault, c arrival) (a answer, ok bool) {
	switch fault {
	case Fault429Seconds, Fault429Date, Fault429Garbage, Fault429Billion:
		a = failed(http.StatusTooManyRequests, "Too many requests")
		a.set("Retry-After", p.retryAfter(fault, c))
	case Fault500:
		a = failed(http.StatusInternalServerError, "Internal server error")
	case Fault502:
		a = webPage(http.StatusBadGateway, "502 Bad Gateway")
	case Fault503:
		a = webPage(http.StatusServiceUnavailable, "503 Service Temporarily Unavailable")
	case FaultHTML:
		a = webPage(http.StatusOK, "Manutenção programada")
	case FaultNull:
		a = answer{status: http.StatusOK, body: []byte("null")}
	case FaultEmptyError:
		w := &jsonWriter{}
		p.dialect.wrap(w, "Erro interno, tente novamente", 0, func(*jsonWriter) {})
		a = answer{status: http.StatusOK, body: w.b}
	case FaultRedirect302, FaultRedirect307, FaultRedirect308:
		status, _ := strconv.Atoi(string(fault[len("redirect"):])) // the name ends with it
		a = webPage(status, "Moved")
		a.set("Location", p.faults.RedirectTo+c.URL.RequestURI())
	case Fault401:
		a = failed(http.StatusUnauthorized, "Unauthorized")
	case FaultReset:
	default:
		return answer{}, false
	}
	a.fault = fault
	return a, true
}

func webPage(status int, title string) answer {
	a := answer{status: status, body: []byte("<!DOCTYPE html>\n<html><head><title>" + title + "</title></head><body><h1>" + title + "</h1></body></html>\n")}
	a.set("Content-Type", "text/html; charset=utf-8")
	return a
}

func (p *Platform) retryAfter(fault Fault, c arrival) string {
	d := throw(p.faults.Seed, streamFault, uint64(c.number), 1)
	seconds := d.between(0, p.faults.RetryAfter)
	switch fault {
	case Fault429Date:
		return c.now.Add(time.Duration(seconds) * time.Second).UTC().Format(http.TimeFormat)
	case Fault429Garbage:
		return "em breve"
	case Fault429Billion:
		return "1000000000"
	default:
		return strconv.Itoa(seconds)
	}
}

// spoilRecord returns what becomes of record n of a page under a fault of records; middle is the page's middle one.
func spoilRecord(fault Fault, raw []byte, n, middle int) []byte {
	root := parseNode(raw)
	switch {
	case root.kind != '{': // a bad record
		return raw
	case fault == FaultNullIDs:
		for _, key := range []string{"id", "productCode"} {
			if root.index(key) >= 0 {
				root.editMember(key, nil, put("null"))
			}
		}
	case fault == FaultBadUTF8 && n == middle:
		latin1 := scalar([]byte("\"Projeto S\xe3o Jos\xe9\""))
		root.editMember("name", nil, func(*node, *dice) *node { return latin1 })
	}
	return root.appendJSON(nil)
}

// spoilBody changes the JSON of a whole page.
func spoilBody(fault Fault, body []byte) []byte {
	switch fault {
	case FaultTrailing:
		return append(body, "\n<!-- served by node-7 -->"...)
	case FaultDuplicate:
		if body[0] == '[' {
			return slices.Concat([]byte(`{"data":[],"data":`), body, []byte("}"))
		}
		return slices.Concat([]byte(`{"data":[],`), body[1:])
	}
	return body
}
