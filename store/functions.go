package store

import (
	"database/sql/driver"
	"errors"
	"fmt"
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
func registerFunctions(d *sqlite.Driver) error {
	return errors.Join(
		d.RegisterDeterministicScalarFunction("local_date", 2, localDateSQL),
		d.RegisterDeterministicScalarFunction("identity", 1, identitySQL),
		d.RegisterDeterministicScalarFunction("fold", 1, foldSQL))
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
