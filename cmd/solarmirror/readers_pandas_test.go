package main

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"solarmirror/cmd/internal/testtools"
	"solarmirror/schema"
)

// pandasTypes are what a column may become in pandas. Numbers with NULLs among them are floats there, and a column without a value is
// of no type (object).
func pandasTypes(declared schema.Type, values, nulls int) []string {
	switch declared {
	case schema.Date, schema.Timestamp:
		return []string{"datetime64[ns]"}
	case schema.Text, schema.Blob:
		return []string{"object", "str"}
	}
	switch {
	case values == 0:
		return []string{"object"}
	case declared == schema.Real || nulls > 0:
		return []string{"float64"}
	}
	return []string{"int64"}
}

func readWithPandas(t *testing.T, file string) {
	python := testtools.Python(t, "pandas", "python3-pandas")
	var columns []struct {
		Table, Column, Dtype string
		Values, Nulls        int
		Wrong                string
	}
	if err := json.Unmarshal(output(t, exec.Command(python, filepath.Join("testdata", "readers", "frames.py"), file)), &columns); err != nil {
		t.Fatal(err)
	}
	for _, c := range columns {
		declared := schema.Find(c.Table).Column(c.Column).Type
		if want := pandasTypes(declared, c.Values, c.Nulls); !slices.Contains(want, c.Dtype) {
			t.Errorf("%s.%s is %s, in pandas %s; want %v", c.Table, c.Column, declared, c.Dtype, want)
		}
		if c.Wrong != "" {
			t.Errorf("%s.%s: %s", c.Table, c.Column, c.Wrong)
		}
	}
	if len(columns) != schema.Dictionary().Len() {
		t.Errorf("%d columns, want the dictionary's %d", len(columns), schema.Dictionary().Len())
	}
}
