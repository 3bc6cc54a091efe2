package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"solarmirror/store/sqlitefile"
)

// Meta is what the database says about itself.
type Meta struct {
	BaseURL       string    `db:"base_url"`   // "" until Bind
	Dialect       string    `db:"dialect"`    // JSON; "" until known
	PowerUnit     PowerUnit `db:"power_unit"` // "" until decided
	SchemaVersion int       `db:"schema_version"`
	CreatedAt     time.Time `db:"created_at"`
	// ErasureDueSince is when a person was erased of whom the file may still hold old copies; nil when
	// it holds none.
	ErasureDueSince *time.Time `db:"erasure_due_since"`
}

const metaSQL = `SELECT coalesce(base_url, '') AS base_url, coalesce(dialect, '') AS dialect, coalesce(power_unit, '') AS power_unit,
	schema_version, created_at, erasure_due_since FROM _meta`

// Meta reads the row about the database.
func (m *Mirror) Meta(ctx context.Context) (Meta, error) {
	var meta Meta
	if err := m.read.GetContext(ctx, &meta, metaSQL); err != nil {
		return Meta{}, fmt.Errorf("read _meta: %w", sqlitefile.Explain(m.path, err))
	}
	return meta, nil
}

// BoundTo returns the base URL of the platform that the file at path mirrors, whatever its schema
// version; "" where there is no such file, or it mirrors none yet.
func BoundTo(ctx context.Context, path string) (string, error) {
	found, err := InspectFile(ctx, path, "ro")
	switch {
	case errors.Is(err, sqlitefile.ErrNoDatabase):
		return "", nil
	case err != nil:
		return "", sqlitefile.Explain(path, err)
	case !found.Ours():
		return "", nil
	}
	db, err := sqlitefile.OpenUnguarded(path, "ro")
	if err != nil {
		return "", err
	}
	var bound []string
	err = db.SelectContext(ctx, &bound, "SELECT base_url FROM _meta WHERE base_url IS NOT NULL")
	return strings.Join(bound, ""), errors.Join(sqlitefile.Explain(path, err), db.Close())
}

// Bind makes the database the mirror of the platform at baseURL. One that mirrors another platform already gives
// [*OtherPlatformError]. Several may bind it to the same platform at once.
func (m *Mirror) Bind(ctx context.Context, baseURL string) error {
	meta, err := m.Meta(ctx)
	if err != nil {
		return err
	}
	if meta.BaseURL == baseURL {
		return nil
	}
	return m.Update(ctx, func(tx *Tx) error {
		var have sql.NullString
		if _, err := tx.Get("read base_url", &have, "SELECT base_url FROM _meta"); err != nil {
			return err
		}
		switch {
		case have.String == baseURL:
			return nil
		case have.Valid:
			return &OtherPlatformError{Path: m.path, Have: have.String, Want: baseURL}
		}
		_, err := tx.Exec("remember base_url", "UPDATE _meta SET base_url = ?", baseURL)
		return err
	})
}

// SetDialect remembers what was found out about the platform's way of answering; "" forgets it.
func (m *Mirror) SetDialect(ctx context.Context, dialect string) error {
	return m.Update(ctx, func(tx *Tx) error {
		_, err := tx.Exec("remember the dialect", "UPDATE _meta SET dialect = ?", sqlitefile.NullableText(dialect))
		return err
	})
}

// SetPowerUnit remembers the unit of the platform's totalPower.
func (m *Mirror) SetPowerUnit(ctx context.Context, unit PowerUnit) error {
	return m.Update(ctx, func(tx *Tx) error {
		_, err := tx.Exec("remember the power unit", "UPDATE _meta SET power_unit = ?", string(unit))
		return err
	})
}

// OtherPlatformError says that the file mirrors another platform than the one configured.
type OtherPlatformError struct {
	Path       string
	Have, Want string // base URL of the file, and the one asked for
}

func (e *OtherPlatformError) Error() string {
	return fmt.Sprintf("%s mirrors %s, not %s, and two platforms must not mix: set [mirror] path to another file for this one, or [platform] base_url back",
		e.Path, e.Have, e.Want)
}
