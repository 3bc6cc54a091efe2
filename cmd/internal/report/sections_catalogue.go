package report

import (
	"cmp"
	"fmt"
	"strings"

	"solarmirror/cmd/internal/charts"
	"solarmirror/store"
)

// everybodys adds to a lead what of the restriction does not apply.
func (l local) everybodys(f *figures, lead string, dated bool) string {
	r := f.Restriction
	if r.Seller != "" || r.State != "" || dated && f.bounds() != (span{}) {
		return strings.TrimSpace(lead + " " + l.Everybodys)
	}
	return lead
}

// prices is how the prices of the catalogue have changed lately.
func (l local) prices(f *figures) section {
	s := section{ID: "prices", Title: l.Prices, Layout: list, Lead: l.everybodys(f, l.between(l.PricesLead, f.recent()), false), Note: l.PricesNote}
	if f.Prices.All == 0 {
		s.Empty = l.between(l.NoPrices, f.recent())
		return s
	}
	s.Answer = fmt.Sprintf(l.PricesAnswer, l.count(f.Prices.Up), l.count(f.Prices.Down), l.count(f.Prices.All))
	columns := numbers(l.Product, l.Code, l.WhichPrice, l.OldPrice, l.NewPrice, l.Change, l.ChangedOn)
	columns[1].Words, columns[2].Words = true, true
	t := table{Caption: l.PricesTable, Columns: columns}
	for _, c := range f.Prices.List {
		which, change := l.SalesPrice, unknown
		if c.Cost {
			which = l.CostPrice
		}
		if c.Change == c.Change {
			change = l.signed(100*c.Change, 1) + "%"
		}
		t.Rows = append(t.Rows, []string{c.Name, c.Code, which, l.number(c.Old, 2), l.number(c.New, 2), change, l.localDay(c.At)})
	}
	t.More = l.more(f.Prices.All - int64(len(f.Prices.List)))
	s.Tables = []table{t}
	return s
}

// more says how many lines a list leaves out.
func (l local) more(n int64) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf(l.More, l.count(n))
}

// stock is what has run out and what runs out soon.
func (l local) stock(f *figures) section {
	s := section{ID: "stock", Title: l.Stock, Layout: list, Note: fmt.Sprintf(l.StockNote, l.count(f.Stock.Unknown))}
	var items int64
	for _, c := range f.Stock.Cover {
		items += c.Items
	}
	if items == 0 {
		s.Empty = l.StockEmpty
		return s
	}
	s.Answer = fmt.Sprintf(l.StockAnswer, l.count(f.Stock.runOut()), l.count(f.Stock.runOutSoon()))
	s.Lead = l.everybodys(f, fmt.Sprintf(l.StockLead, l.day(f.today.Format("2006-01-02"))), true)
	var counts []float64
	cover := table{Caption: l.Figures, Folded: true, Screen: true, Columns: numbers(l.Cover, l.Items, l.BelowMinimum)}
	for i, c := range f.Stock.Cover {
		counts = append(counts, float64(c.Items))
		cover.Rows = append(cover.Rows, []string{l.CoverClasses[i], l.count(c.Items), l.count(c.BelowMinimum)})
	}
	s.Charts = []charts.Chart{l.bars(l.StockChart, l.CoverClasses[:], counts)}
	s.Tables = []table{cover}
	if n := f.Stock.runOut(); n > 0 {
		s.Tables = append(s.Tables, l.items(fmt.Sprintf(l.RunOut, l.count(n)), f.Stock.Out, n))
	}
	if n := f.Stock.runOutSoon(); n > 0 {
		s.Tables = append(s.Tables, l.items(fmt.Sprintf(l.NextOut, l.count(n)), f.Stock.Next, n))
	}
	return s
}

func (l local) items(caption string, list []item, all int64) table {
	columns := numbers(l.Product, l.Center, l.CoverDays, l.Free, l.Minimum, l.SoldLately, l.SoldQuarter, l.Code)
	columns[1].Words, columns[7].Words = true, true
	t := table{Caption: caption, Columns: columns, More: l.more(all - int64(len(list)))}
	for _, i := range list {
		t.Rows = append(t.Rows, []string{
			i.Name, cmp.Or(i.Center, unknown), l.number(i.Cover, 1), l.number(i.Free, 0), l.number(i.Minimum, 0), l.number(i.SoldLately, 0), l.number(i.SoldQuarter, 0), i.Code,
		})
	}
	return t
}

// freshness is how far the figures can be trusted.
func (l local) freshness(f *figures) section {
	s := section{ID: "freshness", Title: l.Fresh, Layout: list, Lead: l.FreshLead, Note: l.FreshNote}
	if len(f.Streams) == 0 {
		s.Empty = l.FreshEmpty
		return s
	}
	columns := []column{{l.Stream, true}, {l.CompleteThrough, true}, {l.FullScan, true}, {l.LastRun, true}, {l.Outcome, true}, {l.Rejects, false}}
	t := table{Caption: l.Fresh, Quiet: true, Columns: columns}
	for _, stream := range f.Streams {
		outcome := cmp.Or(l.Outcomes[string(stream.LastOutcome)], unknown)
		t.Rows = append(t.Rows, []string{
			l.stream(stream), l.moment(stream.CompleteThrough), l.moment(stream.LastFullScanAt), l.moment(stream.LastRunAt), outcome, l.count(stream.Rejects),
		})
	}
	s.Tables = []table{t}
	return s
}

// stream is what people call it.
func (l local) stream(f store.Freshness) string {
	return cmp.Or(l.Streams[f.Stream.Name], f.Stream.Name)
}
