package main

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"solarmirror/cmd/internal/config"
	"solarmirror/cmd/internal/export"
	"solarmirror/store"
)

type exportFlags struct {
	format, style, headers, to, source, from string
	wait                                     bool
}

func newExportCommand(a *app) *cobra.Command {
	var f exportFlags
	cmd := &cobra.Command{
		Use:   "export --format parquet|csv|xlsx --to DIR|FILE.xlsx [table…]",
		Short: "Write the mirror out as Parquet, CSV or Excel files",
		Long: `Write tables to files, all of one moment, while syncs go on.

Parquet is typed, compressed with zstd and cut by table and month
(requests/month=2026-01/part.parquet), for DuckDB, Spark, Trino or Athena. CSV is
one file per table: plain is RFC 4180; excel-br opens in a Brazilian Excel with a
double click (semicolons, decimal commas, times to the second; texts that Excel
would take for numbers, dates or formulas are written as ="00123").

Both write every table. Run again, they write only the files whose rows changed.
DIR/manifest.json lists every file with its rows, bytes and SHA-256, and every column
with its meaning; it is written last.

xlsx is one Excel file with a sheet for each table named, or for each table for
analysis (bi_*). Dates, numbers and truth values are what they are, times are local
(platform.time_zone), and texts stay texts. The first sheet says what each sheet and
column means and how fresh the data is. A table of more than 1,048,575 rows goes on in
a second sheet. A text of more than 32,767 characters is cut, with a warning.

Headings are the names of the columns in CSV, and Portuguese labels in xlsx; --headers
says otherwise. The files hold what the mirror holds, personal data too, and new ones
have [mirror] file_mode. --source published reads the masked copy that "solarmirror
publish" makes in place of the mirror; what is made from it every user may read.`,
		Example: `  solarmirror export --format parquet --to data/export
  solarmirror export --format csv --style excel-br --headers labels --to planilhas
  solarmirror export --format xlsx --to vendas.xlsx bi_requests bi_items
  solarmirror export --format xlsx --to vendas.xlsx --source published`,
		RunE: func(cmd *cobra.Command, tables []string) error {
			err := a.export(cmd, f, tables)
			if errors.Is(err, export.ErrDirectory) || errors.Is(err, export.ErrWorkbook) {
				return &usageError{command: cmd.CommandPath(), err: err}
			}
			return err
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.format, "format", "", "`form` of the files: parquet, csv or xlsx")
	flags.StringVar(&f.style, "style", "", "`style` of CSV: plain or excel-br (default plain)")
	flags.StringVar(&f.headers, "headers", "", "`headings` of columns: labels or names (default labels in xlsx, else names)")
	flags.StringVar(&f.to, "to", "", "`directory` of the export, new, empty, or that of an earlier one; or an xlsx file")
	flags.StringVar(&f.source, "source", config.SourceMirror, "`source` of the rows: mirror, published, or the path of another copy")
	flags.StringVar(&f.from, "from", "", "`file`: --source under its earlier name")
	flags.BoolVar(&f.wait, "wait", false, "wait for another export to the same directory to end")
	if err := flags.MarkHidden("from"); err != nil {
		panic(err)
	}
	for _, name := range []string{"format", "to"} {
		if err := cmd.MarkFlagRequired(name); err != nil {
			panic(err)
		}
	}
	cmd.MarkFlagsMutuallyExclusive("source", "from")
	return cmd
}

func (a *app) export(cmd *cobra.Command, f exportFlags, tables []string) error {
	write := a.exportFiles
	if f.format == "xlsx" {
		write = a.exportWorkbook
	}
	return write(cmd, f, tables)
}

// exportFiles writes a directory of files.
func (a *app) exportFiles(cmd *cobra.Command, f exportFlags, tables []string) error {
	format, err := f.chosen()
	if err == nil && len(tables) > 0 {
		err = fmt.Errorf("tables are for --format xlsx: --format %s writes every table", f.format)
	}
	if err != nil {
		return &usageError{command: cmd.CommandPath(), err: err}
	}
	return a.withSource(cmd.Context(), cmp.Or(f.from, f.source), func(c config.Config, mirror *store.Mirror, isCopy bool) error {
		report, err := export.Run(cmd.Context(), mirror, export.Options{Dir: f.to, Format: format, FileMode: c.Mirror.FileMode, Fresh: isCopy, Wait: f.wait})
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(a.stdout, "%d tables, %d rows, %d files written, %d as they were, %d removed: %s\n",
			report.Tables, report.Rows, report.Written, report.Kept, report.Removed, f.to)
		return err
	})
}

// exportWorkbook writes one Excel file.
func (a *app) exportWorkbook(cmd *cobra.Command, f exportFlags, tables []string) error {
	headers, err := f.headings(export.Labels)
	if err == nil && f.style != "" {
		err = errStyle
	}
	if err != nil {
		return &usageError{command: cmd.CommandPath(), err: err}
	}
	return a.withSource(cmd.Context(), cmp.Or(f.from, f.source), func(c config.Config, mirror *store.Mirror, _ bool) error {
		report, err := export.Workbook(cmd.Context(), mirror, export.WorkbookOptions{
			Path: f.to, Tables: tables, Headers: headers, Zone: c.Platform.TimeZone, FileMode: c.Mirror.FileMode, Now: time.Now(),
		})
		if err != nil {
			return err
		}
		for _, cut := range report.Cut {
			fmt.Fprintf(a.stderr, "warning: %s.%s: %d texts are cut, because a cell of Excel holds 32,767 characters; CSV and Parquet hold them whole\n",
				cut.Table, cut.Column, cut.Texts)
		}
		_, err = fmt.Fprintf(a.stdout, "%d tables, %d rows, %d sheets: %s\n", report.Tables, report.Rows, report.Sheets, f.to)
		return err
	})
}

var errStyle = errors.New("--style is for --format csv")

// chosen is the format of files that --format, --style and --headers name together.
func (f exportFlags) chosen() (export.Format, error) {
	headers, err := f.headings(export.Names)
	if err != nil {
		return export.Format{}, err
	}
	switch name := f.format + " " + f.style; {
	case f.format != "csv" && f.format != "parquet":
		return export.Format{}, fmt.Errorf("--format is %q; it must be parquet, csv or xlsx", f.format)
	case name == "csv excel-br" && headers == export.Labels:
		return export.ExcelBRLabels, nil
	case name == "csv excel-br":
		return export.ExcelBR, nil
	case f.format == "parquet" && f.style != "":
		return export.Format{}, errStyle
	case f.style != "" && f.style != "plain":
		return export.Format{}, fmt.Errorf("--style is %q; it must be plain or excel-br", f.style)
	case headers == export.Labels:
		return export.Format{}, errors.New("--headers labels is for --format xlsx, and for --format csv --style excel-br")
	case f.format == "parquet":
		return export.Parquet, nil
	}
	return export.CSV, nil
}

// headings are those that --headers names, or the usual ones.
func (f exportFlags) headings(usual export.Headers) (export.Headers, error) {
	switch f.headers {
	case "":
		return usual, nil
	case "labels":
		return export.Labels, nil
	case "names":
		return export.Names, nil
	}
	return usual, fmt.Errorf("--headers is %q; it must be labels or names", f.headers)
}
