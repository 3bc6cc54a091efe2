package own

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"solarmirror/schema"
	"solarmirror/store"
	"solarmirror/store/owntables"
	"solarmirror/store/sqlitefile"
)

// Refresh builds the own marts that are due, and drops the tables of files that are gone. What is
// wrong with one stands in the ledger and the log. It returns an error only when ctx has ended. The
// caller holds the mirror's lock, and has just brought the other marts up to date.
func Refresh(ctx context.Context, m *store.Mirror) error {
	if m.OwnMarts().Dir == "" {
		return nil
	}
	if err := run(ctx, m, false); err != nil && ctx.Err() == nil {
		m.Log().Warn().Err(err).Msg("own marts not brought up to date; the next sync tries again")
	}
	return ctx.Err()
}

// Build builds all own marts, due or not. The caller holds the mirror's lock.
func Build(ctx context.Context, m *store.Mirror) error { return run(ctx, m, true) }

// build is the state of one Refresh or Build.
type build struct {
	mirror  *store.Mirror
	marts   []*Mart
	ledger  map[string]owntables.Mart
	last    map[string]*owntables.Definition
	refresh string // refreshed_at of _marts
	scratch *scratch
}

func run(ctx context.Context, m *store.Mirror, all bool) error {
	b := &build{mirror: m, ledger: map[string]owntables.Mart{}, last: map[string]*owntables.Definition{}}
	var err error
	if b.marts, err = Read(m.OwnMarts().Dir); err != nil {
		return err
	}
	if err := b.readLedger(ctx); err != nil {
		return err
	}
	if err := b.dropGone(ctx); err != nil {
		return err
	}
	if err := b.dropPart(ctx); err != nil {
		return err
	}
	if !all && !slices.ContainsFunc(b.marts, b.isDue) {
		return nil
	}
	err = b.buildDue(ctx, all)
	return errors.Join(err, b.dropPart(ctx))
}

// dropPart removes what an interrupted build left, or one that failed while it wrote.
func (b *build) dropPart(ctx context.Context) error {
	found, err := owntables.HasPart(ctx, b.mirror.Reader())
	if err != nil || !found {
		return err
	}
	return b.mirror.Update(ctx, owntables.DropPart)
}

func (b *build) readLedger(ctx context.Context) error {
	list, err := owntables.Ledger(ctx, b.mirror.Reader(), "main")
	if err != nil {
		return err
	}
	tables, err := owntables.Tables(ctx, b.mirror.Reader(), "main")
	if err != nil {
		return err
	}
	for _, o := range list {
		if slices.ContainsFunc(tables, func(t *schema.Table) bool { return t.Name == o.Table }) {
			b.last[o.Table] = o.Define()
		} else {
			o.Definition, o.RowsHash, o.BuiltAt, o.Rows = "", "", nil, nil // somebody dropped it
		}
		b.ledger[o.Table] = o
	}
	err = b.mirror.Reader().GetContext(ctx, &b.refresh, "SELECT coalesce(max(+refreshed_at), '') FROM _marts")
	return sqlitefile.Explain(b.mirror.Path(), err)
}

func (b *build) dropGone(ctx context.Context) error {
	for name := range b.ledger {
		if slices.ContainsFunc(b.marts, func(m *Mart) bool { return m.Table == name }) {
			continue
		}
		if err := b.mirror.Update(ctx, func(tx *store.Tx) error { return owntables.Drop(tx, name) }); err != nil {
			return err
		}
		b.mirror.Log().Info().Str("table", name).Msg("own mart dropped, since its file is gone")
		delete(b.last, name)
		delete(b.ledger, name)
	}
	return nil
}

// isDue says whether there is something new to build a mart from, or to say of it. One that failed
// is not tried again without it.
func (b *build) isDue(m *Mart) bool {
	o, known := b.ledger[m.Table]
	fails := m.Err != nil && m.Err.Error() != o.Error
	return m.Table != "" && (!known || fails || o.Statement != m.hash || o.BuiltFor != b.refresh || o.Definition == "" && o.Error == "")
}

// buildDue also builds those that read a mart that is built.
func (b *build) buildDue(ctx context.Context, all bool) (err error) {
	sorted, err := order(ctx, b.marts, b.mirror.Reader(), b.last)
	if err != nil {
		return err
	}
	if b.scratch, err = newScratch(ctx, b.mirror.Reader()); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.scratch.close()) }()
	for name, d := range b.last {
		if err := b.scratch.add(ctx, name, d); err != nil {
			return err
		}
	}
	var failed []string
	for _, m := range sorted {
		if m.Table == "" {
			b.mirror.Log().Warn().Str("file", m.File).Err(m.Err).Msg("a file makes no own mart")
			continue
		}
		all = all || b.isDue(m) // order is by what they read; what follows may read it
		if !all {
			continue
		}
		if err := b.one(ctx, m); err != nil {
			return err
		}
		if m.Err != nil {
			failed = append(failed, m.Table)
		}
	}
	if len(failed) > 0 {
		b.mirror.Log().Warn().Strs("tables", failed).Msg(`own marts failed and keep their last rows; see "solarmirror marts list"`)
	}
	return nil
}

// one builds a mart and writes its row of the ledger. It returns an error where that cannot be
// done.
func (b *build) one(ctx context.Context, m *Mart) error {
	began, now := time.Now(), sqlitefile.FormatTime(b.mirror.Now())
	o := b.ledger[m.Table]
	o.Table, o.Description, o.Statement, o.BuiltFor, o.TriedAt, o.Error = m.Table, m.description, m.hash, b.refresh, now, ""
	result := &result{}
	if m.Err == nil {
		result, m.Err = b.compute(ctx, m)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	o.DurationMS = time.Since(began).Milliseconds()
	if m.Err != nil {
		o.Error = m.Err.Error()
	}
	wrote := false
	err := b.mirror.Update(ctx, func(tx *store.Tx) error {
		if m.Err == nil {
			if wrote = result.written; wrote {
				if err := owntables.Place(tx, result.table); err != nil {
					return err
				}
			}
			text, err := json.Marshal(result.definition)
			if err != nil {
				return err
			}
			o.Definition, o.RowsHash, o.Rows, o.BuiltAt = string(text), result.hash, &result.rows, &now
			if err := owntables.Describe(tx, result.table); err != nil {
				return err
			}
		}
		return owntables.Note(tx, o)
	})
	if err != nil {
		return err
	}
	if m.Err == nil {
		b.mirror.Log().Info().Str("table", m.Table).Int64("rows", result.rows).Bool("changed", wrote).Int64("took_ms", o.DurationMS).Msg("own mart built")
		return b.scratch.add(ctx, m.Table, result.definition)
	}
	b.mirror.Log().Debug().Str("table", m.Table).Err(m.Err).Msg("own mart failed")
	return nil
}

// checkOurs refuses to replace a table that somebody else made.
func (b *build) checkOurs(ctx context.Context, m *Mart) error {
	if b.last[m.Table] != nil {
		return nil
	}
	var found bool
	err := b.mirror.Reader().GetContext(ctx, &found, "SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE name = ? COLLATE NOCASE)", m.Table)
	if found {
		return fmt.Errorf("%s is in the mirror already and no own mart; rename the file, or drop that table", m.Table)
	}
	return err
}

// compute computes the rows of a mart and, when they are others than its table's, writes them
// beside it.
func (b *build) compute(ctx context.Context, m *Mart) (*result, error) {
	// Once more: what it reads may have other columns now, or have failed since.
	definition, err := b.scratch.define(ctx, m)
	if err != nil {
		return nil, err
	}
	if err := b.checkOurs(ctx, m); err != nil {
		return nil, err
	}
	timeout := b.mirror.OwnMarts().Timeout
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	r := &result{definition: definition}
	err = b.mirror.ComputeRows(limited, m.sql, func(c *store.Computed) error {
		if err := r.look(limited, c, b.last[m.Table]); err != nil {
			return err
		}
		r.table = definition.TableNamed(m.Table, m.description)
		if old := b.ledger[m.Table]; b.last[m.Table] != nil && old.RowsHash == r.hash {
			return nil
		}
		r.written = true
		return b.write(ctx, r.table, c)
	})
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return nil, fmt.Errorf("it took longer than [marts] own_timeout = %s", timeout)
	}
	return r, err
}

// rowsAtOnce are written in one transaction.
const rowsAtOnce = 2000

// write writes the rows of a table beside it.
func (b *build) write(ctx context.Context, t *schema.Table, c *store.Computed) error {
	if err := b.mirror.Update(ctx, func(tx *store.Tx) error { return owntables.Begin(tx, t) }); err != nil {
		return err
	}
	var rows [][]any
	var turns store.Turns
	flush := func() error {
		err := b.mirror.Update(ctx, func(tx *store.Tx) error { return owntables.AddRows(tx, rows) })
		rows = rows[:0]
		turns.GiveWay(ctx)
		return err
	}
	for row, err := range c.Rows(ctx) {
		if err != nil {
			return err
		}
		if rows = append(rows, row); len(rows) == rowsAtOnce {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

// Drop drops the tables of all own marts, with what the ledger says of them; the next build makes
// them anew.
func Drop(tx *store.Tx) error {
	names, err := owntables.Names(tx)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := owntables.Drop(tx, name); err != nil {
			return err
		}
	}
	return owntables.DropPart(tx)
}
