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

// Change is what [Person] did to one table.
type Change struct {
	Table string
	Rows  int64
	How   string // "blanked" or "deleted"
}

// subject is the person to erase.
type subject struct {
	taxID  string   // as [identity.PlainTaxID]
	forms  []string // the spellings of the tax number that a text may contain
	emails []string // in lower case
}

// Person erases the person with a CPF or CNPJ from the mirror and returns the changes by table. The
// person's requests are those whose company or invoice has this number.
//
//   - When the company has the number, the request's personal values are blanked, but for those of
//     the invoice and delivery, which belong to the company's customer.
//   - When the invoice has it, they are blanked but for those of the company.
//   - In either case the seller (added_by, responsible) stays.
//
// In all tables, personal texts that contain the number or an e-mail address of the person are
// blanked, and so are added_by and responsible with such an address. Rejects that contain the
// number or an address are deleted. Every example in _drift is cleared, because an example does not
// name its record. intents are the person's rows in the outbox: the mirror shows them as cancelled
// from now on.
//
// The marts are built anew, the own ones as well: one of them that cannot be built now has no table
// until it can. The file is then rewritten and its WAL emptied, see [store.Mirror.FinishErasure]. The stored
// hashes stay, and _erased_at marks each record with a blanked field: the record comes back only
// when the platform changes it, and loses the mark then. The caller holds the mirror's lock.
//
// Errors: [*store.StillReadError] when the rows are blanked, but a reader kept the old copies in
// the files for longer than timeout.
func Person(ctx context.Context, m *store.Mirror, taxID string, intents []string, timeout time.Duration) ([]Change, error) {
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
		built, err = marts.Empty(tx)
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
	if err := m.FinishErasure(ctx, timeout); err != nil {
		return done, fmt.Errorf("forget: the rows are blanked, but old copies of them are not removed: %w", err)
	}
	return done, nil
}

// erasure is the state of one call of [Person].
type erasure struct {
	tx     *store.Tx
	who    subject
	counts map[[2]string]int64 // rows, by table and Change.How
}

func (e *erasure) run(taxID string, intents []string) error {
	plain := identity.PlainTaxID(taxID)
	e.who = subject{taxID: plain, forms: identity.TaxForms(plain)}
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

// find returns the keys of the requests in which table has the person's tax number. It adds the
// e-mail addresses found there to e.who.
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

// contactPrefixes begin the columns of the people who sell a request. blankContacts finds them by
// e-mail address.
var contactPrefixes = []string{"added_by_", "responsible_"}

func isContact(column string) bool {
	return slices.ContainsFunc(contactPrefixes, func(prefix string) bool { return strings.HasPrefix(column, prefix) })
}

// personalColumns returns the columns that can be blanked, outside of keys: personal texts, and
// whatever a field of the record feeds.
func personalColumns(t *schema.Table) (columns []schema.Column) {
	for _, c := range t.Columns {
		if c.Privacy != schema.Public && !t.IsKey(c.Name) && !slices.Contains(t.Unique, c.Name) && (c.Type == schema.Text || c.Path != "") {
			columns = append(columns, c)
		}
	}
	return columns
}

// mentionColumns returns the columns in which a person may be mentioned: personal ones, and every
// text of a record and its history, since people write such things into the name of a product.
func mentionColumns(t *schema.Table) []schema.Column {
	columns := personalColumns(t)
	if schema.RootOf(t) == nil && t.Shape != schema.History {
		return columns
	}
	for _, c := range t.Columns {
		if c.Privacy == schema.Public && c.Type == schema.Text && (c.Path != "" || t.Shape == schema.History) && c.Clause == "" && !t.IsKey(c.Name) && !slices.Contains(t.Unique, c.Name) {
			columns = append(columns, c)
		}
	}
	return columns
}

// blank returns SQL that empties a column.
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

// blankContacts blanks added_by and responsible of the requests that name the person there.
func (e *erasure) blankContacts() error {
	for _, prefix := range contactPrefixes {
		for _, email := range e.who.emails {
			query := fmt.Sprintf("UPDATE requests SET %[1]sname = NULL, %[1]ssurname = NULL, %[1]semail = NULL, %[1]scellphone = NULL WHERE lower(%[1]semail) = ?", prefix)
			if err := e.change(schema.Requests, "blanked", query, email); err != nil {
				return err
			}
		}
	}
	return nil
}

// identifiers returns the texts that identify the person.
func (e *erasure) identifiers() []string { return slices.Concat(e.who.forms, e.who.emails) }

func (e *erasure) deleteRejects() error {
	for _, identifier := range e.identifiers() {
		if err := e.change(schema.Rejects, "deleted", "DELETE FROM _rejects WHERE instr(lower(CAST(raw AS TEXT)), lower(?)) > 0", identifier); err != nil {
			return err
		}
	}
	return nil
}

// blankExamples clears every example in _drift. A search for the person's values is not enough: the
// record of an example is not stored, and may have changed since.
func (e *erasure) blankExamples() error {
	for _, identifier := range e.identifiers() { // of mirrors that took such steps over into paths
		if err := e.change(schema.Drift, "deleted", "DELETE FROM _drift WHERE instr(lower(path), lower(?)) > 0", identifier); err != nil {
			return err
		}
	}
	return e.change(schema.Drift, "blanked", "UPDATE _drift SET example = NULL WHERE example IS NOT NULL")
}

// blankMentions blanks every personal text that contains an identifier of the person. It leaves out
// the marts, which are rebuilt afterwards.
func (e *erasure) blankMentions() error {
	for _, t := range schema.All() {
		if slices.Contains(schema.Derived(), t) {
			continue
		}
		for _, c := range mentionColumns(t) {
			for _, identifier := range e.identifiers() {
				query := fmt.Sprintf("UPDATE %s SET %s WHERE instr(lower(%s), lower(?)) > 0", t.Name, blank(c), c.Name)
				if err := e.change(t, "blanked", query, identifier); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// blankCreations blanks the personal values in the person's company_creations and keeps the states.
// Rows are also found by the masked tax number, so it may blank rows of another person with the
// same mask.
func (e *erasure) blankCreations(intents []string) error {
	now := sqlitefile.FormatTime(e.tx.Mirror().Now())
	for _, intent := range intents {
		// Cancelled, so that an outbox restored from a backup does not send the row.
		if err := e.change(schema.CompanyCreations, "blanked", `UPDATE company_creations SET tax_id_masked = NULL, email_masked = NULL, error = NULL, finished_at = coalesce(finished_at, ?),
			state = CASE WHEN state IN ('done', 'rejected') THEN state ELSE 'cancelled' END, revision = revision + 1 WHERE intent_id = ?`, now, intent); err != nil {
			return err
		}
	}
	return e.change(schema.CompanyCreations, "blanked", "UPDATE company_creations SET tax_id_masked = NULL, email_masked = NULL, error = NULL WHERE tax_id_masked = ?", identity.MaskTaxID(e.who.taxID))
}

// change runs a statement that changes rows of a table, and counts the rows. In a record table the
// statement must be an UPDATE; change marks its records as erased.
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
