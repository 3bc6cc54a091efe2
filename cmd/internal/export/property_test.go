package export

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"solarmirror/schema"
	"solarmirror/store"
	"solarmirror/store/forget"
	"solarmirror/store/sqlitefile"
)

// anyValue draws what a column may hold.
func anyValue(t *rapid.T, table *schema.Table, c schema.Column) any {
	if nullable(table, c) && rapid.IntRange(0, 3).Draw(t, "null") == 0 {
		return nil
	}
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "São João d'Aliança", "日本", "\x00", "0012", strings500}))
	moment := rapid.Int64Range(time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli(), time.Date(9999, 12, 31, 23, 59, 59, 999e6, time.UTC).UnixMilli())
	switch c.Type {
	case schema.Real:
		edge := []float64{0, 0.1, -12.5, 1 << 53, 1<<53 + 2, 1e300, 5e-324, math.Inf(1), math.MaxFloat64}
		return rapid.OneOf(rapid.SampledFrom(edge), rapid.Float64()).Draw(t, c.Name)
	case schema.BigInt, schema.Surrogate:
		return rapid.OneOf(rapid.SampledFrom([]int64{0, 1 << 53, 1<<53 + 1, math.MaxInt64, math.MinInt64}), rapid.Int64()).Draw(t, c.Name)
	case schema.Boolean:
		return rapid.Int64Range(0, 1).Draw(t, c.Name)
	case schema.Date:
		return time.UnixMilli(moment.Draw(t, c.Name)).UTC().Format(time.DateOnly)
	case schema.Timestamp:
		return sqlitefile.FormatTime(time.UnixMilli(moment.Draw(t, c.Name)))
	case schema.Blob:
		return append([]byte{}, rapid.SliceOf(rapid.Byte()).Draw(t, c.Name)...)
	}
	return text.Draw(t, c.Name)
}

var strings500 = fmt.Sprintf("%0500d", 7)

// TestParquetRoundTrip: whatever a table may hold comes back from the file, in order.
func TestParquetRoundTrip(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "part.parquet")
	for _, table := range schema.All() {
		rapid.Check(t, func(t *rapid.T) { checkRoundTrip(t, path, table) })
	}
}

func checkRoundTrip(t *rapid.T, path string, table *schema.Table) {
	drawn, n := rapid.IntRange(1, 3).Draw(t, "drawn"), rapid.SampledFrom([]int{0, 1, 3, 2*rowsAtOnce + 1}).Draw(t, "rows")
	var file bytes.Buffer
	var want [][]any
	e := newParquetEncoder(&file, table)
	for i := range n {
		if i < drawn {
			row := make([]any, len(table.Columns))
			for c, column := range table.Columns {
				row[c] = anyValue(t, table, column)
			}
			want = append(want, row)
		} else {
			want = append(want, want[i-drawn])
		}
		must(t, e.row(want[i]))
	}
	must(t, e.close())
	must(t, os.WriteFile(path, file.Bytes(), 0o644))
	if d := cmp.Diff(want, readParquet(t, path, table)); d != "" {
		t.Fatal(d)
	}
}

// world is a mirror that things happen to, and an export that follows.
type world struct {
	*rapid.T
	m  *store.Mirror
	at time.Time
}

// stamp is the time of the next change.
func (w *world) stamp() string {
	w.at = w.at.Add(time.Second)
	return sqlitefile.FormatTime(w.at)
}

var someDates = []any{nil, "2025-12-31 23:59:59.999", "2026-01-01 00:00:00.000", "2026-02-14 12:00:00.000", "1969-07-20 20:17:40.000"}

func (w *world) happen() {
	key := rapid.IntRange(1, 3).Draw(w.T, "key")
	date := rapid.SampledFrom(someDates).Draw(w.T, "date")
	number := rapid.IntRange(0, 9).Draw(w.T, "number")
	product := schema.Find("request_products")
	switch what := rapid.SampledFrom([]string{"put", "put", "put", "move", "bury", "return", "prune", "forget", "price", "mart", "nothing"}).Draw(w.T, "what"); what {
	case "put": // a record, as new or changed
		insert(w, w.m, schema.Requests, map[string]any{
			"request_key": key, "request_type": rapid.SampledFrom([]string{"order", "budget"}).Draw(w.T, "type"), "id": fmt.Sprint(key),
			"order_created": date, "budget_created": rapid.SampledFrom(someDates).Draw(w.T, "budget"), "final_value": float64(number),
			"_first_seen_at": w.stamp(), "_changed_at": w.stamp(),
		})
		exec(w, w.m, "DELETE FROM request_products WHERE request_key = ?", key)
		for p := range number {
			insert(w, w.m, product, map[string]any{"request_key": key, "position": p + 1, "quantity": float64(number)})
		}
		insert(w, w.m, schema.Find("request_companies"), map[string]any{"request_key": key, "cpf": "52998224725", "company_name": "Ana"})
	case "move":
		exec(w, w.m, "UPDATE requests SET order_created = ?, _changed_at = ? WHERE request_key = ?", date, w.stamp(), key)
	case "bury":
		exec(w, w.m, "UPDATE requests SET _deleted_at = ? WHERE request_key = ?", w.stamp(), key)
	case "return":
		exec(w, w.m, "UPDATE requests SET _deleted_at = NULL WHERE request_key = ?", key)
	case "prune":
		for _, table := range schema.Requests.Tables() {
			exec(w, w.m, "DELETE FROM "+table.Name+" WHERE request_key = ?", key)
		}
	case "forget": // changes records without a trace in _changed_at
		if _, err := forget.Person(context.Background(), w.m, "52998224725", nil, 0); err != nil {
			w.Fatal(err)
		}
	case "price": // an interval is closed, and another one begins
		exec(w, w.m, "UPDATE equipment_price_history SET valid_to = ? WHERE equipment_key = ? AND valid_to IS NULL", w.stamp(), key)
		w.at = w.at.AddDate(0, number%2, 0)
		insert(w, w.m, schema.EquipmentPriceHistory, map[string]any{"equipment_key": key, "valid_from": w.stamp(), "base_price": float64(number)})
		insert(w, w.m, schema.Equipments, map[string]any{"equipment_key": key, "product_code": fmt.Sprint(key), "base_price": float64(number), "_changed_at": w.stamp()})
	case "mart":
		insert(w, w.m, schema.BiRequests, map[string]any{"request_key": key, "final_value": float64(number)})
	}
}

// TestExportFollows: whatever happened to the mirror, the next export is the mirror again, and what it wrote is what has other bytes.
func TestExportFollows(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp(parent, "")
		must(t, err)
		w := &world{T: t, m: openMirror(t, dir), at: now}
		defer func() { must(t, errors.Join(w.m.Close(), os.RemoveAll(dir))) }()
		dir = filepath.Join(dir, "out")
		must(t, os.Mkdir(dir, 0o755))
		for range rapid.IntRange(3, 5).Draw(t, "exports") {
			for range rapid.IntRange(1, 2).Draw(t, "changes") {
				w.happen()
			}
			before := manifestOf(t, dir).files()
			report := mustExport(t, w.m, Options{Dir: dir, Format: Parquet})
			sameAsMirror(t, w.m, dir)
			written := 0
			for path, file := range manifestOf(t, dir).files() {
				if before[path].SHA256 != file.SHA256 {
					written++
				}
			}
			if report.Written != written {
				t.Fatalf("%d files written, %d have other bytes", report.Written, written)
			}
		}
	})
}
