package pull

import (
	"bytes"
	"encoding/json"
	"fmt"
	"index/suffixarray"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"solarmirror/schema"
	"solarmirror/store/publish"
	"solarmirror/store/testsize"
	"solarmirror/sync/platform/platformtest"
)

// TestMaskedCopyHoldsNothingPersonal searches the bytes of a masked copy for every personal value there is: those of personal columns of the
// mirror, and whatever stands in the platform's records at a place that no public column is read from.
func TestMaskedCopyHoldsNothingPersonal(t *testing.T) {
	t.Parallel()
	r := newRig(t, platformtest.Options{
		Seed: 11, Requests: testsize.Fewer(250), Equipments: fewItems(), Dialect: platformtest.Dialect{Drift: platformtest.DriftAll | platformtest.DriftBad},
	})
	r.sync(Options{})
	if r.value("SELECT count(*) > 0 FROM _rejects") != int64(1) || r.value("SELECT count(*) > 0 FROM _drift") != int64(1) {
		t.Fatal("nothing was rejected, or nothing drifted")
	}
	dir := t.TempDir()
	key, err := publish.EnsurePseudonymKey(t.Context(), filepath.Join(dir, "key"))
	if err != nil {
		t.Fatal(err)
	}
	published := func(name string, mask *publish.Masking) string {
		o := publish.Options{To: filepath.Join(dir, name), Mask: mask, KeepVersions: 1}
		if _, err := publish.Copy(t.Context(), r.path, o); err != nil {
			t.Fatal(err)
		}
		return o.To
	}
	masked, full := published("masked.db", &publish.Masking{Key: key}), published("full.db", nil)

	personal := r.personalValues()
	if len(personal) < testsize.Fewer(4000) {
		t.Errorf("only %d values are searched for", len(personal))
	}
	if hits := found(t, masked, personal); len(hits) > 0 {
		t.Errorf("%d of %d personal values stand in the copy: %q", len(hits), len(personal), hits[:min(20, len(hits))])
	}
	// The search finds them where they are. Long ones are spread over pages; numbers are stored as such.
	if hits := found(t, full, personal); len(hits) < len(personal)*9/10 {
		t.Errorf("of %d personal values a full copy shows %d", len(personal), len(hits))
	}
	r.mustCountAlike(masked)
}

// leastPersonal is the length, in bytes, from which on a text is not found by chance.
const leastPersonal = 5

// personalValues are all personal texts that are not part of a public value as well.
func (r *rig) personalValues() []string {
	private, public, publicPaths := map[string]bool{}, &bytes.Buffer{}, map[string]bool{}
	for _, table := range schema.All() {
		fmt.Fprintln(public, table.DDL())
		for _, c := range table.Columns {
			for row := range slices.Values(r.query(fmt.Sprintf("SELECT DISTINCT %s FROM %s WHERE %[1]s IS NOT NULL", c.Name, table.Name))) {
				if text, ok := row[0].([]byte); ok {
					row[0] = string(text)
				}
				if c.Privacy == schema.Public {
					fmt.Fprintln(public, row[0])
				} else if text, ok := row[0].(string); ok {
					private[text] = true
				}
			}
			for path := range strings.FieldsSeq(schema.SourcePath(table, c)) {
				publicPaths[path] = publicPaths[path] || c.Privacy == schema.Public
			}
		}
	}
	for _, resource := range []string{platformtest.ResourceOrders, platformtest.ResourceBudgets, platformtest.ResourceEquipments} {
		for record := range r.platform.Records(resource) {
			decoder := json.NewDecoder(bytes.NewReader(record.JSON))
			decoder.UseNumber()
			var value any
			if err := decoder.Decode(&value); err != nil {
				r.t.Fatal(err)
			}
			collectPersonal(private, publicPaths, "", value)
		}
	}
	index := suffixarray.New(public.Bytes())
	var list []string
	for value := range private {
		if len(value) >= leastPersonal && len(index.Lookup([]byte(value), 1)) == 0 {
			list = append(list, value)
		}
	}
	slices.Sort(list)
	return list
}

// collectPersonal adds the texts and numbers of a record that stand where no public column is read from.
func collectPersonal(private, publicPaths map[string]bool, path string, value any) {
	switch v := value.(type) {
	case map[string]any:
		for name, child := range v {
			collectPersonal(private, publicPaths, path+"/"+name, child)
		}
	case []any:
		for _, child := range v {
			collectPersonal(private, publicPaths, path+"/*", child)
		}
	case string:
		if !publicPaths[path] {
			private[v] = true
		}
	case json.Number:
		if !publicPaths[path] {
			private[v.String()] = true
		}
	}
}

// found returns the values that stand in a file's bytes.
func found(t *testing.T, path string, values []string) (hits []string) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	index := suffixarray.New(content)
	for _, value := range values {
		if len(index.Lookup([]byte(value), 1)) > 0 {
			hits = append(hits, value)
		}
	}
	return hits
}

// plainSQL is what pseudonyms are made of: an address in small letters, a tax number bare.
func plainSQL(column string) string {
	return fmt.Sprintf("CASE WHEN instr(%[1]s, '@') THEN lower(trim(%[1]s)) ELSE upper(replace(replace(replace(%[1]s, '.', ''), '-', ''), '/', '')) END", column)
}

// mustCountAlike compares counts and joins of a masked copy by its pseudonyms with those of the mirror.
func (r *rig) mustCountAlike(masked string) {
	r.t.Helper()
	copied := &rig{t: r.t, path: masked}
	compared := 0
	for _, table := range schema.All() {
		for _, c := range table.Columns {
			if c.Privacy != schema.Counted || table.Name == "company_creations" {
				continue
			}
			compared++
			counts := "SELECT count(*), count(%[1]s), count(DISTINCT %[2]s), sum(%[1]s = '') FROM %[3]s"
			want, got := r.query(fmt.Sprintf(counts, c.Name, plainSQL(c.Name), table.Name)), copied.query(fmt.Sprintf(counts, c.Name, c.Name, table.Name))
			if d := diff(want, got); d != "" {
				r.t.Errorf("%s.%s is counted otherwise: %s", table.Name, c.Name, d)
			}
		}
	}
	for _, columns := range [][4]string{
		{"request_companies", "cnpj", "request_companies", "cnpj"}, {"request_companies", "cpf", "request_companies", "cpf"},
		{"requests", "added_by_email", "requests", "responsible_email"},
	} {
		join := func(of *rig, form func(column string) string) any {
			return of.value(fmt.Sprintf("SELECT count(*) FROM %s AS a JOIN %s AS b ON %s = %s",
				columns[0], columns[2], form("a."+columns[1]), form("b."+columns[3])))
		}
		want, got := join(r, plainSQL), join(copied, func(column string) string { return column })
		if want != got || want == int64(0) {
			r.t.Errorf("%v join %v rows, want %v", columns, got, want)
		}
	}
	if compared < 8 {
		r.t.Errorf("only %d columns have pseudonyms", compared)
	}
}
