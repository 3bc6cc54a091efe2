package platformtest

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// Dialect is how the platform speaks where the interface is silent. The zero value is the default of every field.
type Dialect struct {
	FirstPage FirstPage
	Envelope  Envelope
	Total     Total // a bare array has none, whatever stands here
	Cap       int   // the largest page limit; 0 is 50
	OverCap   OverCap
	Drift     Drift
	Order     Order
	Pages     Pages
	Filters   Filters
}

const defaultPageCap = 50

// FirstPage is the number of the first page.
type FirstPage uint8

// The values of FirstPage.
const (
	FirstPageOne FirstPage = iota
	FirstPageZero
	FirstPageZeroAsOne // 1, but 0 is answered as if it were 1
)

// Envelope is what a list is wrapped in.
type Envelope uint8

// The values of Envelope.
const (
	EnvelopeItems Envelope = iota // {"error":null,"data":{"items":[…],"totalItems":N}}
	EnvelopeData                  // {"data":[…],"totalItems":N}
	EnvelopeArray                 // […]
)

// Total is what becomes of the number of records in totalItems. Bad records count as records.
type Total uint8

// The values of Total.
const (
	TotalNumber Total = iota
	TotalAbsent
	TotalString
	TotalWrongHigh // a tenth and one more than there are
	TotalWrongLow  // a tenth and one less than there are, never less than 0
	TotalZero
	TotalGarbage // something that is no count
)

// OverCap is the answer to a page limit above the cap.
type OverCap uint8

// The values of OverCap.
const (
	OverCap400 OverCap = iota
	OverCap500
	OverCap200   // "error" set in an answer with status 200
	OverCapClamp // as if the cap had been asked for, in silence
)

// Pages is how page numbers are treated.
type Pages uint8

// The values of Pages.
const (
	PagesHonest  Pages = iota
	PagesRepeat        // now and then a page beyond the first is answered with the page before it
	PagesIgnored       // every page is the first
)

// Filters is how query parameters are treated.
type Filters uint8

// The values of Filters.
const (
	FiltersHonoured Filters = iota
	FiltersIgnored          // nothing behind the ? counts, removed included: every list is the unfiltered live one
)

// dialectKey is one setting of a dialect as text.
type dialectKey struct {
	name   string
	values string // what may stand after the =, for people
	get    func(Dialect) string
	set    func(d *Dialect, value string) bool // whether the value is one
}

// choice is a key whose values are the names of a field's values, in their order.
func choice[T ~uint8](name string, field func(*Dialect) *T, values ...string) dialectKey {
	return dialectKey{
		name: name, values: strings.Join(values, ", "),
		get: func(d Dialect) string { return values[*field(&d)] },
		set: func(d *Dialect, value string) bool {
			for i := range values {
				if values[i] == value {
					*field(d) = T(i)
					return true
				}
			}
			return false
		},
	}
}

// dialectKeys are in the order in which String writes them.
func dialectKeys() []dialectKey {
	return []dialectKey{
		choice("first", func(d *Dialect) *FirstPage { return &d.FirstPage }, "1", "0", "0-as-1"),
		choice("envelope", func(d *Dialect) *Envelope { return &d.Envelope }, "items", "data", "array"),
		choice("total", func(d *Dialect) *Total { return &d.Total }, "number", "absent", "string", "wrong-high", "wrong-low", "zero", "garbage"),
		{
			name: "cap", values: "50 or another whole number from 1",
			get: func(d Dialect) string { return strconv.Itoa(d.pageCap()) },
			set: func(d *Dialect, value string) bool {
				n, err := strconv.Atoi(value)
				d.Cap = n
				return err == nil && n > 0
			},
		},
		choice("over", func(d *Dialect) *OverCap { return &d.OverCap }, "400", "500", "200", "clamp"),
		{
			name: "drift", values: "none, all, or joined by +: " + strings.Join(driftNames(), ", "),
			get: func(d Dialect) string { return d.Drift.String() },
			set: func(d *Dialect, value string) (ok bool) {
				d.Drift, ok = parseDrift(value)
				return ok
			},
		},
		choice("order", func(d *Dialect) *Order { return &d.Order }, orderNames()...),
		choice("pages", func(d *Dialect) *Pages { return &d.Pages }, "honest", "repeat", "ignored"),
		choice("filters", func(d *Dialect) *Filters { return &d.Filters }, "honoured", "ignored"),
	}
}

// DialectHelp lists the keys of a dialect with their values, the default first, one a line.
func DialectHelp() string {
	var b strings.Builder
	for _, k := range dialectKeys() {
		fmt.Fprintf(&b, "  %-9s %s\n", k.name, k.values)
	}
	return b.String()
}

// ParseDialect reads a dialect from text such as "first=0,envelope=data,total=string,cap=50,over=clamp,drift=all,
// order=updated-desc". What is not named keeps its default; the empty text is the zero dialect. An error names the
// values that there are.
func ParseDialect(text string) (Dialect, error) {
	var d Dialect
	if text == "" {
		return d, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		if err := d.set(name, value); err != nil {
			return Dialect{}, err
		}
	}
	return d, nil
}

func (d *Dialect) set(name, value string) error {
	var names []string
	for _, k := range dialectKeys() {
		if k.name != name {
			names = append(names, k.name)
			continue
		}
		if !k.set(d, value) {
			return fmt.Errorf("dialect: %s=%s is unknown; %s may be %s", name, value, name, k.values)
		}
		return nil
	}
	return fmt.Errorf("dialect: %q is no setting; write name=value, the names are %s", name, strings.Join(names, ", "))
}

// String writes the first page, the envelope, and what else is not at its default, so that ParseDialect reads it back.
func (d Dialect) String() string {
	var parts []string
	for i, k := range dialectKeys() {
		if value := k.get(d); i < 2 || value != k.get(Dialect{}) {
			parts = append(parts, k.name+"="+value)
		}
	}
	return strings.Join(parts, ",")
}

// Dialects is the matrix that tests run over: every first page × envelope × answer over the cap, while totals and caps
// (50, 20, 500) take turns.
func Dialects() []Dialect {
	totals := []Total{TotalAbsent, TotalString, TotalNumber, TotalWrongHigh, TotalWrongLow}
	caps := []int{50, 20, 500}
	var all []Dialect
	for envelope := EnvelopeItems; envelope <= EnvelopeArray; envelope++ {
		for first := FirstPageOne; first <= FirstPageZeroAsOne; first++ {
			for over := OverCap400; over <= OverCapClamp; over++ {
				n := len(all)
				all = append(all, Dialect{
					FirstPage: first, Envelope: envelope, OverCap: over,
					Total: totals[n%len(totals)], Cap: caps[(n+n/4)%len(caps)],
				})
			}
		}
	}
	return all
}

func (d Dialect) pageCap() int {
	if d.Cap == 0 {
		return defaultPageCap
	}
	return d.Cap
}

// window is the page that is meant by a call's page number and page limit, its number counted from 1.
type window struct{ number, limit int }

// window reads the two path parameters. What the platform refuses comes back as the answer, with ok false.
func (d Dialect) window(pageNumber, pageLimit string) (w window, refusal answer, ok bool) {
	lowest := 1
	if d.FirstPage != FirstPageOne {
		lowest = 0
	}
	number, err := strconv.Atoi(pageNumber)
	if err != nil || number < lowest {
		return w, failed(http.StatusBadRequest, "pageNumber must be a whole number from %d, not %q", lowest, pageNumber), false
	}
	limit, err := strconv.Atoi(pageLimit)
	if err != nil || limit < 1 {
		return w, failed(http.StatusBadRequest, "pageLimit must be a whole number from 1 to %d, not %q", d.pageCap(), pageLimit), false
	}
	if limit > d.pageCap() {
		if d.OverCap != OverCapClamp {
			return w, d.refuseLimit(limit), false
		}
		limit = d.pageCap()
	}
	switch {
	case d.Pages == PagesIgnored:
		number = 1
	case d.FirstPage == FirstPageZero:
		number++
	}
	return window{max(number, 1), limit}, answer{}, true
}

func (d Dialect) refuseLimit(limit int) answer {
	status := map[OverCap]int{OverCap400: http.StatusBadRequest, OverCap500: http.StatusInternalServerError, OverCap200: http.StatusOK}[d.OverCap]
	return failed(status, "pageLimit must be a whole number from 1 to %d, not %d", d.pageCap(), limit)
}

// wrap writes a list in its envelope; each appends the elements to the writer.
func (d Dialect) wrap(w *jsonWriter, message string, total int, each func(*jsonWriter)) {
	if d.Envelope == EnvelopeArray && message == "" {
		w.open('[')
		each(w)
		w.close(']')
		return
	}
	w.open('{')
	if d.Envelope == EnvelopeItems || message != "" {
		w.strOrNull("error", message)
	}
	if d.Envelope == EnvelopeItems {
		w.object("data")
		w.array("items")
	} else {
		w.array("data")
	}
	each(w)
	w.close(']')
	d.writeTotal(w, total)
	if d.Envelope == EnvelopeItems {
		w.close('}')
	}
	w.close('}')
}

// garbage is what stands in place of a total; which of it depends on the true one.
var garbage = []string{`"n/a"`, `-7`, `12.5`, `{"count":3}`, `true`, `"12 de 40"`}

func (d Dialect) writeTotal(w *jsonWriter, total int) {
	const name = "totalItems"
	wrong := total/10 + 1
	switch d.Total {
	case TotalAbsent:
	case TotalString:
		w.str(name, strconv.Itoa(total))
	case TotalWrongHigh:
		w.integer(name, total+wrong)
	case TotalWrongLow:
		w.integer(name, max(0, total-wrong))
	case TotalZero:
		w.integer(name, 0)
	case TotalGarbage:
		w.key(name)
		w.b = append(w.b, garbage[total%len(garbage)]...)
	default:
		w.integer(name, total)
	}
}
