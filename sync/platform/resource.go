package platform

import (
	"fmt"
	"net/url"
	"strconv"
	"time"
)

// Resource is a collection that the platform lists page by page.
type Resource struct {
	Name string // in errors
	Path string // below the version prefix, such as /requests/order
	// From and To are the query parameters that take the first and the last day of a [Filter].
	From, To string
	Removed  bool // removed records are listed apart, with the query parameter removed
}

// apiPrefix carries the interface's version; every operation lies under it.
const apiPrefix = "/api/v2"

// Filter narrows a listing. The zero value asks for everything. Dates are "YYYY-MM-DD" in the platform's time zone and
// inclusive; "" is not sent. A filter the resource does not have is an error, since the platform would ignore it.
type Filter struct {
	From, To string // of the last update or of creation, as the resource's parameters say
	Removed  bool   // the removed records instead of the live ones
}

// listPath returns the path and query, below the base URL, of one page of r.
func listPath(r Resource, f Filter, page, limit int) (string, error) {
	if page < 0 || limit < 1 {
		return "", fmt.Errorf("page %d with limit %d cannot be asked for: page must be 0 or more, limit 1 or more", page, limit)
	}
	query, err := f.query(r)
	if err != nil {
		return "", err
	}
	path := apiPrefix + r.Path + "/" + strconv.Itoa(page) + "/" + strconv.Itoa(limit)
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return path, nil
}

func (f Filter) query(r Resource) (url.Values, error) {
	query := url.Values{}
	for _, date := range []struct{ parameter, value string }{{r.From, f.From}, {r.To, f.To}} {
		if date.value == "" {
			continue
		}
		if date.parameter == "" {
			return nil, fmt.Errorf("%s has no filter by date", r.Name)
		}
		if _, err := time.Parse(time.DateOnly, date.value); err != nil {
			return nil, fmt.Errorf("%s %q is not a date of the form YYYY-MM-DD", date.parameter, date.value)
		}
		query.Set(date.parameter, date.value)
	}
	if f.Removed {
		if !r.Removed {
			return nil, fmt.Errorf("%s has no filter removed", r.Name)
		}
		query.Set("removed", "true")
	}
	return query, nil
}
