package platformtest

import (
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// query selects the records of a list. Its implementations are comparable, so that lists are cached by them.
type query interface {
	// scan returns the indices of the matching records, newest first.
	scan(w *world) []uint32
	// rank is what record i is sorted by in the given order.
	rank(w *world, o Order, i uint32) rank
	// document takes record i out of the world, to be rendered without holding it still.
	document(w *world, i uint32) document
}

// document is one record as it stood when it was taken.
type document struct {
	scene   *scene
	index   uint32
	request request
	raw     []byte // of equipment, else nil
	bad     bool   // the bad record behind it is meant
}

// appendJSON appends the record as it is served, drift included.
func (d *document) appendJSON(b []byte) []byte {
	switch {
	case d.bad:
		return appendBad(b, d.index, d.raw != nil)
	case d.raw != nil:
		return append(b, d.scene.deviate(d.raw, true, d.index)...)
	case d.scene.drift&DriftAll != 0:
		return append(b, d.scene.deviate(d.scene.appendRequest(nil, d.index, &d.request), false, d.index)...)
	default:
		return d.scene.appendRequest(b, d.index, &d.request)
	}
}

// maxCachedLists bounds the memory of a cache: lists of a large world have megabytes.
const maxCachedLists = 16

// listCache holds the lists of one version of the world.
type listCache struct {
	version uint64
	lists   map[query][]uint32
}

// list returns the matching records in the order, which is the same in all calls.
func (c *listCache) list(w *world, q query, o Order) []uint32 {
	if list, ok := c.lists[q]; ok && c.version == w.version {
		return list
	}
	if c.version != w.version || c.lists == nil || len(c.lists) == maxCachedLists {
		c.version, c.lists = w.version, map[query][]uint32{}
	}
	list := q.scan(w)
	o.arrange(list, func(i uint32) rank { return q.rank(w, o, i) })
	c.lists[q] = list
	return list
}

// page is the slice of a list that a client asked for; the first page is 1.
func page(list []uint32, number, limit int) []uint32 {
	if number-1 > len(list)/limit {
		return nil
	}
	from := min((number-1)*limit, len(list))
	return list[from:min(from+limit, len(list))]
}

// span of time, from included, to not; in milliseconds since 1970.
type period struct{ from, to int64 }

func (p period) contains(at int64) bool { return p.from <= at && at < p.to }

// requestQuery is the filters of section 4.2. An empty text matches all.
type requestQuery struct {
	orders, removed                bool
	updated                        period
	minWatts, maxWatts             float64
	code, name                     string
	state, city, cnpj, responsible string
}

func parseRequestQuery(kind string, values url.Values, zone *time.Location) (query, error) {
	f := filters{values: values, zone: zone}
	q := requestQuery{
		removed:  f.flag("removed"),
		updated:  f.period("lastUpdateAfter", "lastUpdateBefore"),
		minWatts: f.number("powerGTE", math.Inf(-1)), maxWatts: f.number("powerLTE", math.Inf(1)),
		code: f.text("code"), name: f.text("name"),
		state: f.unit("freightState"), city: f.text("freightCity"),
		cnpj: f.text("companyCNPJ"), responsible: f.text("responsibleEmail"),
	}
	switch kind {
	case "order":
		q.orders = true
	case "budget":
	default:
		return nil, fmt.Errorf("requestType must be order or budget, not %q", kind)
	}
	return q, f.err
}

func (q requestQuery) scan(w *world) []uint32 {
	var list []uint32
	for i := range slices.Backward(w.requests) { // they are in the order of creation
		if q.matches(w.scene, uint32(i), &w.requests[i]) {
			list = append(list, uint32(i))
		}
	}
	return list
}

// matches asks what stands in the state first, and then what has to be derived.
func (q requestQuery) matches(s *scene, i uint32, r *request) bool {
	switch {
	case r.gone || r.removed != q.removed || r.stage.isOrder() != q.orders || !q.updated.contains(r.updated):
		return false
	case q.code != "" && !strings.Contains(s.code(i, r), q.code):
		return false
	case q.responsible != "" && !strings.Contains(s.seller(i).email, q.responsible):
		return false
	case q.state != "" && federativeUnits[s.unit(i)].code != q.state:
		return false
	case q.city != "" && !strings.Contains(s.site(i).city, q.city):
		return false
	case q.cnpj != "" && !strings.Contains(s.buyer(i, r).cnpj, q.cnpj):
		return false
	}
	if q.name == "" && math.IsInf(q.minWatts, -1) && math.IsInf(q.maxWatts, 1) {
		return true
	}
	z := s.size(i, r)
	if watts := z.watts(); watts < q.minWatts || watts > q.maxWatts {
		return false
	}
	return q.name == "" || strings.Contains(s.name(i, z.segment, s.customer(i, z.segment)), q.name)
}

func (q requestQuery) document(w *world, i uint32) document {
	return document{scene: w.scene, index: i, request: w.requests[i]}
}

// equipmentQuery is the filters of section 4.3. An empty text matches all.
type equipmentQuery struct {
	created                               period
	kind, code, name, manufacturer, model string
	minPrice, maxPrice                    float64
}

func parseEquipmentQuery(values url.Values, zone *time.Location) (query, error) {
	f := filters{values: values, zone: zone}
	q := equipmentQuery{
		created: f.period("createdAfter", "createdBefore"),
		kind:    f.text("type"), code: f.text("productCode"), name: f.text("name"),
		manufacturer: f.text("manufacturer"), model: f.text("model"),
		minPrice: f.number("basePriceGTE", math.Inf(-1)), maxPrice: f.number("basePriceLTE", math.Inf(1)),
	}
	return q, f.err
}

func (q equipmentQuery) scan(w *world) []uint32 {
	var list []uint32
	for i := range slices.Backward(w.items) { // they are in the order of creation
		if q.matches(&w.items[i]) {
			list = append(list, uint32(i))
		}
	}
	return list
}

func (q equipmentQuery) matches(it *item) bool {
	return !it.gone && q.created.contains(it.created) &&
		(q.kind == "" || it.Type == q.kind) &&
		it.BasePrice >= q.minPrice && it.BasePrice <= q.maxPrice &&
		strings.Contains(it.ProductCode, q.code) && strings.Contains(it.Name, q.name) &&
		strings.Contains(it.Manufacturer, q.manufacturer) && strings.Contains(it.Model, q.model)
}

func (q equipmentQuery) document(w *world, i uint32) document {
	return document{scene: w.scene, index: i, raw: w.items[i].raw}
}

// filters reads query parameters and keeps the first fault. Of a parameter given twice the first value counts.
type filters struct {
	values url.Values
	zone   *time.Location
	err    error
}

func (f *filters) fail(name, want string) {
	if f.err == nil {
		f.err = fmt.Errorf("%s must be %s, not %q", name, want, f.values.Get(name))
	}
}

func (f *filters) text(name string) string { return f.values.Get(name) }

func (f *filters) unit(name string) string {
	code := f.values.Get(name)
	if code != "" && len(code) != 2 {
		f.fail(name, "a two-letter federative unit")
	}
	return code
}

func (f *filters) flag(name string) bool {
	if !f.values.Has(name) {
		return false
	}
	switch f.values.Get(name) {
	case "true":
		return true
	case "false":
	default:
		f.fail(name, "true or false")
	}
	return false
}

func (f *filters) number(name string, otherwise float64) float64 {
	if !f.values.Has(name) {
		return otherwise
	}
	n, err := strconv.ParseFloat(f.values.Get(name), 64)
	if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
		f.fail(name, "a number")
	}
	return n
}

// period reads the first and the last day of a span.
func (f *filters) period(first, last string) period {
	p := period{math.MinInt64, math.MaxInt64}
	if f.values.Has(first) {
		p.from = f.day(first).UnixMilli()
	}
	if f.values.Has(last) {
		p.to = f.day(last).AddDate(0, 0, 1).UnixMilli()
	}
	return p
}

func (f *filters) day(name string) time.Time {
	day, err := time.ParseInLocation(time.DateOnly, f.values.Get(name), f.zone)
	if err != nil {
		f.fail(name, "a date YYYY-MM-DD")
	}
	return day
}
