package export

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"solarmirror/schema"
)

// ManifestName is the manifest's file, right below the directory of the export.
const ManifestName = "manifest.json"

// manifestVersion numbers the layout of an export. One of another number is written again as a whole.
const manifestVersion = 1

// The states of an export.
const (
	publishing = "publishing" // files of two sets may stand side by side
	complete   = "complete"
)

// Manifest says what an export holds. It is JSON, written last.
type Manifest struct {
	Version    int       `json:"version"`
	State      string    `json:"state"` // complete, or publishing
	Format     string    `json:"format"`
	ExportedAt time.Time `json:"exported_at"` // when the snapshot was taken
	BaseURL    string    `json:"base_url"`    // the platform mirrored
	Schema     int       `json:"schema_version"`
	Tables     []Table   `json:"tables"`
	// Stale are files of the set before, which publishing removes.
	Stale []string `json:"stale,omitempty"`
}

// Table is one table of an export.
type Table struct {
	Name          string   `json:"name"`
	Description   string   `json:"description"`
	Label         string   `json:"label_pt"`
	PartitionedBy string   `json:"partitioned_by,omitempty"` // month, or nothing
	Rows          int64    `json:"rows"`
	Columns       []Column `json:"columns"`
	Files         []File   `json:"files"`
}

// Column is one column of a table, as the data dictionary has it.
type Column struct {
	Name        string `json:"name"`
	Type        string `json:"type"` // the type declared in the mirror
	Nullable    bool   `json:"nullable"`
	Description string `json:"description"`
	Label       string `json:"label_pt"`
	Unit        string `json:"unit,omitempty"`
	Personal    bool   `json:"personal"`
}

// File is one file of a table.
type File struct {
	Path     string `json:"path"`            // from the directory of the export, with slashes
	Month    string `json:"month,omitempty"` // of a partitioned table
	Rows     int64  `json:"rows"`
	Bytes    int64  `json:"bytes"`
	SHA256   string `json:"sha256"`
	MadeFrom string `json:"made_from,omitempty"` // fingerprint of its records; absent when they are not asked
}

func describe(t *schema.Table) Table {
	out := Table{Name: t.Name, Description: t.Doc, Label: t.Label}
	for _, c := range t.Columns {
		out.Columns = append(out.Columns, Column{
			Name: c.Name, Type: string(c.Type), Nullable: nullable(t, c), Description: c.Doc, Label: c.Label, Unit: c.Unit, Personal: c.Privacy != schema.Public,
		})
	}
	return out
}

// nullable: an INTEGER PRIMARY KEY is never NULL, though it is not declared so.
func nullable(t *schema.Table, c schema.Column) bool {
	return !c.Not && c.Type != schema.Surrogate && !t.IsKey(c.Name)
}

// files lists the files of all tables by their path.
func (m *Manifest) files() map[string]File {
	list := map[string]File{}
	for _, t := range m.Tables {
		for _, f := range t.Files {
			list[f.Path] = f
		}
	}
	return list
}

// readManifest returns an empty manifest where there is none.
func readManifest(dir *os.Root) (*Manifest, error) {
	text, err := dir.ReadFile(ManifestName)
	if errors.Is(err, fs.ErrNotExist) {
		return &Manifest{}, nil
	}
	if err != nil {
		return nil, err
	}
	var m Manifest
	if err := json.Unmarshal(text, &m); err != nil || m.Version == 0 || m.Format == "" {
		return nil, fmt.Errorf("%w: its %s is not that of an export", ErrDirectory, ManifestName)
	}
	return &m, nil
}
