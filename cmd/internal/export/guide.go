package export

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/xuri/excelize/v2"

	"solarmirror/schema"
)

// guideName is the first sheet of a workbook. It says what the others mean, and how fresh they are.
const guideName = "Leia-me"

const (
	guideTime  = "02/01/2006 15:04"
	guideUnset = "ainda não"
)

// Words of the guide for those of the ledger.
var (
	guideStreams  = map[string]string{"orders": "pedidos", "budgets": "orçamentos", "equipments": "equipamentos"}
	guideOutcomes = map[string]string{"ok": "ok", "failed": "falhou", "interrupted": "interrompida"}
)

// guide is the first sheet, written from the top.
type guide struct {
	file  *excelize.File
	zone  *time.Location
	row   int
	title int // style
	wrap  int // style
	errs  []error
}

func (b *book) writeGuide(ctx context.Context, o WorkbookOptions) error {
	g := &guide{file: b.file, zone: o.Zone}
	var err error
	if g.title, err = b.file.NewStyle(&excelize.Style{Font: &excelize.Font{Bold: true}}); err != nil {
		return err
	}
	if g.wrap, err = b.file.NewStyle(&excelize.Style{Alignment: &excelize.Alignment{WrapText: true, Vertical: "top"}}); err != nil {
		return err
	}
	for i, width := range []float64{26, 40, 30, 26, 16, 90} {
		letters := string(rune('A' + i))
		g.errs = append(g.errs, b.file.SetColWidth(guideName, letters, letters, width))
	}
	if err := errors.Join(b.guideFreshness(ctx, g, o), b.guideTables(ctx, g)); err != nil {
		return fmt.Errorf("write the sheet %s: %w", guideName, err)
	}
	return errors.Join(append(g.errs, b.file.SetDocProps(&excelize.DocProperties{
		Creator: "solarmirror", LastModifiedBy: "solarmirror", Created: o.Now.UTC().Format(time.RFC3339), Modified: o.Now.UTC().Format(time.RFC3339),
	}))...)
}

// line writes one row, a heading in bold.
func (g *guide) line(heading bool, values ...any) {
	g.row++
	for i, v := range values {
		cell, style := fmt.Sprintf("%c%d", 'A'+i, g.row), g.wrap
		switch {
		case heading:
			style = g.title
		case len(values) == 1: // a sentence runs on over the cells beside it
			style = 0
		}
		g.errs = append(g.errs, g.file.SetCellValue(guideName, cell, v), g.file.SetCellStyle(guideName, cell, cell, style))
	}
}

func (g *guide) moment(t time.Time) string {
	if t.IsZero() {
		return guideUnset
	}
	return t.In(g.zone).Format(guideTime)
}

// guideFreshness says where the data is from, and up to when it is complete.
func (b *book) guideFreshness(ctx context.Context, g *guide, o WorkbookOptions) error {
	var platform string
	for row, err := range b.source.query(ctx, "SELECT coalesce(base_url, '') FROM _meta") {
		if err != nil {
			return err
		}
		platform, _ = row[0].(string)
	}
	streams, err := b.source.snapshot.Freshness(ctx)
	if err != nil {
		return err
	}
	g.line(true, guideName)
	g.line(false, fmt.Sprintf("Dados de %s, exportados em %s.", cmp.Or(platform, "nenhuma plataforma ainda"), g.moment(o.Now)))
	g.line(false, fmt.Sprintf("As horas são as de %s.", o.Zone))
	g.line(false, "Os valores em dinheiro são os da plataforma, que não informa a moeda. Uma célula vazia é um valor desconhecido, que não é zero.")
	g.line(false, "Números inteiros com mais de 15 algarismos, que o Excel arredondaria, são texto; datas anteriores a 01/03/1900 também.")
	g.line(false)
	g.line(true, "Atualização dos dados")
	g.line(true, "Fluxo", "Completo até", "Última leitura completa", "Última execução", "Resultado", "Registros rejeitados")
	for _, f := range streams {
		g.line(false, cmp.Or(guideStreams[f.Stream.Name], f.Stream.Name), g.moment(f.CompleteThrough), g.moment(f.LastFullScanAt), g.moment(f.LastRunAt),
			cmp.Or(guideOutcomes[string(f.LastOutcome)], guideUnset), f.Rejects)
	}
	return nil
}

// guideTables says what is in each sheet and column. The descriptions are those of the file read: a
// masked copy says there what it holds in place of personal data.
func (b *book) guideTables(ctx context.Context, g *guide) error {
	descriptions := map[[2]string]string{}
	for row, err := range b.source.query(ctx, "SELECT table_name, column_name, description_pt FROM _columns") {
		if err != nil {
			return err
		}
		descriptions[[2]string{row[0].(string), row[1].(string)}] = row[2].(string)
	}
	g.line(false)
	g.line(true, "Abas")
	g.line(true, "Aba", "Conteúdo", "Linhas", "", "", "Descrição")
	for _, t := range b.tables {
		g.line(false, strings.Join(t.sheets, ", "), t.Label, t.rows, "", "", schema.Portuguese.Text(t.Doc))
	}
	g.line(false)
	g.line(true, "Colunas")
	g.line(true, "Aba", "Título", "Coluna", "Unidade", "Dado pessoal", "Descrição")
	for _, t := range b.tables {
		for i, c := range describe(t.Table).Columns {
			personal := "não"
			if t.columns[i].toLocal {
				c.Unit = g.zone.String()
			}
			if c.Personal {
				personal = "sim"
			}
			g.line(false, t.sheets[0], t.headings[i], c.Name, schema.Portuguese.Text(c.Unit), personal, descriptions[[2]string{t.Name, c.Name}])
		}
	}
	return nil
}
