package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"solarmirror/cmd/internal/export"
	"solarmirror/store"
)

type exportFlags struct {
	format, style, to, from string
	wait                    bool
}

func newExportCommand(a *app) *cobra.Command {
	var f exportFlags
	cmd := &cobra.Command{
		Use:   "export --format parquet|csv --to DIR",
		Short: "Write the mirror out as Parquet or CSV files",
		Long: `Write every table to files, all of one moment, while syncs go on.

Parquet is typed, compressed with zstd and cut by table and month
(requests/month=2026-01/part.parquet), for DuckDB, Spark, Trino or Athena. CSV is
one file per table: plain is RFC 4180; excel-br opens in a Brazilian Excel with a
double click (semicolons, decimal commas, times to the second; texts that Excel
would take for numbers, dates or formulas are written as ="00123").

Run again, it writes only the files whose rows changed. DIR/manifest.json lists
every file with its rows, bytes and SHA-256, and every column with its meaning;
it is written last.

The files hold what the mirror holds, personal data too, and new ones have [mirror]
file_mode. --from reads another copy in its place, such as the masked one that
"solarmirror publish" makes, whose files every user may read.`,
		Example: `  solarmirror export --format parquet --to data/export
  solarmirror export --format csv --style excel-br --to planilhas
  solarmirror export --format parquet --from data/published/solarmirror.db --to data/shared`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			err := a.export(cmd, f)
			if errors.Is(err, export.ErrDirectory) {
				return &usageError{command: cmd.CommandPath(), err: err}
			}
			return err
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.format, "format", "", "`form` of the files: parquet or csv")
	flags.StringVar(&f.style, "style", "", "`style` of CSV: plain or excel-br (default plain)")
	flags.StringVar(&f.to, "to", "", "`directory` of the export; new, empty, or that of an earlier one")
	flags.StringVar(&f.from, "from", "", "`file` to read in place of the mirror; every row is read")
	flags.BoolVar(&f.wait, "wait", false, "wait for another export to the same directory to end")
	for _, name := range []string{"format", "to"} {
		if err := cmd.MarkFlagRequired(name); err != nil {
			panic(err)
		}
	}
	return cmd
}

func (a *app) export(cmd *cobra.Command, f exportFlags) error {
	format, err := f.chosen()
	if err != nil {
		return &usageError{command: cmd.CommandPath(), err: err}
	}
	c, err := a.config()
	if err != nil {
		return err
	}
	run := func(mirror *store.Mirror) error {
		report, err := export.Run(cmd.Context(), mirror, export.Options{Dir: f.to, Format: format, FileMode: c.Mirror.FileMode, Fresh: f.from != "", Wait: f.wait})
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(a.stdout, "%d tables, %d rows, %d files written, %d as they were, %d removed: %s\n",
			report.Tables, report.Rows, report.Written, report.Kept, report.Removed, f.to)
		return err
	}
	if f.from == "" {
		return a.withReader(cmd.Context(), func(mirror *store.Mirror) error {
			if err := a.warnOfMarts(cmd.Context(), mirror); err != nil {
				return err
			}
			return run(mirror)
		})
	}
	mirror, err := store.OpenReadOnly(cmd.Context(), f.from)
	if err != nil {
		return err
	}
	defer mirror.Close()
	return run(mirror)
}

// chosen is the format that --format and --style name together.
func (f exportFlags) chosen() (export.Format, error) {
	switch f.format + " " + f.style {
	case "parquet ":
		return export.Parquet, nil
	case "csv ", "csv plain":
		return export.CSV, nil
	case "csv excel-br":
		return export.ExcelBR, nil
	case "parquet plain", "parquet excel-br":
		return export.Format{}, errors.New("--style is for --format csv")
	}
	if f.format != "csv" {
		return export.Format{}, fmt.Errorf("--format is %q; it must be parquet or csv", f.format)
	}
	return export.Format{}, fmt.Errorf("--style is %q; it must be plain or excel-br", f.style)
}
