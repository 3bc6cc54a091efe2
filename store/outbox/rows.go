package outbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"

	"solarmirror/store/identity"
	"solarmirror/store/sqlitefile"
)

// State is the state of a row.
type State string

// The states of a row. Package push draws the moves between them.
const (
	StatePending   State = "pending"
	StateSending   State = "sending"
	StateDone      State = "done"
	StateRejected  State = "rejected"
	StateAmbiguous State = "ambiguous"
	StateCancelled State = "cancelled"
)

// States returns every state, in the order in which lists show them.
func States() []State {
	return []State{StateAmbiguous, StateRejected, StatePending, StateSending, StateDone, StateCancelled}
}

// Company is a company to create on the platform.
type Company struct {
	Name                string   `db:"name"`
	Surname             string   `db:"surname"`
	Email               string   `db:"email"`
	Password            Password `db:"-"` // only [Outbox.Password] reads it
	CPF                 string   `db:"cpf"`
	CNPJ                string   `db:"cnpj"`
	CEP                 string   `db:"address_cep"`
	State               string   `db:"address_state"`
	City                string   `db:"address_city"`
	Patio               string   `db:"address_patio"` // street name
	Number              string   `db:"address_number"`
	Neighborhood        string   `db:"address_neighborhood"`
	Complement          string   `db:"address_complement"`
	Cellphone           string   `db:"cellphone"`
	Responsible         string   `db:"responsible"`
	HasStateInscription string   `db:"has_state_inscription"`
	StateInscription    string   `db:"state_inscription"`
}

// TaxID returns the CNPJ, or else the CPF, by which the platform identifies the company.
func (c Company) TaxID() string {
	if identity.PlainTaxID(c.CNPJ) != "" {
		return c.CNPJ
	}
	return c.CPF
}

// Row is one row of company_outbox, without its password.
type Row struct {
	ID       int64  `db:"id"`
	IntentID string `db:"intent_id"`
	Company
	HasPassword    bool      `db:"has_password"`
	State          State     `db:"state"`
	AllowDuplicate bool      `db:"allow_duplicate"`
	Attempts       int64     `db:"attempts"`
	Revision       int64     `db:"revision"`
	HTTPStatus     int       `db:"http_status"` // 0 without an answer
	Error          string    `db:"error"`
	CreatedAt      time.Time `db:"-"`
	NextAttemptAt  time.Time `db:"-"` // zero: due at once
	ClaimedAt      time.Time `db:"-"` // zero: never
	FinishedAt     time.Time `db:"-"` // zero: not yet
}

// companyFields are the columns of a [Company] except its password.
var companyFields = []string{
	"name", "surname", "email", "cpf", "cnpj", "address_cep", "address_state", "address_city", "address_patio", "address_number",
	"address_neighborhood", "address_complement", "cellphone", "responsible", "has_state_inscription", "state_inscription",
}

// rowSQL returns the SELECT of rows. It casts texts, because a program may have inserted another
// type. The + before a time drops the declared type, because the driver would fail on a text that
// is no time.
func rowSQL() string {
	list := []string{"id", "intent_id", "state", "allow_duplicate", "attempts", "revision", "password IS NOT NULL AS has_password",
		"coalesce(http_status, 0) AS http_status", "coalesce(error, '') AS error", "+created_at AS created", "+next_attempt_at AS next", "+claimed_at AS claimed", "+finished_at AS finished"}
	for _, c := range companyFields {
		list = append(list, fmt.Sprintf("coalesce(CAST(%s AS TEXT), '') AS %s", c, c))
	}
	return "SELECT " + strings.Join(list, ", ") + " FROM company_outbox "
}

// selectRows reads rows; rest follows the FROM clause.
func selectRows(q sqlx.Queryer, rest string, args ...any) ([]Row, error) {
	var found []struct {
		Row
		Created  sql.NullString `db:"created"`
		Next     sql.NullString `db:"next"`
		Claimed  sql.NullString `db:"claimed"`
		Finished sql.NullString `db:"finished"`
	}
	if err := sqlx.Select(q, &found, rowSQL()+rest, args...); err != nil {
		return nil, err
	}
	rows := make([]Row, len(found))
	for i, f := range found {
		rows[i] = f.Row
		for _, at := range []struct {
			to   *time.Time
			from sql.NullString
		}{{&rows[i].CreatedAt, f.Created}, {&rows[i].NextAttemptAt, f.Next}, {&rows[i].ClaimedAt, f.Claimed}, {&rows[i].FinishedAt, f.Finished}} {
			*at.to, _ = sqlitefile.ParseTime(at.from.String) // zero for a text of another form
		}
	}
	return rows, nil
}

// ErrNoRow: the outbox has no row with that id.
var ErrNoRow = errors.New("no such row in the outbox")

func selectRow(q sqlx.Queryer, id int64) (Row, error) {
	rows, err := selectRows(q, "WHERE id = ?", id)
	switch {
	case err != nil:
		return Row{}, err
	case len(rows) == 0:
		return Row{}, fmt.Errorf("%w: %d; see `solarmirror outbox list`", ErrNoRow, id)
	}
	return rows[0], nil
}

// Row returns one row; [ErrNoRow] when there is none.
func (o *Outbox) Row(ctx context.Context, id int64) (Row, error) {
	if err := ctx.Err(); err != nil {
		return Row{}, err
	}
	row, err := selectRow(o.db, id)
	if err != nil {
		return Row{}, fmt.Errorf("read row %d of the outbox: %w", id, Explain(o.path, err))
	}
	return row, nil
}

// Rows returns the rows in the given states, or all rows without states, oldest first.
func (o *Outbox) Rows(ctx context.Context, states ...State) ([]Row, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(states) == 0 {
		states = States()
	}
	where, args, err := sqlx.In("WHERE state IN (?) ORDER BY id", states)
	if err != nil {
		return nil, err
	}
	rows, err := selectRows(o.db, where, args...)
	if err != nil {
		return nil, fmt.Errorf("list the outbox: %w", Explain(o.path, err))
	}
	return rows, nil
}

// Due returns the ids of pending rows whose next_attempt_at has passed, oldest first. Due ignores
// the next_attempt_at of a row with claimed_at in the future: the clock was ahead when it was set.
func (o *Outbox) Due(ctx context.Context) ([]int64, error) {
	rows, err := o.Rows(ctx, StatePending)
	if err != nil {
		return nil, err
	}
	var due []int64
	for _, r := range rows {
		if r.due(o.now()) {
			due = append(due, r.ID)
		}
	}
	return due, nil
}

func (r Row) due(now time.Time) bool { return !r.NextAttemptAt.After(now) || r.ClaimedAt.After(now) }

// Attempt is one attempt to send a row.
type Attempt struct {
	ID         int64     `db:"attempt_id"`
	Outcome    string    `db:"outcome"` // "" when it was interrupted
	HTTPStatus int       `db:"http_status"`
	Error      string    `db:"error"`
	StartedAt  time.Time `db:"started_at"`
	FinishedAt time.Time `db:"-"` // zero when it was interrupted
}

// Attempts returns the attempts of a row, oldest first.
func (o *Outbox) Attempts(ctx context.Context, id int64) ([]Attempt, error) {
	var found []struct {
		Attempt
		Finished sql.NullTime `db:"finished_at"`
	}
	err := o.db.SelectContext(ctx, &found, `SELECT attempt_id, coalesce(outcome, '') AS outcome, coalesce(http_status, 0) AS http_status,
		coalesce(error, '') AS error, started_at, finished_at FROM company_outbox_attempts WHERE outbox_id = ? ORDER BY attempt_id`, id)
	if err != nil {
		return nil, fmt.Errorf("list the attempts of row %d: %w", id, Explain(o.path, err))
	}
	list := make([]Attempt, len(found))
	for i, f := range found {
		list[i] = f.Attempt
		list[i].FinishedAt = sqlitefile.FromNull(f.Finished)
	}
	return list, nil
}

// Counts returns the number of rows in each state; states without rows are absent.
func (o *Outbox) Counts(ctx context.Context) (map[State]int64, error) {
	counts, err := countStates(ctx, o.db)
	if err != nil {
		return nil, fmt.Errorf("count the outbox: %w", Explain(o.path, err))
	}
	return counts, nil
}

func countStates(ctx context.Context, q sqlitefile.Querier) (map[State]int64, error) {
	var found []struct {
		State State `db:"state"`
		N     int64 `db:"n"`
	}
	if err := q.SelectContext(ctx, &found, "SELECT state, count(*) AS n FROM company_outbox GROUP BY state"); err != nil {
		return nil, err
	}
	counts := map[State]int64{}
	for _, f := range found {
		counts[f.State] = f.N
	}
	return counts, nil
}

// Add queues companies, all or none, and returns their rows. The caller validates the companies.
//
// Errors: unless allowDuplicate, [*DuplicateError] when a company has the CPF, CNPJ or e-mail of a
// pending, sending, ambiguous or created company, or of an earlier one in companies.
func (o *Outbox) Add(ctx context.Context, companies []Company, allowDuplicate bool) ([]Row, error) {
	var rows []Row
	err := o.update(ctx, func(tx *sqlx.Tx) error {
		candidates, err := o.candidates(tx)
		if err != nil {
			return err
		}
		if found := findDuplicates(candidates, companies); len(found) > 0 && !allowDuplicate {
			return found[0]
		}
		for _, c := range companies {
			row, err := o.insert(tx, c, allowDuplicate)
			if err != nil {
				return err
			}
			rows = append(rows, row)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("add to the outbox: %w", err)
	}
	return rows, nil
}

func (o *Outbox) insert(tx *sqlx.Tx, c Company, allowDuplicate bool) (Row, error) {
	intent := newIdentity()
	columns := append([]string{"intent_id", "password", "allow_duplicate", "created_at"}, companyFields...)
	values := append([]any{intent, o.storedPassword(c.Password, intent), allowDuplicate, sqlitefile.FormatTime(o.now())}, companyValues(c)...)
	result, err := tx.Exec(fmt.Sprintf("INSERT INTO company_outbox (%s) VALUES (?%s)", strings.Join(columns, ", "),
		strings.Repeat(", ?", len(columns)-1)), values...)
	if err != nil {
		return Row{}, err
	}
	id, err := result.LastInsertId()
	if err != nil {
		return Row{}, err
	}
	return selectRow(tx, id)
}

// companyValues returns the values of companyFields, NULL for empty texts.
func companyValues(c Company) []any {
	values := []any{}
	for _, v := range []string{
		c.Name, c.Surname, c.Email, c.CPF, c.CNPJ, c.CEP, c.State, c.City, c.Patio, c.Number,
		c.Neighborhood, c.Complement, c.Cellphone, c.Responsible, c.HasStateInscription, c.StateInscription,
	} {
		values = append(values, sqlitefile.NullableText(v))
	}
	return values
}
