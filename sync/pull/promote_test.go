package pull

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"solarmirror/schema"
	"solarmirror/store"
	"solarmirror/sync/flatten"
	"solarmirror/sync/platform/platformtest"
)

// gained is what the present schema has and the older one of these tests had not.
var gained = []string{
	"requests.kind", "requests.added_by_name", "requests.added_by_surname", "requests.added_by_email", "requests.added_by_cellphone", // an object with nothing left
	"request_payments.condition_value", "request_products.center_name", // within objects that are known
	"request_freights", "request_custom_form", "request_arrangements", // child tables: one, many, under many
	"equipments.height", "equipment_specification_values", "complementary_specifications",
}

// older returns a root table as it was.
func older(t *schema.Table) *schema.Table {
	old := *t
	old.Columns = slices.DeleteFunc(slices.Clone(t.Columns), func(c schema.Column) bool { return slices.Contains(gained, t.Name+"."+c.Name) })
	old.Children = nil
	for _, child := range t.Children {
		if !slices.Contains(gained, child.Name) {
			old.Children = append(old.Children, older(child))
		}
	}
	return &old
}

// oddRecords are in ways of their own concerned by the promotion, or not at all.
var oddRecords = map[string][]string{
	"orders": {
		`{"id":"X1","profitMargin":0.180,"kind":{"a":1},"structure":{"kind":"a","foo":1,"arrangements":[{"linesAmount":1,"x":[]}]},"freight":"none","removed":true}`,
		`{"id":"X2","z":1,"addedBy":{"name":"n","nick":"x"},"a":2,"products":[{"center":{"name":7,"code":"c"}},"odd",{"center":null,"b":3}],"freight":{}}`,
		`{"id":"X3","kind":null,"freight":null,"addedBy":null,"customForm":[],"products":[{"center":{}},{"center":{"name":null}}]}`,
		`{"id":"X4","customForm":{"question":"q","why":null},"files":["a.pdf",{"category":"c","uploadedFiles":["b",null,{"c":1}]}],"payment":{"condition":{"value":"12.50","_id":"q"}}}`,
		`{"id":"X5","kind":12345678901234567890123,"payment":{"condition":{"value":12345678901234567890123}}}`,
	},
	"equipments": {
		`{"productCode":"X7","height":"tall","inverterSpecifications":{"maximumInputCurrent":[1,"2",{"a":3}],"stringsPerMPPT":4,"new":5},"complementaryEquipmentSpecifications":{"category":{"id":1,"x":2},"y":3}}`,
	},
}

// untouched holds nothing that the promotion is about.
const untouched = `{"id":"X9","profitMargin":0.5,"notes":"the \"/kind\" of it","payment":{"nothing":1}}`

type given struct {
	stream *Stream
	raw    []byte
}

// recordsToPromote are records of all streams, with so many requests beside the odd ones.
func recordsToPromote(requests int) []given {
	all := []given{}
	simulated := platformtest.New(platformtest.Options{Seed: 11, Requests: requests, Equipments: someEquipments(11, 20), Clock: newClock("2026-03-10T15:00:00Z").now})
	for _, s := range Streams() {
		for rec := range simulated.Records(s.Name) {
			all = append(all, given{s, rec.JSON})
		}
		for _, raw := range oddRecords[s.Name] {
			all = append(all, given{s, []byte(raw)})
		}
		if s.Name == "budgets" {
			all = append(all, given{s, []byte(untouched)})
		}
	}
	return all
}

const readAt = "2026-03-10 15:00:00.000"

// flattenAll flattens records by a schema; keys count from 1 in each root table.
func flattenAll(t *testing.T, records []given, root func(*Stream) *schema.Table, each func(s *Stream, b *flatten.Batch)) {
	t.Helper()
	next := map[string]int64{}
	for _, s := range Streams() {
		plan := flatten.Compile(root(s))
		batch := plan.NewBatch()
		f := plan.NewFlattener(batch)
		for _, r := range records {
			if r.stream.Name != s.Name {
				continue
			}
			next[s.Root.Name]++
			rec := flatten.Record{Key: next[s.Root.Name], Partition: s.Partition, RawHash: flatten.RawHash(r.raw), At: readAt, Raw: r.raw}
			if err := f.Flatten(rec); err != nil {
				t.Fatalf("%v in %s", err, r.raw)
			}
		}
		each(s, batch)
	}
}

// newMirror is a mirror that the present schema loaded from the start.
func newMirror(t *testing.T, records []given) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "new.db")
	m, err := store.Open(t.Context(), path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	flattenAll(t, records, func(s *Stream) *schema.Table { return s.Root }, func(s *Stream, b *flatten.Batch) {
		var keys []int64
		for i := range b.Rows[0].Len() {
			keys = append(keys, b.Rows[0].Row(i)[0].(int64))
		}
		tx, err := m.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(tx.Upsert(b.Rows, nil), tx.Follow(s.Root, keys, nil), tx.Drift(s.Name, driftList(b.Drift)), tx.Commit()); err != nil {
			t.Fatal(err)
		}
	})
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// oldMirror is a mirror as the older schema's program left it, made without ours.
func oldMirror(t *testing.T, records []given) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "old.db")
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	exec := func(query string, args ...any) {
		t.Helper()
		if _, err := db.Exec(query, args...); err != nil {
			t.Fatalf("%v in %s", err, query)
		}
	}
	exec("PRAGMA synchronous = OFF")
	exec("BEGIN")
	var tables []*schema.Table
	for _, root := range schema.Roots() {
		tables = append(tables, older(root).Tables()...)
	}
	for _, table := range append(tables, schema.LedgerTables...) {
		if table == schema.Meta {
			old := *table
			old.Columns = slices.DeleteFunc(slices.Clone(old.Columns), func(c schema.Column) bool { return c.Name == "promotion" })
			table = &old
		}
		exec(table.DDL())
	}
	exec("INSERT INTO _meta (meta_id, schema_version, created_at) VALUES (1, ?, ?)", schema.Version-1, readAt)
	insert := func(rows *schema.Rows) {
		for i := range rows.Len() {
			exec(fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", rows.Table.Name, strings.Join(rows.Table.ColumnNames(), ", "),
				strings.TrimSuffix(strings.Repeat("?,", len(rows.Table.Columns)), ",")), rows.Row(i)...)
		}
	}
	flattenAll(t, records, func(s *Stream) *schema.Table { return older(s.Root) }, func(s *Stream, b *flatten.Batch) {
		for i := range b.Rows {
			insert(&b.Rows[i])
		}
		for d, seen := range b.Drift {
			exec("INSERT INTO _drift VALUES (?, ?, ?, ?, ?, ?, ?)", s.Name, d.Path, d.Kind, seen.Example, seen.Occurrences, readAt, readAt)
		}
	})
	dictionary := schema.Dictionary()
	for i := range dictionary.Len() {
		row := dictionary.Row(i)
		if slices.ContainsFunc(tables, func(t *schema.Table) bool { return t.Name == row[0] && t.Column(row[1].(string)) != nil }) {
			insert(&schema.Rows{Table: dictionary.Table, Values: row})
		}
	}
	exec("COMMIT")
	return path
}

// contents is everything in a file that records have brought.
func contents(t *testing.T, path string) map[string]any {
	t.Helper()
	r := &rig{t: t, path: path}
	all := map[string]any{}
	for _, table := range schema.All() {
		if table.Shape == schema.Ledger || table.Shape == schema.Mart {
			continue
		}
		rows := r.rows(table)
		if extra := slices.Index(table.ColumnNames(), "extra"); extra >= 0 {
			for _, row := range rows {
				if text, ok := row[extra].(string); ok {
					row[extra] = members(t, text)
				}
			}
		}
		all[table.Name] = rows
	}
	all["_drift"] = r.query("SELECT stream, path, kind, occurrences FROM _drift ORDER BY 1, 2, 3")
	return all
}

// members is an extra without the order of its members.
func members(t *testing.T, extra string) map[string]string {
	t.Helper()
	var raw map[string]json.RawMessage
	if err := json.Unmarshal([]byte(extra), &raw); err != nil {
		t.Fatalf("%v in %s", err, extra)
	}
	all := map[string]string{}
	for pointer, value := range raw {
		all[pointer] = string(value)
	}
	return all
}

// promote opens the mirror as a command would and does what is left to do. An error leaves it for the next.
func promote(t *testing.T, path string, log zerolog.Logger, ctx context.Context) error {
	t.Helper()
	m, err := store.Open(t.Context(), path, store.Options{Now: newClock("2027-01-01T00:00:00Z").now})
	if err != nil {
		t.Fatal(err)
	}
	err = Promote(ctx, m, log)
	if closed := m.Close(); closed != nil {
		t.Fatal(closed)
	}
	return err
}

// A mirror of an older schema becomes, offline, what the present schema would have made of the same records; so it does when the
// promotion is stopped after its first batch, and when it fails in the middle of one.
func TestPromotion(t *testing.T) {
	t.Parallel()
	records := recordsToPromote(115)
	want := contents(t, newMirror(t, records))
	tests := map[string]func(t *testing.T, path string){
		"undisturbed": func(*testing.T, string) {},
		"stopped": func(t *testing.T, path string) {
			ctx, cancel := context.WithCancel(t.Context())
			err := promote(t, path, zerolog.New(writerFunc(func(b []byte) (int, error) { cancel(); return len(b), nil })), ctx)
			if !errors.Is(err, context.Canceled) {
				t.Fatalf("stopped: %v", err)
			}
		},
		"failed": func(t *testing.T, path string) {
			if m, err := store.Open(t.Context(), path, store.Options{}); err != nil {
				t.Fatal(err)
			} else if err := m.Close(); err != nil {
				t.Fatal(err)
			}
			r := &rig{t: t, path: path}
			r.exec("CREATE TRIGGER boom BEFORE INSERT ON request_freights WHEN NEW.request_key = 110 BEGIN SELECT RAISE(ABORT, 'boom'); END")
			if err := promote(t, path, zerolog.Nop(), t.Context()); err == nil || !strings.Contains(err.Error(), "boom") {
				t.Fatalf("failed: %v", err)
			}
			r.exec("DROP TRIGGER boom")
		},
	}
	for name, disturb := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := oldMirror(t, records)
			r := &rig{t: t, path: path}
			disturb(t, path)
			done := int64(0)
			if name != "undisturbed" {
				done = r.value("SELECT json_extract(promotion, '$[0].after') FROM _meta").(int64)
				if done < 100 || done > 109 {
					t.Fatalf("disturbed after record %d, not in the middle", done)
				}
			}
			r.exec("CREATE TABLE written (key)", "CREATE TRIGGER w AFTER UPDATE ON requests BEGIN INSERT INTO written VALUES (OLD.request_key); END")
			if err := promote(t, path, zerolog.Nop(), t.Context()); err != nil {
				t.Fatal(err)
			}
			if diff := diff(want, contents(t, path)); diff != "" {
				t.Errorf("(-loaded by the present schema +promoted):\n%s", diff)
			}
			if n := r.value("SELECT count(*) FROM written WHERE key <= ? OR key IN (SELECT request_key FROM requests WHERE id = 'X9')", done); n != int64(0) {
				t.Errorf("%v records were written that had nothing to be promoted, or had been done", n)
			}
			if left := r.value("SELECT promotion FROM _meta"); left != nil {
				t.Errorf("left to do: %v", left)
			}
		})
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

// A mirror with nothing left to do is not written to.
func TestPromotionOfNothing(t *testing.T) {
	t.Parallel()
	r := newRigFor(t, &fixedList{records: []string{`{"productCode":"A","unknown":1}`}})
	equipments, _ := ParseStreams([]string{"equipments"})
	r.sync(Options{Streams: equipments})
	var said bytes.Buffer
	if err := Promote(t.Context(), r.mirror, zerolog.New(&said)); err != nil || said.Len() > 0 {
		t.Errorf("%v, said %q", err, said.String())
	}
}
