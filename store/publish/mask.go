package publish

import (
	"database/sql/driver"
	"fmt"
	"strings"
	"sync"

	"modernc.org/sqlite"

	"solarmirror/schema"
	"solarmirror/store/sqlitefile"
)

// Masking says what becomes of personal data in a masked copy. Which columns are personal the
// schema says: all that are not declared Public, so that one nobody thought about is masked too.
// Where people are counted and joined by a column there is a pseudonym, elsewhere NULL, or nothing
// where NULL is not allowed.
type Masking struct {
	Key PseudonymKey
	// KeepExtra are JSON Pointers of what stays of extra, with all under them; * stands for every
	// element of an array.
	KeepExtra []string
}

const extraColumn = "extra"

// The functions masked columns are made with, and the parameters of every statement that copies a
// table.
const (
	pseudonymCall = "solarmirror_pseudonym(%s, ?1)"
	extraCall     = "solarmirror_kept_extra(%s, ?2)"
)

// registerMasks teaches the driver the functions. It knows none of a single connection, so they are
// given the key with each call; it is bound, and stands in no statement.
var registerMasks = sync.OnceValue(func() error {
	err := sqlite.RegisterDeterministicScalarFunction("solarmirror_pseudonym", 2, func(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
		key, ok := args[1].([]byte)
		if args[0] == nil || !ok {
			return nil, nil
		}
		return PseudonymKey{key}.pseudonym(asText(args[0])), nil
	})
	if err != nil {
		return err
	}
	return sqlite.RegisterDeterministicScalarFunction("solarmirror_kept_extra", 2, func(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
		if args[0] == nil {
			return nil, nil
		}
		kept, err := keptExtra(asText(args[0]), strings.Split(asText(args[1]), "\n"))
		return sqlitefile.NullableText(kept), err
	})
})

func asText(value driver.Value) string {
	if bytes, ok := value.([]byte); ok {
		return string(bytes)
	}
	return fmt.Sprint(value)
}

// parameters are the values of ?1 and ?2.
func (m *Masking) parameters() []any {
	return []any{m.Key.raw, strings.Join(m.KeepExtra, "\n")}
}

// expression is what a column of the copy is made of.
func (m *Masking) expression(t *schema.Table, c schema.Column) string {
	switch {
	case c.Privacy == schema.Public:
		return c.Name
	case c.Privacy == schema.Counted:
		return fmt.Sprintf(pseudonymCall, c.Name)
	case c.Name == extraColumn && t.Shape == schema.Root && len(m.KeepExtra) > 0:
		return fmt.Sprintf(extraCall, c.Name)
	case c.Not && c.Type == schema.Blob:
		return "x''"
	case c.Not:
		return "''"
	}
	return "NULL"
}

// remark is what the data dictionary of the copy adds about a column; "" where nothing is masked.
func (m *Masking) remark(t *schema.Table, c schema.Column) string {
	switch {
	case c.Privacy == schema.Public:
		return ""
	case c.Privacy == schema.Counted:
		return " In this copy: a pseudonym, the same in every table."
	case c.Name == extraColumn && t.Shape == schema.Root && len(m.KeepExtra) > 0:
		return " In this copy: only " + strings.Join(m.KeepExtra, ", ") + "."
	}
	return " Empty in this copy."
}
