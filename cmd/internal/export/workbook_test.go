package export

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"
	"pgregory.net/rapid"

	"solarmirror/schema"
	"solarmirror/store"
	"solarmirror/store/sqlitefile"
)

func saoPaulo(t rapid.TB) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation("America/Sao_Paulo")
	must(t, err)
	return zone
}

// mustWorkbook writes tables of a mirror to a new file, and opens it.
func mustWorkbook(t rapid.TB, m *store.Mirror, o WorkbookOptions, rowsPerSheet int64) (*excelize.File, WorkbookReport) {
	t.Helper()
	o.Zone, o.Now = saoPaulo(t), now
	report, err := workbook(context.Background(), m, o, rowsPerSheet)
	must(t, err)
	f, err := excelize.OpenFile(o.Path)
	must(t, err)
	return f, report
}

// cellsOf returns what stands in the cells of a sheet, the header first, each row as long as that.
func cellsOf(t rapid.TB, f *excelize.File, sheet string) (rows [][]string) {
	t.Helper()
	reader, err := f.Rows(sheet)
	must(t, err)
	for reader.Next() {
		row, err := reader.Columns(excelize.Options{RawCellValue: true})
		must(t, err)
		if len(rows) > 0 {
			row = append(row, make([]string, max(0, len(rows[0])-len(row)))...)
		}
		rows = append(rows, row)
	}
	must(t, errors.Join(reader.Error(), reader.Close()))
	return rows
}

// inCell is what a cell must hold of a value, and the type that it must have.
func inCell(c schema.Column, value any, zone *time.Location) (text string, as excelize.CellType) {
	numberOr := func(days float64, ok bool, text string) (string, excelize.CellType) {
		if ok {
			return strconv.FormatFloat(days, 'f', -1, 64), excelize.CellTypeUnset
		}
		return inText(text), excelize.CellTypeInlineString
	}
	switch v := value.(type) {
	case nil:
		return "", excelize.CellTypeUnset
	case int64:
		text := strconv.FormatInt(v, 10)
		switch {
		case c.Type == schema.Boolean:
			return text, excelize.CellTypeBool
		case len(strings.TrimPrefix(text, "-")) > 15:
			return text, excelize.CellTypeInlineString
		}
		return text, excelize.CellTypeUnset
	case float64:
		text := strconv.FormatFloat(v, 'g', -1, 64)
		if math.Abs(v) > 9.99999999999999e307 || v != 0 && math.Abs(v) < 2.2250738585072014e-308 {
			return text, excelize.CellTypeInlineString
		}
		return text, excelize.CellTypeUnset
	case []byte:
		return inText(fmt.Sprintf("%x", v)), excelize.CellTypeInlineString
	}
	text = value.(string)
	var at time.Time
	switch c.Type {
	case schema.Date:
		at, _ = time.Parse(time.DateOnly, text)
	case schema.Timestamp:
		at, _ = sqlitefile.ParseTime(text)
		if !c.Local {
			at, _ = sqlitefile.ParseTime(at.In(zone).Format(sqlitefile.TimeLayout))
		}
	default:
		return inText(text), excelize.CellTypeInlineString
	}
	days := float64(at.Unix()-time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC).Unix()) * 1000
	days = (days + float64(at.UnixMilli()-1000*at.Unix())) / (24 * 60 * 60 * 1000)
	return numberOr(days, days >= 61 && at.Year() < 10000, text)
}

// inText is what a cell holds of a text.
func inText(text string) string {
	units := utf16.Encode([]rune(text))
	if len(units) > 32767 {
		units = units[:32767]
		if utf16.IsSurrogate(rune(units[32766])) && units[32766] < 0xdc00 {
			units = units[:32766]
		}
	}
	return string(utf16.Decode(units))
}

// compareTable compares the sheets of a table with SQLite. It asks for the types of the first cells
// only, because excelize looks a cell up from the sheet's first.
func compareTable(t rapid.TB, f *excelize.File, m *store.Mirror, table *schema.Table, headings []string, sheets ...string) {
	t.Helper()
	var want, got []string
	zone := saoPaulo(t)
	for _, row := range stored(t, m, table) {
		var texts []string
		for i, v := range row {
			text, _ := inCell(table.Columns[i], v, zone)
			texts = append(texts, text)
		}
		want = append(want, fmt.Sprintf("%q", texts))
	}
	first := 0
	for i, sheet := range sheets {
		cells := cellsOf(t, f, sheet)
		if i == 0 {
			first = len(cells)
		}
		if d := cmp.Diff(headings, cells[0]); d != "" {
			t.Errorf("header of %s:\n%s", sheet, d)
		}
		for _, row := range cells[1:] {
			got = append(got, fmt.Sprintf("%q", row))
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if d := cmp.Diff(want, got); d != "" {
		t.Fatalf("%s (- mirror, + workbook):\n%s", table.Name, d)
	}
	result, err := m.Query(context.Background(), selectSQL(table)+orderSQL(table)+" LIMIT 10")
	must(t, err)
	defer result.Close()
	number := 1
	for row, err := range result.Rows() {
		must(t, err)
		if number++; number > first {
			break
		}
		for i, v := range row {
			name, err := excelize.CoordinatesToCellName(i+1, number)
			must(t, err)
			as, err := f.GetCellType(sheets[0], name)
			must(t, err)
			if _, want := inCell(table.Columns[i], v, zone); as != want {
				t.Errorf("%s.%s: %v is a cell of type %v, want %v", table.Name, table.Columns[i].Name, v, as, want)
			}
		}
	}
}

// localHeadings are the labels of a table's columns in a workbook.
func localHeadings(table *schema.Table) []string {
	headings := Labels.of(table)
	for i, c := range table.Columns {
		if c.Type == schema.Timestamp && !c.Local {
			headings[i] += " (America/Sao_Paulo)"
		}
	}
	return headings
}

// TestWorkbookHoldsEveryMart: every value of every mart, and the guide before them.
func TestWorkbookHoldsEveryMart(t *testing.T) {
	t.Parallel()
	m := syncedMirror(t)
	f, report := mustWorkbook(t, m, WorkbookOptions{Path: filepath.Join(t.TempDir(), "v.xlsx"), Headers: Labels}, maxRows)
	want := []string{guideName}
	for _, table := range schema.MartTables {
		want = append(want, table.Name)
		compareTable(t, f, m, table, localHeadings(table), table.Name)
	}
	if d := cmp.Diff(want, f.GetSheetList()); d != "" {
		t.Errorf("sheets:\n%s", d)
	}
	if report.Tables != len(schema.MartTables) || report.Sheets != report.Tables || report.Cut != nil {
		t.Errorf("%+v", report)
	}
	var guide []string
	for _, row := range cellsOf(t, f, guideName) {
		guide = append(guide, strings.Join(row, "|"))
	}
	text := strings.Join(guide, "\n")
	for _, line := range []string{
		"exportados em 10/03/2026 12:00.", "\norçamentos|", "\nbi_items|Itens dos negócios|",
		"\nbi_requests|Potência (kWp)|power_kwp|kWp|não|" + schema.Portuguese.Text(schema.BiRequests.Column("power_kwp").Doc),
		"\nbi_requests|Vendedor: e-mail|seller_email||sim|",
		"\nbi_freshness|Completo até (America/Sao_Paulo)|complete_through|America/Sao_Paulo|não|",
	} {
		if !strings.Contains(text, line) {
			t.Errorf("the guide has no %q:\n%s", line, text)
		}
	}
}

// TestWorkbookLayout: formats, the frozen and filtered header, widths.
func TestWorkbookLayout(t *testing.T) {
	t.Parallel()
	m := emptyMirror(t)
	for i := range 3 {
		insert(t, m, schema.BiRequests, map[string]any{
			"request_key": i + 1, "name": strings.Repeat("n", 40), "final_value": 1234.5, "power_kwp": 7.0, "order_created": "2026-03-10 15:00:00.000", "order_date": "2026-03-10",
		})
	}
	insert(t, m, schema.BiFunnel, map[string]any{"budgets": 1234, "conversion": 0.125})
	f, _ := mustWorkbook(t, m, WorkbookOptions{Path: filepath.Join(t.TempDir(), "v.xlsx"), Tables: []string{"bi_funnel", "bi_requests"}}, maxRows)
	cell := func(table *schema.Table, column string) string {
		name, err := excelize.CoordinatesToCellName(slices.Index(table.ColumnNames(), column)+1, 2)
		must(t, err)
		text, err := f.GetCellValue(table.Name, name)
		must(t, err)
		return text
	}
	got := []string{
		cell(schema.BiRequests, "request_key"), cell(schema.BiRequests, "final_value"), cell(schema.BiRequests, "power_kwp"), cell(schema.BiRequests, "order_created"),
		cell(schema.BiRequests, "order_date"), cell(schema.BiFunnel, "budgets"), cell(schema.BiFunnel, "conversion"),
	}
	if d := cmp.Diff([]string{"1", "1,234.50", "7.00", "10/03/2026 12:00:00", "10/03/2026", "1,234", "12.5%"}, got); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{guideName, "bi_funnel", "bi_requests"}, f.GetSheetList()); d != "" {
		t.Error(d)
	}
	panes, err := f.GetPanes("bi_requests")
	must(t, err)
	last, err := f.GetSheetDimension("bi_requests")
	must(t, err)
	if !panes.Freeze || panes.YSplit != 1 || !strings.HasSuffix(last, "4") {
		t.Errorf("panes %+v, dimension %s", panes, last)
	}
	filters := 0
	for _, name := range f.GetDefinedName() {
		if name.Name == "_xlnm._FilterDatabase" && strings.HasSuffix(name.RefersTo, "$4") && strings.HasPrefix(name.RefersTo, "'bi_requests'!$A$1:") {
			filters++
		}
	}
	if filters != 1 {
		t.Errorf("filters: %+v", f.GetDefinedName())
	}
	narrow, err := f.GetColWidth("bi_requests", "A")
	must(t, err)
	wide, err := f.GetColWidth("bi_requests", "E")
	must(t, err)
	if wide != 41 || narrow < float64(len("request_key")) || narrow > 20 {
		t.Errorf("widths %v and %v", narrow, wide)
	}
}

// TestWorkbookGoesOnInFurtherSheets: no row is lost or repeated where a table takes several.
func TestWorkbookGoesOnInFurtherSheets(t *testing.T) {
	t.Parallel()
	m := emptyMirror(t)
	for i := range 7 {
		insert(t, m, schema.BiRequests, map[string]any{"request_key": i + 1, "name": fmt.Sprint("Ana ", i)})
	}
	f, report := mustWorkbook(t, m, WorkbookOptions{Path: filepath.Join(t.TempDir(), "v.xlsx"), Tables: []string{"bi_requests"}}, 3)
	sheets := []string{"bi_requests", "bi_requests (2)", "bi_requests (3)"}
	if d := cmp.Diff(append([]string{guideName}, sheets...), f.GetSheetList()); d != "" {
		t.Fatal(d)
	}
	compareTable(t, f, m, schema.BiRequests, schema.BiRequests.ColumnNames(), sheets...)
	for i, rows := range []int{4, 4, 2} {
		if got := len(cellsOf(t, f, sheets[i])); got != rows {
			t.Errorf("%s: %d rows, want %d", sheets[i], got, rows)
		}
	}
	if report.Rows != 7 || report.Sheets != 3 {
		t.Errorf("%+v", report)
	}
	if maxRows != 1_048_575 {
		t.Errorf("%d rows in a sheet", maxRows)
	}
}

// TestSheetNames: Excel takes 31 characters, and does not tell small letters from capital ones.
func TestSheetNames(t *testing.T) {
	t.Parallel()
	b := &book{file: excelize.NewFile()}
	long := "my_margem_por_cidade_e_fabricante_do_modulo"
	var got []string
	for _, of := range []struct {
		table string
		part  int
	}{{long + "_a", 1}, {long + "_b", 1}, {long + "_a", 2}, {"SHEET1", 1}, {"bi_items", 12}} {
		name := b.sheetName(of.table, of.part)
		got = append(got, name)
		_, err := b.file.NewSheet(name)
		must(t, err)
	}
	want := []string{long[:31], long[:29] + "~2", long[:27] + " (2)", "SHEET1~2", "bi_items (12)"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestHeadings(t *testing.T) {
	t.Parallel()
	table := &schema.Table{Columns: []schema.Column{
		{Name: "a", Label: "Valor"}, {Name: "b", Label: "valor"}, {Name: "c"}, {Name: "d", Label: "Preço; R$"},
	}}
	if d := cmp.Diff([]string{"Valor (a)", "valor (b)", "c", "Preço; R$"}, Labels.of(table)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(table.ColumnNames(), Names.of(table)); d != "" {
		t.Error(d)
	}
	var out strings.Builder
	must(t, ExcelBRLabels.encoder(&out, table).close())
	if d := cmp.Diff("\ufeffValor (a);valor (b);c;\"Preço; R$\"\r\n", out.String()); d != "" {
		t.Error(d)
	}
}

// hostileTexts are what spreadsheets, XML and this writer might take for something else.
var hostileTexts = []string{
	"=1+1", "+55 11 98765-4321", "-1", "@SUM(A1)", "=HYPERLINK(\"http://x\")", "\t=1", "＝1+1", "'=1", "00123", "1E5", "TRUE", "2026-01-02", "#REF!",
	"a\rb", "a\r\nb", "a\nb\tc", " two  spaces ", "\x00", "\x01\x1f", "\x7f\u0085\u2028", "\ufffe\uffff", "\xff\xfe", "\ufeffmark",
	"_x0041_", "_x005F_x0041_", "_x0041\x01", "_x0041_x0042_", "_xD83D_", "_x41_", "_", "<b>&amp;</b>", "]]>", "\"'", "𝒳😀", "e\u0301",
	strings.Repeat("a", 32767), strings.Repeat("a", 32768), strings.Repeat("a", 32766) + "😀", strings.Repeat("ã", 32767), strings.Repeat("😀", 16384),
	strings.Repeat("\x01", 40000), strings.Repeat("a\n", 400),
}

// TestWorkbookRoundTrip: whatever a table may hold, as far as a cell can.
func TestWorkbookRoundTrip(t *testing.T) {
	t.Parallel()
	m, dir := emptyMirror(t), t.TempDir()
	table := schema.Requests
	rapid.Check(t, func(r *rapid.T) {
		exec(r, m, "DELETE FROM requests")
		for key := range rapid.IntRange(0, 3).Draw(r, "rows") {
			row := map[string]any{}
			for _, c := range table.Columns {
				row[c.Name] = anyValue(r, table, c)
				if c.Type == schema.Text && rapid.Bool().Draw(r, "hostile") {
					row[c.Name] = rapid.SampledFrom(hostileTexts).Draw(r, c.Name)
				}
			}
			row["id"] = fmt.Sprint(key)
			insert(r, m, table, row)
		}
		f, _ := mustWorkbook(r, m, WorkbookOptions{Path: filepath.Join(dir, "v.xlsx"), Tables: []string{"requests"}}, maxRows)
		compareTable(r, f, m, table, table.ColumnNames(), "requests")
	})
}

// TestWorkbookHoldsHostileText: each of them, and what is cut is told.
func TestWorkbookHoldsHostileText(t *testing.T) {
	t.Parallel()
	m := emptyMirror(t)
	long := 0
	for i, text := range hostileTexts {
		insert(t, m, schema.BiRequests, map[string]any{"request_key": i + 1, "name": text})
		if len(utf16.Encode([]rune(text))) > 32767 {
			long++
		}
	}
	f, report := mustWorkbook(t, m, WorkbookOptions{Path: filepath.Join(t.TempDir(), "v.xlsx"), Tables: []string{"bi_requests"}}, 10)
	sheets := f.GetSheetList()[1:]
	compareTable(t, f, m, schema.BiRequests, schema.BiRequests.ColumnNames(), sheets...)
	if d := cmp.Diff([]Cut{{Table: "bi_requests", Column: "name", Texts: long}}, report.Cut); d != "" || long == 0 {
		t.Error(d)
	}
	for _, sheet := range sheets {
		for i := range cellsOf(t, f, sheet) {
			formula, err := f.GetCellFormula(sheet, fmt.Sprintf("E%d", i+1))
			must(t, err)
			if formula != "" {
				t.Errorf("a formula: %s", formula)
			}
		}
	}
	style, err := f.GetCellStyle("bi_requests", "E2") // "=1+1" stays text when somebody edits it
	must(t, err)
	if prefixed := f.Styles.CellXfs.Xf[style].QuotePrefix; prefixed == nil || !*prefixed {
		t.Error("a text that begins like a formula is not marked as text")
	}
}

// TestWorkbookHoldsEdges: what is at the limits of a cell, on both sides.
func TestWorkbookHoldsEdges(t *testing.T) {
	t.Parallel()
	m := emptyMirror(t)
	days := []string{"0001-01-01", "1899-12-31", "1900-02-28", "1900-03-01", "9999-12-31"}
	times := []string{"1900-03-01 02:59:59.999", "1900-03-01 03:06:28.000", "2018-11-04 02:59:59.999", "2018-11-04 03:00:00.000", "9999-12-31 23:59:59.999"}
	numbers := []float64{math.Copysign(0, -1), math.Inf(-1), 9.99999999999999e307, 1e308, 2.2250738585072014e-308, 5e-324, 0.1 + 0.2}
	for i, key := range []int64{-1e15, 1 - 1e15, 1e15 - 1, 1e15, 1<<53 + 1, math.MaxInt64, 7} {
		insert(t, m, schema.BiRequests, map[string]any{
			"request_key": key, "order_date": days[i%len(days)], "order_created": times[i%len(times)], "final_value": numbers[i],
		})
	}
	f, _ := mustWorkbook(t, m, WorkbookOptions{Path: filepath.Join(t.TempDir(), "v.xlsx"), Tables: []string{"bi_requests"}}, maxRows)
	compareTable(t, f, m, schema.BiRequests, schema.BiRequests.ColumnNames(), "bi_requests")
	east := rowWriter{zone: time.FixedZone("east", 3600)}
	if days, ok := east.serial(&sheetColumn{Column: schema.Column{Type: schema.Timestamp}, toLocal: true}, "9999-12-31 23:59:59.999"); ok {
		t.Errorf("the year 10000 is day %v", days)
	}
}

// TestWorkbookReplacesOnlyWorkbooks: errors come before anything is changed, and nothing is left behind.
func TestWorkbookReplacesOnlyWorkbooks(t *testing.T) {
	t.Parallel()
	m, dir := emptyMirror(t), t.TempDir()
	path := filepath.Join(dir, "v.xlsx")
	write := func(path string, tables ...string) error {
		_, err := Workbook(t.Context(), m, WorkbookOptions{Path: path, Tables: tables, Zone: time.UTC, Now: now})
		return err
	}
	copied, err := os.ReadFile(m.Path())
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, "mirror.xlsx"), copied, 0o644))
	must(t, os.Mkdir(filepath.Join(dir, "d.xlsx"), 0o755))
	log := filepath.Join(t.TempDir(), "empty.db-wal")
	must(t, os.WriteFile(path, nil, 0o600)) // an empty workbook may be replaced, an empty log may not
	must(t, os.WriteFile(log, nil, 0o600))
	must(t, write(path, "bi_requests"))
	for _, tc := range []struct {
		path, table, want string
		usage             bool
	}{
		{m.Path(), "", "does not end in .xlsx", true},
		{filepath.Join(dir, "v.xls"), "", "does not end in .xlsx", true},
		{log, "", "does not end in .xlsx", true},
		{dir, "", "is a directory; name a file in it", true},
		{filepath.Join(dir, "d.xlsx"), "", "is a directory; name a file in it", true},
		{filepath.Join(dir, "mirror.xlsx"), "", "is there and no Excel file", true},
		{path, "bi_nothing", `there is no table "bi_nothing"`, true},
		{filepath.Join(dir, "none", "v.xlsx"), "", "name a file in a directory that is there", false},
	} {
		var tables []string
		if tc.table != "" {
			tables = []string{tc.table}
		}
		if err := write(tc.path, tables...); err == nil || errors.Is(err, ErrWorkbook) != tc.usage || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %s", tc.path, err, tc.want)
		}
	}
	exec(t, m, "ALTER TABLE bi_funnel RENAME TO gone")
	if err := write(path); err == nil {
		t.Error("written without a table")
	}
	exec(t, m, "ALTER TABLE gone RENAME TO bi_funnel")
	must(t, os.Chmod(path, 0o640))
	must(t, write(path))
	info, err := os.Stat(path)
	must(t, err)
	if info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v", info.Mode())
	}
	if d := cmp.Diff([]string{"mirror.xlsx", "v.xlsx"}, filesIn(t, dir)); d != "" {
		t.Errorf("files:\n%s", d)
	}
}
