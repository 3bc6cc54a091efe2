package store

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"modernc.org/sqlite"

	"solarmirror/store/dealclass"
	"solarmirror/store/identity"
	"solarmirror/store/sqlitefile"
)

// registerFunctions gives connections of a driver the SQL functions that SQLite lacks.
//
//	local_date(timestamp, zone)   the day of a TIMESTAMP in an IANA time zone, with the summers it had; NULL for what is no TIMESTAMP
//	identity(text)                an e-mail address or tax number, written in one way; NULL for nothing
//	fold(text)                    a text as package dealclass compares it: without case, accents, outer white space; NULL for NULL
//	median(number)                an aggregate: the middle value, or the mean of the two middle ones; NULLs do not count
func registerFunctions(d *sqlite.Driver) error {
	return errors.Join(
		d.RegisterDeterministicScalarFunction("local_date", 2, localDateSQL),
		d.RegisterDeterministicScalarFunction("identity", 1, identitySQL),
		d.RegisterDeterministicScalarFunction("fold", 1, foldSQL),
		d.RegisterFunction("median", &sqlite.FunctionImpl{
			NArgs: 1, Deterministic: true,
			MakeAggregate: func(sqlite.FunctionContext) (sqlite.AggregateFunction, error) { return &median{}, nil },
		}))
}

// zones are the time zones asked for so far; loading one takes a thousand times as long as using it.
var zones sync.Map // of *time.Location, by name

func zoneNamed(name string) (*time.Location, error) {
	if zone, known := zones.Load(name); known {
		return zone.(*time.Location), nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, err
	}
	zones.Store(name, zone)
	return zone, nil
}

func localDateSQL(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
	name, ok := args[1].(string)
	if !ok {
		return nil, fmt.Errorf("local_date: the zone is no text")
	}
	zone, err := zoneNamed(name)
	if err != nil {
		return nil, fmt.Errorf("local_date: %w", err)
	}
	text, ok := args[0].(string)
	if !ok {
		return nil, nil
	}
	at, err := sqlitefile.ParseTime(text)
	if err != nil {
		return nil, nil
	}
	return at.In(zone).Format(time.DateOnly), nil
}

// identitySQL writes alike what has one pseudonym, so that no group of a masked copy is there twice.
func identitySQL(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
	text, ok := args[0].(string)
	if !ok {
		return args[0], nil
	}
	forms := identity.TaxForms(identity.Plain(text))
	return sqlitefile.NullableText(forms[len(forms)-1]), nil
}

func foldSQL(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
	text, ok := args[0].(string)
	if !ok {
		return args[0], nil
	}
	return dealclass.Fold(text), nil
}

// median is one group's aggregate.
type median struct{ values []float64 }

// Step takes a value in.
func (m *median) Step(_ *sqlite.FunctionContext, args []driver.Value) error {
	switch v := args[0].(type) {
	case nil:
	case float64:
		m.values = append(m.values, v)
	case int64:
		m.values = append(m.values, float64(v))
	default:
		return fmt.Errorf("median of %T: it takes numbers", v)
	}
	return nil
}

// WindowInverse takes the value out again that came first.
func (m *median) WindowInverse(_ *sqlite.FunctionContext, args []driver.Value) error {
	if args[0] != nil {
		m.values = m.values[1:]
	}
	return nil
}

// WindowValue is the median of what is in.
func (m *median) WindowValue(*sqlite.FunctionContext) (driver.Value, error) {
	n := len(m.values)
	if n == 0 {
		return nil, nil
	}
	sorted := slices.Sorted(slices.Values(m.values))
	if n%2 == 1 {
		return sorted[n/2], nil
	}
	return (sorted[n/2-1] + sorted[n/2]) / 2, nil
}

// Final has nothing to give back.
func (m *median) Final(*sqlite.FunctionContext) {}
