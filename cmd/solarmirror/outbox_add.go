package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"solarmirror/cmd/internal/buildinfo"
	"solarmirror/cmd/internal/config"
	"solarmirror/cmd/internal/outboxcmd"
	"solarmirror/cmd/internal/terminal"
	"solarmirror/store"
	"solarmirror/sync/push"
)

func newOutboxAddCommand(a *app) *cobra.Command {
	var allowDuplicate bool
	cmd := &cobra.Command{
		Use:   "add",
		Short: "Queue one company or several, given as JSON on standard input",
		Long: `Queue companies to be created. Standard input holds the platform's own JSON, one
object or an array of them; on a terminal the fields are asked for, each again until it is
valid, the password without showing it. Unless all is valid nothing is queued.`,
		Example: `  echo '{"name":"Ana","email":"ana@example.com","password":"…","CNPJ":"11.222.333/0001-81"}' | solarmirror outbox add`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			entries, err := a.readCompanies(cmd.Context())
			if err != nil {
				return err
			}
			return a.queue(cmd.Context(), entries, importFlags{allowDuplicate: allowDuplicate})
		},
	}
	cmd.Flags().BoolVar(&allowDuplicate, "allow-duplicate", false, "queue it although a company with the same CPF, CNPJ or e-mail is queued, in doubt or created")
	return cmd
}

// readCompanies reads what add is given.
func (a *app) readCompanies(ctx context.Context) ([]push.Entry, error) {
	if terminal.Is(a.stdin) {
		return outboxcmd.Ask(ctx, terminal.NewDialogue(a.stdin, a.stderr))
	}
	return push.ReadJSON(a.stdin)
}

// importFormats are the forms of a file of companies.
var importFormats = []string{"csv", "jsonl", "json"}

type importFlags struct {
	format         string
	dryRun         bool
	skipInvalid    bool
	allowDuplicate bool
}

func newOutboxImportCommand(a *app) *cobra.Command {
	var f importFlags
	cmd := &cobra.Command{
		Use:   "import FILE",
		Short: "Queue the companies of a CSV or JSON file",
		Long: `Queue the companies of a file: CSV whose first line names the columns as the outbox does
(name, email, password, cnpj, address_cep, …; with commas or semicolons), JSON Lines or
JSON in the platform's own form. "-" reads standard input. All are queued or none, unless
--skip-invalid leaves out those that are not valid.`,
		Example: "  solarmirror outbox import companies.csv --dry-run",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			format, err := importFormat(args[0], f.format)
			if err != nil {
				return &usageError{command: cmd.CommandPath(), err: err}
			}
			entries, err := a.readImport(args[0], format)
			if err != nil {
				return err
			}
			return a.queue(cmd.Context(), entries, f)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.format, "format", "", "`form` of the file: csv, jsonl or json (default: by its name)")
	flags.BoolVar(&f.dryRun, "dry-run", false, "validate and report line by line, queue nothing")
	flags.BoolVar(&f.skipInvalid, "skip-invalid", false, "queue the valid ones although others are not")
	flags.BoolVar(&f.allowDuplicate, "allow-duplicate", false, "queue companies although others with the same CPF, CNPJ or e-mail are queued, in doubt or created")
	return cmd
}

func importFormat(path, given string) (string, error) {
	if given == "" {
		given = strings.TrimPrefix(strings.ToLower(filepath.Ext(path)), ".")
	}
	if given == "ndjson" {
		given = "jsonl"
	}
	if !slices.Contains(importFormats, given) {
		return "", fmt.Errorf("the form of %s is not known by its name; say --format csv, jsonl or json", path)
	}
	return given, nil
}

func (a *app) readImport(path, format string) ([]push.Entry, error) {
	in := a.stdin
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return nil, fmt.Errorf("import: %w", err)
		}
		defer file.Close()
		in = file
	}
	read := map[string]func(io.Reader) ([]push.Entry, error){"csv": push.ReadCSV, "jsonl": push.ReadJSONLines, "json": push.ReadJSON}[format]
	entries, err := read(in)
	if err != nil {
		return nil, fmt.Errorf("import %s: %w", path, err)
	}
	return entries, nil
}

// queue adds the valid entries to the outbox and says what is wrong with the others.
func (a *app) queue(ctx context.Context, entries []push.Entry, f importFlags) error {
	var valid []store.Company
	var lines []int // of valid
	invalid := 0
	for _, e := range entries {
		if e.Err != nil {
			invalid++
			fmt.Fprintf(a.stderr, "line %d: %v\n", e.Line, e.Err)
			continue
		}
		valid, lines = append(valid, e.Company), append(lines, e.Line)
	}
	switch {
	case len(entries) == 0:
		return errors.New("there is no company to queue")
	case f.dryRun:
		return a.reportDryRun(ctx, valid, lines, invalid, f.allowDuplicate)
	case invalid > 0 && !f.skipInvalid:
		return fmt.Errorf("nothing was queued: %d of %d companies are not valid", invalid, len(entries))
	case len(valid) == 0:
		return fmt.Errorf("nothing was queued: none of %d companies is valid", len(entries))
	}
	return a.withOutbox(ctx, func(c config.Config, outbox *store.Outbox) error {
		rows, err := outbox.Add(ctx, valid, f.allowDuplicate)
		var duplicate *store.DuplicateError
		if errors.As(err, &duplicate) {
			return fmt.Errorf("nothing was queued: line %d: %w", lines[duplicate.Index], duplicate)
		}
		if err != nil {
			return err
		}
		a.tell(ctx, c, rows...)
		return a.printQueued(rows)
	})
}

func (a *app) printQueued(rows []store.OutboxRow) error {
	t := terminal.NewTable("id", "tax number", "e-mail", "state")
	for _, r := range rows {
		t.Add(r.ID, store.MaskTaxID(r.TaxID()), store.MaskEmail(r.Email), string(r.State))
	}
	if err := t.Write(a.stdout); err != nil {
		return err
	}
	_, err := fmt.Fprintf(a.stdout, "\nSend them with \"%s push\".\n", buildinfo.Command())
	return err
}

// reportDryRun says line by line what would be done. Only the outbox knows the duplicates.
func (a *app) reportDryRun(ctx context.Context, valid []store.Company, lines []int, invalid int, allowDuplicate bool) error {
	duplicates := 0
	err := a.withOutbox(ctx, func(_ config.Config, outbox *store.Outbox) error {
		for i, company := range valid {
			found, err := outbox.Duplicate(ctx, company)
			if err != nil {
				return err
			}
			if found == nil || allowDuplicate {
				fmt.Fprintf(a.stdout, "line %d: ok\n", lines[i])
				continue
			}
			duplicates++
			fmt.Fprintf(a.stderr, "line %d: %v\n", lines[i], found)
		}
		return nil
	})
	if err == nil && invalid+duplicates > 0 {
		return fmt.Errorf("%d of %d companies could not be queued", invalid+duplicates, invalid+len(valid))
	}
	return err
}
