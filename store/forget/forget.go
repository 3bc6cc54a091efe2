package forget

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"solarmirror/schema"
	"solarmirror/store"
	"solarmirror/store/identity"
	"solarmirror/store/marts"
	"solarmirror/store/sqlitefile"
)

// Forgotten is what Forget did, by table.
type Change struct {
	Table string
	Rows  int64
	How   string // "blanked" or "deleted"
}

// person is who is forgotten.
type subject struct {
	taxID  string   // without punctuation
	forms  []string // the tax number as it may stand in a text
	emails []string // in lower case
}

// Forget removes one person from the mirror: the one exception to "never DELETE". The person is who
// a request's company or invoice names with this CPF or CNPJ. In those requests everything that may
// be about a person is blanked but for what belongs to others (the invoice and delivery of a
// company's customers, the company of a customer, the seller); elsewhere every personal text that
// holds the tax number or an e-mail address of theirs, added_by and responsible of that address,
// rejects that hold either, and every example in _drift, because an example does not name its
// record. intents are the person's in the outbox, which the mirror shall call cancelled from now
// on.
//
// The file is then rewritten and its WAL emptied: see finishErasure. The stored hashes stay, and
// _erased_at marks each record with a blanked field: the record comes back only when the platform
// changes it, and loses the mark then. The caller holds the mirror's lock.
//
// Errors: [*store.StillReadError] when the rows are blanked, but a reader kept the old copies in the
// files for longer than patience.
func Person(ctx context.Context, m *store.Mirror, taxID string, intents []string, patience time.Duration) ([]Change, error) {
	var done []Change
	var built bool
	err := m.Update(ctx, func(tx *store.Tx) error {
		e := &erasure{tx: tx, counts: map[[2]string]int64{}}
		if err := e.run(taxID, intents); err != nil {
			return err
		}
		done = e.report()
		if err := tx.NoteErasure(); err != nil {
			return err
		}
		var err error
		built, err = marts.EmptyMarts(tx)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("forget: %w", err)
	}
	if built {
		if err := marts.Refresh(ctx, m); err != nil {
			return done, fmt.Errorf("forget: the rows are blanked, but old copies of them are not removed, and the marts are empty; run the same command again: %w", err)
		}
	}
	if err := m.FinishErasure(ctx, patience); err != nil {
		return done, fmt.Errorf("forget: the rows are blanked, but old copies of them are not removed: %w", err)
	}
	return done, nil
}

// erasure is one Forget under way.
type erasure struct {
	tx     *store.Tx
	who    subject
	counts map[[2]string]int64
}

func (e *erasure) run(taxID string, intents []string) error {
	bare := identity.PlainTaxID(taxID)
	e.who = subject{taxID: bare, forms: identity.TaxForms(bare)}
	for _, form := range e.who.forms {
		// Some JSON encoders escape the slash.
		if escaped := strings.ReplaceAll(form, "/", `\/`); escaped != form {
			e.who.forms = append(e.who.forms, escaped)
		}
	}
	companies, err := e.find("request_companies", "main_contact_email")
	if err != nil {
		return err
	}
	invoices, err := e.find("request_invoices", "email")
	if err != nil {
		return err
	}
	for _, t := range schema.Requests.Tables() {
		var keys []int64
		switch t.Name {
		case "request_companies":
			keys = companies
		case "request_invoices", "request_freights":
			keys = invoices
		default:
			keys = slices.Concat(companies, invoices)
		}
		if err := e.blankRequests(t, keys); err != nil {
			return err
		}
	}
	for _, step := range []func() error{e.blankContacts, e.deleteRejects, e.blankExamples, e.blankMentions} {
		if err := step(); err != nil {
			return err
		}
	}
	return e.blankCreations(intents)
}

// find returns the requests in which a table names the person, and learns their e-mail addresses.
func (e *erasure) find(table, email string) (keys []int64, err error) {
	query, err := e.tx.Prepared(fmt.Sprintf("SELECT request_key, lower(coalesce(%s, '')) AS email FROM %s WHERE %s = ? OR %s = ?",
		email, table, identity.PlainTaxSQL("coalesce(cnpj, '')"), identity.PlainTaxSQL("coalesce(cpf, '')")))
	if err != nil {
		return nil, e.tx.Fail("look in "+table, err)
	}
	var found []struct {
		Key   int64  `db:"request_key"`
		Email string `db:"email"`
	}
	if err := query.SelectContext(context.Background(), &found, e.who.taxID, e.who.taxID); err != nil {
		return nil, e.tx.Fail("look in "+table, err)
	}
	for _, f := range found {
		keys = append(keys, f.Key)
		if f.Email != "" && !slices.Contains(e.who.emails, f.Email) {
			e.who.emails = append(e.who.emails, f.Email)
		}
	}
	return keys, nil
}

// contacts are the people of a request besides its company; they are blanked by their address.
var contacts = []string{"added_by_", "responsible_"}

func isContact(column string) bool {
	return slices.ContainsFunc(contacts, func(prefix string) bool { return strings.HasPrefix(column, prefix) })
}

// personalColumns are those that can be blanked: texts, and whatever a field of the record feeds.
func personalColumns(t *schema.Table) (columns []schema.Column) {
	for _, c := range t.Columns {
		if c.Privacy != schema.Public && !t.IsKey(c.Name) && !slices.Contains(t.Unique, c.Name) && (c.Type == schema.Text || c.Path != "") {
			columns = append(columns, c)
		}
	}
	return columns
}

// blank is the SQL that empties a column.
func blank(c schema.Column) string {
	if c.Not {
		return c.Name + " = ''"
	}
	return c.Name + " = NULL"
}

func (e *erasure) blankRequests(t *schema.Table, keys []int64) error {
	var set, filled []string
	for _, c := range personalColumns(t) {
		if isContact(c.Name) {
			continue
		}
		set, filled = append(set, blank(c)), append(filled, c.Name+" <> ''")
	}
	if len(set) == 0 {
		return nil
	}
	query := fmt.Sprintf("UPDATE %s SET %s WHERE request_key = ? AND (%s)", t.Name, strings.Join(set, ", "), strings.Join(filled, " OR "))
	for _, key := range keys {
		if err := e.change(t, "blanked", query, key); err != nil {
			return err
		}
	}
	return nil
}

// blankContacts empties the person wherever they typed a request in or look after one.
func (e *erasure) blankContacts() error {
	for _, prefix := range contacts {
		for _, email := range e.who.emails {
			query := fmt.Sprintf("UPDATE requests SET %[1]sname = NULL, %[1]ssurname = NULL, %[1]semail = NULL, %[1]scellphone = NULL WHERE lower(%[1]semail) = ?", prefix)
			if err := e.change(schema.Requests, "blanked", query, email); err != nil {
				return err
			}
		}
	}
	return nil
}

// marks are the texts that give the person away.
func (e *erasure) marks() []string { return slices.Concat(e.who.forms, e.who.emails) }

func (e *erasure) deleteRejects() error {
	for _, mark := range e.marks() {
		if err := e.change(schema.Rejects, "deleted", "DELETE FROM _rejects WHERE instr(lower(CAST(raw AS TEXT)), lower(?)) > 0", mark); err != nil {
			return err
		}
	}
	return nil
}

// blankExamples clears every example of drift. Which record an example came from is not stored,
// and that record may have changed since, so searching for the person's values is not enough.
func (e *erasure) blankExamples() error {
	return e.change(schema.Drift, "blanked", "UPDATE _drift SET example = NULL WHERE example IS NOT NULL")
}

// blankMentions empties every personal text that gives the person away, in whatever table. The
// marts are built anew afterwards.
func (e *erasure) blankMentions() error {
	for _, t := range schema.All() {
		if slices.Contains(schema.Derived(), t) {
			continue
		}
		for _, c := range personalColumns(t) {
			for _, mark := range e.marks() {
				query := fmt.Sprintf("UPDATE %s SET %s WHERE instr(lower(%s), lower(?)) > 0", t.Name, blank(c), c.Name)
				if err := e.change(t, "blanked", query, mark); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// blankCreations leaves of the person's creations what became of them. Masked numbers may be
// shared; so may the blanks.
func (e *erasure) blankCreations(intents []string) error {
	now := sqlitefile.FormatTime(e.tx.Mirror().Now())
	for _, intent := range intents {
		// Cancelled, so that an outbox put back from a backup does not send it.
		if err := e.change(schema.CompanyCreations, "blanked", `UPDATE company_creations SET tax_id_masked = NULL, email_masked = NULL, error = NULL, finished_at = coalesce(finished_at, ?),
			state = CASE WHEN state IN ('done', 'rejected') THEN state ELSE 'cancelled' END, revision = revision + 1 WHERE intent_id = ?`, now, intent); err != nil {
			return err
		}
	}
	return e.change(schema.CompanyCreations, "blanked", "UPDATE company_creations SET tax_id_masked = NULL, email_masked = NULL, error = NULL WHERE tax_id_masked = ?", identity.MaskTaxID(e.who.taxID))
}

// change runs a statement that changes rows of a table, and counts the rows. In a table of records
// it is an UPDATE, whose records are marked.
func (e *erasure) change(t *schema.Table, how, query string, args ...any) error {
	doing, count := "forget in "+t.Name, [2]string{t.Name, how}
	root := schema.RootOf(t)
	if root == nil {
		rows, err := e.tx.Exec(doing, query, args...)
		e.counts[count] += rows
		return err
	}
	update, err := e.tx.Prepared(query + " RETURNING " + root.Key[0])
	if err != nil {
		return e.tx.Fail(doing, err)
	}
	var keys []int64
	if err := update.SelectContext(context.Background(), &keys, args...); err != nil {
		return e.tx.Fail(doing, err)
	}
	e.counts[count] += int64(len(keys))
	return e.tx.MarkErased(root, keys)
}

func (e *erasure) report() (done []Change) {
	for at, rows := range e.counts {
		if rows > 0 {
			done = append(done, Change{Table: at[0], How: at[1], Rows: rows})
		}
	}
	slices.SortFunc(done, func(a, b Change) int { return strings.Compare(a.Table+a.How, b.Table+b.How) })
	return done
}
