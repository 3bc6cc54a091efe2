package platformtest

import (
	"fmt"
	"math"
	"strings"
	"sync/atomic"
	"time"
)

// scene is the unchanging background: everything about a request that its few bytes of state do not say is drawn
// from here, as a pure function of (seed, index, state). Safe for concurrent use.
type scene struct {
	seed      uint64
	zone      *time.Location
	atlas     *atlas
	parts     *parts
	sellers   []person
	shares    []int // of the sellers
	companies int
	newcomers atomic.Pointer[[]company] // created since the start, in the order of their creation; nil until the first is
	start     int64
	drift     Drift
}

const sellerCount = 25

func newScene(seed uint64, zone *time.Location, start int64, requests int, items []item) *scene {
	s := &scene{
		seed: seed, zone: zone, atlas: theAtlas(), parts: newParts(items), companies: max(40, requests/12), start: start,
	}
	for i := range sellerCount {
		d := throw(seed, streamSeller, uint64(i))
		p := drawPerson(&d, pick(&d, []string{"11", "31", "48", "62", "81"}))
		p.email = fmt.Sprintf("%s.%s%d@solarvendas.com.br", plain(p.name), plain(p.surname), i+1)
		s.sellers = append(s.sellers, p)
		s.shares = append(s.shares, 1000/(i+3)) // a few sell most
	}
	return s
}

// segment is the kind of customer.
type segment struct {
	name            string
	weight          int
	lowKWp, highKWp float64
	firm            float64 // share of customers with a CNPJ
	roofs           []string
	zone            string
}

var segments = []segment{
	{"Residencial", 62, 3, 13, 0.03, []string{"Cerâmica", "Fibrocimento", "Laje"}, "Urbana"},
	{"Comercial", 20, 10, 75, 0.85, []string{"Metálico", "Laje", "Fibrocimento"}, "Urbana"},
	{"Rural", 12, 8, 60, 0.25, []string{"Solo", "Cerâmica", "Metálico"}, "Rural"},
	{"Industrial", 5, 75, 400, 1, []string{"Metálico"}, "Urbana"},
	{"Usina", 1, 300, 1200, 1, []string{"Solo"}, "Rural"},
}

var segmentWeights = func() (weights []int) {
	for _, s := range segments {
		weights = append(weights, s.weight)
	}
	return weights
}()

// size is what the power of a request follows from.
type size struct {
	segment *segment
	module  part
	planned int // modules, as the kit was laid out
	modules int // with what was added since
}

func (s *scene) size(i uint32, r *request) size {
	d := throw(s.seed, streamSize, uint64(i))
	seg := &segments[d.weighted(segmentWeights)]
	kwp := seg.lowKWp * math.Pow(seg.highKWp/seg.lowKWp, d.float()*d.float()+0.3*d.float()*d.float())
	module := pick(&d, s.parts.modules)
	planned := max(2, int(math.Round(kwp*1000/module.watts)))
	return size{seg, module, planned, planned + int(r.lineEdits)}
}

// watts is the power of the modules together, in Wp. The records show it in kWp.
func (z size) watts() float64 { return math.Round(z.module.watts * float64(z.modules)) }

// seller is the responsible collaborator of a request.
func (s *scene) seller(i uint32) person {
	d := throw(s.seed, streamParties, uint64(i))
	return s.sellers[d.weighted(s.shares)]
}

// unit is the federative unit in which a request is delivered; its company is mostly from there, too.
func (s *scene) unit(i uint32) int {
	c := s.companyNumber(i)
	d := throw(s.seed, streamSite, uint64(i))
	if d.chance(0.85) {
		return s.companyUnit(c)
	}
	return s.atlas.unit(&d)
}

// site is where a request is delivered.
func (s *scene) site(i uint32) address {
	d := throw(s.seed, streamSite, uint64(i), 1)
	return drawAddress(&d, s.atlas.city(&d, s.unit(i)))
}

// companyNumber draws the company of a request that comes from no newcomer; some companies buy much more than others.
func (s *scene) companyNumber(i uint32) int {
	d := throw(s.seed, streamParties, uint64(i), 1)
	return int(math.Pow(d.float(), 2) * float64(s.companies))
}

func (s *scene) companyUnit(number int) int {
	d := throw(s.seed, streamCompany, uint64(number), 1)
	return s.atlas.unit(&d)
}

func (s *scene) company(number int) company {
	d := throw(s.seed, streamCompany, uint64(number))
	return drawCompany(&d, number+1, s.atlas.city(&d, s.companyUnit(number)))
}

// customer is whom a request is billed to.
func (s *scene) customer(i uint32, seg *segment) customer {
	d := throw(s.seed, streamCustomer, uint64(i))
	return drawCustomer(&d, d.chance(seg.firm), s.atlas.city(&d, s.unit(i)))
}

// addedBy is who typed a request in: its seller or the company's contact.
func (s *scene) addedBy(i uint32, seller person, c company) person {
	d := throw(s.seed, streamParties, uint64(i), 2)
	if d.chance(0.5) {
		return seller
	}
	return c.contact
}

func (s *scene) name(i uint32, seg *segment, c customer) string {
	who := c.fantasyName
	if who == "" {
		who = c.person.fullName()
	}
	return "Projeto " + seg.name + " " + who
}

// code is unique, as it counts all requests.
func (s *scene) code(i uint32, r *request) string {
	return fmt.Sprintf("ORC-%d-%06d", time.UnixMilli(r.created).In(s.zone).Year(), i+1)
}

// id looks as MongoDB makes them: seconds, machine, counter. So ids rise with the time of creation.
func (s *scene) id(i uint32, r *request) string {
	return fmt.Sprintf("%08x%010x%06x", uint32(r.created/1000), mix(s.seed)&0xffffffffff, i)
}

// centerOf is the distribution centre nearest to a federative unit.
func centerOf(unit int) int {
	switch code := federativeUnits[unit].code; {
	case strings.Contains("AL BA CE MA PB PE PI RN SE", code):
		return 2
	case strings.Contains("PR RS SC", code):
		return 3
	case strings.Contains("ES MG RJ SP", code):
		return 0
	default:
		return 1
	}
}
