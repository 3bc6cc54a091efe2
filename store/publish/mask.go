package publish

import (
	"cmp"
	"context"
	"database/sql/driver"
	"fmt"
	"io/fs"
	"strings"
	"sync"

	"modernc.org/sqlite"

	"solarmirror/schema"
	"solarmirror/store/sqlitefile"
)

// Masking defines the values of a masked copy. Every column that the schema does not declare Public
// is personal, so a forgotten declaration masks the column. In a Counted column a pseudonym
// replaces the value; in other personal columns NULL does, or an empty value where the column is
// NOT NULL.
type Masking struct {
	Key PseudonymKey
	// KeepExtra are JSON Pointers to the values of extra that stay, with all values below them. The
	// token * matches every element of an array.
	KeepExtra []string
}

const extraColumn = "extra"

// MaskedMode is the mode of files without personal data.
const MaskedMode fs.FileMode = 0o644

// pseudonymRemark is what a masked copy's data dictionary adds to the description of a pseudonym.
const pseudonymRemark = " In this copy: a pseudonym, the same in every table."

// ModeOf returns the mode of a new file made from the database that q reads: [MaskedMode] for a
// masked copy, else private, where 0 is 0600.
func ModeOf(ctx context.Context, q sqlitefile.Querier, private fs.FileMode) (fs.FileMode, error) {
	masked, err := Masked(ctx, q)
	switch {
	case err != nil:
		return 0, err
	case masked:
		return MaskedMode, nil
	}
	return cmp.Or(private, 0o600), nil
}

// Masked reports whether the database that q reads is a masked copy.
func Masked(ctx context.Context, q sqlitefile.Querier) (masked bool, err error) {
	err = q.GetContext(ctx, &masked, "SELECT EXISTS (SELECT * FROM _columns WHERE description LIKE ?)", "%"+pseudonymRemark)
	if err != nil {
		return false, fmt.Errorf("look whether personal data is masked: %w", err)
	}
	return masked, nil
}

// SQL functions that compute masked columns. ?1 is the key, ?2 is KeepExtra, see parameters.
const (
	pseudonymCall = "solarmirror_pseudonym(%s, ?1)"
	extraCall     = "solarmirror_kept_extra(%s, ?2)"
)

// registerMasks registers the functions. The driver registers functions for all connections, not
// for one, so each call passes the key. The key is a bound parameter and never part of the SQL
// text.
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

// parameters returns the values of ?1 and ?2.
func (m *Masking) parameters() []any {
	return []any{m.Key.raw, strings.Join(m.KeepExtra, "\n")}
}

// expression returns the SQL that computes a column of the copy.
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

// remark returns the sentence that the copy's data dictionary adds to a column's description, in
// English and in Portuguese; "" for a column that is not masked.
func (m *Masking) remark(t *schema.Table, c schema.Column) (en, pt string) {
	switch {
	case c.Privacy == schema.Public:
		return "", ""
	case c.Privacy == schema.Counted:
		return pseudonymRemark, " Nesta cópia: um pseudônimo, o mesmo em todas as tabelas."
	case c.Name == extraColumn && t.Shape == schema.Root && len(m.KeepExtra) > 0:
		kept := strings.Join(m.KeepExtra, ", ")
		return " In this copy: only " + kept + ".", " Nesta cópia: só " + kept + "."
	}
	return " Empty in this copy.", " Vazio nesta cópia."
}
