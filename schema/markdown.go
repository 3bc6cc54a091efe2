package schema

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// group is a chapter of the dictionary.
type group struct {
	title, doc string
	tables     []*Table
}

// groups are all tables of the mirror, in the order of the dictionary.
func groups(l Language) []group {
	var list []group
	for _, root := range Roots() {
		list = append(list, group{
			l.Text("Records") + ": " + root.Name,
			l.Text(root.Doc) + " " + l.Text("What a record lists hangs under it by") + " " + root.Key[0] + ".",
			root.Tables(),
		})
	}
	return append(list,
		group{l.Text("History"), l.Text("What the platform shows only at present, kept from the day the mirror began to look."), HistoryTables},
		group{l.Text("Marts"), l.Text("The same facts in the form in which questions are asked of them: open these first."), MartTables},
		group{l.Text("Ledger"), l.Text("What the mirror knows about itself."), LedgerTables},
	)
}

// types says what each declared type holds.
var types = []struct {
	name Type
	doc  string
}{
	{Text, "text, UTF-8"},
	{Real, "number, 64-bit floating point"},
	{BigInt, "whole number, 64 bits"},
	{Boolean, "0 or 1"},
	{Date, "text, `YYYY-MM-DD`"},
	{Timestamp, "text, `YYYY-MM-DD HH:MM:SS.SSS`, in the zone the unit names"},
	{Surrogate, "surrogate key of the mirror's own making"},
	{Blob, "bytes"},
}

// Markdown is the data dictionary as a document: an entity diagram (Mermaid) and the columns of
// each table, by group.
func Markdown(l Language) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s\n\n", l.Text("Data dictionary"), l.Text("Written by `solarmirror schema markdown`; the mirror holds the same as a table, `_columns`."))
	writeHeader(&b, l, "Type", "What it holds")
	for _, t := range types {
		fmt.Fprintf(&b, "| %s | %s |\n", t.name, l.Text(t.doc))
	}
	fmt.Fprintf(&b, "\n%s\n%s\n", l.Text("*Source* is the JSON Pointer in the platform's record, `*` standing for every element of a list."),
		l.Text("*Personal* columns may hold personal data and are masked in published copies."))
	for _, g := range groups(l) {
		fmt.Fprintf(&b, "\n- [%s](#%s):", g.title, anchor(g.title))
		for i, t := range g.tables {
			separator := ","
			if i == 0 {
				separator = ""
			}
			fmt.Fprintf(&b, "%s [%s](#%s)", separator, t.Name, anchor(t.Name))
		}
	}
	b.WriteString("\n")
	for _, g := range groups(l) {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n```mermaid\n%s```\n", g.title, g.doc, diagram(l, g.tables))
		for _, t := range g.tables {
			writeTable(&b, l, t)
		}
	}
	return b.String()
}

// writeHeader begins a Markdown table.
func writeHeader(b *strings.Builder, l Language, names ...string) {
	for _, name := range names {
		b.WriteString("| " + l.Text(name) + " ")
	}
	b.WriteString("|\n" + strings.Repeat("|---", len(names)) + "|\n")
}

func writeTable(b *strings.Builder, l Language, t *Table) {
	fmt.Fprintf(b, "\n### %s\n\n*%s.* %s %s: %s.\n\n", t.Name, t.Label, l.Text(t.Doc), l.Text("Key"), keyWords(l, t))
	writeHeader(b, l, "Column", "Type", "Unit", "Label (pt)", "Meaning", "Personal", "Source")
	for _, c := range t.Columns {
		personal := l.Text("yes")
		if c.Privacy == Public {
			personal = ""
		}
		kind := string(c.Type)
		if c.Not || t.IsKey(c.Name) {
			kind += " NOT NULL"
		}
		source := ""
		if path := SourcePath(t, c); path != "" {
			source = "`" + strings.ReplaceAll(path, " ", "`<br>`") + "`"
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s | %s |\n", c.Name, kind, cell(l.Text(c.Unit)), cell(c.Label), cell(l.Text(c.Doc)), personal, source)
	}
}

func keyWords(l Language, t *Table) string {
	switch {
	case len(t.Key) == 0:
		return l.Text("none")
	case len(t.Unique) > 0:
		return strings.Join(t.Key, ", ") + "; " + l.Text("unique by") + " " + strings.Join(t.Unique, ", ")
	}
	return strings.Join(t.Key, ", ")
}

// cell makes a text safe inside a row of a Markdown table.
func cell(s string) string {
	return strings.NewReplacer("|", `\|`, "*", `\*`, "_", `\_`, "<", "&lt;").Replace(s)
}

// anchor is the fragment under which GitHub and others show a heading.
func anchor(heading string) string {
	kept := strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case strings.ContainsRune(":()", r):
			return -1
		}
		return r
	}, heading)
	return strings.ToLower(kept)
}

// diagram is a Mermaid diagram of tables, with their keys and what they refer to. All columns would
// make it unreadable, and tables that stand alone add nothing to it. Labels are Portuguese.
func diagram(l Language, tables []*Table) string {
	var entities, lines strings.Builder
	for _, t := range tables {
		relations := relationsOf(t)
		if len(relations) == 0 && !slices.ContainsFunc(tables, func(other *Table) bool { return refers(other, t) }) {
			continue
		}
		caption := ""
		if l == Portuguese {
			caption = fmt.Sprintf("[\"%s: %s\"]", t.Name, t.Label)
		}
		fmt.Fprintf(&entities, "  %s%s {\n", t.Name, caption)
		for _, c := range t.Columns {
			var marks []string
			if t.IsKey(c.Name) {
				marks = append(marks, "PK")
			}
			if slices.ContainsFunc(relations, func(r relation) bool { return slices.Contains(r.by, c.Name) }) {
				marks = append(marks, "FK")
			}
			if len(marks) > 0 || slices.Contains(t.Unique, c.Name) {
				fmt.Fprintf(&entities, "    %s\n", strings.TrimSpace(fmt.Sprintf("%s %s %s", c.Type, c.Name, strings.Join(marks, ", "))))
			}
		}
		entities.WriteString("  }\n")
		for _, r := range relations {
			fmt.Fprintf(&lines, "  %s %s %s : \"%s\"\n", r.to.Name, r.symbol(t), t.Name, strings.Join(r.by, ", "))
		}
	}
	return "erDiagram\n  direction LR\n" + lines.String() + entities.String()
}

// relation is one table's reference to another.
type relation struct {
	to       *Table
	by       []string // the referring columns
	optional bool     // a row may refer to none
}

// relationsOf returns what a table refers to. A list within a list is drawn under that list, though its foreign key leads to the record.
func relationsOf(t *Table) []relation {
	if list := listAround(t); list != nil {
		return []relation{{to: list, by: t.Key[:len(list.Key)]}}
	}
	var relations []relation
	for _, c := range t.Columns {
		if to := Find(c.References()); to != nil {
			relations = append(relations, relation{to, []string{c.Name}, !c.Not})
		}
	}
	return relations
}

func refers(from, to *Table) bool {
	return slices.ContainsFunc(relationsOf(from), func(r relation) bool { return r.to == to })
}

func listAround(t *Table) *Table {
	for _, other := range All() {
		if other.Shape == Many && slices.Contains(other.Children, t) {
			return other
		}
	}
	return nil
}

// symbol draws how many rows of t belong to one row of the table it refers to.
func (r relation) symbol(t *Table) string {
	switch {
	case r.optional:
		return "|o--o{"
	case slices.Equal(t.Key, r.by):
		return "||--o|"
	}
	return "||--o{"
}

var references = regexp.MustCompile(`\bREFERENCES (\w+)\(`)

// References names the table a column's foreign key leads to; "" when it has none.
func (c Column) References() string {
	if found := references.FindStringSubmatch(c.Clause); found != nil {
		return found[1]
	}
	return ""
}
