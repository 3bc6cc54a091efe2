package platform

import (
	"fmt"
	"net/url"
	"strconv"
	"time"
)

// Resource is a collection the platform lists page by page. Its text is also the name of the stream that mirrors it.
type Resource string

// The collections of the interface.
const (
	Orders     Resource = "orders"
	Budgets    Resource = "budgets"
	Equipments Resource = "equipments"
)

// apiPrefix carries the interface's version; every operation lies under it.
const apiPrefix = "/api/v2"

// Filter narrows a listing. The zero value asks for everything. Dates are "YYYY-MM-DD" in the platform's time zone and
// inclusive; "" is not sent. A filter the resource does not have is an error, since the platform would ignore it.
type Filter struct {
	UpdatedFrom, UpdatedTo string // last updated, both ends inclusive; orders and budgets only
	CreatedFrom, CreatedTo string // created, both ends inclusive; equipments only
	Removed                bool   // the removed records instead of the live ones; orders and budgets only
}

// collection returns the path of r below the version prefix, and whether r is a resource at all.
func (r Resource) collection() (string, bool) {
	switch r {
	case Orders:
		return "/requests/order", true
	case Budgets:
		return "/requests/budget", true
	case Equipments:
		return "/equipments", true
	}
	return "", false
}

// listPath returns the path and query, below the base URL, of one page of r.
func listPath(r Resource, f Filter, page, limit int) (string, error) {
	collection, ok := r.collection()
	if !ok {
		return "", fmt.Errorf("unknown resource %q", r)
	}
	if page < 0 || limit < 1 {
		return "", fmt.Errorf("page %d with limit %d cannot be asked for: page must be 0 or more, limit 1 or more", page, limit)
	}
	query, err := f.query(r)
	if err != nil {
		return "", err
	}
	path := apiPrefix + collection + "/" + strconv.Itoa(page) + "/" + strconv.Itoa(limit)
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return path, nil
}

func (f Filter) query(r Resource) (url.Values, error) {
	isRequest := r != Equipments
	query := url.Values{}
	for _, date := range []struct {
		parameter, value string
		applies          bool
	}{
		{"lastUpdateAfter", f.UpdatedFrom, isRequest},
		{"lastUpdateBefore", f.UpdatedTo, isRequest},
		{"createdAfter", f.CreatedFrom, !isRequest},
		{"createdBefore", f.CreatedTo, !isRequest},
	} {
		if date.value == "" {
			continue
		}
		if !date.applies {
			return nil, fmt.Errorf("%s has no filter %s", r, date.parameter)
		}
		if _, err := time.Parse(time.DateOnly, date.value); err != nil {
			return nil, fmt.Errorf("%s %q is not a date of the form YYYY-MM-DD", date.parameter, date.value)
		}
		query.Set(date.parameter, date.value)
	}
	if f.Removed {
		if !isRequest {
			return nil, fmt.Errorf("%s has no filter removed", r)
		}
		query.Set("removed", "true")
	}
	return query, nil
}
