package report

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"solarmirror/cmd/internal/charts"
)

// page is what the template shows.
type page struct {
	Words    words
	Title    string // with the restriction
	CSS      template.CSS
	Made     string   // when, and of which platform
	Complete string   // up to when the mirror holds everything
	Warnings []string // why the figures may mislead
	Period   string   // of the cards
	Compared string   // with which days
	Cards    []card
	Sections []section
	Money    string // units
}

// section answers one question. Where Empty is not "", it is all there is to say.
type section struct {
	ID, Title string
	Answer    string // the figures that matter, in words
	Lead      string // what is shown, and of which days
	Empty     string
	Layout    layout
	Charts    []charts.Chart
	Drawn     []template.HTML // the charts
	Tables    []table
	Note      string // how to read the figures
}

// layout is how a section uses the width of a large screen and of paper; a class of the style sheet.
type layout string

// The layouts.
const (
	rows   layout = ""       // charts side by side above the tables; on paper beside them
	beside layout = "beside" // charts beside the tables
	pair   layout = "pair"   // half the width, two sections side by side
	tall   layout = "tall"   // pair on a screen, beside on paper
	list   layout = "list"   // tables of the whole width
)

// table is a table of the page. Its first column names the row.
type table struct {
	Caption string
	Folded  bool // a screen shows the caption only, until it is opened
	Quiet   bool // the heading above says enough: the caption is for screen readers
	Screen  bool // left out on paper, where its chart says enough
	Columns []column
	Rows    [][]string
	Total   []string // nil: none
	More    string   // what is left out
}

// Short reports whether the table shall stay whole on paper.
func (t table) Short() bool { return len(t.Rows) <= 30 }

type column struct {
	Name  string
	Words bool // text, not numbers
}

// cell is one value of a column.
type cell struct {
	column
	First bool // names the row
	Text  string
}

// Class lets a long name or number break anywhere, so that it pushes no column off the page.
func (c cell) Class() string {
	inOneLine, inOneWord := 32, 14
	if !c.Words {
		inOneWord = 11
	}
	long := utf8.RuneCountInString(c.Text) > inOneLine ||
		slices.ContainsFunc(strings.Fields(c.Text), func(word string) bool { return utf8.RuneCountInString(word) > inOneWord })
	switch {
	case c.Words && long:
		return "long"
	case c.Words:
		return ""
	case long:
		return "number long"
	}
	return "number"
}

// Cell returns the cell of a row.
func (c column) Cell(i int, text string) cell { return cell{c, i == 0, text} }

// newPage puts the figures into words.
func newPage(f *figures, o Options) (*page, error) {
	l := local{words: wordsOf(o.Language), Language: o.Language, zone: o.Zone}
	p := &page{
		Words: l.words, Title: l.title(f), CSS: template.CSS(charts.CSS + pageCSS),
		Money: fmt.Sprintf(l.Money, o.Zone), Warnings: l.warnings(f),
	}
	p.Made = fmt.Sprintf(l.Made, l.moment(o.Now))
	if f.Platform != "" {
		p.Made = fmt.Sprintf(l.MadeOf, l.moment(o.Now), f.Platform)
	}
	if through := f.completeThrough(); !through.IsZero() {
		p.Complete = fmt.Sprintf(l.Complete, l.moment(through))
	}
	if err := l.addCards(p, f); err != nil {
		return nil, err
	}
	for _, write := range []func(*figures) section{
		l.revenue, l.margins, l.funnel, l.pipeline, l.payments, l.discounts, l.freight, l.prices,
		l.makers, l.states, l.sellers, l.stay, l.stock, l.freshness,
	} {
		s := write(f)
		for _, c := range s.Charts {
			c.Language, c.Tabled = o.Language, true
			html, err := c.HTML()
			if err != nil {
				return nil, err
			}
			s.Drawn = append(s.Drawn, html)
		}
		p.Sections = append(p.Sections, s)
	}
	return p, nil
}

// title names the report and its restriction.
func (l local) title(f *figures) string {
	parts := []string{l.Title}
	if f.Restriction.Seller != "" {
		parts = append(parts, isolated(l.sellerName(f, f.Restriction.Seller)))
	}
	if f.State != "" {
		parts = append(parts, f.State)
	}
	switch last := l.day(f.lastDay()); {
	case f.Since != "":
		parts = append(parts, fmt.Sprintf(l.Between, l.day(f.Since), last))
	case f.Until != "":
		parts = append(parts, fmt.Sprintf(l.UpTo, last))
	}
	return strings.Join(parts, " – ")
}

// sellerName is the name of a seller by e-mail address, with the address where others have the same
// name; where no name is known, the address.
func (l local) sellerName(f *figures, email string) string {
	name := f.SellerNames[email]
	for other, same := range f.SellerNames {
		if name != "" && same == name && other != email {
			return name + " (" + email + ")"
		}
	}
	return cmp.Or(name, email)
}

// completeThrough is up to when the mirror holds everything of all streams; zero if it does of none.
func (f *figures) completeThrough() time.Time {
	var least time.Time
	for i, s := range f.Streams {
		if i == 0 || s.CompleteThrough.Before(least) {
			least = s.CompleteThrough
		}
	}
	return least
}

func (l local) warnings(f *figures) (list []string) {
	switch {
	case !f.Built:
		list = append(list, l.NotBuilt)
	case f.Behind:
		list = append(list, l.Behind)
	}
	for _, s := range f.Streams {
		switch {
		case !s.CompleteThrough.IsZero():
		case math.IsNaN(s.Loaded):
			list = append(list, fmt.Sprintf(l.Loading, l.stream(s)))
		default:
			list = append(list, fmt.Sprintf(l.LoadingPart, l.stream(s), l.percent(s.Loaded/100, 0)))
		}
	}
	return list
}
