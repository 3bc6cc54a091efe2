package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/jmoiron/sqlx"

	"solarmirror/schema"
	"solarmirror/store/sqlitefile"
)

// Tx is one transaction: a page, or a batch of pages, or a piece of bookkeeping. It belongs to one goroutine and ends
// with Commit or Rollback.
type Tx struct {
	m      *Mirror
	failed error // the first error; nothing is done after it
	ended  bool
	// lastKey is the greatest surrogate key handed out in this transaction, by root.
	lastKey map[*schema.Table]int64
}

// ErrReadOnly: a write was asked of a mirror opened with OpenReadOnly.
var ErrReadOnly = errors.New("the mirror is open for reading only")

var errEnded = errors.New("the transaction has ended")

// Begin waits for the transaction before to end and starts the next. The context counts until Begin returns, and not inside
// the transaction.
func (m *Mirror) Begin(ctx context.Context) (*Tx, error) {
	if m.write == nil {
		return nil, fmt.Errorf("begin: %s: %w", m.path, ErrReadOnly)
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("begin: %w", err)
	}
	select {
	case <-ctx.Done():
		return nil, fmt.Errorf("begin: %w", ctx.Err())
	case <-m.turn:
	}
	// IMMEDIATE takes the write lock now, so that no statement inside can find it taken.
	if _, err := m.conn.ExecContext(context.Background(), "BEGIN IMMEDIATE"); err != nil {
		m.turn <- struct{}{}
		return nil, fmt.Errorf("begin: %w", sqlitefile.Explain(m.path, err))
	}
	return &Tx{m: m, lastKey: map[*schema.Table]int64{}}, nil
}

// Commit makes everything since Begin durable and visible, or nothing of it. After an error the transaction is rolled
// back and the mirror ready for the next.
func (tx *Tx) Commit() error {
	if tx.ended {
		return fmt.Errorf("commit: %w", errEnded)
	}
	if tx.failed != nil {
		return errors.Join(fmt.Errorf("commit refused, since an earlier step failed: %w", tx.failed), tx.Rollback())
	}
	if _, err := tx.m.conn.ExecContext(context.Background(), "COMMIT"); err != nil {
		return errors.Join(fmt.Errorf("commit: %w", sqlitefile.Explain(tx.m.path, err)), tx.Rollback())
	}
	tx.end()
	return nil
}

// Rollback undoes everything since Begin. After Commit, or a second time, it does nothing.
func (tx *Tx) Rollback() error {
	if tx.ended {
		return nil
	}
	defer tx.end()
	_, err := tx.m.conn.ExecContext(context.Background(), "ROLLBACK")
	if err != nil && !errors.Is(err, sql.ErrConnDone) && !sqlitefile.NothingToRollBack(err) {
		return fmt.Errorf("roll back: %w", sqlitefile.Explain(tx.m.path, err))
	}
	return nil
}

func (tx *Tx) end() {
	tx.ended = true
	tx.m.turn <- struct{}{}
}

// Update runs f in a transaction.
func (m *Mirror) Update(ctx context.Context, f func(*Tx) error) error {
	tx, err := m.Begin(ctx)
	if err != nil {
		return err
	}
	if err := f(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// Mirror is the mirror that the transaction writes to.
func (tx *Tx) Mirror() *Mirror { return tx.m }

// usable returns why nothing can be done in the transaction any more, if so.
func (tx *Tx) usable() error {
	if tx.ended {
		return errEnded
	}
	return tx.failed
}

// Fail remembers that doing what failed, and returns the error with the operation in front.
func (tx *Tx) Fail(doing string, err error) error {
	err = fmt.Errorf("%s: %w", doing, sqlitefile.Explain(tx.m.path, err))
	if tx.failed == nil {
		tx.failed = err
	}
	return err
}

// Prepared returns the statement, unless nothing can be done any more.
func (tx *Tx) Prepared(query string) (*sqlx.Stmt, error) {
	if err := tx.usable(); err != nil {
		return nil, err
	}
	return tx.m.prepared(query)
}

// Exec looks a statement up, runs it and returns how many rows it touched.
func (tx *Tx) Exec(doing, query string, args ...any) (int64, error) {
	return tx.ExecContext(context.Background(), doing, query, args...)
}

// ExecContext is Exec of a long statement, which is interrupted when ctx ends.
func (tx *Tx) ExecContext(ctx context.Context, doing, query string, args ...any) (int64, error) {
	s, err := tx.Prepared(query)
	if err != nil {
		return 0, tx.Fail(doing, err)
	}
	res, err := s.ExecContext(ctx, args...)
	if err != nil {
		return 0, tx.Fail(doing, err)
	}
	touched, err := res.RowsAffected()
	if err != nil {
		return 0, tx.Fail(doing, err)
	}
	return touched, nil
}

// Get reads one row, found or not.
func (tx *Tx) Get(doing string, dest any, query string, args ...any) (found bool, err error) {
	s, err := tx.Prepared(query)
	if err != nil {
		return false, tx.Fail(doing, err)
	}
	switch err := s.GetContext(context.Background(), dest, args...); {
	case errors.Is(err, sql.ErrNoRows):
		return false, nil
	case err != nil:
		return false, tx.Fail(doing, err)
	}
	return true, nil
}
