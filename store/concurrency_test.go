package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"

	"solarmirror/schema"
	"solarmirror/store/sqlitefile"
)

func TestReadersSeeWholePages(t *testing.T) {
	t.Parallel()
	path := mirrorPath(t)
	m := openMirror(t, path)
	done := make(chan struct{})
	var readers sync.WaitGroup
	for range 4 {
		r := openReader(t, path)
		readers.Go(func() {
			for {
				var n int
				err := r.read.Get(&n, `SELECT count(*) FROM requests AS r
					WHERE (SELECT count(*) FROM request_products AS p WHERE p.request_key = r.request_key AND p.name = r.name) = 0`)
				if err != nil || n != 0 {
					t.Errorf("%d requests without products, %v", n, err)
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	for round := range 15 {
		page := somePage(round%5, 40)
		for i := range page {
			page[i].name, page[i].hash = fmt.Sprint("round ", round), Hash{Raw: uint64(round)}
		}
		_, err := writePage(t.Context(), m, sqlitefile.FormatTime(start), page)
		must(t, err)
	}
	close(done)
	readers.Wait()
}

func TestWritersTakeTurns(t *testing.T) {
	t.Parallel()
	m := openMirror(t, mirrorPath(t))
	var writers sync.WaitGroup
	for w := range 4 {
		writers.Go(func() {
			for i := range 5 {
				if _, err := writePage(context.Background(), m, sqlitefile.FormatTime(start), somePage(10*w+i, 10)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
	if n := number(t, m, "SELECT count(*) * 1000 + max(request_key) FROM requests"); n != 200_200 {
		t.Errorf("count and greatest key: %d", n)
	}
	tx, err := m.Begin(t.Context())
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.Begin(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("begin with an ended context: %v", err)
	}
	must(t, tx.Rollback())
}

const killedPage = 20

// loadForever is a process that writes pages until it is killed.
func loadForever(path string) error {
	m, err := Open(context.Background(), path, Options{})
	if err != nil {
		return err
	}
	for i := 0; ; i++ {
		err := m.Update(context.Background(), func(tx *Tx) error {
			page, keys := somePage(i, killedPage), make([]int64, killedPage)
			for k := range keys {
				keys[k] = tx.NewKey(schema.Requests)
			}
			if err := tx.Upsert(rowsOf(page, keys, sqlitefile.FormatTime(start)), nil); err != nil {
				return err
			}
			return tx.SetWatermark(Watermark{Stream: "orders", Pass: "live", Watermark: fmt.Sprint(i)})
		})
		if err != nil {
			return err
		}
		if i == 0 {
			fmt.Fprintln(os.Stdout, "ready")
		}
	}
}

func TestKilledLoadLeavesWholePages(t *testing.T) {
	t.Parallel()
	path := mirrorPath(t)
	child := startChild(t, "load", path)
	reader := openReader(t, path)
	for number(t, reader, "SELECT count(*) FROM requests") < 10*killedPage {
	}
	must(t, child.Process.Kill())
	_ = child.Wait()

	m := openMirror(t, path)
	soundFile(t, m)
	n := number(t, m, "SELECT count(*) FROM requests")
	if n%killedPage != 0 || n < 10*killedPage {
		t.Errorf("%d requests are no whole pages", n)
	}
	perPage := int64(0)
	for _, r := range somePage(0, killedPage) {
		perPage += int64(r.products)
	}
	if got, want := number(t, m, "SELECT count(*) FROM request_products"), n/killedPage*perPage; got != want {
		t.Errorf("%d products, want %d", got, want)
	}
	w, ok, err := m.Watermark(t.Context(), "orders", "live")
	if want := fmt.Sprint(n/killedPage - 1); err != nil || !ok || w.Watermark != want {
		t.Errorf("watermark %+v, %v, want page %s", w, err, want)
	}
	if _, err := writePage(t.Context(), m, sqlitefile.FormatTime(start), []request{{id: "after", products: 1}}); err != nil {
		t.Error(err)
	}
}

func TestCloseRollsBackWhatIsOpen(t *testing.T) {
	t.Parallel()
	path := mirrorPath(t)
	m, err := Open(t.Context(), path, Options{})
	must(t, err)
	_, err = writePage(t.Context(), m, sqlitefile.FormatTime(start), somePage(1, 5))
	must(t, err)
	tx, err := m.Begin(t.Context())
	must(t, err)
	must(t, tx.Upsert(rowsOf(somePage(2, 5), []int64{6, 7, 8, 9, 10}, sqlitefile.FormatTime(start)), nil))
	must(t, m.Close())
	if err := tx.Commit(); err == nil {
		t.Error("committed after Close")
	}
	if n := number(t, openReader(t, path), "SELECT count(*) FROM requests"); n != 5 {
		t.Errorf("%d requests", n)
	}
}
