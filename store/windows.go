package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"solarmirror/store/sqlitefile"
)

// Window is one stretch of a stream that is read whole: everything, or what was updated (equipment: created) between two dates.
type Window struct {
	ID          int64     `db:"window_id"` // 0 before the first Save
	Stream      string    `db:"stream"`
	Pass        string    `db:"pass"`
	From, To    string    `db:"-"`          // dates, both included; "" is unbounded
	StartedAt   time.Time `db:"started_at"` // by the platform's clock or ours, whichever was earlier
	Cursor      int64     `db:"cursor"`     // rows from the start of the list that were read
	Anchor      string    `db:"anchor"`     // the last of them, for people
	Seen        []byte    `db:"seen"`       // bitmap over surrogate keys
	Pages       int64     `db:"pages"`
	Records     int64     `db:"records"`
	Expected    int64     `db:"expected"` // records the platform says there are; -1 where it does not count
	Promise     string    `db:"promise"`  // what weakens the window's promise; "" when nothing does
	RunID       int64     `db:"run_id"`
	CompletedAt time.Time `db:"-"` // zero until it was read to its end
}

const windowColumns = `window_id, stream, pass, coalesce(from_date, '') AS from_day, coalesce(to_date, '') AS to_day, started_at, cursor,
	coalesce(anchor, '') AS anchor, coalesce(seen, x'') AS seen, pages, records, coalesce(expected, -1) AS expected, coalesce(promise, '') AS promise, coalesce(run_id, 0) AS run_id, completed_at`

// Window returns the window of that identity; false when it was never begun.
func (m *Mirror) Window(ctx context.Context, stream, pass, from, to string) (Window, bool, error) {
	list, err := m.windows(ctx, "SELECT "+windowColumns+` FROM _windows
		WHERE stream = ? AND pass = ? AND coalesce(from_date, '') = ? AND coalesce(to_date, '') = ?`, stream, pass, from, to)
	if err != nil || len(list) == 0 {
		return Window{}, false, err
	}
	return list[0], true, nil
}

// Windows returns all windows, by stream and date, without Seen.
func (m *Mirror) Windows(ctx context.Context) ([]Window, error) {
	list, err := m.windows(ctx, "SELECT "+windowColumns+" FROM _windows ORDER BY stream, pass, from_date, to_date")
	for i := range list {
		list[i].Seen = nil
	}
	return list, err
}

func (m *Mirror) windows(ctx context.Context, query string, args ...any) ([]Window, error) {
	var rows []struct {
		Window
		FromDay   string       `db:"from_day"`
		ToDay     string       `db:"to_day"`
		Completed sql.NullTime `db:"completed_at"`
	}
	if err := m.read.SelectContext(ctx, &rows, query, args...); err != nil {
		return nil, fmt.Errorf("read _windows: %w", sqlitefile.Explain(m.path, err))
	}
	list := make([]Window, len(rows))
	for i, r := range rows {
		list[i] = r.Window
		list[i].From, list[i].To, list[i].CompletedAt = r.FromDay, r.ToDay, sqlitefile.FromNull(r.Completed)
	}
	return list, nil
}

// SaveWindow writes how far a window has come, and with it how much of a first load is done; a new one gets its ID.
func (tx *Tx) SaveWindow(w *Window) error {
	doing := fmt.Sprintf("save the window of %s (%s)", w.Stream, w.Pass)
	state := "running"
	if !w.CompletedAt.IsZero() {
		state = "complete"
	}
	var run, expected any
	if w.RunID != 0 {
		run = w.RunID
	}
	if w.Expected >= 0 {
		expected = w.Expected
	}
	values := []any{w.Stream, w.Pass, sqlitefile.NullableText(w.From), sqlitefile.NullableText(w.To), state, sqlitefile.FormatTime(w.StartedAt), w.Cursor,
		sqlitefile.NullableText(w.Anchor), w.Seen, w.Pages, w.Records, expected, sqlitefile.NullableText(w.Promise), run, sqlitefile.NullableTime(w.CompletedAt)}
	if w.ID == 0 {
		_, err := tx.Get(doing, &w.ID, `INSERT INTO _windows (stream, pass, from_date, to_date, state, started_at, cursor,
			anchor, seen, pages, records, expected, promise, run_id, completed_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING window_id`, values...)
		if err != nil {
			return err
		}
		return tx.writeFreshness()
	}
	_, err := tx.Exec(doing, `UPDATE _windows SET stream = ?, pass = ?, from_date = ?, to_date = ?, state = ?, started_at = ?, cursor = ?,
		anchor = ?, seen = ?, pages = ?, records = ?, expected = ?, promise = ?, run_id = ?, completed_at = ? WHERE window_id = ?`, append(values, w.ID)...)
	if err != nil {
		return err
	}
	return tx.writeFreshness()
}
