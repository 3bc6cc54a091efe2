// Package platformtest is the whole sales platform, simulated: an http.Handler that speaks the documented interface
// over a world of budgets, orders and equipment that lives by a clock it is given. `solarmirror simulate` serves it,
// `solarmirror demo` and the tests run it in-process.
//
// # Layers
//
//   - world (world, life, shop, stage): the state. A request is some fifty bytes: when it was created, updated, ordered,
//     paid and billed, how far its deal has come, how often it was edited, whether it is removed. Events wait on one
//     agenda and happen in order of time when the clock passes them.
//   - scene (scene, sale, paper, people, brazil, newcomers): everything else about a request, derived from (seed, index, state)
//     whenever it is asked for. Equipment is kept as JSON, since loaded records must come through byte for byte.
//   - rendering (render, jsonwriter): a request as the platform's JSON, about five kilobytes.
//   - drift (drift, deviation, bad): what real servers' records have beside and instead of the documented fields.
//   - query: the filters, each list cached until the world changes; order sorts them.
//   - http (http, dialect, company): paths, authorization, page windows, envelopes, statuses.
//   - faults (faults, spoil, delivery): a schedule of what goes wrong with an answer or on its way to the client.
//
// # Rules
//
// The same seed and the same start give the same bytes at the same clock reading, however the clock got there. A budget
// that is ordered keeps its id and its code, leaves the budget list and joins the order list. A removed request leaves
// the live list and is listed under removed=true; it may be restored, or deleted for good. A company created through
// POST /company buys like others from then on: about a quarter of later requests come from such newcomers. Every change of a request
// sets its hidden time of update, which the lastUpdate… filters see. Equipment has a hidden time of creation only.
// Its prices and stock change without a trace, and an item that is withdrawn is simply gone.
//
// # Unkind platforms
//
// Four things make the platform as hard to read as real ones are. Each is seeded, all combine, and the zero value of each
// is kindness.
//
//   - A [Dialect] is how it speaks all the time: first page, envelope, totals, limits, drifted fields, sort order, page
//     numbers and filters that do not count.
//   - [Faults] strike single answers, at a rate or at numbered requests.
//   - [Churn] moves the world between every two list requests; [Platform.Events] is the account of it.
//   - CompanyOutcome decides how calls of POST /company end.
//
// [Platform.Records] stays the truth, drift included, and [Platform.BadRecords] counts what lists hold beside it. Churn
// depends on which requests were made, and so does what created companies buy, so the rule of same bytes then holds for
// the same sequence of requests only.
// [Platform.Transport] answers without sockets. A simulation that makes a world for each of thousands of seeds gives it
// a few Equipments of each type: most of the work of making one is the catalogue.
//
// # Where the interface is silent
//
// Unless a dialect says otherwise, the first page is 1, lists are wrapped as {"error":null,"data":{"items":[…],"totalItems":N}}
// and sorted by creation, newest first, and a page limit is 50 at the most, or the answer is 400. Without removed=true, or with removed=false, only live requests are listed. Filters combine with AND;
// "contains" is plain and case-sensitive; an empty text filter filters nothing; dates are days of America/Sao_Paulo, both
// ends included. totalPower is in kWp, powerGTE and powerLTE in Wp.
package platformtest

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Options say what the platform holds and how it answers.
type Options struct {
	// Seed determines the world together with the first reading of Clock.
	Seed uint64
	// Requests is how many budgets and orders exist at the start, removed ones included; 0 is none, ever.
	Requests int
	// Equipments are catalogue records as LoadEquipments returns them. They take the place of the generated
	// items of the types they contain, and are served byte for byte until a price or stock changes.
	Equipments []json.RawMessage
	// Token is the one accepted Bearer token. Without one, no call is authorized.
	Token string
	// Clock is read at each request and in Settle; the world catches up with it. Nil is time.Now.
	Clock func() time.Time
	// Dialect is how the platform speaks where the interface is silent.
	Dialect Dialect
	// Faults is what goes wrong with lists.
	Faults Faults
	// NextToken takes the place of Token when FaultTokenRotation strikes.
	NextToken string
	// Churn is how much the world moves between list requests, beside what the clock brings.
	Churn Churn
	// CompanyOutcome decides how each call of POST /company ends. It is called by several goroutines at once. Nil leaves every call
	// to end as it deserves.
	CompanyOutcome func(*CompanyCall) CompanyOutcome
}

// Platform is the simulated platform. It is safe for concurrent use.
type Platform struct {
	token     string
	nextToken string
	clock     func() time.Time
	dialect   Dialect
	churn     Churn
	zone      *time.Location
	served    atomic.Int64
	zippers   sync.Pool // of *gzip.Writer
	desk      companyDesk

	companyOutcome func(*CompanyCall) CompanyOutcome

	mu        sync.Mutex // guards what follows, but for what never changes in faults
	faults    *schedule
	world     *world
	lists     listCache
	companies []Company
	taken     map[string]bool // tax numbers and e-mails of companies; nil until the first is created
}

// New builds the world as it is at the clock's present reading.
func New(o Options) *Platform {
	p := &Platform{
		token: o.Token, nextToken: o.NextToken, clock: o.Clock, dialect: o.Dialect, churn: o.Churn,
		zone: platformZone(), companyOutcome: o.CompanyOutcome, faults: newSchedule(o.Faults),
	}
	if p.clock == nil {
		p.clock = time.Now
	}
	p.zippers.New = func() any {
		w, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed) // fails on an unknown level only
		return w
	}
	p.world = newWorld(o.Seed, p.zone, p.clock().UnixMilli(), max(0, o.Requests), o.Equipments)
	p.world.drift = o.Dialect.Drift
	if o.Churn != (Churn{}) {
		p.world.diary = &diary{}
	}
	return p
}

// platformZone is the zone in which the platform counts days. Where no zone database is at hand its present offset
// serves: Brazil has had no summer time since 2019.
func platformZone() *time.Location {
	zone, err := time.LoadLocation("America/Sao_Paulo")
	if err != nil {
		return time.FixedZone("-03", -3*60*60)
	}
	return zone
}

// Settle brings the world up to the clock.
func (p *Platform) Settle() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.settle(p.served.Load())
}

// settle needs mu. It returns the clock's reading; what happens until then goes down under the request's number.
func (p *Platform) settle(request int64) time.Time {
	now := p.clock()
	if p.world.diary != nil {
		p.world.diary.request = request
	}
	p.world.catchUp(now.UnixMilli())
	return now
}

// Served is how many HTTP requests have been answered or are being answered, refused ones included.
func (p *Platform) Served() int64 { return p.served.Load() }

// The resources of Records.
const (
	ResourceOrders     = "orders"
	ResourceBudgets    = "budgets"
	ResourceEquipments = "equipments"
)

// Record is one record of the truth.
type Record struct {
	Resource string // ResourceOrders, ResourceBudgets or ResourceEquipments
	Key      string // a request's id; an item's "type/productCode"
	Removed  bool
	JSON     []byte // as a list would serve it; the caller may keep it
}

// Records yields what a perfect client would have read of a resource at the moment the iteration begins, live and
// removed, newest first. It does not consult the clock; call Settle before to do so. An unknown resource has no records.
func (p *Platform) Records(resource string) iter.Seq[Record] {
	switch resource {
	case ResourceOrders, ResourceBudgets:
		return p.requestRecords(resource)
	case ResourceEquipments:
		return p.equipmentRecords
	default:
		return func(func(Record) bool) {}
	}
}

func (p *Platform) requestRecords(resource string) iter.Seq[Record] {
	return func(yield func(Record) bool) {
		p.mu.Lock()
		scene, requests := p.world.scene, slices.Clone(p.world.requests)
		p.mu.Unlock()
		for i := range slices.Backward(requests) {
			r := &requests[i]
			if r.gone || r.resource() != resource {
				continue
			}
			served := document{scene: scene, index: uint32(i), request: *r}
			if !yield(Record{resource, scene.id(uint32(i), r), r.removed, served.appendJSON(nil)}) {
				return
			}
		}
	}
}

func (p *Platform) equipmentRecords(yield func(Record) bool) {
	p.mu.Lock()
	scene, items := p.world.scene, slices.Clone(p.world.items)
	p.mu.Unlock()
	for i := range slices.Backward(items) {
		it := &items[i]
		if it.gone {
			continue
		}
		served := document{scene: scene, index: uint32(i), raw: it.raw}
		if !yield(Record{ResourceEquipments, it.key(), false, served.appendJSON(nil)}) {
			return
		}
	}
}

// Serve answers on the listener until ctx ends, which is no error.
func Serve(ctx context.Context, listener net.Listener, handler http.Handler) error {
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	stopped := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() {
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		stopped <- server.Shutdown(grace)
	})
	err := server.Serve(listener)
	if stop() { // it failed by itself
		return fmt.Errorf("serve %s: %w", listener.Addr(), err)
	}
	return <-stopped
}
