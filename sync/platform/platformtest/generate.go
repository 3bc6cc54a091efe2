package platformtest

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// distribution centres, as requests and inventories name them.
var centers = []struct{ code, name string }{
	{"CD-SP", "Centro de Distribuição São Paulo"},
	{"CD-GO", "Centro de Distribuição Goiânia"},
	{"CD-PE", "Centro de Distribuição Recife"},
	{"CD-SC", "Centro de Distribuição Itajaí"},
}

var moduleMakers = []string{"Canadian Solar", "JA Solar", "Trina Solar", "LONGi", "Jinko Solar", "Risen", "BYD", "DAH Solar", "Astronergy", "Sunova"}
var inverterMakers = []string{"Growatt", "Sungrow", "Deye", "Fronius", "WEG", "Huawei", "SolarEdge", "Hoymiles", "Solis", "GoodWe", "Sofar"}
var stringBoxMakers = []string{"Clamper", "Proauto", "Ecosolys", "Soprano", "Suntree", "WEG"}
var complementMakers = []string{"Romagnole", "SSM Solar", "K2 Systems", "Solar Group", "Prysmian", "Corfio", "Stäubli", "Politec", "Pratyc"}

var cellTypes = []string{"Monocristalino PERC", "Monocristalino N-Type TOPCon", "Monocristalino HJT", "Policristalino"}

// complementKinds are the categories of complementary equipment with what is sold under them.
var complementKinds = []struct {
	category, kind string
	low, high      float64 // price
	names          []string
}{
	{"Estrutura", "structure", 60, 420, []string{"Kit estrutura telha cerâmica 4 módulos", "Kit estrutura telha metálica mini-trilho 4 módulos", "Kit estrutura fibrocimento 4 módulos", "Estrutura de solo 4 módulos", "Estrutura laje 15° 4 módulos"}},
	{"Cabo", "cable", 3, 12, []string{"Cabo solar 4mm² 1,8kV preto (m)", "Cabo solar 4mm² 1,8kV vermelho (m)", "Cabo solar 6mm² 1,8kV preto (m)", "Cabo solar 6mm² 1,8kV vermelho (m)"}},
	{"Conector", "connector", 8, 25, []string{"Par de conectores MC4", "Conector MC4 Evo2", "Conector T-Branch MC4"}},
	{"Proteção", "protection", 90, 900, []string{"Disjuntor CA bipolar 32A", "DPS CA 275V 20kA", "Quadro de proteção CA trifásico", "Disjuntor CA tripolar 63A"}},
	{"Monitoramento", "monitoring", 180, 1400, []string{"Datalogger Wi-Fi", "Smart meter trifásico", "Dongle 4G", "Medidor bidirecional"}},
	{"Transformador", "transformer", 2500, 28000, []string{"Autotransformador 380/220V 45kVA", "Transformador a seco 75kVA", "Autotransformador 380/220V 112,5kVA"}},
}

// codePrefix starts the product codes of a type; the number after it has five digits.
var codePrefix = map[string]string{typeModule: "MOD", typeInverter: "INV", typeStringBox: "STB", typeComplementary: "COM"}

func itemCode(kind string, serial int) string { return fmt.Sprintf("%s%05d", codePrefix[kind], serial) }

// generateItem returns the item of the given type and serial number. Its creation time is the caller's affair.
func generateItem(seed uint64, kind string, serial int) item {
	d := throw(seed, streamItem, uint64(slices.Index(equipmentTypes, kind)), uint64(serial))
	w := &jsonWriter{b: make([]byte, 0, 1600)}
	w.open('{')
	w.str("type", kind)
	w.str("productCode", itemCode(kind, serial))
	switch kind {
	case typeModule:
		generateModule(w, &d)
	case typeInverter:
		generateInverter(w, &d)
	case typeStringBox:
		generateStringBox(w, &d)
	default:
		generateComplement(w, &d)
	}
	w.array("customData")
	if d.chance(0.4) {
		w.open('{')
		w.str("key", "ncm")
		w.str("value", "8541.43.00")
		w.str("type", "text")
		w.close('}')
		w.open('{')
		w.str("key", "garantiaAnos")
		w.str("value", fmt.Sprint(d.between(5, 25)))
		w.str("type", "number")
		w.close('}')
	}
	w.close(']')
	w.close('}')
	return item{equipment: readEquipment(w.b), raw: w.b}
}

// body holds the members that every type has.
type body struct {
	name, manufacturer, model    string
	price                        float64
	maxPower, outputPower        float64 // W
	height, width, length        int     // mm
	weight                       float64 // kg
	current, reserved, threshold int     // typical stock in one centre
}

func generateBody(w *jsonWriter, d *dice, b body) {
	w.str("name", b.name)
	w.str("manufacturer", b.manufacturer)
	w.str("model", b.model)
	w.float("baseprice", round(b.price, 2))
	w.float("costPrice", round(b.price*(0.66+0.14*d.float()), 2))
	w.float("nominalMaxPower", b.maxPower)
	w.float("nominalOutputPower", b.outputPower)
	w.integer("height", b.height)
	w.integer("width", b.width)
	w.integer("lenght", b.length)
	w.float("weight", round(b.weight, 1))
	w.float("volume", round(float64(b.height)*float64(b.width)*float64(b.length)/1e9, 3))
	w.boolean("featured", d.chance(0.1))
	w.boolean("featuredEcommerce", d.chance(0.06))
	w.boolean("isToSell", d.chance(0.92))
	w.boolean("isToSellIntegrator", d.chance(0.88))
	for _, options := range []string{"isToSellOptions", "storeSellOptions", "ecommerceSellOptions"} {
		w.object(options)
		w.boolean("separatedSales", d.chance(0.6))
		w.boolean("closedKitSales", d.chance(0.7))
		if options == "isToSellOptions" {
			w.boolean("mountKitSales", d.chance(0.5))
		}
		w.close('}')
	}
	generateInventory(w, d, b)
}

// generateInventory writes two to four centres and, before them, their sums.
func generateInventory(w *jsonWriter, d *dice, b body) {
	type stock struct{ current, reserved, minimum int }
	var sum stock
	first, byCenter := d.below(len(centers)), make([]stock, d.between(2, len(centers)))
	for i := range byCenter {
		s := stock{current: d.below(2*b.current + 1), minimum: d.below(b.threshold + 1)}
		s.reserved = min(s.current, d.below(2*b.reserved+1))
		byCenter[i] = s
		sum = stock{sum.current + s.current, sum.reserved + s.reserved, sum.minimum + s.minimum}
	}
	write := func(s stock) {
		w.integer("current", s.current)
		w.integer("reserved", s.reserved)
		w.integer("minimum", s.minimum)
		w.close('}')
	}
	w.object("inventory")
	write(sum)
	w.array("inventoryByCenter")
	for i, s := range byCenter {
		w.open('{')
		w.str("center", centers[(first+i)%len(centers)].code)
		write(s)
	}
	w.close(']')
}

func generateModule(w *jsonWriter, d *dice) {
	maker := pick(d, moduleMakers)
	watts := float64(d.between(66, 142) * 5)
	cells := pick(d, []int{72, 108, 120, 132, 144})
	model := fmt.Sprintf("%s%d-%dM-%.0f", strings.ToUpper(maker[:2]), d.between(3, 9), cells, watts)
	generateBody(w, d, body{
		name: fmt.Sprintf("Módulo fotovoltaico %s %.0fW", maker, watts), manufacturer: maker, model: model,
		price: watts * (0.85 + 0.5*d.float()), maxPower: watts, outputPower: watts,
		height: d.between(1700, 2400), width: d.between(1000, 1310), length: 35, weight: 18 + watts/50,
		current: 1800, reserved: 220, threshold: 200,
	})
	vmp := float64(cells)/2*0.57 + d.float()
	w.object("moduleSpecifications")
	w.float("ratedMaximumPower", watts)
	w.float("efficiency", round(19+4*d.float(), 2))
	w.float("openCircuitVoltage", round(vmp*1.19, 2))
	w.float("shortCircuitCurrent", round(watts/vmp*1.06, 2))
	w.float("maximumPowerVoltage", round(vmp, 2))
	w.float("maximumPowerCurrent", round(watts/vmp, 2))
	w.str("cellType", pick(d, cellTypes))
	w.close('}')
}

func generateInverter(w *jsonWriter, d *dice) {
	maker := pick(d, inverterMakers)
	kind, watts := "String", 0.0
	switch x := d.float(); {
	case x < 0.2:
		kind, watts = "Micro", pick(d, []float64{800, 1600, 2000, 2250})
	case x < 0.85:
		watts = pick(d, []float64{3000, 3600, 5000, 6000, 7500, 8000, 10000, 15000, 20000, 25000, 33000, 50000, 60000, 75000})
	default:
		kind, watts = "Central", pick(d, []float64{100000, 125000, 250000})
	}
	connection, volts := "Monofásico", 220.0
	if watts > 10000 {
		connection, volts = "Trifásico", pick(d, []float64{220, 380})
	}
	mppts := max(1, int(watts/9000)+d.below(2))
	generateBody(w, d, body{
		name: fmt.Sprintf("Inversor %s %gkW %s", maker, watts/1000, connection), manufacturer: maker,
		model: fmt.Sprintf("%s-%gK-%s%d", strings.ToUpper(maker[:3]), watts/1000, kind[:1], d.between(1, 9)),
		price: 900 + watts*(0.32+0.2*d.float()), maxPower: round(watts*1.1, 0), outputPower: watts,
		height: d.between(320, 700), width: d.between(280, 620), length: d.between(120, 280), weight: 6 + watts/1500,
		current: 90, reserved: 14, threshold: 12,
	})
	generateInverterSpecifications(w, d, kind, connection, watts, volts, mppts)
}

func generateInverterSpecifications(w *jsonWriter, d *dice, kind, connection string, watts, volts float64, mppts int) {
	perMPPT := func(value float64) []float64 {
		values := make([]float64, mppts)
		for i := range values {
			values[i] = value
		}
		return values
	}
	amps := pick(d, []float64{13, 16, 20, 26, 32})
	w.object("inverterSpecifications")
	w.str("inverterType", kind)
	w.str("connectionType", connection)
	w.float("maximumInputPower", watts*1.5)
	if kind == "Micro" {
		w.null("maximumInputPowerPerString")
	} else {
		w.float("maximumInputPowerPerString", round(watts*1.5/float64(mppts), 0))
	}
	w.float("startVoltage", float64(d.between(5, 25)*10))
	w.float("minimumMPPTVoltage", float64(d.between(6, 20)*10))
	w.float("maximumMPPTVoltage", float64(d.between(50, 100)*10))
	w.integer("mpptAmount", mppts)
	w.float("ratedOutputPower", watts)
	w.float("ratedOutputVoltage", volts)
	w.float("maximumOutputCurrent", round(watts/volts*1.1, 1))
	w.floats("maximumInputCurrentPerMPPT", perMPPT(amps)...)
	w.floats("maximumInputCurrent", round(amps*float64(mppts), 1))
	w.floats("stringsPerMPPT", perMPPT(float64(d.between(1, 3)))...)
	w.floats("maximumCurrentDCConnector", perMPPT(amps*1.25)...)
	w.floats("maximumCurrent", amps)
	w.object("vendorSpecifications")
	w.floats("compatibleInverters", manyOf(mppts > 1, float64(d.between(1, 3)), float64(d.between(4, 6)))...)
	w.floats("minimumStringLength", float64(d.between(2, 6)))
	w.floats("maximumStringLength", float64(d.between(12, 24)))
	w.floats("maximumContinuousPowerPerString", round(watts*0.6, 0))
	w.floats("maximumConnectedPowerPer2String", round(watts*0.7, 0), round(watts*0.75, 0))
	w.floats("maximumConnectedPowerPerString", round(watts*0.5, 0))
	w.floats("maximumConnectedPowerPer3String", manyOf(mppts > 2, round(watts*0.85, 0))...)
	w.floats("maximumConnectedPowerPer4String", manyOf(mppts > 2, round(watts*0.95, 0))...)
	w.close('}')
	w.close('}')
}

// manyOf returns the values when there are any to state.
func manyOf(stated bool, values ...float64) []float64 {
	if !stated {
		return nil
	}
	return values
}

func generateStringBox(w *jsonWriter, d *dice) {
	maker := pick(d, stringBoxMakers)
	in := pick(d, []int{1, 2, 2, 4, 6, 8})
	out := max(1, in/2)
	volts := pick(d, []float64{600, 1000, 1040, 1500})
	generateBody(w, d, body{
		name: fmt.Sprintf("String box %s %dE/%dS %.0fV", maker, in, out, volts), manufacturer: maker,
		model: fmt.Sprintf("SB-%d%dE-%.0f-%d", in, out, volts, d.between(1, 99)),
		price: 180 + 130*float64(in)*(0.8+0.4*d.float()), height: 320, width: 240, length: 140, weight: 2.5 + float64(in),
		current: 160, reserved: 20, threshold: 20,
	})
	w.object("stringBoxSpecifications")
	w.floats("inputAmount", float64(in))
	w.floats("outputAmount", float64(out))
	w.float("maximumStringVoltage", volts)
	w.float("maximumStringCurrent", pick(d, []float64{15, 20, 25, 32}))
	w.close('}')
}

func generateComplement(w *jsonWriter, d *dice) {
	at := d.below(len(complementKinds))
	kind, maker := complementKinds[at], pick(d, complementMakers)
	name := pick(d, kind.names)
	generateBody(w, d, body{
		name: name + " " + maker, manufacturer: maker, model: fmt.Sprintf("%s-%03d", strings.ToUpper(kind.kind[:3]), d.between(1, 999)),
		price:  kind.low + (kind.high-kind.low)*d.float(),
		height: d.between(40, 900), width: d.between(40, 600), length: d.between(20, 3200), weight: 0.2 + 20*d.float(),
		current: 400, reserved: 50, threshold: 60,
	})
	w.object("complementaryEquipmentSpecifications")
	w.object("category")
	w.str("id", fmt.Sprintf("5f0c3a9be4b0%012x", at+1))
	w.str("name", kind.category)
	w.str("type", kind.kind)
	w.close('}')
	w.close('}')
}

func round(value float64, decimals int) float64 {
	scale := math.Pow10(decimals)
	return math.Round(value*scale) / scale
}
