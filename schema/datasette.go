package schema

import (
	"encoding/json"
	"strings"
)

// The parts of Datasette's metadata that the dictionary fills. Its "units" are left out: it reads them with Pint, which refuses a page
// whose unit it does not know ("not stated by the platform"), and later versions have none. Units stand in the descriptions.
type (
	datasetteMetadata struct {
		Title       string                       `json:"title"`
		Description string                       `json:"description"`
		Source      string                       `json:"source"`
		Databases   map[string]datasetteDatabase `json:"databases"`
	}
	datasetteDatabase struct {
		Tables map[string]datasetteTable `json:"tables"`
	}
	datasetteTable struct {
		Description string            `json:"description"`
		Columns     map[string]string `json:"columns"`
		LabelColumn string            `json:"label_column,omitempty"`
		SortDesc    string            `json:"sort_desc,omitempty"`
		Hidden      bool              `json:"hidden,omitempty"`
	}
)

// Datasette is the data dictionary as metadata for Datasette (--metadata), for a database of the given name: the name of
// its file without ".db". Tables of the ledger are hidden from its lists.
func Datasette(database string) ([]byte, error) {
	tables := map[string]datasetteTable{}
	for _, t := range All() {
		d := datasetteTable{Description: t.Label + ". " + t.Doc, Columns: map[string]string{}, Hidden: strings.HasPrefix(t.Name, "_")}
		for _, c := range t.Columns {
			d.Columns[c.Name] = c.explained()
		}
		switch t {
		case Requests, BiRequests:
			d.LabelColumn, d.SortDesc = "code", "request_key"
		case Equipments:
			d.LabelColumn = "name"
		}
		tables[t.Name] = d
	}
	text, err := json.MarshalIndent(datasetteMetadata{
		Title:       "Solar sales",
		Description: "Orders, budgets and the equipment catalogue of a solar sales platform, with history. Open the bi_* tables first.",
		Source:      "the sales platform, mirrored by solarmirror",
		Databases:   map[string]datasetteDatabase{database: {tables}},
	}, "", "  ")
	return append(text, '\n'), err
}

// explained is all there is to say of a column, on one line.
func (c Column) explained() string {
	words := []string{c.Label + ".", c.Doc}
	if c.Unit != "" {
		words = append(words, "Unit: "+c.Unit+".")
	}
	if c.Privacy != Public {
		words = append(words, "May hold personal data.")
	}
	return strings.Join(words, " ")
}
