package own

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"math"
	"time"

	"solarmirror/schema"
	"solarmirror/store"
	"solarmirror/store/owntables"
	"solarmirror/store/sqlitefile"
)

// result is what a statement gave.
type result struct {
	definition *owntables.Definition
	table      *schema.Table
	rows       int64
	hash       string // of columns and rows
	written    bool   // the rows lie beside the table
}

// held is what the values of a column are.
type held struct{ integers, reals, texts, blobs bool }

// look reads the rows once, to find out their types and their hash. before is the definition of the
// table there is, whose types those columns keep that hold nothing; it may be nil.
func (r *result) look(ctx context.Context, c *store.Computed, before *owntables.Definition) error {
	columns := r.definition.Columns
	holds := make([]held, len(columns))
	digest := sha256.New()
	for row, err := range c.Rows(ctx) {
		if err != nil {
			return err
		}
		r.rows++
		for i, v := range row {
			if err := holds[i].add(v); err != nil {
				return fmt.Errorf("column %s: %w", columns[i].Name, err)
			}
			if t := columns[i].Type; !fits(t, v) {
				// The value itself stays out of the error: it may be personal.
				return fmt.Errorf("column %s: the value in row %d is no %s", columns[i].Name, r.rows, t)
			}
			write(digest, v)
		}
	}
	for i := range columns {
		if columns[i].Type == "" {
			columns[i].Type = holds[i].kind()
		}
		if columns[i].Type == "" {
			columns[i].Type = typeBefore(before, columns[i].Name)
		}
	}
	fmt.Fprintf(digest, "%s", r.definition.TableNamed("", "").DDL())
	r.hash = hex.EncodeToString(digest.Sum(nil))
	return nil
}

func typeBefore(d *owntables.Definition, column string) schema.Type {
	if d != nil {
		for _, c := range d.Columns {
			if c.Name == column {
				return c.Type
			}
		}
	}
	return schema.Text
}

func (h *held) add(v any) error {
	switch v := v.(type) {
	case nil:
	case int64:
		h.integers = true
	case float64:
		if math.IsInf(v, 0) {
			return errors.New("a number is infinite")
		}
		h.reals = true
	case string:
		h.texts = true
	case []byte:
		h.blobs = true
	default:
		return fmt.Errorf("the driver gives a %T", v)
	}
	return nil
}

// kind is the type that loses nothing; "" where there is no value.
func (h held) kind() schema.Type {
	switch {
	case h.blobs:
		return schema.Blob
	case h.texts:
		return schema.Text
	case h.reals:
		return schema.Real
	case h.integers:
		return schema.BigInt
	}
	return ""
}

// fits reports whether a column of the type keeps the value as what the type says.
func fits(t schema.Type, v any) bool {
	text, isText := v.(string)
	whole, isWhole := v.(int64)
	number, isReal := v.(float64)
	_, isBlob := v.([]byte)
	switch {
	case v == nil, t == "", t == schema.Blob:
		return true
	case isBlob:
		return false
	}
	switch t {
	case schema.Real:
		return isReal || isWhole
	case schema.BigInt:
		return isWhole || isReal && number == math.Trunc(number) && math.Abs(number) < 1<<62
	case schema.Boolean:
		return isWhole && (whole == 0 || whole == 1)
	case schema.Date:
		_, err := time.Parse(time.DateOnly, text)
		return isText && err == nil
	case schema.Timestamp:
		_, err := sqlitefile.ParseTime(text)
		return isText && err == nil
	}
	return true
}

// write gives a digest a value, so that no two rows look alike.
func write(digest hash.Hash, v any) {
	var head [9]byte
	switch v := v.(type) {
	case int64:
		head[0] = 'i'
		binary.BigEndian.PutUint64(head[1:], uint64(v))
		digest.Write(head[:])
	case float64:
		head[0] = 'r'
		binary.BigEndian.PutUint64(head[1:], math.Float64bits(v))
		digest.Write(head[:])
	case string:
		head[0] = 't'
		binary.BigEndian.PutUint64(head[1:], uint64(len(v)))
		digest.Write(head[:])
		digest.Write([]byte(v))
	case []byte:
		head[0] = 'b'
		binary.BigEndian.PutUint64(head[1:], uint64(len(v)))
		digest.Write(head[:])
		digest.Write(v)
	default:
		digest.Write([]byte{'n'})
	}
}
