package pull

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"solarmirror/schema"
	"solarmirror/store/testsize"
)

var promoted = flag.Int("promoted", 600, "requests of the mirror that TestPromotionOfLargeMirror migrates; 210000 make a file of 1 GB")

// A large mirror of an older schema that is stopped again and again on its way to the present one ends as the present one would have
// loaded it.
func TestPromotionOfLargeMirror(t *testing.T) {
	t.Parallel()
	requests := testsize.Fewer(*promoted)
	records := recordsToPromote(requests)
	path, want := oldMirror(t, records), newMirror(t, records)
	file, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	begun, stops := time.Now(), 0
	random := rand.New(rand.NewPCG(7, 7))
	for share := 12; ; share-- {
		// The first stops come early, the last after nearly all that is left; then it is let through.
		batches := random.IntN(requests/promotionBatch/max(share, 1) + 1)
		ctx, cancel := context.WithCancel(t.Context())
		err := promote(t, path, zerolog.New(writerFunc(func(b []byte) (int, error) {
			if batches--; batches < 0 && share > 0 {
				cancel()
			}
			return len(b), nil
		})), ctx)
		cancel()
		if err == nil {
			break
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		stops++
	}
	if stops == 0 {
		t.Error("never stopped")
	}
	t.Logf("a file of %d MB, stopped %d times: %v", file.Size()/1e6, stops, time.Since(begun).Round(time.Millisecond))

	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1) // what is attached is attached to a connection
	if _, err := db.Exec("ATTACH ? AS want", want); err != nil {
		t.Fatal(err)
	}
	for _, table := range schema.All() {
		if table.Shape == schema.Ledger || table.Shape == schema.Mart {
			continue
		}
		columns := slices.Clone(table.ColumnNames())
		if extra := slices.Index(columns, "extra"); extra >= 0 {
			columns[extra] = "(SELECT group_concat(key || '=' || value, ';' ORDER BY key) FROM json_each(extra))"
		}
		rows := func(of string) string {
			return "SELECT " + strings.Join(columns, ", ") + " FROM " + of + "." + table.Name
		}
		for _, sides := range [][2]string{{"main", "want"}, {"want", "main"}} {
			var n int
			if err := db.QueryRow("SELECT count(*) FROM (" + rows(sides[0]) + " EXCEPT " + rows(sides[1]) + ")").Scan(&n); err != nil || n > 0 {
				t.Errorf("%s: %d rows are in %s only (%v)", table.Name, n, sides[0], err)
			}
		}
	}
}
