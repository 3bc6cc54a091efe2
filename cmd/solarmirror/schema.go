package main

import (
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"solarmirror/cmd/internal/terminal"
	"solarmirror/schema"
	"solarmirror/store/marts"
)

func newSchemaCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "schema",
		Short:   "Describe the mirror's tables and columns",
		Example: "  solarmirror schema columns requests",
	}
	cmd.AddCommand(newSchemaTablesCommand(a), newSchemaColumnsCommand(a), newSchemaDDLCommand(a), newSchemaSQLCommand(a), newSchemaMarkdownCommand(a), newSchemaDatasetteCommand(a))
	return cmd
}

func newSchemaTablesCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "tables",
		Short:   "List the tables",
		Example: "  solarmirror schema tables",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			type tableJSON struct {
				Name    string `json:"table_name"`
				Label   string `json:"label_pt"`
				Columns int    `json:"columns"`
				Doc     string `json:"description"`
			}
			t := terminal.NewTable("table", "label", "columns", "description")
			var rows []tableJSON
			for _, s := range schema.All() {
				t.Add(s.Name, s.Label, len(s.Columns), s.Doc)
				rows = append(rows, tableJSON{s.Name, s.Label, len(s.Columns), s.Doc})
			}
			if asJSON {
				return encodeLines(a.stdout, rows)
			}
			return t.Write(a.stdout)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object per table: table_name, label_pt, columns, description")
	return cmd
}

func newSchemaColumnsCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:               "columns [table…]",
		Short:             "List columns with type, source, unit and meaning",
		Example:           "  solarmirror schema columns requests request_products",
		ValidArgsFunction: cobra.FixedCompletions(tableNames(schema.All()), cobra.ShellCompDirectiveNoFileComp),
		RunE: func(cmd *cobra.Command, args []string) error {
			tables, err := findTables(args)
			if err != nil {
				return &usageError{command: cmd.CommandPath(), err: err}
			}
			type columnJSON struct { // as the table _columns
				Table    string  `json:"table_name"`
				Column   string  `json:"column_name"`
				Type     string  `json:"type"`
				Source   *string `json:"source_path"`
				Doc      string  `json:"description"`
				Label    string  `json:"label_pt"`
				Unit     *string `json:"unit"`
				Personal bool    `json:"personal"`
				DocPt    string  `json:"description_pt"`
			}
			var rows []columnJSON
			t := terminal.NewTable("table", "column", "type", "source", "unit", "label", "personal", "description")
			for _, s := range tables {
				for _, c := range s.Columns {
					personal := "yes"
					if c.Privacy == schema.Public {
						personal = ""
					}
					t.Add(s.Name, c.Name, string(c.Type), schema.SourcePath(s, c), c.Unit, c.Label, personal, c.Doc)
					rows = append(rows, columnJSON{s.Name, c.Name, string(c.Type), notEmpty(schema.SourcePath(s, c)), c.Doc, c.Label, notEmpty(c.Unit), personal != "", schema.Portuguese.Text(c.Doc)})
				}
			}
			if asJSON {
				return encodeLines(a.stdout, rows)
			}
			return t.Write(a.stdout)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object per column, with the names of the table _columns: table_name, column_name, type, source_path, description, label_pt, unit, personal, description_pt")
	return cmd
}

func newSchemaDDLCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:               "ddl [table…]",
		Short:             "Print the SQL that creates the tables and indices",
		Example:           "  solarmirror schema ddl | sqlite3 empty.db",
		ValidArgsFunction: cobra.FixedCompletions(tableNames(schema.All()), cobra.ShellCompDirectiveNoFileComp),
		RunE: func(cmd *cobra.Command, args []string) error {
			tables, err := findTables(args)
			if err != nil {
				return &usageError{command: cmd.CommandPath(), err: err}
			}
			for _, s := range tables {
				indices := slices.Sorted(maps.Values(s.IndexDDL()))
				for _, sql := range append([]string{s.DDL()}, indices...) {
					if _, err := fmt.Fprintf(a.stdout, "%s;\n", sql); err != nil {
						return err
					}
				}
			}
			return nil
		},
	}
}

func newSchemaSQLCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "sql [summary…]",
		Short: "Print the SELECTs that summaries are computed by",
		Long: `Print the SELECT that gives the rows of a mart which adds up others, of all of them when
none is named. It runs as it is in any SQLite shell from 3.40 on, and is a start for
questions that no mart answers.`,
		Example:           "  solarmirror schema sql bi_revenue_month | sqlite3 -readonly data/mirror/solarmirror.db",
		ValidArgsFunction: cobra.FixedCompletions(tableNames(schema.Summaries), cobra.ShellCompDirectiveNoFileComp),
		RunE: func(cmd *cobra.Command, args []string) error {
			summaries, err := findSummaries(args)
			if err != nil {
				return &usageError{command: cmd.CommandPath(), err: err}
			}
			for _, s := range summaries {
				comment := sqlComment(s.Name + ": " + s.Doc)
				if _, err := fmt.Fprintf(a.stdout, "%s%s;\n", comment, strings.TrimSpace(marts.SQL(s))); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// findSummaries returns the named summaries, all when none is named.
func findSummaries(args []string) ([]*schema.Table, error) {
	if len(args) == 0 {
		return schema.Summaries, nil
	}
	var summaries []*schema.Table
	for _, name := range args {
		t := schema.Find(name)
		if slices.Contains(schema.Summaries, t) {
			summaries = append(summaries, t)
			continue
		}
		problem := "no table %q"
		if t != nil {
			problem = "%q is kept row by row, not computed by a SELECT"
		}
		return nil, fmt.Errorf(problem+"; the summaries are %s", name, strings.Join(tableNames(schema.Summaries), ", "))
	}
	return summaries, nil
}

// sqlComment returns the text as lines of an SQL comment.
func sqlComment(text string) string {
	const width = 100
	line, lines := "--", ""
	for word := range strings.FieldsSeq(text) {
		if len(line)+len(" ")+len(word) > width {
			lines, line = lines+line+"\n", "--"
		}
		line += " " + word
	}
	return lines + line + "\n"
}

func newSchemaMarkdownCommand(a *app) *cobra.Command {
	var lang string
	cmd := &cobra.Command{
		Use:   "markdown",
		Short: "Print the data dictionary as a document, with entity diagrams",
		Example: `  solarmirror schema markdown > dictionary.md
  solarmirror schema markdown --lang pt > dicionario.md`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			language := schema.Language(lang)
			if language != schema.English && language != schema.Portuguese {
				return &usageError{command: cmd.CommandPath(), err: fmt.Errorf("--lang is %q; %w", lang, errLanguage)}
			}
			_, err := io.WriteString(a.stdout, schema.Markdown(language))
			return err
		},
	}
	cmd.Flags().StringVar(&lang, "lang", string(schema.English), "`language`: pt or en")
	return cmd
}

func newSchemaDatasetteCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "datasette [FILE]",
		Short: "Print the data dictionary as metadata for Datasette",
		Long: `Print metadata that makes Datasette show what each table and column means, and hides
the ledger. Datasette knows a database by its file's name: give the FILE you will
serve when it is not called solarmirror.db. It is not read.`,
		Example: "  solarmirror schema datasette > metadata.json && datasette data/published/solarmirror.db --metadata metadata.json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			file := "solarmirror.db"
			if len(args) == 1 {
				file = args[0]
			}
			text, err := schema.Datasette(strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)))
			if err != nil {
				return err
			}
			_, err = a.stdout.Write(text)
			return err
		},
	}
}

// findTables returns the named tables, all when none is named.
func findTables(names []string) ([]*schema.Table, error) {
	if len(names) == 0 {
		return schema.All(), nil
	}
	var tables []*schema.Table
	for _, name := range names {
		t := schema.Find(name)
		if t == nil {
			return nil, fmt.Errorf("no table %q; the tables are %s", name, strings.Join(tableNames(schema.All()), ", "))
		}
		tables = append(tables, t)
	}
	return tables, nil
}

func tableNames(tables []*schema.Table) []string {
	list := make([]string, len(tables))
	for i, t := range tables {
		list[i] = t.Name
	}
	return list
}
