package store

import (
	"context"
	"database/sql"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/cespare/xxhash/v2"

	"solarmirror/store/sqlitefile"
)

// Reject is a record that could not be keyed, as it came.
type Reject struct {
	Stream  string `db:"stream"`
	Source  string `db:"source"` // request path of the page
	Reason  string `db:"reason"`
	Pointer string `db:"pointer"` // JSON Pointer of the fault; "" when no one place is at fault
	Raw     []byte `db:"raw"`
	RunID   int64  `db:"run_id"` // 0 when no run is known
}

// RejectRecord is one row of _rejects.
type RejectRecord struct {
	ID int64 `db:"reject_id"`
	Reject
	Size        int64     `db:"size"` // of Raw, in bytes
	FirstSeenAt time.Time `db:"first_seen_at"`
	ReplayedAt  time.Time `db:"-"` // zero while it is rejected
}

// Reject keeps a record that could not be keyed. The same bytes of the same stream are kept once until they have been
// replayed, with the latest reason; added is false for the second.
func (tx *Tx) Reject(r Reject) (added bool, err error) {
	doing := "keep a reject of " + r.Stream
	if r.Raw == nil {
		r.Raw = []byte{} // nil would be NULL
	}
	hash := binary.BigEndian.AppendUint64(nil, xxhash.Sum64(r.Raw))
	var id int64
	known, err := tx.Get(doing, &id, `SELECT reject_id FROM _rejects
		WHERE stream = ? AND raw_hash = ? AND raw = ? AND replayed_at IS NULL LIMIT 1`, r.Stream, hash, r.Raw)
	if err != nil {
		return false, err
	}
	if known {
		_, err := tx.Exec(doing, "UPDATE _rejects SET reason = ?1, pointer = ?2 WHERE reject_id = ?3 AND (reason, pointer) IS NOT (?1, ?2)",
			r.Reason, sqlitefile.NullableText(r.Pointer), id)
		return false, err
	}
	var run any
	if r.RunID != 0 {
		run = r.RunID
	}
	_, err = tx.Exec(doing, `INSERT INTO _rejects (stream, source, reason, pointer, raw, raw_hash, run_id, first_seen_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
		r.Stream, r.Source, r.Reason, sqlitefile.NullableText(r.Pointer), r.Raw, hash, run, sqlitefile.FormatTime(tx.m.now()))
	return err == nil, err
}

// Replayed marks a reject as loaded after all.
func (tx *Tx) Replayed(id int64) error {
	doing := fmt.Sprintf("mark reject %d as replayed", id)
	touched, err := tx.Exec(doing, "UPDATE _rejects SET replayed_at = ? WHERE reject_id = ? AND replayed_at IS NULL", sqlitefile.FormatTime(tx.m.now()), id)
	if err == nil && touched != 1 {
		return tx.Fail(doing, fmt.Errorf("there is no such reject waiting"))
	}
	return err
}

// RejectFilter narrows a list of rejects.
type RejectFilter struct {
	Stream   string // "" is all
	Replayed bool   // also those loaded after all
	Limit    int    // 0 is no limit
}

const rejectColumns = `reject_id, stream, source, reason, coalesce(pointer, '') AS pointer, coalesce(run_id, 0) AS run_id,
	length(raw) AS size, first_seen_at, replayed_at`

// Rejects lists rejects, the newest first, without Raw.
func (m *Mirror) Rejects(ctx context.Context, f RejectFilter) ([]RejectRecord, error) {
	limit := -1
	if f.Limit > 0 {
		limit = f.Limit
	}
	return m.rejects(ctx, "SELECT "+rejectColumns+` FROM _rejects
		WHERE (? = '' OR stream = ?) AND (? OR replayed_at IS NULL) ORDER BY reject_id DESC LIMIT ?`,
		f.Stream, f.Stream, f.Replayed, limit)
}

// Reject returns one reject with Raw; false when there is none of that number.
func (m *Mirror) Reject(ctx context.Context, id int64) (RejectRecord, bool, error) {
	list, err := m.rejects(ctx, "SELECT "+rejectColumns+", raw FROM _rejects WHERE reject_id = ?", id)
	if err != nil || len(list) == 0 {
		return RejectRecord{}, false, err
	}
	return list[0], true, nil
}

func (m *Mirror) rejects(ctx context.Context, query string, args ...any) ([]RejectRecord, error) {
	var rows []struct {
		RejectRecord
		Replayed sql.NullTime `db:"replayed_at"`
	}
	if err := m.read.SelectContext(ctx, &rows, query, args...); err != nil {
		return nil, fmt.Errorf("read _rejects: %w", sqlitefile.Explain(m.path, err))
	}
	list := make([]RejectRecord, len(rows))
	for i, r := range rows {
		list[i] = r.RejectRecord
		list[i].ReplayedAt = sqlitefile.FromNull(r.Replayed)
	}
	return list, nil
}
