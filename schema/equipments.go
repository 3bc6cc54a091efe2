package schema

// equipmentKey is the first column of every table under equipments.
func equipmentKey(t Type) Column {
	return own("equipment_key", t, "The equipment this belongs to.", "Equipamento (chave)").notNull().clause("REFERENCES equipments(equipment_key)").public()
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
			own("equipment_key", Surrogate, "Surrogate key of the item, of the mirror's own making.", "Chave do equipamento").public(),
			text("/type", "Type of product: module, inverter, stringBox, complementaryEquipment. Empty when the platform gives none.", "Tipo").notNull().public(),
			text("/productCode", "Product code.", "Código do produto").notNull().public(),
			text("/name", "Name of the product.", "Nome").public(),
			text("/manufacturer", "Manufacturer.", "Fabricante").public(),
			text("/model", "Model.", "Modelo").public(),
			money("/baseprice", "Base price.", "Preço base").public(),
			money("/costPrice", "Cost price.", "Preço de custo").public(),
			real("/nominalMaxPower", NotStated, "Greatest nominal power.", "Potência máxima nominal").public(),
			real("/nominalOutputPower", NotStated, "Nominal output power.", "Potência nominal de saída").public(),
			real("/height", NotStated, "Height.", "Altura").public(),
			real("/width", NotStated, "Width.", "Largura").public(),
			real("/lenght", NotStated, "Length (the platform spells it lenght).", "Comprimento").public(),
			real("/weight", NotStated, "Weight.", "Peso").public(),
			real("/volume", NotStated, "Volume.", "Volume").public(),
			boolean("/featured", "Featured in the store.", "Destaque").public(),
			boolean("/featuredEcommerce", "Featured in the e-commerce.", "Destaque no e-commerce").public(),
			boolean("/isToSell", "Whether it is for sale.", "À venda").public(),
			boolean("/isToSellIntegrator", "Whether it is for sale to integrators.", "À venda para integradores").public(),
			boolean("/isToSellOptions/separatedSales", "For sale on its own.", "Venda avulsa").public(),
			boolean("/isToSellOptions/closedKitSales", "For sale in closed kits.", "Venda em kit fechado").public(),
			boolean("/isToSellOptions/mountKitSales", "For sale in kits put together by the buyer.", "Venda em kit montado").public(),
			boolean("/storeSellOptions/separatedSales", "Store: for sale on its own.", "Loja: venda avulsa").public(),
			boolean("/storeSellOptions/closedKitSales", "Store: for sale in closed kits.", "Loja: venda em kit fechado").public(),
			boolean("/ecommerceSellOptions/separatedSales", "E-commerce: for sale on its own.", "E-commerce: venda avulsa").public(),
			boolean("/ecommerceSellOptions/closedKitSales", "E-commerce: for sale in closed kits.", "E-commerce: venda em kit fechado").public(),
			real("/inventory/current", "pieces", "In stock, all centres together.", "Estoque atual").public(),
			real("/inventory/reserved", "pieces", "Reserved, all centres together.", "Estoque reservado").public(),
			real("/inventory/minimum", "pieces", "Least stock wanted, all centres together.", "Estoque mínimo").public(),
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
		equipmentKey(BigInt), position("Place in the list, from 1.", "Posição").public(),
		text("/center", "Code of the distribution centre.", "Centro de distribuição: código").named("center_code").public(),
		real("/current", "pieces", "In stock.", "Estoque atual").public(),
		real("/reserved", "pieces", "Reserved.", "Estoque reservado").public(),
		real("/minimum", "pieces", "Least stock wanted.", "Estoque mínimo").public(),
	},
}

var moduleSpecifications = &Table{
	Name: "module_specifications", Doc: "Specifications of a module.", Label: "Especificações do módulo",
	Shape: One, Path: "/moduleSpecifications", Key: []string{"equipment_key"},
	Columns: []Column{
		equipmentKey(Surrogate),
		real("/ratedMaximumPower", NotStated, "Rated maximum power.", "Potência máxima").public(),
		real("/efficiency", NotStated, "Efficiency.", "Eficiência").public(),
		real("/openCircuitVoltage", NotStated, "Open-circuit voltage.", "Tensão de circuito aberto").public(),
		real("/shortCircuitCurrent", NotStated, "Short-circuit current.", "Corrente de curto-circuito").public(),
		real("/maximumPowerVoltage", NotStated, "Voltage at maximum power.", "Tensão na potência máxima").public(),
		real("/maximumPowerCurrent", NotStated, "Current at maximum power.", "Corrente na potência máxima").public(),
		text("/cellType", "Type of cell.", "Tipo de célula").public(),
	},
}

var inverterSpecifications = &Table{
	Name: "inverter_specifications", Doc: "Specifications of an inverter; its lists of numbers stand in equipment_specification_values.", Label: "Especificações do inversor",
	Shape: One, Path: "/inverterSpecifications", Key: []string{"equipment_key"},
	Columns: []Column{
		equipmentKey(Surrogate),
		text("/inverterType", "Type of inverter.", "Tipo de inversor").public(),
		text("/connectionType", "Type of grid connection.", "Tipo de conexão").public(),
		real("/maximumInputPower", NotStated, "Maximum input power.", "Potência máxima de entrada").public(),
		real("/maximumInputPowerPerString", NotStated, "Maximum input power per string.", "Potência máxima de entrada por string").public(),
		real("/startVoltage", NotStated, "Start voltage.", "Tensão de partida").public(),
		real("/minimumMPPTVoltage", NotStated, "Lowest MPPT voltage.", "Tensão MPPT mínima").public(),
		real("/maximumMPPTVoltage", NotStated, "Highest MPPT voltage.", "Tensão MPPT máxima").public(),
		real("/mpptAmount", "trackers", "Number of MPP trackers.", "Quantidade de MPPT").public(),
		real("/ratedOutputPower", NotStated, "Rated output power.", "Potência nominal de saída").public(),
		real("/ratedOutputVoltage", NotStated, "Rated output voltage.", "Tensão nominal de saída").public(),
		real("/maximumOutputCurrent", NotStated, "Maximum output current.", "Corrente máxima de saída").public(),
	},
}

var stringBoxSpecifications = &Table{
	Name: "string_box_specifications", Doc: "Specifications of a string box; its inputs and outputs stand in equipment_specification_values.", Label: "Especificações da string box",
	Shape: One, Path: "/stringBoxSpecifications", Key: []string{"equipment_key"},
	Columns: []Column{
		equipmentKey(Surrogate),
		real("/maximumStringVoltage", NotStated, "Maximum string voltage.", "Tensão máxima da string").public(),
		real("/maximumStringCurrent", NotStated, "Maximum string current.", "Corrente máxima da string").public(),
	},
}

var complementarySpecifications = &Table{
	Name: "complementary_specifications", Doc: "Category of complementary equipment.", Label: "Especificações do equipamento complementar",
	Shape: One, Path: "/complementaryEquipmentSpecifications", Key: []string{"equipment_key"},
	Columns: []Column{
		equipmentKey(Surrogate),
		text("/category/id", "Identifier of the category.", "Categoria: identificador").public(),
		text("/category/name", "Name of the category.", "Categoria: nome").public(),
		text("/category/type", "Type of the category.", "Categoria: tipo").public(),
	},
}

var equipmentSpecificationValues = &Table{
	Name: "equipment_specification_values", Doc: "Every list of numbers among the specifications, one row per number.", Label: "Valores das especificações",
	Shape: Values, Key: []string{"equipment_key", "name", "position"},
	Columns: []Column{
		equipmentKey(BigInt),
		own("name", Text, "Which list: its JSON path within the specifications in snake case, joined by '.'.", "Especificação").notNull().public(),
		position("Place in the list, from 1.", "Posição").public(),
		real(".", NotStated, "The number.", "Valor").named("value").public(),
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
