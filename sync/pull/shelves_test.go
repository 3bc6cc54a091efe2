package pull

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// shelves is a platform whose lists are laid out by hand, and whose answers a test may spoil. What is to be listed as updated has a list of
// its own; where there is none, dates are ignored but for those of the far future.
type shelves struct {
	mu     sync.Mutex
	lists  map[string][]string // by name: order, budget, equipments, followed by " removed", by " updated"
	totals bool
	total  func(name string, n int) int // in place of the length of the list
	size   func(limit int) int          // rows of a page; nil: as many as asked for
	empty  int                          // status of a page behind the end; 0 is 200
	first  map[string]int               // number of the first page of a list; nil: 1
	// ceiling is the last page that is answered with rows; 0 is none.
	ceiling int
	outage  string // the parameter of the requests whose answers are spoilt; "" is all
	served  int
	spoil   func(request int, page []string) (spoilt []string, status int) // nil: answers are sound
}

func (s *shelves) set(name string, records []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lists == nil {
		s.lists = map[string][]string{}
	}
	s.lists[name] = slices.Clone(records)
}

// change changes how the platform answers.
func (s *shelves) change(how func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	how()
}

// spoilWith has answers spoilt from now on; nil ends that.
func (s *shelves) spoilWith(spoil func(request int, page []string) ([]string, int)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spoil = spoil
}

func (s *shelves) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.served++
	steps := strings.Split(req.URL.Path, "/")
	name := steps[len(steps)-3]
	if req.URL.Query().Get("removed") == "true" {
		name += " removed"
	}
	all, at := s.lists[name], pageOf(req)
	if updated, ok := s.lists[name+" updated"]; ok && req.URL.Query().Get("lastUpdateAfter") > "2001" {
		all = updated
	}
	if strings.HasPrefix(req.URL.Query().Get("lastUpdateAfter"), "2999") || strings.HasPrefix(req.URL.Query().Get("createdAfter"), "2999") {
		all = nil
	}
	if s.first != nil {
		at.page += 1 - s.first[steps[len(steps)-3]]
	}
	if s.ceiling > 0 && at.page >= s.ceiling {
		all = nil
	}
	if s.size != nil {
		at.limit = s.size(at.limit)
	}
	from, to := min(max(0, at.start()), len(all)), min(max(0, at.end()), len(all))
	page, status := all[from:to], http.StatusOK
	switch {
	case at.page < 0:
		status = http.StatusBadRequest
	case s.spoil == nil && s.empty != 0 && len(page) == 0:
		status = s.empty
	case s.spoil != nil && (s.outage == "" || req.URL.Query().Has(s.outage)):
		page, status = s.spoil(s.served, page)
	}
	w.WriteHeader(status)
	if s.totals || s.total != nil {
		total := len(all)
		if s.total != nil {
			total = s.total(name, total)
		}
		fmt.Fprintf(w, `{"data":[%s],"totalItems":%d}`, strings.Join(page, ","), total)
		return
	}
	fmt.Fprint(w, "["+strings.Join(page, ",")+"]")
}

// records makes n requests or items, from a number on.
func records(kind string, from, n int) []string {
	var list []string
	for i := range n {
		var raw []byte
		id := fmt.Sprintf("%s-%04d", kind, from+i)
		if kind == "item" {
			raw, _ = json.Marshal(map[string]any{"type": "module", "productCode": id, "name": "n"}) // such a map marshals
		} else {
			raw, _ = json.Marshal(map[string]any{"id": id, "name": "n", "removed": kind == "removed"})
		}
		list = append(list, string(raw))
	}
	return list
}

// faulty spoils answers at a rate: statuses, empty lists, and lists cut short anywhere.
func faulty(rng *rand.Rand, rate float64) func(int, []string) ([]string, int) {
	return func(_ int, page []string) ([]string, int) {
		if rng.Float64() >= rate {
			return page, http.StatusOK
		}
		switch rng.IntN(4) {
		case 0:
			return nil, http.StatusInternalServerError
		case 1:
			return nil, http.StatusOK
		}
		return page[:rng.IntN(len(page)+1)], http.StatusOK
	}
}
