package outbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/jmoiron/sqlx"

	"solarmirror/store"
	"solarmirror/store/identity"
	"solarmirror/store/sqlitefile"
)

// Creations is the corner of the mirror that the outbox writes: the table company_creations, the
// runs of pushes in the ledger, and the look-up of companies in the mirrored requests.
//
// It does without the mirror's lock, so that no long sync holds a push up: the lock keeps two syncs
// from reading the platform into each other's pages and watermarks, none of which is touched here.
// Two writers of one SQLite file take turns by SQLite's own locking, and a sync holds that only
// while it commits a page, which the busy time-out outlasts by far. Creations never migrates and
// never empties the WAL; both are the sync's.
type Creations struct {
	path string
	db   *sqlx.DB // one connection
}

// What Creations writes must survive a power cut before anything is sent, so its commits are
// synced, unlike those of pages.
var creationsPragmas = []string{"busy_timeout(10000)", "synchronous(FULL)", "temp_store(MEMORY)"}

// OpenCreations opens the mirror at path for the outbox. It creates nothing.
//
// Errors: [sqlitefile.ErrNoDatabase], [sqlitefile.ErrNotMirror], [*sqlitefile.NewerError], [*sqlitefile.OlderError], [sqlitefile.ErrCorrupt], [sqlitefile.ErrBusy].
func OpenCreations(ctx context.Context, path string) (*Creations, error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, sqlitefile.NoDatabase(path)
	} else if err != nil {
		return nil, fmt.Errorf("open mirror: %w", err)
	}
	db, err := sql.Open("sqlite", sqlitefile.DSN(path, creationsPragmas)+"&mode=rw&_txlock=immediate")
	if err != nil {
		return nil, fmt.Errorf("open mirror %s: %w", path, err)
	}
	db.SetMaxOpenConns(1)
	c := &Creations{path: path, db: sqlx.NewDb(db, sqlitefile.BindLabel)}
	if err := store.CheckCurrent(ctx, c.db, path); err != nil {
		return nil, errors.Join(fmt.Errorf("open mirror: %w", sqlitefile.Explain(path, err)), db.Close())
	}
	return c, nil
}

// Close ends the connection.
func (c *Creations) Close() error { return c.db.Close() }

// Creation is one row of company_creations, as far as the outbox compares it.
type Creation struct {
	IntentID string `db:"intent_id"`
	State    State  `db:"state"`
	Attempts int64  `db:"attempts"`
	Revision int64  `db:"revision"`
}

// ahead says whether the mirror knows of a change that the row does not: a later one, or another in
// the place of the row's last.
func (c Creation) ahead(r Row) bool {
	return c.Revision > r.Revision || c.Revision == r.Revision && c.State != r.State
}

// Known returns what the mirror knows, by intent.
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

// Record tells the mirror where rows stand. What the mirror knows is never replaced by something as
// old or older: of two accounts of one revision, which only a restored backup can give, it keeps
// its own for Overtaken to find.
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

// RecordRun adds a run that has ended to the ledger. What runs under the mirror's lock uses
// [store.Mirror.StartRun]; a push holds the outbox's.
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

// Evidence says whether the mirror proves that the platform knows a company by now that it did not
// know at a time: a request created since has its tax number as the company's, and no request first
// seen before then has it anywhere. What a request is billed to is no proof of a company, since
// customers are billed as well; it is enough to void one.
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
