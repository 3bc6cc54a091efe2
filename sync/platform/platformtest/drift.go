package platformtest

import (
	"slices"
	"strings"
)

// Drift is a set of ways in which records deviate from the documented ones. Which fields of a record deviate depends on
// the seed and on the record, not on its state: what is not changed is served again byte for byte. The truth (Records)
// has drifted, too. A drifted record keeps its key.
type Drift uint8

// The kinds of drift, joined by |.
const (
	DriftUnknown Drift = 1 << iota // undocumented fields at every depth, a nested object and an array among them
	DriftMissing                   // documented fields left out
	DriftNull                      // null in place of nested objects
	DriftShape                     // an object where an array is documented, strings in files
	DriftType                      // numbers as strings, strings as numbers, "true" for true, times at -03:00
	DriftNumbers                   // 30 digits, 2^53+1, exponents

	// DriftBad is not of the records, but of the lists: here and there, behind a record, an element that cannot be keyed.
	// It has a key twice, is not UTF-8, has no id or is no object. Such elements are not in the truth; BadRecords counts them.
	DriftBad

	// DriftAll is every kind but DriftBad.
	DriftAll = DriftUnknown | DriftMissing | DriftNull | DriftShape | DriftType | DriftNumbers
)

// driftNames are in the order of the bits.
func driftNames() []string {
	return []string{"unknown", "missing", "null", "shape", "type", "numbers", "bad"}
}

// String joins the names of the kinds by +; it is what ParseDialect reads behind drift=.
func (d Drift) String() string {
	if d == 0 {
		return "none"
	}
	var names []string
	if d&DriftAll == DriftAll {
		names, d = append(names, "all"), d&^DriftAll
	}
	for bit, name := range driftNames() {
		if d&(1<<bit) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, "+")
}

func parseDrift(text string) (d Drift, ok bool) {
	if text == "none" {
		return 0, true
	}
	for name := range strings.SplitSeq(text, "+") {
		bit := slices.Index(driftNames(), name)
		switch {
		case name == "all":
			d |= DriftAll
		case bit >= 0:
			d |= 1 << bit
		default:
			return 0, false
		}
	}
	return d, true
}

// deviation is one field that may deviate.
type deviation struct {
	kind    Drift
	pointer string  // members separated by /, * is every element of an array
	share   float64 // of the records that deviate here
	change  change
}

// change returns what comes in the place of a value, which is nil where there is none; nil is nothing.
type change func(old *node, d *dice) *node

// deviate returns the record with its deviations; equipment says what kind of record it is, i which one.
func (s *scene) deviate(raw []byte, equipment bool, i uint32) []byte {
	kinds, table := s.drift, requestDeviations
	if equipment {
		table = equipmentDeviations
	}
	if kinds&DriftAll == 0 {
		return raw
	}
	root := parseNode(raw)
	for n, v := range table {
		if v.kind&kinds == 0 {
			continue
		}
		d := throw(s.seed, streamDrift, uint64(n), uint64(i))
		if d.chance(v.share) {
			root.edit(strings.Split(v.pointer, "/"), &d, v.change)
		}
	}
	return root.appendJSON(make([]byte, 0, len(raw)+512))
}

// Later deviations see what earlier ones did: so what takes a whole object away comes last.
var requestDeviations = []deviation{
	{DriftUnknown, "requestStatus", 0.6, put(`"emAnalise"`)},
	{DriftUnknown, "totalValue", 0.6, drawNumber},
	{DriftUnknown, "profitMargin", 0.5, put(`0.18`)},
	{DriftUnknown, "payment/condition/_id", 0.6, drawID},
	{DriftUnknown, "invoice/temInscricaoSuframa", 0.5, put(`"nao"`)},
	{DriftUnknown, "freight/integrationData/providerName", 0.5, put(`"Transportadora São João"`)},
	{DriftUnknown, "products/*/sku", 0.3, drawID},
	{DriftUnknown, "structure/*/arrangements/*/tilt", 0.2, put(`12.5`)},
	{DriftUnknown, "audit", 0.4, put(`{"by":{"id":"5f0c","roles":["vendas","admin"]},"at":"2026-01-31T10:00:00.000Z","empty":{},"none":null,"a/b~c":[]}`)},
	{DriftUnknown, "tags", 0.4, put(`["prioridade",2,null,{"cor":"#ff0000"},[]]`)},

	{DriftType, "totalPower", 0.3, quoteNumber},
	{DriftType, "originalValue", 0.3, quoteNumber},
	{DriftType, "products/*/quantity", 0.3, quoteNumber},
	{DriftType, "payment/condition/value", 0.3, quoteNumber},
	{DriftType, "structure/*/arrangements/*/linesAmount", 0.3, quoteNumber},
	{DriftType, "company/address/number", 0.3, unquoteDigits},
	{DriftType, "freight/address/CEP", 0.2, unquoteDigits},
	{DriftType, "payment/authorizationNsu", 0.3, unquoteDigits},
	{DriftType, "customData/*/value", 0.2, unquoteDigits},
	{DriftType, "apiSent", 0.3, quoteBoolean},
	{DriftType, "removed", 0.3, quoteBoolean},
	{DriftType, "budgetCreated", 0.3, shiftZone},
	{DriftType, "orderCreated", 0.3, shiftZone},
	{DriftType, "apiSentUpdated", 0.3, shiftZone},

	{DriftNumbers, "discount", 0.3, writeExponent},
	{DriftNumbers, "finalValue", 0.1, put(`123456789012345678901234567890`)},
	{DriftNumbers, "freight/price", 0.2, put(`0.123456789012345678901234567890`)},
	{DriftNumbers, "payment/condition/quantityOfInstallments", 0.2, put(`9007199254740993`)},

	{DriftShape, "structure/*/arrangements", 0.2, unwrapFirst},
	{DriftShape, "structure", 0.4, unwrapFirst},
	{DriftShape, "files", 0.4, put(`["proposta.pdf","conta de luz.jpg"]`)},

	{DriftNull, "payment/creditCard", 0.3, nullObject},
	{DriftNull, "payment/condition", 0.2, nullObject},
	{DriftNull, "company/mainContact", 0.2, nullObject},
	{DriftNull, "company/address", 0.2, nullObject},
	{DriftNull, "freight/address", 0.2, nullObject},
	{DriftNull, "freight/integrationData", 0.3, nullObject},
	{DriftNull, "products/*/center", 0.2, nullObject},
	{DriftNull, "addedBy", 0.2, nullObject},
	{DriftNull, "responsible", 0.1, nullObject},
	{DriftNull, "payment", 0.1, nullObject},
	{DriftNull, "company", 0.1, nullObject},
	{DriftNull, "freight", 0.1, nullObject},
	{DriftNull, "invoice", 0.2, nullObject},

	{DriftMissing, "notes", 0.3, leaveOut},
	{DriftMissing, "kind", 0.2, leaveOut},
	{DriftMissing, "stockStatus", 0.2, leaveOut},
	{DriftMissing, "differenceWithPaymentConditionApplied", 0.3, leaveOut},
	{DriftMissing, "payment/paidAt", 0.2, leaveOut},
	{DriftMissing, "company/fantasyName", 0.2, leaveOut},
	{DriftMissing, "freight/truckPossible", 0.3, leaveOut},
	{DriftMissing, "products/*/name", 0.2, leaveOut},
	{DriftMissing, "customForm", 0.3, leaveOut},
	{DriftMissing, "customData", 0.2, leaveOut},
	{DriftMissing, "removed", 0.2, leaveOut},
	{DriftMissing, "invoice", 0.1, leaveOut},
}

var equipmentDeviations = []deviation{
	{DriftUnknown, "requestStatus", 0.3, put(`"ativo"`)},
	{DriftUnknown, "_id", 0.6, drawID},
	{DriftUnknown, "taxes", 0.4, put(`{"ipi":0,"icms":{"SP":0.18,"GO":null},"notes":[]}`)},
	{DriftUnknown, "images", 0.4, put(`["a.png",{"url":"b.png","w":640}]`)},
	{DriftUnknown, "inventory/incoming", 0.5, drawNumber},
	{DriftUnknown, "inventoryByCenter/*/incoming", 0.3, drawNumber},
	{DriftUnknown, "moduleSpecifications/bifaciality", 0.5, put(`0.7`)},
	{DriftUnknown, "inverterSpecifications/vendorSpecifications/maximumConnectedPowerPer5String", 0.5, put(`[1200.5]`)},

	{DriftType, "baseprice", 0.3, quoteNumber},
	{DriftType, "weight", 0.3, quoteNumber},
	{DriftType, "inventoryByCenter/*/current", 0.3, quoteNumber},
	{DriftType, "moduleSpecifications/ratedMaximumPower", 0.3, quoteNumber},
	{DriftType, "inverterSpecifications/maximumInputCurrent/*", 0.3, quoteNumber},
	{DriftType, "model", 0.2, unquoteDigits},
	{DriftType, "customData/*/value", 0.3, unquoteDigits},
	{DriftType, "isToSell", 0.3, quoteBoolean},
	{DriftType, "isToSellOptions/separatedSales", 0.3, quoteBoolean},

	{DriftNumbers, "volume", 0.2, put(`123456789012345678901234567890`)},
	{DriftNumbers, "inventory/current", 0.2, put(`9007199254740993`)},
	{DriftNumbers, "costPrice", 0.3, writeExponent},

	{DriftShape, "inventoryByCenter", 0.3, unwrapFirst},
	{DriftShape, "customData", 0.2, unwrapFirst},

	{DriftNull, "inventory", 0.2, nullObject},
	{DriftNull, "isToSellOptions", 0.2, nullObject},
	{DriftNull, "storeSellOptions", 0.3, nullObject},
	{DriftNull, "ecommerceSellOptions", 0.3, nullObject},
	{DriftNull, "inverterSpecifications/vendorSpecifications", 0.3, nullObject},
	{DriftNull, "complementaryEquipmentSpecifications/category", 0.2, nullObject},
	{DriftNull, "moduleSpecifications", 0.2, nullObject},
	{DriftNull, "stringBoxSpecifications", 0.2, nullObject},

	{DriftMissing, "manufacturer", 0.2, leaveOut},
	{DriftMissing, "volume", 0.2, leaveOut},
	{DriftMissing, "featured", 0.3, leaveOut},
	{DriftMissing, "storeSellOptions", 0.2, leaveOut},
	{DriftMissing, "inverterSpecifications/connectionType", 0.3, leaveOut},
	{DriftMissing, "customData", 0.2, leaveOut},
}
