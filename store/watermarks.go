package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"solarmirror/store/sqlitefile"
)

// Watermark is up to when one pass over a stream is complete.
type Watermark struct {
	Stream          string    `db:"stream"`
	Pass            string    `db:"pass"`    // live or removed
	Watermark       string    `db:"-"`       // YYYY-MM-DD in the platform's zone; "" before the first complete pass
	CompleteThrough time.Time `db:"-"`       // zero when unknown
	LastFullScanAt  time.Time `db:"-"`       // zero when there was none
	Promise         string    `db:"promise"` // what weakens the last clean pass; "" when nothing does
}

// watermarkSQL takes the declared type away from the date, which the driver would parse otherwise.
const watermarkSQL = `SELECT stream, pass, coalesce(watermark, '') AS mark, complete_through, last_full_scan_at,
	coalesce(promise, '') AS promise FROM _watermarks`

// SetWatermark writes the whole row, in the transaction of the rows it vouches for.
func (tx *Tx) SetWatermark(w Watermark) error {
	_, err := tx.Exec(fmt.Sprintf("set the watermark of %s (%s)", w.Stream, w.Pass),
		`INSERT INTO _watermarks (stream, pass, watermark, complete_through, last_full_scan_at, promise) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (stream, pass) DO UPDATE SET watermark = excluded.watermark, complete_through = excluded.complete_through,
		last_full_scan_at = excluded.last_full_scan_at, promise = excluded.promise`,
		w.Stream, w.Pass, sqlitefile.NullableText(w.Watermark), sqlitefile.NullableTime(w.CompleteThrough), sqlitefile.NullableTime(w.LastFullScanAt), sqlitefile.NullableText(w.Promise))
	return err
}

// Watermark returns the watermark of one pass; false when there is none yet.
func (m *Mirror) Watermark(ctx context.Context, stream, pass string) (Watermark, bool, error) {
	list, err := readWatermarks(ctx, m.read, watermarkSQL+" WHERE stream = ? AND pass = ?", stream, pass)
	if err != nil {
		return Watermark{}, false, fmt.Errorf("read _watermarks: %w", sqlitefile.Explain(m.path, err))
	}
	if len(list) == 0 {
		return Watermark{}, false, nil
	}
	return list[0], true, nil
}

func readWatermarks(ctx context.Context, q sqlitefile.Querier, query string, args ...any) ([]Watermark, error) {
	var rows []struct {
		Watermark
		Mark     string       `db:"mark"`
		Complete sql.NullTime `db:"complete_through"`
		FullScan sql.NullTime `db:"last_full_scan_at"`
	}
	if err := q.SelectContext(ctx, &rows, query, args...); err != nil {
		return nil, err
	}
	list := make([]Watermark, len(rows))
	for i, r := range rows {
		list[i] = r.Watermark
		list[i].Watermark = r.Mark
		list[i].CompleteThrough, list[i].LastFullScanAt = sqlitefile.FromNull(r.Complete), sqlitefile.FromNull(r.FullScan)
	}
	return list, nil
}
