package platformtest

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"solarmirror/schema"
)

func TestValuesAddUp(t *testing.T) {
	t.Parallel()
	p, _, _ := newPlatform(t, 21, 600)
	ids, codes := map[string]bool{}, map[string]bool{}
	near := func(a, b float64) bool { return math.Abs(a-b) < 0.005 }
	for _, resource := range []string{ResourceOrders, ResourceBudgets} {
		for truth := range p.Records(resource) {
			r := decode[record](t, truth.JSON)
			if ids[r.ID] || codes[r.Code] || r.ID != truth.Key || len(r.ID) != 24 || r.Removed != truth.Removed {
				t.Errorf("identity: %s %s %s", truth.Key, r.ID, r.Code)
			}
			ids[r.ID], codes[r.Code] = true, true
			sum := 0.0
			for _, line := range r.Products {
				sum += line.TotalPrice
				if !near(line.Quantity*line.SinglePrice, line.TotalPrice) || line.Quantity < 1 || line.SinglePrice <= 0 {
					t.Errorf("%s: line %+v", r.Code, line)
				}
			}
			if !near(sum, r.OriginalValue) || !near(r.OriginalValue-r.Discount+r.Surcharge, r.FinalValue) {
				t.Errorf("%s: lines %v original %v discount %v surcharge %v final %v", r.Code, sum, r.OriginalValue, r.Discount, r.Surcharge, r.FinalValue)
			}
			checkDifference(t, r)
			laid := 0.0
			for _, a := range r.Structure[0].Arrangements {
				laid += a.LinesAmount * a.ModulesByLine
			}
			if laid != r.Products[0].Quantity {
				t.Errorf("%s: %v modules sold, %v laid", r.Code, r.Products[0].Quantity, laid)
			}
			if (r.OrderCreated != "") != (resource == ResourceOrders) || r.OrderCreated != "" && r.OrderCreated < r.BudgetCreated {
				t.Errorf("%s in %s was ordered %q", r.Code, resource, r.OrderCreated)
			}
			if (r.Payment.CreditCard != nil) != (r.Payment.Type == "credito") {
				t.Errorf("%s: credit card of a payment by %s", r.Code, r.Payment.Type)
			}
			if (r.Company.CNPJ == "") == (r.Company.CPF == "") {
				t.Errorf("%s: company of CNPJ %q and CPF %q", r.Code, r.Company.CNPJ, r.Company.CPF)
			}
			if !slices.Contains(cityNames(p.world.atlas, r.Freight.Address.State), r.Freight.Address.City) {
				t.Errorf("%s: %s is not in %s", r.Code, r.Freight.Address.City, r.Freight.Address.State)
			}
		}
	}
}

func checkDifference(t *testing.T, r record) {
	t.Helper()
	c := r.Payment.Condition
	want := c.Value
	if c.ModifierType == "percentage" {
		want = math.Round(r.FinalValue*c.Value) / 100
	}
	want *= map[string]float64{"increase": 1, "decrease": -1, "notUpdate": 0}[c.ConditionType]
	if math.Abs(want-r.DifferenceWithPaymentConditionApplied) > 0.011 {
		t.Errorf("%s: difference %v, want %v", r.Code, r.DifferenceWithPaymentConditionApplied, want)
	}
}

func cityNames(a *atlas, state string) (names []string) {
	i := slices.IndexFunc(federativeUnits, func(uf federativeUnit) bool { return uf.code == state })
	for _, m := range a.byUnit[i] {
		names = append(names, m.name)
	}
	return names
}

func TestPowerIsThatOfTheModules(t *testing.T) {
	t.Parallel()
	p, _, _ := newPlatform(t, 8, 200)
	watts := map[string]float64{}
	for r := range p.Records(ResourceEquipments) {
		e := decode[struct {
			Type, ProductCode string
			NominalMaxPower   float64
		}](t, r.JSON)
		watts[e.ProductCode] = e.NominalMaxPower
	}
	for truth := range p.Records(ResourceBudgets) {
		r := decode[record](t, truth.JSON)
		module := r.Products[0]
		if want := watts[module.ProductCode] * module.Quantity / 1000; module.Type != typeModule || math.Abs(want-r.TotalPower) > 0.0005 {
			t.Errorf("%s: %v kWp, its modules have %v", r.Code, r.TotalPower, want)
		}
	}
}

// TestEveryFieldAndValueIsSeen reads all records. At least one of them fills each field that schema has a column for,
// one has null where that may be, and one has each documented value of the enumerations.
func TestEveryFieldAndValueIsSeen(t *testing.T) {
	t.Parallel()
	p, _, _ := newPlatform(t, 1, 500)
	filled, null, values := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, resource := range []string{ResourceOrders, ResourceBudgets, ResourceEquipments} {
		kind := "r"
		if resource == ResourceEquipments {
			kind = "e"
		}
		for r := range p.Records(resource) {
			visit(kind, decode[any](t, r.JSON), func(path string, v any) {
				if v == nil {
					null[path] = true
					return
				}
				filled[path] = true
				values[path+"="+fmt.Sprint(v)] = true
			})
		}
	}
	for _, path := range slices.Concat(fieldsOf("r", schema.Requests), fieldsOf("e", schema.Equipments)) {
		if !filled[path] {
			t.Errorf("%s is never filled", path)
		}
		delete(filled, path)
	}
	if len(filled) > 0 {
		t.Errorf("fields without a column: %v", slices.Sorted(maps.Keys(filled)))
	}
	for _, path := range strings.Fields("r.orderCreated r.billingDate r.notes r.invoice r.payment.creditCard r.company.cnpj r.company.cpf " +
		"r.invoice.cnpj r.invoice.cpf r.payment.paidAt r.apiSentUpdated e.inverterSpecifications.maximumInputPowerPerString") {
		if !null[path] {
			t.Errorf("%s is never null", path)
		}
	}
	for _, value := range strings.Fields(documentedValues) {
		if !values[value] {
			t.Errorf("%s is never seen", value)
		}
	}
}

// fieldsOf returns the fields that fill the columns of a root and the tables under it, as visit names them.
func fieldsOf(kind string, root *schema.Table) (list []string) {
	root.Walk(func(t *schema.Table) {
		for _, c := range t.Columns {
			for pointer := range strings.FieldsSeq(schema.SourcePath(t, c)) {
				list = append(list, kind+strings.NewReplacer("/*", "[]", "/", ".").Replace(pointer))
			}
		}
	})
	return list
}

func visit(path string, v any, see func(string, any)) {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			visit(path+"."+name, member, see)
		}
	case []any:
		for _, element := range v {
			visit(path+"[]", element, see)
		}
	default:
		see(path, v)
	}
}

const documentedValues = `r.payment.type=pix r.payment.type=boleto r.payment.type=debito r.payment.type=credito r.payment.type=financiamento
	r.payment.type=other r.payment.condition.conditionType=notUpdate r.payment.condition.conditionType=increase
	r.payment.condition.conditionType=decrease r.payment.condition.modifierType=percentage r.payment.condition.modifierType=fixed
	r.payment.status=notRequested r.payment.status=requested r.payment.status=received r.payment.status=cancelled
	r.dealStatus=Novo r.stockStatus=reserved r.payment.transactionStatus=pending r.removed=true r.removed=false
	r.products[].type=module r.products[].type=inverter r.products[].type=stringBox r.products[].type=complementaryEquipment
	r.products[].type=extraItem r.freight.type=CIF r.freight.type=FOB r.freight.zoneType=Rural r.freight.zoneType=Urbana
	r.freight.truckPossible=Sim r.freight.truckPossible=Não r.structure[].arrangements[].orientation=Retrato
	r.structure[].arrangements[].orientation=Paisagem r.invoice.temInscricaoEstadual=sim e.type=module e.type=inverter
	e.type=stringBox e.type=complementaryEquipment e.isToSell=true e.isToSell=false`

// TestAChangeChangesOnlyItsFields renders one request in states that differ by one step.
func TestAChangeChangesOnlyItsFields(t *testing.T) {
	t.Parallel()
	p, _, _ := newPlatform(t, 6, 60)
	base := request{created: 1_700_000_000_000, updated: 1_700_000_000_000, stage: stageProposed}
	for _, c := range []struct {
		name   string
		change func(*request)
		fields string
	}{
		{"note", func(r *request) { r.noteEdits++ }, "notes"},
		{"discount", func(r *request) { r.discountEdits++ }, "discount finalValue differenceWithPaymentConditionApplied invoice"},
		{"line", func(r *request) { r.lineEdits++ }, "products structure totalPower originalValue discount surcharge finalValue differenceWithPaymentConditionApplied freight invoice"},
		{"removal", func(r *request) { r.removed = true }, "removed"},
		{"approval", func(r *request) { r.stage = stageApproved }, "dealStatus stockStatus files"},
		{"payment", func(r *request) { r.stage, r.ordered, r.paid = stagePaid, 1_700_000_900_000, 1_700_009_000_000 }, "dealStatus stockStatus files payment orderCreated"},
	} {
		changed := false
		for i := range uint32(60) {
			after := base
			c.change(&after)
			a := decode[map[string]json.RawMessage](t, p.world.appendRequest(nil, i, &base))
			b := decode[map[string]json.RawMessage](t, p.world.appendRequest(nil, i, &after))
			for field := range a {
				if string(a[field]) == string(b[field]) {
					continue
				}
				changed = true
				if !slices.Contains(strings.Fields(c.fields), field) {
					t.Errorf("a %s changed %s from %s to %s", c.name, field, a[field], b[field])
				}
			}
		}
		if !changed {
			t.Errorf("a %s changed nothing", c.name)
		}
	}
}
