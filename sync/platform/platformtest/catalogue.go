package platformtest

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// The equipment types, in the order in which they are generated.
const (
	typeModule        = "module"
	typeInverter      = "inverter"
	typeStringBox     = "stringBox"
	typeComplementary = "complementaryEquipment"
)

var equipmentTypes = []string{typeModule, typeInverter, typeStringBox, typeComplementary}

// generatedItems is how many items of each type a catalogue starts with.
var generatedItems = map[string]int{typeModule: 160, typeInverter: 160, typeStringBox: 60, typeComplementary: 100}

// maxEquipmentLine bounds one line of a catalogue file.
const maxEquipmentLine = 16 << 20

// item is one catalogue record. Its JSON is the state: an event replaces raw, never edits it in place, so that a
// reader may keep a copy of the slice.
type item struct {
	equipment
	created int64 // hidden: only the created… filters see it
	updated int64 // hidden: only an order of lists sees it
	loaded  bool  // from Options.Equipments: nothing but numbers may change in it
	gone    bool  // withdrawn from the catalogue
	raw     []byte
}

func (it *item) key() string { return it.Type + "/" + it.ProductCode }

// equipment is the part of a catalogue record that the world itself reads.
type equipment struct {
	Type, ProductCode, Name, Manufacturer, Model string
	Category                                     string // of complementary equipment
	BasePrice, CostPrice                         float64
	Power                                        float64 // nominalOutputPower of an inverter, else nominalMaxPower
	IsToSell                                     bool
}

// LoadEquipments reads a catalogue of one JSON object a line, as served by the platform. Blank lines are passed
// over; an error names the line that is no object, has no type or product code, or repeats an earlier record's.
func LoadEquipments(r io.Reader) ([]json.RawMessage, error) {
	var records []json.RawMessage
	seen := map[string]int{}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxEquipmentLine)
	n := 0
	for lines.Scan() {
		n++
		raw := bytes.TrimSpace(lines.Bytes())
		if len(raw) == 0 {
			continue
		}
		it, err := checkEquipment(raw)
		if err != nil {
			return nil, fmt.Errorf("equipment catalogue, line %d: %w", n, err)
		}
		if first, ok := seen[it.key()]; ok {
			return nil, fmt.Errorf("equipment catalogue, line %d: %s is already on line %d", n, it.key(), first)
		}
		seen[it.key()] = n
		records = append(records, bytes.Clone(raw))
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("equipment catalogue, line %d: %w", n+1, err)
	}
	return records, nil
}

func checkEquipment(raw []byte) (*item, error) {
	value := jsontext.Value(raw)
	if value.Kind() != '{' || !value.IsValid() {
		return nil, errors.New("not a JSON object")
	}
	it := &item{equipment: readEquipment(raw)}
	if it.Type == "" || it.ProductCode == "" {
		return nil, errors.New("no type or no productCode")
	}
	return it, nil
}

// readEquipment picks what it can from a record; a field of another type than documented stays zero.
func readEquipment(raw []byte) equipment {
	found := scanValues(raw)
	scalar := func(pointer string) (v any) {
		_ = json.Unmarshal(found[pointer].literal, &v) // fails where the field is missing, and v stays nil
		return v
	}
	text := func(pointer string) string { s, _ := scalar(pointer).(string); return s }
	number := func(pointer string) float64 { f, _ := scalar(pointer).(float64); return f }
	e := equipment{
		Type: text("/type"), ProductCode: text("/productCode"), Name: text("/name"),
		Manufacturer: text("/manufacturer"), Model: text("/model"),
		Category:  text("/complementaryEquipmentSpecifications/category/name"),
		BasePrice: number("/baseprice"), CostPrice: number("/costPrice"), Power: number("/nominalMaxPower"),
	}
	if e.Type == typeInverter {
		e.Power = number("/nominalOutputPower")
	}
	e.IsToSell, _ = scalar("/isToSell").(bool)
	return e
}

// span is where a scalar stands in a record.
type span struct {
	start, end int
	literal    []byte
}

// scanValues returns every scalar of a JSON value by its JSON Pointer, up to the first syntax error.
func scanValues(raw []byte) map[string]span {
	found := map[string]span{}
	dec := jsontext.NewDecoder(bytes.NewBuffer(raw))
	for {
		switch dec.PeekKind() {
		case '{', '}', '[', ']':
			if _, err := dec.ReadToken(); err != nil {
				return found
			}
		default:
			value, err := dec.ReadValue()
			if err != nil { // io.EOF included
				return found
			}
			if kind, n := dec.StackIndex(dec.StackDepth()); kind == '{' && n%2 == 1 {
				continue // the name of a member, not its value
			}
			end := int(dec.InputOffset())
			start := end - len(value)
			found[string(dec.StackPointer())] = span{start, end, raw[start:end]}
		}
	}
}

// patch returns a copy of raw in which the scalars at the given pointers are replaced. Pointers that raw lacks, or at
// which something else than a scalar stands, are passed over, a number only takes the place of a number, and every
// other byte stays as it is.
func patch(raw []byte, values map[string]string) []byte {
	type edit struct {
		span
		literal string
	}
	var edits []edit
	for pointer, at := range scanValues(raw) {
		literal, ok := values[pointer]
		if ok && isNumber(at.literal) == isNumber([]byte(literal)) {
			edits = append(edits, edit{at, literal})
		}
	}
	slices.SortFunc(edits, func(a, b edit) int { return cmp.Compare(a.start, b.start) })
	out := make([]byte, 0, len(raw)+16)
	from := 0
	for _, e := range edits {
		out = append(append(out, raw[from:e.start]...), e.literal...)
		from = e.end
	}
	return append(out, raw[from:]...)
}

func isNumber(literal []byte) bool { return jsontext.Value(literal).Kind() == '0' }

// buildCatalogue returns the items that exist at start, oldest first: the loaded ones, and generated ones of every
// type that no loaded record has.
func buildCatalogue(seed uint64, loaded []json.RawMessage, start int64) []item {
	var items []item
	has := map[string]bool{}
	for _, raw := range loaded {
		it := item{equipment: readEquipment(raw), loaded: true, raw: raw}
		has[it.Type] = true
		items = append(items, it)
	}
	for _, kind := range equipmentTypes {
		if has[kind] {
			continue
		}
		for serial := range generatedItems[kind] {
			items = append(items, generateItem(seed, kind, serial+1))
		}
	}
	const fourYears = 4 * 365 * dayMS
	for i := range items {
		d := throw(seed, streamShelf, uint64(i))
		items[i].created = start - 1 - int64(d.float()*float64(fourYears))
		items[i].updated = items[i].created
	}
	slices.SortStableFunc(items, func(a, b item) int { return cmp.Compare(a.created, b.created) })
	return items
}

// part is a catalogue item as a request knows it: what it was called and cost when the world began. Later price
// changes do not reach into requests, as on the real platform.
type part struct {
	kind, code, name string
	category         string
	cents            int64
	watts            float64
}

// parts holds what requests are made of, each list in an order that depends on the seed and the loaded file only.
type parts struct {
	modules, stringBoxes, complements []part
	inverters                         []part // by rising power
	byCategory                        map[string][]part
}

func newParts(items []item) *parts {
	p := &parts{byCategory: map[string][]part{}}
	for i := range items {
		e := &items[i].equipment
		one := part{
			kind: e.Type, code: e.ProductCode, name: e.Name, category: e.Category,
			cents: max(int64(e.BasePrice*100+0.5), 100), watts: max(e.Power, 100),
		}
		switch e.Type {
		case typeModule:
			p.modules = append(p.modules, one)
		case typeInverter:
			p.inverters = append(p.inverters, one)
		case typeStringBox:
			p.stringBoxes = append(p.stringBoxes, one)
		case typeComplementary:
			p.complements = append(p.complements, one)
			p.byCategory[e.Category] = append(p.byCategory[e.Category], one)
		}
	}
	slices.SortStableFunc(p.inverters, func(a, b part) int { return cmp.Compare(a.watts, b.watts) })
	return p
}

// ofCategory returns the complementary parts of a category; a loaded catalogue may name its categories otherwise.
func (p *parts) ofCategory(name string) []part {
	if found := p.byCategory[name]; len(found) > 0 {
		return found
	}
	return p.complements
}
