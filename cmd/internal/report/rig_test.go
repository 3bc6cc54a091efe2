package report

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/rs/zerolog"

	"solarmirror/cmd/internal/charts"
	"solarmirror/store"
	"solarmirror/store/marts"
	"solarmirror/sync/platform"
	"solarmirror/sync/platform/platformtest"
	"solarmirror/sync/pull"
	"solarmirror/sync/scan"
)

// now is the clock of every test.
var now = time.Date(2026, 3, 10, 15, 0, 0, 0, time.UTC)

var languages = map[string]charts.Language{"pt": charts.Portuguese, "en": charts.English}

func saoPaulo(t *testing.T) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation("America/Sao_Paulo")
	must(t, err)
	return zone
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// syncedFile is a mirror that is made once; tests that change it copy it.
var syncedFile struct {
	sync.Once
	content []byte
}

// hard are changes of synced records that make figures hard: the orders of December are gone, those of one month have no value, one order has no date,
// some are older than the months shown or in the future, some have neither seller nor state, and names mean something in HTML.
var hard = []string{
	"UPDATE requests SET order_created = NULL WHERE request_key IN (SELECT request_key FROM requests WHERE request_type = 'order' ORDER BY request_key LIMIT 1)",
	"UPDATE requests SET order_created = '2020' || substr(order_created, 5) WHERE request_key IN (SELECT request_key FROM requests WHERE request_type = 'order' ORDER BY request_key LIMIT 3 OFFSET 1)",
	"UPDATE requests SET order_created = '2026-04-02 12:00:00.000' WHERE request_key IN (SELECT request_key FROM requests WHERE request_type = 'order' ORDER BY request_key LIMIT 2 OFFSET 4)",
	"UPDATE requests SET order_created = '2026-03-25 12:00:00.000' WHERE request_key IN (SELECT request_key FROM requests WHERE request_type = 'order' ORDER BY request_key LIMIT 2 OFFSET 6)",
	"UPDATE requests SET order_created = '2026-01' || substr(order_created, 8) WHERE order_created LIKE '2025-12%' OR order_created LIKE '2026-01-01 0%'",
	"UPDATE requests SET final_value = NULL, total_power = NULL WHERE order_created LIKE '2025-06%'",
	"UPDATE requests SET responsible_email = NULL, responsible_name = NULL, responsible_surname = NULL WHERE request_key % 11 = 0",
	"UPDATE requests SET responsible_name = '<b>Zoé</b> & ''Cia''', responsible_surname = NULL, responsible_email = 'zoe@example.com' WHERE request_key % 5 = 0",
	"DELETE FROM request_freights WHERE request_key % 7 = 0",
	"UPDATE request_companies SET address_state = NULL WHERE request_key % 14 = 0",
	"UPDATE equipments SET manufacturer = NULL WHERE equipment_key % 17 = 0",
	"DELETE FROM _marts",
}

// syncedMirror is of a simulated platform, read three times with ten days between, and hard. It is the test's own.
func syncedMirror(t *testing.T) *store.Mirror {
	t.Helper()
	syncedFile.Do(func() {
		m := openMirror(t, t.TempDir())
		syncOften(t, m)
		change(t, m, hard...)
		must(t, marts.Refresh(context.Background(), m))
		must(t, m.Close())
		content, err := os.ReadFile(m.Path())
		must(t, err)
		syncedFile.content = content
	})
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "mirror.db"), syncedFile.content, 0o600))
	m := openMirror(t, dir)
	t.Cleanup(func() { must(t, m.Close()) })
	return m
}

func emptyMirror(t *testing.T) *store.Mirror {
	t.Helper()
	m := openMirror(t, t.TempDir())
	t.Cleanup(func() { must(t, m.Close()) })
	return m
}

func openMirror(t *testing.T, dir string) *store.Mirror {
	t.Helper()
	m, err := store.Open(context.Background(), filepath.Join(dir, "mirror.db"), store.Options{
		Now: func() time.Time { return now }, Log: zerolog.Nop(), Zone: saoPaulo(t),
	})
	must(t, err)
	return m
}

func syncOften(t *testing.T, m *store.Mirror) {
	t.Helper()
	at := now.AddDate(0, 0, -20)
	const token = "a-token"
	clock := func() time.Time { return at }
	server := httptest.NewServer(platformtest.New(platformtest.Options{Seed: 2, Requests: 600, Token: token, Clock: clock}))
	defer server.Close()
	client, err := platform.New(platform.Config{
		BaseURL: server.URL, Token: func(context.Context) (string, error) { return token, nil },
		RequestsPerSecond: 10_000, Log: zerolog.Nop(), Now: clock,
	})
	must(t, err)
	defer client.Close()
	engine := &pull.Engine{
		Client: client, Mirror: m, Zone: saoPaulo(t), OverlapDays: 2, Paging: pull.Paging{FirstPage: scan.FindFirstPage, Limit: 50}, InFlight: 4,
		Now: clock, Log: zerolog.Nop(),
	}
	for range 3 {
		_, err := engine.Sync(context.Background(), pull.Options{Streams: pull.Streams(), Full: true, Trigger: store.TriggerManual})
		must(t, err)
		at = at.AddDate(0, 0, 10)
	}
}

// change writes to a mirror's file behind its back.
func change(t *testing.T, m *store.Mirror, statements ...string) {
	t.Helper()
	db := database(t, m)
	for _, statement := range statements {
		if _, err := db.Exec(statement); err != nil {
			t.Fatalf("%v in %s", err, statement)
		}
	}
}

func database(t *testing.T, m *store.Mirror) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+m.Path()+"?mode=rw&_pragma=busy_timeout(5000)")
	must(t, err)
	t.Cleanup(func() { must(t, db.Close()) })
	return db
}

// write makes the report.
func write(t *testing.T, m *store.Mirror, l charts.Language) string {
	t.Helper()
	return writeRestricted(t, m, l, Restriction{})
}

func writeRestricted(t *testing.T, m *store.Mirror, l charts.Language, r Restriction) string {
	t.Helper()
	var page bytes.Buffer
	must(t, Write(t.Context(), &page, m, Options{Language: l, Zone: saoPaulo(t), Now: now, Restriction: r}))
	return page.String()
}

// parsedSection is what a reader finds below one heading.
type parsedSection struct {
	text     string
	drawings int
	tables   []parsedTable
}

// parsedTable is its cells; the last row is the total, where there is one.
type parsedTable struct {
	header []string
	rows   [][]string
}

// parse reads the sections of a page by their ids.
func parse(t *testing.T, page string) map[string]*parsedSection {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(page))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	sections := map[string]*parsedSection{}
	at := &parsedSection{}
	var cell *strings.Builder
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return sections
		}
		must(t, err)
		switch token := token.(type) {
		case xml.StartElement:
			switch token.Name.Local {
			case "section":
				at = &parsedSection{}
				for _, a := range token.Attr {
					if a.Name.Local == "id" {
						sections[a.Value] = at
					}
				}
			case "svg":
				at.drawings++
			case "table":
				at.tables = append(at.tables, parsedTable{})
			case "tr":
				last := &at.tables[len(at.tables)-1]
				last.rows = append(last.rows, nil)
			case "th", "td":
				cell = &strings.Builder{}
			}
		case xml.CharData:
			at.text += string(token)
			if cell != nil {
				cell.Write(token)
			}
		case xml.EndElement:
			if token.Name.Local != "th" && token.Name.Local != "td" {
				continue
			}
			rows := at.tables[len(at.tables)-1].rows
			rows[len(rows)-1] = append(rows[len(rows)-1], strings.ReplaceAll(cell.String(), "\u00a0", " "))
			cell = nil
		}
	}
}

// cards are the figures at the head of a page: names, values, changes.
var cards = regexp.MustCompile(`<div><dt>([^<]*)</dt><dd>([^<]*)</dd><dd class="change">([^<]*)</dd>`)

// table returns the i-th table of a section, its header apart.
func (s *parsedSection) table(t *testing.T, i int) parsedTable {
	t.Helper()
	if s == nil || len(s.tables) <= i {
		t.Fatalf("the section has no table %d", i)
	}
	rows := s.tables[i].rows
	return parsedTable{header: rows[0], rows: rows[1:]}
}

// number reads a cell as people of the language do; NaN for a dash. Half is half of what its last digit stands for.
func number(t *testing.T, cell, language string) (v, half float64) {
	t.Helper()
	if cell == unknown {
		return math.NaN(), 0
	}
	thousands, decimal := ",", "."
	if language == "pt" {
		thousands, decimal = ".", ","
	}
	plain, percent := strings.CutSuffix(strings.Replace(cell, "−", "-", 1), "%")
	plain = strings.Replace(strings.ReplaceAll(plain, thousands, ""), decimal, ".", 1)
	v, err := strconv.ParseFloat(plain, 64)
	if err != nil {
		t.Fatalf("%q is no number: %v", cell, err)
	}
	half = 0.5
	if _, decimals, found := strings.Cut(plain, "."); found {
		half *= math.Pow10(-len(decimals))
	}
	if percent {
		v, half = v/100, half/100
	}
	return v, half
}

// sameRow fails unless the cells after the first say the wanted numbers, to their last digit.
func sameRow(t *testing.T, language string, cells []string, want ...float64) {
	t.Helper()
	if len(cells) != len(want)+1 {
		t.Fatalf("%q: want %d numbers", cells, len(want))
	}
	for i, w := range want {
		got, half := number(t, cells[i+1], language)
		if math.IsNaN(got) != math.IsNaN(w) || math.Abs(got-w) > half*1.000001 {
			t.Errorf("%s: number %d is %s, the marts say %v", cells[0], i+1, cells[i+1], w)
		}
	}
}

// ask returns the rows of a query: a name, "" for NULL, and numbers, NaN for NULL.
func ask(t *testing.T, db *sql.DB, query string) (list []answer) {
	t.Helper()
	if list = askAny(t, db, query); len(list) == 0 {
		t.Fatalf("nothing to compare with: %s", query)
	}
	return list
}

// askAny is ask for a query that may have no row.
func askAny(t *testing.T, db *sql.DB, query string) (list []answer) {
	t.Helper()
	rows, err := db.Query(query)
	if err != nil {
		t.Fatalf("%v in %s", err, query)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	must(t, err)
	for rows.Next() {
		var name sql.NullString
		numbers := make([]sql.NullFloat64, len(columns)-1)
		into := []any{&name}
		for i := range numbers {
			into = append(into, &numbers[i])
		}
		must(t, rows.Scan(into...))
		a := answer{name: name.String}
		for _, n := range numbers {
			if !n.Valid {
				n.Float64 = math.NaN()
			}
			a.numbers = append(a.numbers, n.Float64)
		}
		list = append(list, a)
	}
	must(t, rows.Err())
	return list
}

type answer struct {
	name    string
	numbers []float64
}

// monthOf turns the name of a table's line into what months are in the marts: YYYY-MM, "" for none, "<" with one, and ">" for what is in the future.
func monthOf(t *testing.T, line, language string) string {
	t.Helper()
	line, _, _ = strings.Cut(line, " (") // the days of the month that are shown
	for prefix, sign := range map[string]string{"Antes de ": "<", "Before ": "<"} {
		if rest, found := strings.CutPrefix(line, prefix); found {
			return sign + monthOf(t, rest, language)
		}
	}
	if line == "Depois de 10/03/2026" || line == "After 2026-03-10" {
		return ">"
	}
	if line == "Sem data" || line == "No date" {
		return ""
	}
	names, between := "jan fev mar abr mai jun jul ago set out nov dez", "/"
	if language == "en" {
		names, between = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec", " "
	}
	name, year, _ := strings.Cut(line, between)
	for i, n := range strings.Fields(names) {
		if n == name {
			return fmt.Sprintf("%s-%02d", year, i+1)
		}
	}
	t.Fatalf("%q is no month", line)
	return ""
}
