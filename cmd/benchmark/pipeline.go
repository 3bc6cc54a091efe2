package main

import (
	"context"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strings"

	"solarmirror/schema"
	"solarmirror/sync/flatten"
	"solarmirror/sync/platform"
)

// batchRecords is how many records share a transaction, as in sync/pull.
const batchRecords = 1000

// loadPipeline is solarmirror's own way with another driver: its client and its flattener, pages read ahead, records compared by hash before
// they are decoded, the same batches, indices at the end. Only the rows go to SQLite by prepared statements of the cgo driver. It
// leaves out what a mirror has beside its tables of records: overlapping pages, the ledger, history, marts.
func loadPipeline(t task) (got outcome, err error) {
	client, err := newClient(t.URL)
	if err != nil {
		return got, err
	}
	defer client.Close()
	db, fresh, err := openPlain(t.DB)
	if err != nil {
		return got, err
	}
	w, err := newPlainWriter(db)
	if err != nil {
		return got, err
	}
	for _, s := range streams() {
		n, err := w.readList(client, s.Resource, s.Partition)
		if err != nil {
			return got, err
		}
		got.Records += n
	}
	if err := w.close(); err != nil {
		return got, err
	}
	if fresh {
		if err := makeIndices(db); err != nil {
			return got, err
		}
	}
	if err := closePlain(db); err != nil {
		return got, err
	}
	got.Load = used()
	return got, nil
}

// plainWriter writes records through the cgo driver.
type plainWriter struct {
	conn     *sql.Conn
	plan     *flatten.Plan
	batch    *flatten.Batch
	flat     *flatten.Flattener
	prepared map[string]*sql.Stmt
	lastKey  int64 // -1 before it is known
	begun    bool  // a transaction is open
	written  int   // records in it
}

// background is the context of all statements: one that could end would cost half the speed.
var background = context.Background()

func newPlainWriter(db *sql.DB) (*plainWriter, error) {
	conn, err := db.Conn(background)
	if err != nil {
		return nil, err
	}
	plan := flatten.Compile(schema.Requests)
	batch := plan.NewBatch()
	return &plainWriter{
		conn: conn, plan: plan, batch: batch, flat: plan.NewFlattener(batch), prepared: map[string]*sql.Stmt{}, lastKey: -1,
	}, nil
}

func (w *plainWriter) close() error {
	for _, s := range w.prepared {
		_ = s.Close()
	}
	return w.conn.Close()
}

// plainPage is a page whose records have been identified.
type plainPage struct {
	records [][]byte
	ids     []string
	hashes  []uint64
	at      string
	err     error
}

// readList writes a list, reading ahead of it.
func (w *plainWriter) readList(client *platform.Client, r platform.Resource, kind string) (records int64, err error) {
	ahead := make(chan chan plainPage, inFlight)
	ctx, cancel := context.WithCancel(background)
	defer cancel()
	go func() {
		for number := 1; ctx.Err() == nil; number++ {
			page := make(chan plainPage, 1)
			select {
			case ahead <- page:
			case <-ctx.Done():
				return
			}
			go func() { page <- w.fetch(ctx, client, r, kind, number) }()
		}
	}()
	for {
		page := <-<-ahead
		if page.err != nil {
			return records, page.err
		}
		if err := w.writePage(kind, page); err != nil {
			return records, err
		}
		records += int64(len(page.records))
		if len(page.records) < pageSize {
			return records, w.commit()
		}
	}
}

func (w *plainWriter) fetch(ctx context.Context, client *platform.Client, r platform.Resource, kind string, number int) (p plainPage) {
	page, err := client.List(ctx, r, platform.Filter{}, number, pageSize)
	if err != nil {
		return plainPage{err: err}
	}
	p.records, p.at = page.Records, page.FetchedAt.UTC().Format(storedTime)
	for _, raw := range page.Records {
		key, err := w.plan.Key(raw, kind)
		if err != nil {
			return plainPage{err: err}
		}
		p.ids, p.hashes = append(p.ids, key[1]), append(p.hashes, flatten.RawHash(raw))
	}
	return p
}

func (w *plainWriter) commit() error {
	if !w.begun {
		return nil
	}
	w.begun, w.written = false, 0
	_, err := w.conn.ExecContext(background, "COMMIT")
	return err
}

// stmt returns a statement, prepared the first time.
func (w *plainWriter) stmt(query string) (*sql.Stmt, error) {
	s, ok := w.prepared[query]
	if !ok {
		var err error
		if s, err = w.conn.PrepareContext(background, query); err != nil {
			return nil, fmt.Errorf("%s: %w", query, err)
		}
		w.prepared[query] = s
	}
	return s, nil
}

func (w *plainWriter) writePage(kind string, p plainPage) (err error) {
	if len(p.records) == 0 {
		return nil
	}
	if !w.begun {
		if _, err := w.conn.ExecContext(background, "BEGIN IMMEDIATE"); err != nil {
			return err
		}
		w.begun = true
	}
	known, err := w.lookUp(kind, p.ids)
	if err != nil {
		return err
	}
	w.batch.Reset()
	var replaced []int64
	for i, raw := range p.records {
		was := known[p.ids[i]]
		if was.key != 0 && was.hash == p.hashes[i] {
			continue
		}
		key := was.key
		if key != 0 {
			replaced = append(replaced, key)
		} else if key, err = w.newKey(); err != nil {
			return err
		}
		if err := w.flat.Flatten(flatten.Record{Key: key, Partition: kind, RawHash: p.hashes[i], At: p.at, Raw: raw}); err != nil {
			return err
		}
	}
	if err := w.writeRows(replaced); err != nil {
		return err
	}
	if w.written += len(p.records); w.written >= batchRecords {
		return w.commit()
	}
	return nil
}

type plainStored struct {
	key  int64
	hash uint64
}

// lookUp returns what is stored under the ids.
func (w *plainWriter) lookUp(kind string, ids []string) (map[string]plainStored, error) {
	s, err := w.stmt("SELECT id, request_key, _hash FROM requests WHERE request_type = ? AND id IN (?" + strings.Repeat(", ?", len(ids)-1) + ")")
	if err != nil {
		return nil, err
	}
	args := []any{kind}
	for _, id := range ids {
		args = append(args, id)
	}
	rows, err := s.Query(args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	known := make(map[string]plainStored, len(ids))
	for rows.Next() {
		var id string
		var stored plainStored
		var hash sql.RawBytes
		if err := rows.Scan(&id, &stored.key, &hash); err != nil {
			return nil, err
		}
		stored.hash = binary.BigEndian.Uint64(hash)
		known[id] = stored
	}
	return known, rows.Err()
}

func (w *plainWriter) newKey() (int64, error) {
	if w.lastKey < 0 {
		if err := w.conn.QueryRowContext(background, "SELECT coalesce(max(request_key), 0) FROM requests").Scan(&w.lastKey); err != nil {
			return 0, err
		}
	}
	w.lastKey++
	return w.lastKey, nil
}

// writeRows writes the batch.
func (w *plainWriter) writeRows(replaced []int64) error {
	if len(replaced) > 0 {
		keys, err := json.Marshal(replaced)
		if err != nil {
			return err
		}
		for _, rows := range w.batch.Rows[1:] {
			s, err := w.stmt("DELETE FROM " + rows.Table.Name + " WHERE request_key IN (SELECT value FROM json_each(?))")
			if err != nil {
				return err
			}
			if _, err := s.Exec(string(keys)); err != nil {
				return err
			}
		}
	}
	for i := range w.batch.Rows {
		if err := w.insert(&w.batch.Rows[i]); err != nil {
			return err
		}
	}
	return nil
}

// rowsPerInsert are the sizes of the multi-row statements.
var rowsPerInsert = []int{16, 4, 1}

func (w *plainWriter) insert(rows *schema.Rows) error {
	columns := rows.Table.ColumnNames()
	for values := rows.Values; len(values) > 0; {
		var n int
		for _, n = range rowsPerInsert {
			if n*len(columns) <= len(values) {
				break
			}
		}
		query := insertSQL(rows.Table, columns, n)
		if rows.Table == schema.Requests {
			query = upsertSQL(query, "request_key", columns, "request_key", "request_type", "id", "_first_seen_at")
		}
		s, err := w.stmt(query)
		if err != nil {
			return err
		}
		if _, err := s.Exec(values[:n*len(columns)]...); err != nil {
			return err
		}
		values = values[n*len(columns):]
	}
	return nil
}
