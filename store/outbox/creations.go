package outbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"
	"modernc.org/sqlite"

	"solarmirror/store"
	"solarmirror/store/identity"
	"solarmirror/store/sqlitefile"
)

// Creations is the mirror as the outbox uses it. It writes the table company_creations and the runs
// of pushes in the ledger, and looks companies up in the mirrored requests.
//
// It does not take the mirror's lock, so that a long sync does not delay a push. The lock protects
// pages and watermarks from a second sync; Creations writes neither. Writers of one SQLite file
// take turns by SQLite's own lock. A sync holds that only while it commits a page, which takes much
// less time than the busy timeout. Creations never migrates the mirror and never empties the WAL; a
// sync does both.
type Creations struct {
	path string
	db   *sqlx.DB // one connection
}

// creationsPragmas sync every commit, unlike the pragmas of pages: a record must survive a power
// cut before the row is sent.
var creationsPragmas = []string{"busy_timeout(10000)", "synchronous(FULL)", "temp_store(MEMORY)"}

// OpenCreations opens the mirror at path. It creates nothing.
//
// Errors: [sqlitefile.ErrNoDatabase], [sqlitefile.ErrNotMirror], [*sqlitefile.NewerError],
// [*sqlitefile.OlderError], [sqlitefile.ErrCorrupt], [sqlitefile.ErrBusy].
func OpenCreations(ctx context.Context, path string) (*Creations, error) {
	if err := sqlitefile.MustExist(path); err != nil {
		return nil, err
	}
	connector, err := sqlite.NewConnector(sqlitefile.DSN(path, creationsPragmas) + "&mode=rw&_txlock=immediate")
	if err != nil {
		return nil, fmt.Errorf("open mirror %s: %w", path, err)
	}
	db := sql.OpenDB(sqlitefile.WALConnector{Connector: connector})
	db.SetMaxOpenConns(1)
	c := &Creations{path: path, db: sqlx.NewDb(db, sqlitefile.BindLabel)}
	if err := store.CheckCurrent(ctx, c.db, path); err != nil {
		return nil, errors.Join(fmt.Errorf("open mirror: %w", sqlitefile.Explain(path, err)), db.Close())
	}
	return c, nil
}

// Close closes the connection.
func (c *Creations) Close() error { return c.db.Close() }

// Creation is a row of company_creations, with the columns that the outbox compares.
type Creation struct {
	IntentID string `db:"intent_id"`
	State    State  `db:"state"`
	Attempts int64  `db:"attempts"`
	Revision int64  `db:"revision"`
}

// ahead reports whether the mirror has a change that the row does not: a later revision, or another
// state in the same revision.
func (c Creation) ahead(r Row) bool {
	return c.Revision > r.Revision || c.Revision == r.Revision && c.State != r.State
}

// Known returns the rows of company_creations by intent id.
func (c *Creations) Known(ctx context.Context) (map[string]Creation, error) {
	var list []Creation
	if err := c.db.SelectContext(ctx, &list, "SELECT intent_id, state, attempts, revision FROM company_creations"); err != nil {
		return nil, fmt.Errorf("read company_creations: %w", sqlitefile.Explain(c.path, err))
	}
	known := make(map[string]Creation, len(list))
	for _, one := range list {
		known[one.IntentID] = one
	}
	return known, nil
}

// Record writes the state of rows to company_creations. It only replaces lower revisions. Only a
// restored backup can give two states of one revision; the mirror then keeps its own, and
// [Outbox.Overtaken] finds the difference.
func (c *Creations) Record(ctx context.Context, rows ...Row) error {
	if len(rows) == 0 {
		return nil
	}
	if err := c.record(ctx, rows); err != nil {
		return fmt.Errorf("write company_creations: %w", sqlitefile.Explain(c.path, err))
	}
	return nil
}

func (c *Creations) record(ctx context.Context, rows []Row) error {
	tx, err := c.db.BeginTxx(ctx, nil)
	if err != nil {
		return err
	}
	for _, r := range rows {
		_, err := tx.Exec(`INSERT INTO company_creations (intent_id, outbox_id, tax_id_masked, email_masked, state, attempts, revision, created_at, finished_at, error)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (intent_id) DO UPDATE SET outbox_id = excluded.outbox_id, tax_id_masked = excluded.tax_id_masked, email_masked = excluded.email_masked,
				state = excluded.state, attempts = excluded.attempts, revision = excluded.revision, created_at = excluded.created_at,
				finished_at = excluded.finished_at, error = excluded.error
			WHERE excluded.revision > company_creations.revision`,
			r.IntentID, r.ID, sqlitefile.NullableText(identity.MaskTaxID(r.TaxID())), sqlitefile.NullableText(identity.MaskEmail(r.Email)), string(r.State), r.Attempts, r.Revision,
			sqlitefile.FormatTime(r.CreatedAt), sqlitefile.NullableTime(r.FinishedAt), sqlitefile.NullableText(r.Error))
		if err != nil {
			return errors.Join(err, tx.Rollback())
		}
	}
	return tx.Commit()
}

// RecordRun adds a finished push to the ledger. Commands that hold the mirror's lock use
// [store.Mirror.StartRun] instead; a push holds the outbox's lock.
func (c *Creations) RecordRun(ctx context.Context, r store.Run) error {
	_, err := c.db.ExecContext(ctx, `INSERT INTO _runs (command, trigger, started_at, finished_at, outcome, pages, records, inserted, changed, unchanged, deleted, rejected, error)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		r.Command, r.Trigger, sqlitefile.FormatTime(r.StartedAt), sqlitefile.FormatTime(r.FinishedAt), string(r.Outcome),
		r.Pages, r.Records, r.Inserted, r.Changed, r.Unchanged, r.Deleted, r.Rejected, sqlitefile.NullableText(r.Error))
	if err != nil {
		return fmt.Errorf("write _runs: %w", sqlitefile.Explain(c.path, err))
	}
	return nil
}

// Evidence reports whether the mirror proves that the platform created a company after since. The
// proof is a request created after since with the tax number as its company's. There is none when a
// request first seen before since has the number as its company's or in its invoice. A later
// invoice proves nothing, because customers are invoiced too.
func (c *Creations) Evidence(ctx context.Context, taxID string, since time.Time) (bool, error) {
	id := identity.PlainTaxID(taxID)
	if id == "" || since.IsZero() {
		return false, nil
	}
	has := func(alias string) string {
		return "(" + identity.PlainTaxSQL("coalesce("+alias+".cnpj, '')") + " = ? OR " + identity.PlainTaxSQL("coalesce("+alias+".cpf, '')") + " = ?)"
	}
	var found bool
	err := c.db.GetContext(ctx, &found, `SELECT
		EXISTS (SELECT 1 FROM request_companies c JOIN requests r USING (request_key)
			WHERE `+has("c")+` AND coalesce(r.budget_created, r.order_created) >= ?)
		AND NOT EXISTS (SELECT 1 FROM request_companies c JOIN requests r USING (request_key) WHERE `+has("c")+` AND r._first_seen_at < ?)
		AND NOT EXISTS (SELECT 1 FROM request_invoices i JOIN requests r USING (request_key) WHERE `+has("i")+` AND r._first_seen_at < ?)`,
		id, id, sqlitefile.FormatTime(since), id, id, sqlitefile.FormatTime(since), id, id, sqlitefile.FormatTime(since))
	if err != nil {
		return false, fmt.Errorf("look for evidence in the mirror: %w", sqlitefile.Explain(c.path, err))
	}
	return found, nil
}
