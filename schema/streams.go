package schema

import (
	"slices"
	"strings"
)

// Stream is one list of the platform, and where its records go. Everything that tells one stream
// from another stands here: the client's requests, the passes, the ledger, the schedule and the
// export follow it.
type Stream struct {
	Name      string   // as people and the ledger call it
	Path      string   // of the list, below the platform's version prefix
	Root      *Table   // of its records
	Partition string   // the root's first natural key column, where no field feeds that; else ""
	Passes    []string // Live, or Live and Removed
	Dates     Dates
	Created   []string // columns of the root with the time of creation, the first filled one counts
	FullJob   string   // the scheduled job that reads the whole list
}

// Dates are the query parameters that filter a list by date, both days included.
type Dates struct {
	From, To string
	Updates  bool // by the last update; else by creation: only full reads see changes
}

// Passes over a stream.
const (
	Live    = "live"
	Removed = "removed" // the platform lists removed records apart; the root has a column removed
)

// Jobs that read whole lists, as [schedule] of the configuration and the ledger call them.
const (
	FullRequests   = "full_requests"
	FullEquipments = "full_equipments"
)

var (
	updated = Dates{From: "lastUpdateAfter", To: "lastUpdateBefore", Updates: true}
	created = Dates{From: "createdAfter", To: "createdBefore"}
)

// Streams are all lists that are mirrored, in the order in which they are read.
var Streams = []*Stream{
	{
		Name: "orders", Path: "/requests/order", Root: Requests, Partition: "order", Passes: []string{Live, Removed},
		Dates: updated, Created: []string{"order_created", "budget_created"}, FullJob: FullRequests,
	},
	{
		Name: "budgets", Path: "/requests/budget", Root: Requests, Partition: "budget", Passes: []string{Live, Removed},
		Dates: updated, Created: []string{"budget_created", "order_created"}, FullJob: FullRequests,
	},
	{
		Name: "equipments", Path: "/equipments", Root: Equipments, Passes: []string{Live},
		Dates: created, FullJob: FullEquipments,
	},
}

// Roots are the tables that records are read into, in the order of the streams.
func Roots() []*Table {
	var roots []*Table
	for _, s := range Streams {
		if !slices.Contains(roots, s.Root) {
			roots = append(roots, s.Root)
		}
	}
	return roots
}

// streamColumn names a stream, in the ledger.
func streamColumn() Column {
	var names []string
	for _, s := range Streams {
		names = append(names, s.Name)
	}
	return own("stream", Text, alternatives(names), "Fluxo").notNull().public()
}

// alternatives is "a, b or c.".
func alternatives(names []string) string {
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last] + "."
}
