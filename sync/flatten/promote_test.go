package flatten_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"solarmirror/schema"
	"solarmirror/sync/flatten"
)

// gained is what the present schema has and an older one had not, and where the older one's extra held it.
var gained = map[string][]string{
	"/kind":                        {"requests.kind"},
	"/addedBy":                     {"requests.added_by_name", "requests.added_by_surname", "requests.added_by_email", "requests.added_by_cellphone"},
	"/removed":                     {"requests.removed"},
	"/payment/condition/value":     {"request_payments.condition_value"},
	"/products/*/center/name":      {"request_products.center_name"},
	"/freight":                     {"request_freights"},
	"/customForm":                  {"request_custom_form"},
	"/structure/*/arrangements":    {"request_arrangements"},
	"/height":                      {"equipments.height"},
	"/inventoryByCenter/*/minimum": {"equipment_inventory.minimum"},
	"/stringBoxSpecifications":     {"string_box_specifications", "input_amount", "output_amount"},
	"/inverterSpecifications/vendorSpecifications": {}, // arrays all of them
	"/complementaryEquipmentSpecifications":        {"complementary_specifications"},
}

func isGained(names ...string) bool {
	for _, list := range gained {
		for _, name := range names {
			if slices.Contains(list, name) {
				return true
			}
		}
	}
	return false
}

// older returns a table as it was.
func older(t *schema.Table) *schema.Table {
	old := *t
	old.Columns = slices.DeleteFunc(slices.Clone(t.Columns), func(c schema.Column) bool { return isGained(t.Name + "." + c.Name) })
	old.Arrays = slices.DeleteFunc(slices.Clone(t.Arrays), func(a schema.Array) bool {
		return isGained(a.Name) || strings.HasPrefix(a.Name, "vendor_specifications.")
	})
	old.Children = nil
	for _, child := range t.Children {
		if !isGained(child.Name) {
			old.Children = append(old.Children, older(child))
		}
	}
	return &old
}

// migrated lays the rows of an older schema out in the tables of the present one.
func migrated(root *schema.Table, old []schema.Rows) []schema.Rows {
	var all []schema.Rows
	for _, table := range root.Tables() {
		rows := schema.Rows{Table: table}
		for _, o := range old {
			for i := range o.Len() {
				if o.Table.Name != table.Name {
					continue
				}
				for _, c := range table.Columns {
					var value any
					if j := slices.Index(o.Table.ColumnNames(), c.Name); j >= 0 {
						value = o.Row(i)[j]
					}
					rows.Values = append(rows.Values, value)
				}
			}
		}
		all = append(all, rows)
	}
	return all
}

// A record flattened by an older schema and promoted is what the present schema makes of it, whatever is odd about it; and its hash
// and times are those it had.
func TestPromotedEqualsFlattened(t *testing.T) {
	var paths []string
	for path := range gained {
		paths = append(paths, path)
	}
	testRecords(t, true, func(t *rapid.T, root *schema.Table, record object, want expected) {
		raw := write(record, rapid.Uint64().Draw(t, "style"))
		before, err := flattenOne(older(root), raw)
		if err != nil {
			t.Fatalf("Flatten(%s): %v", raw, err)
		}
		rows := migrated(root, before.Rows)
		promoter := flatten.Compile(root).NewPromoter(paths)
		moved, err := promoter.Add(rows)
		if err != nil {
			t.Fatalf("Add(%s): %v", raw, err)
		}
		if moved {
			for _, written := range promoter.Rows() {
				i := slices.IndexFunc(rows, func(r schema.Rows) bool { return r.Table == written.Table })
				rows[i] = written
			}
		}
		if diff := cmp.Diff(want.rows, rowsOf(t, rows, 7)); diff != "" {
			t.Fatalf("rows of %s (-flattened +promoted):\n%s", raw, diff)
		}
		after := &flatten.Batch{Rows: rows}
		wantExtra, gotExtra := map[string]any{}, map[string]any{}
		for pointer, v := range want.extra {
			wantExtra[pointer] = plainJSON(t, v)
		}
		if extra := rootValue(after, "extra"); extra != nil {
			gotExtra = decodeOrFail(t, []byte(extra.(string))).(map[string]any)
		}
		if diff := cmp.Diff(wantExtra, gotExtra); diff != "" {
			t.Fatalf("extra of %s (-flattened +promoted):\n%s", raw, diff)
		}
		for _, column := range []string{"_hash", "_changed_at", "_first_seen_at"} {
			if diff := cmp.Diff(rootValue(before, column), rootValue(after, column)); diff != "" {
				t.Fatalf("%s of %s changed", column, raw)
			}
		}
		checkPromotedDrift(t, promoter, before, want)
	})
}

// checkPromotedDrift: what was noted before, less the unknown fields that are known now, plus what the promoter found, is what flattening
// notes.
func checkPromotedDrift(t *rapid.T, promoter *flatten.Promoter, before *flatten.Batch, want expected) {
	got := map[flatten.Drift]int64{}
	for d, seen := range before.Drift {
		if d.Kind != "unknown" || gained[d.Path] == nil {
			got[d] = seen.Occurrences
		}
	}
	for d, seen := range promoter.Drift() {
		got[d] += seen.Occurrences
	}
	if diff := cmp.Diff(want.drift, got); diff != "" {
		t.Fatalf("drift (-flattened +promoted):\n%s", diff)
	}
}
