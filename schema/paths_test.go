package schema_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"solarmirror/schema"
)

// The platform's documented fields, group by group as its interface lists them; "[]" stands for the elements of an array.
var documented = map[*schema.Table][]string{
	schema.Requests: fields(
		": id name code kind totalPower budgetCreated orderCreated dealStatus stockStatus originalValue discount surcharge finalValue differenceWithPaymentConditionApplied notes apiSent apiSentUpdated billingDate removed",
		"addedBy: name surname email cellphone",
		"responsible: name surname email cellphone",
		"payment: type status description transactionStatus transactionId authorizationNsu authorizationCode paidAt",
		"payment/condition: name quantityOfInstallments conditionType modifierType value",
		"payment/files/[]: path originalName",
		"payment/creditCard: brand last4digits first6digits holderName",
		"company: cnpj cpf fantasyName companyName",
		"company/mainContact: name surname email cellphone",
		"company/address: CEP state city neighborhood patio number complement",
		"products/[]: type productCode name quantity singlePrice totalPrice",
		"products/[]/structure: name type amount price",
		"products/[]/center: name code",
		"files/[]: category uploadedFiles/[]",
		"customForm/[]: question answer",
		"structure/[]: kind",
		"structure/[]/arrangements/[]: linesAmount modulesByLine orientation",
		"freight: type zoneType timeRestriction truckPossible price",
		"freight/integrationData: id name logisticProviderName",
		"freight/address: CEP state city neighborhood patio number complement patioFormatted patioType",
		"invoice: razaoSocial nomeFantasia cnpj cpf rg ie temInscricaoEstadual telephone email originalInvoiceValue serviceToAddInvoiceValue requestedInvoiceValue",
		"invoice/address: CEP state city neighborhood patio number complement patioFormatted patioType",
		"customData/[]: key value type",
	),
	schema.Equipments: fields(
		": type productCode name manufacturer model baseprice costPrice nominalMaxPower nominalOutputPower height width lenght weight volume featured featuredEcommerce isToSell isToSellIntegrator",
		"isToSellOptions: separatedSales closedKitSales mountKitSales",
		"storeSellOptions: separatedSales closedKitSales",
		"ecommerceSellOptions: separatedSales closedKitSales",
		"inventory: current reserved minimum",
		"inventoryByCenter/[]: center current reserved minimum",
		"moduleSpecifications: ratedMaximumPower efficiency openCircuitVoltage shortCircuitCurrent maximumPowerVoltage maximumPowerCurrent cellType",
		"inverterSpecifications: inverterType connectionType maximumInputPower maximumInputPowerPerString startVoltage minimumMPPTVoltage maximumMPPTVoltage mpptAmount ratedOutputPower ratedOutputVoltage maximumOutputCurrent",
		"inverterSpecifications: maximumInputCurrentPerMPPT/[] maximumInputCurrent/[] stringsPerMPPT/[] maximumCurrentDCConnector/[] maximumCurrent/[]",
		"inverterSpecifications/vendorSpecifications: compatibleInverters/[] minimumStringLength/[] maximumStringLength/[] maximumContinuousPowerPerString/[] "+
			"maximumConnectedPowerPer2String/[] maximumConnectedPowerPerString/[] maximumConnectedPowerPer3String/[] maximumConnectedPowerPer4String/[]",
		"complementaryEquipmentSpecifications/category: id name type",
		"stringBoxSpecifications: inputAmount/[] outputAmount/[] maximumStringVoltage maximumStringCurrent",
		"customData/[]: key value type",
	),
}

func fields(groups ...string) []string {
	var all []string
	for _, g := range groups {
		object, names, _ := strings.Cut(g, ":")
		for name := range strings.FieldsSeq(names) {
			path := strings.TrimPrefix(object+"/"+name, "/")
			all = append(all, "/"+strings.ReplaceAll(path, "[]", "*"))
		}
	}
	slices.Sort(all)
	return all
}

// Every documented field has one column, and no column waits for a field that is not documented.
func TestEveryFieldHasItsColumn(t *testing.T) {
	t.Parallel()
	for _, root := range schema.Roots() {
		claimed := map[string]string{}
		root.Walk(func(table *schema.Table) {
			for _, c := range table.Columns {
				for path := range strings.FieldsSeq(schema.SourcePath(table, c)) {
					if before := claimed[path]; before != "" {
						t.Errorf("%s feeds %s and %s.%s", path, before, table.Name, c.Name)
					}
					claimed[path] = fmt.Sprint(table.Name, ".", c.Name)
				}
			}
		})
		if diff := cmp.Diff(documented[root], slices.Sorted(maps.Keys(claimed))); diff != "" {
			t.Errorf("fields of %s (-documented +with a column):\n%s", root.Name, diff)
		}
	}
}
