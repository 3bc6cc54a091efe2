package export

import (
	"archive/zip"
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/xuri/excelize/v2"

	"solarmirror/cmd/internal/atomicfile"
	"solarmirror/schema"
	"solarmirror/store"
	"solarmirror/store/publish"
)

// ErrWorkbook says that no workbook can be made there, or not of that. Nothing was changed.
var ErrWorkbook = errors.New("no Excel file was written")

// WorkbookOptions say what is written to an Excel file.
type WorkbookOptions struct {
	Path     string   // ends in .xlsx
	Tables   []string // a sheet for each, in this order; none is every mart
	Headers  Headers
	Zone     *time.Location // of the times shown
	FileMode fs.FileMode    // of a new file with personal data; a masked one has [publish.MaskedMode]
	Now      time.Time
}

// WorkbookReport is what is in an Excel file.
type WorkbookReport struct {
	Tables, Sheets int // the guide is not counted
	Rows           int64
	Cut            []Cut
}

// Cut is a column some of whose texts are longer than a cell.
type Cut struct {
	Table, Column string
	Texts         int
}

// maxRows is how many rows of a table a sheet holds, below its header.
const maxRows = excelize.TotalRows - 1

// Workbook writes tables of the mirror to one Excel file, in one step.
func Workbook(ctx context.Context, mirror *store.Mirror, o WorkbookOptions) (WorkbookReport, error) {
	return workbook(ctx, mirror, o, maxRows)
}

func workbook(ctx context.Context, mirror *store.Mirror, o WorkbookOptions, rowsPerSheet int64) (report WorkbookReport, err error) {
	if err := checkWorkbook(o.Path); err != nil {
		return report, err
	}
	mode, err := publish.ModeOf(ctx, mirror.Reader(), o.FileMode)
	if err != nil {
		return report, err
	}
	if mode, err = atomicfile.Mode(o.Path, mode); err != nil {
		return report, fmt.Errorf("%w: %s: %w", ErrWorkbook, o.Path, err)
	}
	snapshot, err := mirror.Snapshot(ctx)
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, snapshot.Close()) }()
	b, err := newBook(ctx, &source{snapshot: snapshot}, o, rowsPerSheet)
	if err != nil {
		return report, err
	}
	err = atomicfile.Write(o.Path, mode, func(w io.Writer) error { return b.write(ctx, w) })
	switch refused := (*os.LinkError)(nil); {
	case errors.As(err, &refused): // Windows does not let an open file be replaced
		return report, fmt.Errorf("replace %s: %w; if it is open in Excel, close it there and run the same command again", o.Path, err)
	case err != nil:
		return report, fmt.Errorf("write %s: %w", o.Path, err)
	}
	return b.report(), nil
}

// checkWorkbook returns an [ErrWorkbook] for a path that is no Excel file's.
func checkWorkbook(path string) error {
	refuse := func(format string, args ...any) error {
		return fmt.Errorf("%w: %s %s", ErrWorkbook, path, fmt.Sprintf(format, args...))
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return refuse("is a directory; name a file in it, such as %s", filepath.Join(path, "vendas.xlsx"))
	}
	const workbookExtension, zipped = ".xlsx", "PK"
	if !strings.EqualFold(filepath.Ext(path), workbookExtension) {
		return refuse("does not end in .xlsx; name a file such as vendas.xlsx")
	}
	switch ours, err := atomicfile.Begins(path, zipped, workbookExtension); {
	case err != nil:
		return fmt.Errorf("look at the file to replace: %w", err)
	case !ours:
		return refuse("is there and no Excel file, so it is left as it is; name another file, or remove it first")
	}
	return nil
}

// book is a workbook to be: everything but the rows, which go from the snapshot to the file.
type book struct {
	source *source
	file   *excelize.File
	zone   *time.Location
	tables []*sheetTable
	sheets map[string]sheet // by the name of their part of the file
}

// sheetTable is a table in a workbook. It may take several sheets.
type sheetTable struct {
	*schema.Table
	headings []string
	columns  []sheetColumn
	rows     int64
	sheets   []string
}

// sheet is a part of a table's rows.
type sheet struct {
	of            *sheetTable
	limit, offset int64
}

func newBook(ctx context.Context, source *source, o WorkbookOptions, rowsPerSheet int64) (*book, error) {
	b := &book{source: source, file: excelize.NewFile(), zone: o.Zone, sheets: map[string]sheet{}}
	tables, err := chosenTables(ctx, source, o.Tables)
	if err != nil {
		return nil, err
	}
	if err := b.file.SetSheetName("Sheet1", guideName); err != nil {
		return nil, err
	}
	for _, t := range tables {
		if err := b.add(ctx, t, o.Headers, rowsPerSheet); err != nil {
			return nil, fmt.Errorf("read %s: %w", t.Name, err)
		}
	}
	return b, b.writeGuide(ctx, o)
}

// chosenTables returns the tables named, or every mart.
func chosenTables(ctx context.Context, source *source, names []string) ([]*schema.Table, error) {
	all, err := source.tables(ctx)
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return slices.DeleteFunc(slices.Clone(all), func(t *schema.Table) bool { return t.Shape != schema.Mart }), nil
	}
	var chosen []*schema.Table
	for _, name := range names {
		i := slices.IndexFunc(all, func(t *schema.Table) bool { return t.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("%w: there is no table %q; `solarmirror schema tables` lists them", ErrWorkbook, name)
		}
		if !slices.Contains(chosen, all[i]) {
			chosen = append(chosen, all[i])
		}
	}
	return chosen, nil
}

// add makes the sheets of a table, without rows.
func (b *book) add(ctx context.Context, t *schema.Table, headers Headers, rowsPerSheet int64) error {
	in := &sheetTable{Table: t, headings: headers.of(t)}
	for row, err := range b.source.query(ctx, "SELECT count(*) FROM "+t.Name) {
		if err != nil {
			return err
		}
		in.rows = row[0].(int64)
	}
	if err := b.measure(ctx, in, headers); err != nil {
		return err
	}
	b.tables = append(b.tables, in)
	for offset := int64(0); offset == 0 || offset < in.rows; offset += rowsPerSheet {
		name := b.sheetName(t.Name, len(in.sheets)+1)
		in.sheets = append(in.sheets, name)
		index, err := b.file.NewSheet(name)
		if err != nil {
			return err
		}
		s := sheet{of: in, limit: min(rowsPerSheet, in.rows-offset), offset: offset}
		b.sheets[fmt.Sprintf("xl/worksheets/sheet%d.xml", index+1)] = s
		if err := b.layOut(name, s); err != nil {
			return err
		}
	}
	return nil
}

// sampleRows is how many rows the widths of columns are taken from. They stand before the rows.
const sampleRows = 500

// measure finds out how the columns of a table are shown, and how wide.
func (b *book) measure(ctx context.Context, t *sheetTable, headers Headers) error {
	for i, c := range t.Columns {
		column, err := b.newColumn(c, i)
		if err != nil {
			return err
		}
		if headers == Labels && column.toLocal {
			t.headings[i] += " (" + b.zone.String() + ")"
		}
		column.widen(t.headings[i] + "   ") // the filter's button
		t.columns = append(t.columns, column)
	}
	for row, err := range b.source.slice(ctx, t.Table, sampleRows, 0) {
		if err != nil {
			return err
		}
		for i, v := range row {
			t.columns[i].measure(v)
		}
	}
	return nil
}

// sheetName returns a name that no sheet has yet, of at most 31 characters. Excel does not tell
// small letters from capital ones.
func (b *book) sheetName(table string, part int) string {
	tail := ""
	if part > 1 {
		tail = fmt.Sprintf(" (%d)", part)
	}
	taken := func(name string) bool {
		return slices.ContainsFunc(b.file.GetSheetList(), func(other string) bool { return strings.EqualFold(other, name) })
	}
	for n := 1; ; n++ {
		end := tail
		if n > 1 {
			end = fmt.Sprintf("~%d%s", n, tail)
		}
		if name := table[:min(len(table), excelize.MaxSheetNameLength-len(end))] + end; !taken(name) {
			return name
		}
	}
}

// layOut writes the header row of a sheet, which stays in sight and can be filtered by.
func (b *book) layOut(name string, s sheet) error {
	bold, err := b.file.NewStyle(&excelize.Style{
		Font: &excelize.Font{Bold: true}, Fill: excelize.Fill{Type: "pattern", Pattern: 1, Color: []string{"DDE6EE"}},
	})
	if err != nil {
		return err
	}
	last, err := excelize.CoordinatesToCellName(len(s.of.columns), int(s.limit)+1)
	if err != nil {
		return err
	}
	for i, c := range s.of.columns {
		if err := errors.Join(b.file.SetCellStr(name, c.letters+"1", s.of.headings[i]), b.file.SetColWidth(name, c.letters, c.letters, c.width())); err != nil {
			return err
		}
	}
	return errors.Join(
		b.file.SetCellStyle(name, "A1", s.of.columns[len(s.of.columns)-1].letters+"1", bold),
		b.file.SetPanes(name, &excelize.Panes{Freeze: true, YSplit: 1, TopLeftCell: "A2", ActivePane: "bottomLeft"}),
		b.file.AutoFilter(name, "A1:"+last, nil),
		b.file.SetSheetDimension(name, "A1:"+last),
	)
}

// write writes the file. excelize makes its parts in memory, and rows are put in between.
func (b *book) write(ctx context.Context, w io.Writer) error {
	f := &filler{Writer: zip.NewWriter(w)}
	f.fill = func(part io.Writer, name string, content []byte) error {
		if s, known := b.sheets[name]; known {
			return b.fill(ctx, part, content, s)
		}
		_, err := part.Write(content)
		return err
	}
	b.file.SetZipWriter(func(io.Writer) excelize.ZipWriter { return f })
	_, err := b.file.WriteToBuffer() // which stays empty
	return errors.Join(cmp.Or(f.err, err), b.file.Close())
}

// filler is the zip file of a workbook. It lets rows be put into sheets on their way to the file:
// excelize's own writer of rows keeps megabytes of every sheet in memory, and the whole of the
// compressed file, and spools the rest to further files. A filler has no field of excelize's types,
// because an interface that holds it would have the linker keep all of their methods.
type filler struct {
	*zip.Writer
	fill func(part io.Writer, name string, content []byte) error
	err  error // the first; excelize looks only at those of Create
}

// Create begins a part of the file, which excelize gives as a whole.
func (f *filler) Create(name string) (io.Writer, error) {
	if f.err != nil {
		return nil, f.err
	}
	part, err := f.Writer.Create(name)
	if err != nil {
		return nil, err
	}
	return writerFunc(func(content []byte) (int, error) {
		f.err = f.fill(part, name, content)
		return len(content), f.err
	}), nil
}

// writerFunc is a function as an [io.Writer].
type writerFunc func([]byte) (int, error)

func (w writerFunc) Write(p []byte) (int, error) { return w(p) }

// fill writes a sheet, given without rows, with its rows.
func (b *book) fill(ctx context.Context, part io.Writer, empty []byte, s sheet) error {
	end := []byte("</sheetData>")
	before, after, found := bytes.Cut(empty, end)
	if !found {
		return fmt.Errorf("the sheet of %s has no %s", s.of.Name, end)
	}
	counter := &counter{}
	out := bufio.NewWriterSize(io.MultiWriter(part, counter), 1<<16)
	_, _ = out.Write(before)
	rows := rowWriter{columns: s.of.columns, zone: b.zone, out: out, number: 1}
	for row, err := range b.source.slice(ctx, s.of.Table, s.limit, s.offset) {
		if err != nil {
			return fmt.Errorf("read %s: %w", s.of.Name, err)
		}
		if err := rows.write(row); err != nil {
			return err
		}
	}
	_, _ = out.Write(end)
	_, _ = out.Write(after)
	if err := out.Flush(); err != nil {
		return err
	}
	if counter.bytes > math.MaxUint32 {
		return fmt.Errorf("%s takes more than 4 GiB in one sheet, which Excel does not open: export it as CSV or Parquet", s.of.Name)
	}
	return nil
}

func (b *book) report() WorkbookReport {
	r := WorkbookReport{Tables: len(b.tables), Sheets: len(b.sheets)}
	for _, t := range b.tables {
		r.Rows += t.rows
		for _, c := range t.columns {
			if c.cut > 0 {
				r.Cut = append(r.Cut, Cut{Table: t.Name, Column: c.Name, Texts: c.cut})
			}
		}
	}
	return r
}
