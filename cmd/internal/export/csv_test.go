package export

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"solarmirror/schema"
)

var cells = &schema.Table{Name: "cells", Columns: []schema.Column{
	{Name: "t", Type: schema.Text}, {Name: "r", Type: schema.Real}, {Name: "n", Type: schema.BigInt}, {Name: "at", Type: schema.Timestamp},
	{Name: "d", Type: schema.Date}, {Name: "b", Type: schema.Boolean}, {Name: "x", Type: schema.Blob},
}}

func csvOf(t *testing.T, f Format, rows ...[]any) string {
	t.Helper()
	var out bytes.Buffer
	e := f.encoder(&out, cells)
	for _, row := range rows {
		must(t, e.row(row))
	}
	must(t, e.close())
	return out.String()
}

func TestCSVStyles(t *testing.T) {
	t.Parallel()
	rows := [][]any{
		{"a;b,\"c\"\nd", -1234.5, int64(-7), "2026-01-31 10:30:00.123", "2026-01-31", int64(1), []byte{0, 0x1e, 5}},
		{"", 1e21, nil, nil, nil, int64(0), nil},
		{nil, nil, nil, nil, nil, nil, nil},
	}
	want := "t,r,n,at,d,b,x\r\n" +
		"\"a;b,\"\"c\"\"\nd\",-1234.5,-7,2026-01-31 10:30:00.123,2026-01-31,1,001e05\r\n" +
		"\"\",1000000000000000000000,,,,0,\r\n" +
		",,,,,,\r\n"
	if d := cmp.Diff(want, csvOf(t, CSV, rows...)); d != "" {
		t.Error(d)
	}
	want = "\ufefft;r;n;at;d;b;x\r\n" +
		"\"a;b,\"\"c\"\"\nd\";-1234,5;-7;2026-01-31 10:30:00;2026-01-31;1;\"=\"\"001e05\"\"\"\r\n" +
		"\"\";1000000000000000000000;;;;0;\r\n" +
		";;;;;;\r\n"
	if d := cmp.Diff(want, csvOf(t, ExcelBR, rows...)); d != "" {
		t.Error(d)
	}
	if got := csvOf(t, CSV); got != "t,r,n,at,d,b,x\r\n" {
		t.Errorf("without rows: %q", got)
	}
}

// TestExcelText: what Excel would compute or take for something else is written as a text; the rest stands as it is.
func TestExcelText(t *testing.T) {
	t.Parallel()
	long := strings500
	for text, want := range map[string]string{
		"00123":                   `="00123"`,
		"12345678901234":          `="12345678901234"`,
		"1-2":                     `="1-2"`,
		"1E5":                     `="1E5"`,
		"(5)":                     `="(5)"`,
		" 7":                      `=" 7"`,
		"mar/24":                  `="mar/24"`,
		"R$ 5":                    `="R$ 5"`,
		"Verdadeiro":              `="Verdadeiro"`,
		"=1+1":                    `="=1+1"`,
		"=HYPERLINK(\"x\")":       `="=HYPERLINK(""x"")"`,
		"+55 11 98765-4321":       `="+55 11 98765-4321"`,
		"-":                       `="-"`,
		"@SUM(A1)":                `="@SUM(A1)"`,
		"\t=1+1":                  "=\"\t=1+1\"",
		"＝1+1":                    `="＝1+1"`,
		"=1\n+1":                  "'=1\n+1",
		"=" + long:                "'=" + long,
		long:                      long,
		"Maria":                   "Maria",
		"Inversor 5 kW":           "Inversor 5 kW",
		"\"&cmd\"":                "\"&cmd\"",
		"":                        "",
		"linha 1\n=2":             "linha 1\n=2",
		"São João d'Aliança (GO)": "São João d'Aliança (GO)",
	} {
		if got := asText(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
