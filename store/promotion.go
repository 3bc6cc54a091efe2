package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"solarmirror/schema"
	"solarmirror/store/sqlitefile"
)

// Promotion is what a migration left to do for the records of one root: fields that had no column when they were read stand in extra,
// and have one now. Store finds the records and keeps count; what the values mean is for others to know.
type Promotion struct {
	Root string `json:"root"` // the table
	// Paths are where in a record such values stand: JSON Pointers, with * for every element of an array, as in _drift.
	Paths []string `json:"paths"`
	After int64    `json:"after"` // records up to this surrogate key are done
}

// Promotions returns what is left to do.
func (m *Mirror) Promotions(ctx context.Context) ([]Promotion, error) {
	return readPromotions(ctx, m.read)
}

func readPromotions(ctx context.Context, q sqlitefile.Querier) ([]Promotion, error) {
	var text string
	if err := q.GetContext(ctx, &text, "SELECT coalesce(max(promotion), '[]') FROM _meta"); err != nil {
		return nil, fmt.Errorf("read what is to be promoted: %w", err)
	}
	var list []Promotion
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return nil, fmt.Errorf("read what is to be promoted: _meta.promotion: %w", err)
	}
	return list, nil
}

// Holding returns the surrogate keys of the next records, at most limit, whose extra may hold one of the paths.
func (tx *Tx) Holding(p Promotion, limit int) ([]int64, error) {
	doing := "look for records to promote in " + p.Root
	root := tx.m.model.root(p.Root)
	if root == nil {
		return nil, tx.Fail(doing, fmt.Errorf("no such table"))
	}
	args := []any{p.After}
	var holds []string
	for _, path := range p.Paths {
		holds = append(holds, "instr(extra, ?) > 0")
		args = append(args, extraText(path))
	}
	query, err := tx.Prepared(fmt.Sprintf("SELECT %[1]s FROM %[2]s WHERE %[1]s > ? AND extra IS NOT NULL AND (%[3]s) ORDER BY %[1]s LIMIT ?",
		root.Key[0], root.Name, strings.Join(holds, " OR ")))
	if err != nil {
		return nil, tx.Fail(doing, err)
	}
	var keys []int64
	if err := query.SelectContext(context.Background(), &keys, append(args, limit)...); err != nil {
		return nil, tx.Fail(doing, err)
	}
	return keys, nil
}

// extraText is what the text of an extra that holds a value at the path contains: the quoted pointer, or the end of it where
// indices come before.
func extraText(path string) string {
	quoted, err := jsontext.AppendQuote(nil, path)
	if err != nil { // a path that is no text stands in no extra
		return path
	}
	text := string(quoted) + ":"
	return text[strings.LastIndex(text, "*")+1:]
}

// Rewrite writes some tables' rows of records that are there already, the root's among them, and leaves their other tables, and
// history, alone.
func (tx *Tx) Rewrite(rows []schema.Rows, keys []int64) error {
	if err := tx.usable(); err != nil {
		return fmt.Errorf("rewrite records: %w", err)
	}
	root, err := tx.rootOf(rows)
	if err != nil {
		return tx.Fail("rewrite records", err)
	}
	var tables []*schema.Table
	for _, r := range rows {
		tables = append(tables, r.Table)
	}
	if err := tx.write(tables, rows, keys); err != nil {
		return err
	}
	return tx.NoteStaleKeys(root, keys...)
}

// SetPromotion stores how far a promotion has come.
func (tx *Tx) SetPromotion(p Promotion) error {
	return tx.editPromotions(func(list []Promotion) []Promotion {
		i := slices.IndexFunc(list, func(q Promotion) bool { return q.Root == p.Root })
		if i < 0 {
			return append(list, p)
		}
		list[i] = p
		return list
	})
}

// EndPromotion notes that nothing is left to do for a root.
func (tx *Tx) EndPromotion(root string) error {
	return tx.editPromotions(func(list []Promotion) []Promotion {
		return slices.DeleteFunc(list, func(p Promotion) bool { return p.Root == root })
	})
}

func (tx *Tx) editPromotions(edit func([]Promotion) []Promotion) error {
	doing := "note what is left to be promoted"
	if err := tx.usable(); err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	list, err := readPromotions(context.Background(), tx.m.conn)
	if err != nil {
		return tx.Fail(doing, err)
	}
	return tx.writePromotions(edit(list))
}

func (tx *Tx) writePromotions(list []Promotion) error {
	doing := "note what is left to be promoted"
	var text any
	if len(list) > 0 {
		b, err := json.Marshal(list)
		if err != nil {
			return tx.Fail(doing, err)
		}
		text = string(b)
	}
	_, err := tx.Exec(doing, "UPDATE _meta SET promotion = ?", text)
	return err
}

// root returns the root of that name, or nil.
func (mod *model) root(name string) *schema.Table {
	for _, t := range mod.tables {
		if t.Shape == schema.Root && t.Name == name {
			return t
		}
	}
	return nil
}
