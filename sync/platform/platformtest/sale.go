package platformtest

import (
	"math"
	"slices"
	"sort"
)

// line is one product line. Amounts are in cents.
type line struct {
	part
	quantity int
	single   int64
}

func (l line) total() int64 { return l.single * int64(l.quantity) }

// sale is what a request costs. Amounts are in cents: original is the sum of the lines, and
// original - discount + surcharge = final.
type sale struct {
	lines                                            []line
	original, discount, surcharge, final, difference int64
	payment                                          payment
}

// payment is the way of paying that was chosen.
type payment struct {
	kind, name  string
	instalments int
	condition   string // notUpdate, increase, decrease
	modifier    string // percentage, fixed
	value       int    // percent or whole currency units
	weight      int
}

var payments = []payment{
	{"pix", "À vista no PIX", 1, "decrease", "percentage", 3, 26},
	{"boleto", "Boleto à vista", 1, "notUpdate", "percentage", 0, 18},
	{"boleto", "Boleto 30/60/90", 3, "increase", "percentage", 4, 8},
	{"debito", "Débito em conta", 1, "notUpdate", "fixed", 0, 5},
	{"credito", "Cartão de crédito 12x", 12, "increase", "percentage", 11, 18},
	{"credito", "Cartão de crédito à vista", 1, "notUpdate", "percentage", 0, 5},
	{"financiamento", "Financiamento 60x", 60, "increase", "fixed", 350, 15},
	{"other", "Bônus primeira compra", 1, "decrease", "fixed", 250, 5},
}

var paymentWeights = func() (weights []int) {
	for _, p := range payments {
		weights = append(weights, p.weight)
	}
	return weights
}()

var extraItems = []part{
	{kind: "extraItem", code: "EXT-001", name: "Projeto elétrico e homologação", cents: 125000},
	{kind: "extraItem", code: "EXT-002", name: "Seguro de transporte", cents: 18990},
	{kind: "extraItem", code: "EXT-003", name: "Instalação \"chave na mão\"", cents: 380000},
}

func (s *scene) sale(i uint32, r *request, z size) sale {
	v := sale{lines: s.lines(i, z)}
	for _, l := range v.lines {
		v.original += l.total()
	}
	d := throw(s.seed, streamDiscount, uint64(i), uint64(r.discountEdits))
	if r.discountEdits > 0 || d.chance(0.55) {
		v.discount = v.original * int64(d.between(5, 80)) / 1000
	}
	d = throw(s.seed, streamSurcharge, uint64(i))
	if d.chance(0.2) {
		v.surcharge = v.original * int64(d.between(3, 30)) / 1000
	}
	v.final = v.original - v.discount + v.surcharge

	d = throw(s.seed, streamPayment, uint64(i))
	v.payment = payments[d.weighted(paymentWeights)]
	v.difference = v.payment.difference(v.final)
	return v
}

// difference is how much the way of paying adds to an amount, in cents; less than zero when it takes off.
func (p payment) difference(final int64) int64 {
	extra := int64(p.value) * 100
	if p.modifier == "percentage" {
		extra = int64(math.Round(float64(final) * float64(p.value) / 100))
	}
	switch p.condition {
	case "increase":
		return extra
	case "decrease":
		return -extra
	default:
		return 0
	}
}

// lines makes the kit: modules, inverters, string boxes unless micro-inverters do without, structure, cables, connectors,
// and now and then something more. Modules that are added later change their own line only.
func (s *scene) lines(i uint32, z size) []line {
	d := throw(s.seed, streamLines, uint64(i))
	margin := 1.02 + 0.3*d.float()
	lines := make([]line, 0, 10)
	add := func(p part, quantity int) {
		lines = append(lines, line{p, quantity, int64(math.Round(float64(p.cents) * margin))})
	}
	add(z.module, z.modules)
	inverter, inverters := s.inverter(&d, z.module.watts*float64(z.planned))
	add(inverter, inverters)
	if inverter.watts > 2500 {
		add(pick(&d, s.parts.stringBoxes), max(1, inverters))
	}
	add(pick(&d, s.parts.ofCategory("Estrutura")), (z.planned+3)/4)
	cables, first := s.parts.ofCategory("Cabo"), d.below(1<<16)
	for n := range min(2, len(cables)) {
		add(cables[(first+n)%len(cables)], 25*max(1, z.planned/10))
	}
	add(pick(&d, s.parts.ofCategory("Conector")), max(2, z.planned/8))
	if d.chance(0.4) {
		add(pick(&d, s.parts.ofCategory("Proteção")), 1)
	}
	if d.chance(0.25) {
		add(pick(&d, s.parts.ofCategory("Monitoramento")), 1)
	}
	if d.chance(0.3) {
		add(pick(&d, extraItems), 1)
	}
	return lines
}

// inverter chooses among the inverters near four fifths of the modules' power, several of the largest for a plant.
func (s *scene) inverter(d *dice, watts float64) (part, int) {
	all := s.parts.inverters
	wanted := watts * 0.8
	largest := all[len(all)-1].watts
	count := max(1, int(math.Ceil(wanted/min(largest, 110000))))
	each := wanted / float64(count)
	low := sort.Search(len(all), func(n int) bool { return all[n].watts >= each*0.92 })
	high := sort.Search(len(all), func(n int) bool { return all[n].watts > each*1.3 })
	if low >= high { // a gap in the catalogue: the next larger one, or the largest
		low = min(low, len(all)-1)
		high = low + 1
	}
	return pick(d, all[low:high]), count
}

// arrangement is one rectangle of modules on a roof.
type arrangement struct{ lines, byLine int }

// arrange splits the modules into at most two rectangles that add up to their number.
func arrange(modules int) []arrangement {
	var all []arrangement
	for _, rows := range slices.Backward([]int{1, 4}) {
		if byLine := modules / rows; byLine > 0 && (rows == 1 || byLine > 3) {
			all = append(all, arrangement{rows, byLine})
			modules -= rows * byLine
		}
	}
	return all
}
