package schema

// equipmentKey is the first column of every table under equipments.
func equipmentKey(t Type) Column {
	return own("equipment_key", t, "The equipment this belongs to.", "Equipamento (chave)").notNull().clause("REFERENCES equipments(equipment_key)")
}

// Equipments is the catalogue.
var Equipments = &Table{
	Name:    "equipments",
	Doc:     "One row per item of the equipment catalogue.",
	Label:   "Equipamentos",
	Shape:   Root,
	Key:     []string{"equipment_key"},
	Unique:  []string{"type", "product_code"},
	Indices: [][]string{{"product_code"}, {deletedAt}},
	Columns: concat(
		[]Column{
			own("equipment_key", Surrogate, "Surrogate key of the item, of the mirror's own making.", "Chave do equipamento"),
			text("/type", "Type of product: module, inverter, stringBox, complementaryEquipment. Empty when the platform gives none.", "Tipo").notNull(),
			text("/productCode", "Product code.", "Código do produto").notNull(),
			text("/name", "Name of the product.", "Nome"),
			text("/manufacturer", "Manufacturer.", "Fabricante"),
			text("/model", "Model.", "Modelo"),
			money("/baseprice", "Base price.", "Preço base"),
			money("/costPrice", "Cost price.", "Preço de custo"),
			real("/nominalMaxPower", NotStated, "Greatest nominal power.", "Potência máxima nominal"),
			real("/nominalOutputPower", NotStated, "Nominal output power.", "Potência nominal de saída"),
			real("/height", NotStated, "Height.", "Altura"),
			real("/width", NotStated, "Width.", "Largura"),
			real("/lenght", NotStated, "Length (the platform spells it lenght).", "Comprimento"),
			real("/weight", NotStated, "Weight.", "Peso"),
			real("/volume", NotStated, "Volume.", "Volume"),
			boolean("/featured", "Featured in the store.", "Destaque"),
			boolean("/featuredEcommerce", "Featured in the e-commerce.", "Destaque no e-commerce"),
			boolean("/isToSell", "Whether it is for sale.", "À venda"),
			boolean("/isToSellIntegrator", "Whether it is for sale to integrators.", "À venda para integradores"),
			boolean("/isToSellOptions/separatedSales", "For sale on its own.", "Venda avulsa"),
			boolean("/isToSellOptions/closedKitSales", "For sale in closed kits.", "Venda em kit fechado"),
			boolean("/isToSellOptions/mountKitSales", "For sale in kits put together by the buyer.", "Venda em kit montado"),
			boolean("/storeSellOptions/separatedSales", "Store: for sale on its own.", "Loja: venda avulsa"),
			boolean("/storeSellOptions/closedKitSales", "Store: for sale in closed kits.", "Loja: venda em kit fechado"),
			boolean("/ecommerceSellOptions/separatedSales", "E-commerce: for sale on its own.", "E-commerce: venda avulsa"),
			boolean("/ecommerceSellOptions/closedKitSales", "E-commerce: for sale in closed kits.", "E-commerce: venda em kit fechado"),
			real("/inventory/current", "pieces", "In stock, all centres together.", "Estoque atual"),
			real("/inventory/reserved", "pieces", "Reserved, all centres together.", "Estoque reservado"),
			real("/inventory/minimum", "pieces", "Least stock wanted, all centres together.", "Estoque mínimo"),
		},
		bookkeeping(),
	),
	Children: []*Table{
		equipmentInventory, moduleSpecifications, inverterSpecifications, stringBoxSpecifications,
		complementarySpecifications, equipmentSpecificationValues,
		customData("equipment_custom_data", equipmentKey(BigInt)),
	},
}

var equipmentInventory = &Table{
	Name: "equipment_inventory", Doc: "Stock of an item at each distribution centre.", Label: "Estoque por centro",
	Shape: Many, Path: "/inventoryByCenter", Key: []string{"equipment_key", "position"},
	Columns: []Column{
		equipmentKey(BigInt), position("Place in the list, from 1.", "Posição"),
		text("/center", "Code of the distribution centre.", "Centro de distribuição: código").named("center_code"),
		real("/current", "pieces", "In stock.", "Estoque atual"),
		real("/reserved", "pieces", "Reserved.", "Estoque reservado"),
		real("/minimum", "pieces", "Least stock wanted.", "Estoque mínimo"),
	},
}

var moduleSpecifications = &Table{
	Name: "module_specifications", Doc: "Specifications of a module.", Label: "Especificações do módulo",
	Shape: One, Path: "/moduleSpecifications", Key: []string{"equipment_key"},
	Columns: []Column{
		equipmentKey(Surrogate),
		real("/ratedMaximumPower", NotStated, "Rated maximum power.", "Potência máxima"),
		real("/efficiency", NotStated, "Efficiency.", "Eficiência"),
		real("/openCircuitVoltage", NotStated, "Open-circuit voltage.", "Tensão de circuito aberto"),
		real("/shortCircuitCurrent", NotStated, "Short-circuit current.", "Corrente de curto-circuito"),
		real("/maximumPowerVoltage", NotStated, "Voltage at maximum power.", "Tensão na potência máxima"),
		real("/maximumPowerCurrent", NotStated, "Current at maximum power.", "Corrente na potência máxima"),
		text("/cellType", "Type of cell.", "Tipo de célula"),
	},
}

var inverterSpecifications = &Table{
	Name: "inverter_specifications", Doc: "Specifications of an inverter; its lists of numbers stand in equipment_specification_values.", Label: "Especificações do inversor",
	Shape: One, Path: "/inverterSpecifications", Key: []string{"equipment_key"},
	Columns: []Column{
		equipmentKey(Surrogate),
		text("/inverterType", "Type of inverter.", "Tipo de inversor"),
		text("/connectionType", "Type of grid connection.", "Tipo de conexão"),
		real("/maximumInputPower", NotStated, "Maximum input power.", "Potência máxima de entrada"),
		real("/maximumInputPowerPerString", NotStated, "Maximum input power per string.", "Potência máxima de entrada por string"),
		real("/startVoltage", NotStated, "Start voltage.", "Tensão de partida"),
		real("/minimumMPPTVoltage", NotStated, "Lowest MPPT voltage.", "Tensão MPPT mínima"),
		real("/maximumMPPTVoltage", NotStated, "Highest MPPT voltage.", "Tensão MPPT máxima"),
		real("/mpptAmount", "trackers", "Number of MPP trackers.", "Quantidade de MPPT"),
		real("/ratedOutputPower", NotStated, "Rated output power.", "Potência nominal de saída"),
		real("/ratedOutputVoltage", NotStated, "Rated output voltage.", "Tensão nominal de saída"),
		real("/maximumOutputCurrent", NotStated, "Maximum output current.", "Corrente máxima de saída"),
	},
}

var stringBoxSpecifications = &Table{
	Name: "string_box_specifications", Doc: "Specifications of a string box; its inputs and outputs stand in equipment_specification_values.", Label: "Especificações da string box",
	Shape: One, Path: "/stringBoxSpecifications", Key: []string{"equipment_key"},
	Columns: []Column{
		equipmentKey(Surrogate),
		real("/maximumStringVoltage", NotStated, "Maximum string voltage.", "Tensão máxima da string"),
		real("/maximumStringCurrent", NotStated, "Maximum string current.", "Corrente máxima da string"),
	},
}

var complementarySpecifications = &Table{
	Name: "complementary_specifications", Doc: "Category of complementary equipment.", Label: "Especificações do equipamento complementar",
	Shape: One, Path: "/complementaryEquipmentSpecifications", Key: []string{"equipment_key"},
	Columns: []Column{
		equipmentKey(Surrogate),
		text("/category/id", "Identifier of the category.", "Categoria: identificador"),
		text("/category/name", "Name of the category.", "Categoria: nome"),
		text("/category/type", "Type of the category.", "Categoria: tipo"),
	},
}

var equipmentSpecificationValues = &Table{
	Name: "equipment_specification_values", Doc: "Every list of numbers among the specifications, one row per number.", Label: "Valores das especificações",
	Shape: Values, Key: []string{"equipment_key", "name", "position"},
	Columns: []Column{
		equipmentKey(BigInt),
		own("name", Text, "Which list: its JSON path within the specifications in snake case, joined by '.'.", "Especificação").notNull(),
		position("Place in the list, from 1.", "Posição"),
		real(".", NotStated, "The number.", "Valor").named("value"),
	},
	Arrays: append(
		arrays("/inverterSpecifications", "/maximumInputCurrentPerMPPT", "/maximumInputCurrent", "/stringsPerMPPT",
			"/maximumCurrentDCConnector", "/maximumCurrent",
			"/vendorSpecifications/compatibleInverters", "/vendorSpecifications/minimumStringLength",
			"/vendorSpecifications/maximumStringLength", "/vendorSpecifications/maximumContinuousPowerPerString",
			"/vendorSpecifications/maximumConnectedPowerPer2String", "/vendorSpecifications/maximumConnectedPowerPerString",
			"/vendorSpecifications/maximumConnectedPowerPer3String", "/vendorSpecifications/maximumConnectedPowerPer4String"),
		arrays("/stringBoxSpecifications", "/inputAmount", "/outputAmount")...,
	),
}

func arrays(under string, paths ...string) []Array {
	list := make([]Array, len(paths))
	for i, p := range paths {
		list[i] = Array{Path: under + p, Name: SnakeCase(p, ".")}
	}
	return list
}
