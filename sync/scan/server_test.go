package scan

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"

	"solarmirror/sync/platform"
)

// server is a platform with one list, drawn at random: it pages in ways that were seen and in ways
// that nobody has seen yet.
type server struct {
	*movingList
	mu   sync.Mutex
	dice *rand.Rand

	sizes    []int  // the page sizes it knows; none: all up to cap
	cap      int    // the greatest page size
	rounding string // what becomes of other sizes: down, up, nearest, refused
	status   int    // of a refused size; 200 is an error in the answer
	offset   bool   // pages are counted by the limit asked for, although fewer rows are answered
	first    int    // number of the first page
	zeroToo  bool   // page 0 is answered like page 1
	end      string // a page behind the end: empty, 400, 404, last, padded
	totals   string
	few      int // by how much totals are off

	cacheFor int // requests for which a page is answered from the cache; 0 is none
	caches   map[string]cachedPage
	lags     []int // how many requests each replica lags behind
	history  [][]listRow
	served   int
}

type cachedPage struct {
	at   int
	page platform.Page
}

func (v *server) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d rows %s %+v sizes %v cap %d %s %d first %d too %v end %s totals %s %+d cached %d lags %v offset %v", len(v.rows), v.order, v.churn,
		v.sizes, v.cap, v.rounding, v.status, v.first, v.zeroToo, v.end, v.totals, v.few, v.cacheFor, v.lags, v.offset)
	return b.String()
}

func pick[T any](dice *rand.Rand, list ...T) T { return list[dice.IntN(len(list))] }

// drawServer draws a server and the limit it is asked with.
func drawServer(seed uint64, moving churn) (*server, int) {
	d := rand.New(rand.NewPCG(seed, 77))
	v := &server{dice: d, caches: map[string]cachedPage{}}
	wanted := pick(d, 20, 25, 30, 37, 50, 50, 50, 100, 100, 200, 500, 20+d.IntN(481))
	v.cap = pick(d, 50, 50, 100, 500, 5+d.IntN(15), 5+d.IntN(496), 20, 25)
	v.rounding = pick(d, "down", "down", "up", "nearest", "refused")
	v.status = pick(d, 400, 422, 500, 200)
	switch d.IntN(6) {
	case 0:
		v.sizes = []int{10, 25, 50, 100}
	case 1:
		v.sizes = pick(d, []int{10, 20, 50}, []int{20, 100}, []int{5, 15, 30, 60}, []int{50}, []int{100}, []int{25}, []int{7, 49})
	case 2:
		for step, n := pick(d, 5, 10, 25, 50, 12), 0; n < 500; n += step {
			v.sizes = append(v.sizes, n+step)
		}
	}
	if v.sizes != nil {
		if v.cap < v.sizes[0] {
			v.cap = v.sizes[0]
		}
		v.sizes = slices.DeleteFunc(v.sizes, func(n int) bool { return n > v.cap })
	} else if d.IntN(8) == 0 {
		v.rounding, v.offset = "down", true
	}
	v.first = pick(d, 1, 1, 0)
	v.zeroToo = v.first == 1 && d.IntN(3) == 0
	v.end = pick(d, "empty", "404", "400", "last", "padded")
	v.totals = pick(d, "right", "right", "absent", "absent", "few", "far", "low", "page", "cached")
	v.few = d.IntN(39) - 19
	rows := d.IntN(3001)
	if size := v.effective(wanted); d.IntN(2) == 0 && size > 0 {
		rows = max(0, size*d.IntN(3000/size+1)+d.IntN(3)-1)
	} else if d.IntN(4) == 0 {
		rows = d.IntN(120)
	}
	order := pick(d, "created-asc", "created-desc", "updated-asc", "updated-desc", "moment-asc", "moment-desc", "id")
	v.movingList = newMovingList(seed, order, rows, moving)
	return v, wanted
}

// effective is the page size that a limit stands for; 0 when it is refused.
func (v *server) effective(limit int) int {
	if v.sizes == nil {
		if limit <= v.cap {
			return limit
		}
		if v.rounding == "refused" {
			return 0
		}
		return v.cap
	}
	if slices.Contains(v.sizes, limit) {
		return limit
	}
	smaller, greater := v.sizes[0], v.sizes[len(v.sizes)-1]
	for _, n := range slices.Backward(v.sizes) {
		if n > limit {
			greater = n
		}
	}
	for _, n := range v.sizes {
		if n < limit {
			smaller = n
		}
	}
	switch v.rounding {
	case "refused":
		return 0
	case "up":
		return greater
	case "nearest":
		if greater-limit < limit-smaller {
			return greater
		}
	}
	return smaller
}

// page answers one request, its page numbered as the server numbers pages.
func (v *server) page(_ context.Context, number, limit int) (*platform.Page, error) {
	return v.pageAt("", number, limit)
}

// pageAt is page, by another address for each way.
func (v *server) pageAt(way string, number, limit int) (*platform.Page, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.served++; v.served > 1 {
		v.live()
	}
	rows := v.sorted()
	if len(v.lags) > 0 {
		if v.history = append(v.history, rows); len(v.history) > 64 {
			v.history = v.history[1:]
		}
		rows = v.history[max(0, len(v.history)-1-pick(v.dice, v.lags...))]
	}
	address := fmt.Sprint(number, "/", limit, way)
	if c, ok := v.caches[address]; ok && v.served-c.at < v.cacheFor {
		page := c.page
		return &page, nil
	}
	page, err := v.answer(rows, number, limit)
	if err == nil && v.cacheFor > 0 {
		v.caches[address] = cachedPage{v.served, *page}
	}
	return page, err
}

func refusal(status int) error {
	if status == http.StatusOK {
		return &platform.RefusedError{Message: "no"}
	}
	return &platform.StatusError{Status: status}
}

func (v *server) answer(rows []listRow, number, limit int) (*platform.Page, error) {
	if number < 0 || number == 0 && v.first == 1 && !v.zeroToo {
		return nil, refusal(400)
	}
	size := v.effective(limit)
	if size == 0 {
		return nil, refusal(v.status)
	}
	index := max(0, number-v.first)
	from := index * size
	if v.offset {
		from = index * limit
	}
	n := len(rows)
	to := min(from+size, n)
	switch {
	case from >= n && v.end == "404":
		return nil, refusal(404)
	case from >= n && v.end == "400":
		return nil, refusal(400)
	case from >= n && v.end == "last":
		from, to = max(0, (n-1)/size*size), n
	case to == n && v.end == "padded":
		from = max(0, n-size)
	}
	page := &platform.Page{}
	for _, r := range rows[min(from, n):max(to, min(from, n))] {
		page.Records = append(page.Records, r.json())
	}
	page.Total, page.HasTotal = v.count(n, len(page.Records))
	return page, nil
}

func (v *server) count(n, inPage int) (int, bool) {
	switch v.totals {
	case "right":
		return n, true
	case "few":
		return max(0, n+v.few), true
	case "far":
		return 7*n + 100, true
	case "low":
		return n / 2, true
	case "page":
		return inPage, true
	case "cached":
		if c, ok := v.caches["total"]; ok && v.served-c.at < 500 {
			return c.page.Total, true
		}
		v.caches["total"] = cachedPage{at: v.served, page: platform.Page{Total: n}}
		return n, true
	}
	return 0, false
}

// readable says whether the server answers in a way that a client can make sense of.
func (v *server) readable(wanted int) string {
	accepted := 0
	for _, limit := range append(usualLimits(), wanted) {
		if limit <= wanted && v.effective(limit) > 0 {
			accepted++
		}
	}
	n := len(v.rows)
	switch {
	case accepted == 0:
		return "no limit is accepted"
	case n == 0 && (v.end == "404" || v.end == "400"):
		return "an empty list is refused"
	}
	// Where the whole list is one page and is answered again for the next one, the page number may
	// as well be ignored.
	least := len(v.rows) + 1
	for _, limit := range append(usualLimits(), wanted) { // others cannot be guessed
		if size := v.effective(limit); size > 0 && limit <= wanted {
			least = min(least, size)
		}
	}
	if n <= least && n > fewRows && (v.end == "last" || v.end == "padded") && v.totals != "right" && !(v.totals == "few" && v.few == 0) {
		return "one page, again and again"
	}
	return ""
}
