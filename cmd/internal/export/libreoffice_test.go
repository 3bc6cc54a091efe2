package export

import (
	"encoding/csv"
	"fmt"
	"math"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"solarmirror/cmd/internal/testtools"
	"solarmirror/schema"
	"solarmirror/store"
	"solarmirror/store/sqlitefile"
)

// unformattedCSV has LibreOffice write every sheet to FILE-SHEET.csv in UTF-8, with the values of
// cells and not what is shown of them.
const unformattedCSV = "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,false,false,false,false,-1"

// TestLibreOfficeReadsWorkbook: every value of every mart, and hostile texts as texts.
func TestLibreOfficeReadsWorkbook(t *testing.T) {
	t.Parallel()
	soffice := testtools.Program(t, "soffice", "libreoffice-calc-nogui")
	dir, synced, hostile := t.TempDir(), syncedMirror(t), emptyMirror(t)
	for i, text := range hostileTexts {
		insert(t, hostile, schema.BiRequests, map[string]any{"request_key": i + 1, "name": text, "code": "0012", "discount": math.Inf(1)})
	}
	for name, m := range map[string]*store.Mirror{"synced": synced, "hostile": hostile} {
		_, err := Workbook(t.Context(), m, WorkbookOptions{Path: filepath.Join(dir, name+".xlsx"), Zone: saoPaulo(t), Now: now})
		must(t, err)
	}
	out, err := osexec.Command(soffice, "-env:UserInstallation=file://"+filepath.Join(dir, "profile"), "--headless", "--convert-to", unformattedCSV,
		"--outdir", dir, filepath.Join(dir, "synced.xlsx"), filepath.Join(dir, "hostile.xlsx")).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	values := 0
	for _, table := range schema.MartTables {
		values += compareCSV(t, synced, table, filepath.Join(dir, "synced-"+table.Name+".csv"))
	}
	if values < 1000 {
		t.Errorf("%d values; that tries little", values)
	}
	compareCSV(t, hostile, schema.BiRequests, filepath.Join(dir, "hostile-bi_requests.csv"))
}

// compareCSV compares what LibreOffice read of a table with SQLite, and counts the values.
func compareCSV(t *testing.T, m *store.Mirror, table *schema.Table, path string) (values int) {
	t.Helper()
	text, err := os.ReadFile(path)
	must(t, err)
	rows, err := csv.NewReader(strings.NewReader(string(text))).ReadAll()
	must(t, err)
	result, err := m.Query(t.Context(), selectSQL(table)+orderSQL(table))
	must(t, err)
	defer result.Close()
	number := 0
	for want, err := range result.Rows() {
		must(t, err)
		if number++; number >= len(rows) {
			t.Fatalf("%s: %d rows", table.Name, len(rows)-1)
		}
		for i, v := range want {
			values++
			if got := rows[number][i]; !sameInCSV(t, table.Columns[i], v, got) {
				t.Errorf("%s.%s, row %d: %.60q is %.60q in LibreOffice", table.Name, table.Columns[i].Name, number, fmt.Sprint(v), got)
			}
		}
	}
	if number != len(rows)-1 {
		t.Errorf("%s: %d rows, want %d", table.Name, len(rows)-1, number)
	}
	return values
}

// sameInCSV compares a value with what LibreOffice made of its cell. It writes numbers with 15 digits
// and times to the second, the American way.
func sameInCSV(t *testing.T, c schema.Column, value any, got string) bool {
	t.Helper()
	switch v := value.(type) {
	case nil:
		return got == ""
	case int64:
		return got == strconv.FormatInt(v, 10) || c.Type == schema.Boolean && got == strings.ToUpper(strconv.FormatBool(v != 0))
	case float64:
		digits, isShare := strings.CutSuffix(got, "%")
		number, err := strconv.ParseFloat(digits, 64)
		if isShare {
			number /= 100
		}
		return err == nil && (number == v || math.Abs(number-v) <= 1e-14*math.Abs(v))
	case string:
		switch c.Type {
		case schema.Date:
			day, err := time.Parse("01/02/2006", got)
			return err == nil && day.Format(time.DateOnly) == v
		case schema.Timestamp:
			at, err := sqlitefile.ParseTime(v)
			must(t, err)
			shown, errShown := time.ParseInLocation("01/02/2006 15:04:05", got, saoPaulo(t))
			return errShown == nil && shown.Sub(at).Abs() <= time.Second
		}
		return got == strings.ReplaceAll(inText(v), "\r\n", "\n")
	}
	return false
}
