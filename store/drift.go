package store

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	"solarmirror/store/sqlitefile"
)

// Drift is one way in which records differ from the model.
type Drift struct {
	Path        string `db:"path"`    // JSON Pointer, with * for every element of an array
	Kind        string `db:"kind"`    // unknown, type or shape
	Example     string `db:"example"` // a value seen there
	Occurrences int64  `db:"occurrences"`
}

// DriftRecord is one row of _drift.
type DriftRecord struct {
	Stream string `db:"stream"`
	Drift
	FirstSeenAt time.Time `db:"first_seen_at"`
	LastSeenAt  time.Time `db:"last_seen_at"`
}

const addDriftSQL = `INSERT INTO _drift (stream, path, kind, example, occurrences, first_seen_at, last_seen_at) VALUES (?, ?, ?, ?, ?, ?, ?)
	ON CONFLICT (stream, path, kind) DO UPDATE SET occurrences = occurrences + excluded.occurrences,
	last_seen_at = excluded.last_seen_at, example = coalesce(example, excluded.example)`

// Drift adds what was seen in a page to what was seen before: occurrences are added up, the first
// example is kept. Steps of a path that identify a person are written as *, since _drift is public.
func (tx *Tx) Drift(stream string, list []Drift) error {
	now := sqlitefile.FormatTime(tx.m.now())
	for _, d := range list {
		d.Path = withoutIdentities(d.Path)
		_, err := tx.Exec(fmt.Sprintf("note drift of %s at %s", stream, d.Path), addDriftSQL,
			stream, d.Path, d.Kind, sqlitefile.NullableText(d.Example), d.Occurrences, now, now)
		if err != nil {
			return err
		}
	}
	return nil
}

// withoutIdentities replaces by * each step of a JSON Pointer that has an @ or eight digits. An object
// may be keyed by e-mail address, CPF or telephone number.
func withoutIdentities(path string) string {
	steps := strings.Split(path, "/")
	for i, step := range steps {
		if strings.Contains(step, "@") || manyDigits.MatchString(step) {
			steps[i] = "*"
		}
	}
	return strings.Join(steps, "/")
}

var manyDigits = regexp.MustCompile(`(\d\D*){8}`)

// ForgetDrift removes fields that were unknown and are no more.
func (tx *Tx) ForgetDrift(stream string, paths []string) error {
	for _, path := range paths {
		_, err := tx.Exec(fmt.Sprintf("forget the drift of %s at %s", stream, path),
			"DELETE FROM _drift WHERE stream = ? AND path = ? AND kind = 'unknown'", stream, path)
		if err != nil {
			return err
		}
	}
	return nil
}

// DriftList returns all drift, by stream and path.
func (m *Mirror) DriftList(ctx context.Context) ([]DriftRecord, error) {
	var list []DriftRecord
	err := m.read.SelectContext(ctx, &list, `SELECT stream, path, kind, coalesce(example, '') AS example, occurrences,
		first_seen_at, last_seen_at FROM _drift ORDER BY stream, path, kind`)
	if err != nil {
		return nil, fmt.Errorf("read _drift: %w", sqlitefile.Explain(m.path, err))
	}
	return list, nil
}
