package publish

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"solarmirror/schema"
	"solarmirror/store"
	"solarmirror/store/forget"
	"solarmirror/store/outbox"
	"solarmirror/store/sqlitefile"
	"solarmirror/store/storetest"
)

// filledRows is the number of rows per table; in tables with long rows they need several pages.
const filledRows = 25

// filledMirror returns a mirror with rows in every table but _meta and the data dictionary.
func filledMirror(t *testing.T, path string) *store.Mirror {
	t.Helper()
	m := openMirror(t, path)
	must(t, m.Update(t.Context(), func(tx *store.Tx) error {
		for _, table := range schema.All() {
			if table == schema.Meta || table == schema.Columns {
				continue
			}
			insert := fmt.Sprintf("INSERT INTO %s VALUES (?%s)", table.Name, strings.Repeat(", ?", len(table.Columns)-1))
			count := filledRows
			if strings.Contains(table.Columns[0].Clause, "= 1)") {
				count = 1
			}
			for n := range count {
				if _, err := tx.Exec("fill "+table.Name, insert, storetest.FillRow(table, n)...); err != nil {
					return err
				}
			}
		}
		_, err := tx.Exec("name the platform", "UPDATE _meta SET base_url = 'https://sales.example.com'")
		return err
	}))
	return m
}

func testKey(b byte) PseudonymKey { return PseudonymKey{bytes.Repeat([]byte{b}, 32)} }

// masked returns the options of most tests.
func masked(to string) Options {
	return Options{To: to, KeepVersions: 1, Mask: &Masking{Key: testKey(1), KeepExtra: []string{"/margin", "/person/age", "/products/*/sku"}}}
}

func publishTo(t *testing.T, path string, o Options) *Published {
	t.Helper()
	published, err := Copy(t.Context(), path, o)
	must(t, err)
	return published
}

// openFile opens a database for reading.
func openFile(t *testing.T, path string) *sqlx.DB {
	t.Helper()
	db, err := sqlitefile.OpenUnguarded(path, "ro")
	must(t, err)
	t.Cleanup(func() { must(t, db.Close()) })
	return db
}

// texts returns the rows of a query for one column.
func texts(t *testing.T, db *sqlx.DB, query string) []string {
	t.Helper()
	var list []string
	if err := db.SelectContext(t.Context(), &list, query); err != nil {
		t.Fatalf("%v in %s", err, query)
	}
	return list
}

func TestMaskedCopy(t *testing.T) {
	t.Parallel()
	path, to := mirrorPath(t), filepath.Join(t.TempDir(), "new", "published.db")
	m := filledMirror(t, path)
	must(t, m.MakeIndices(t.Context()))
	publishTo(t, path, masked(to))

	content, err := os.ReadFile(to)
	must(t, err)
	for _, personal := range []string{storetest.Canary, "Ana.", "11.222.333/0001-81", "11222333000181"} {
		if bytes.Contains(content, []byte(personal)) {
			t.Errorf("the copy holds %q", personal)
		}
	}
	if content[18] != 1 || content[19] != 1 {
		t.Error("the copy wants a WAL")
	}
	if files, err := os.ReadDir(filepath.Dir(to)); err != nil || len(files) != 2 {
		t.Errorf("beside the copy and its lock: %v, %v", files, err)
	}
	// Tables and indices are the schema's, and every public value equals the mirror's.
	db := openFile(t, to)
	const structure = "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name"
	if got, want := texts(t, db, structure), texts(t, m.Reader(), structure); !slices.Equal(got, want) {
		t.Errorf("the structure differs:\n%s", strings.Join(got, "\n"))
	}
	for _, table := range schema.All() {
		var columns []string
		for _, c := range table.Columns {
			if c.Privacy == schema.Public && !(table == schema.Columns && strings.HasPrefix(c.Name, "description")) {
				columns = append(columns, "quote("+c.Name+")")
			}
		}
		rows := fmt.Sprintf("SELECT %s FROM %s ORDER BY 1", strings.Join(columns, " || ',' || "), table.Name)
		if got, want := texts(t, db, rows), texts(t, m.Reader(), rows); len(want) == 0 || !slices.Equal(got, want) {
			t.Errorf("%s: %d rows, want %d with the same values", table.Name, len(got), len(want))
		}
	}
	for query, want := range map[string]string{
		// Three identities, one of them empty, join across tables.
		"SELECT count(DISTINCT cnpj) FROM request_companies":                                                  "3",
		"SELECT count(*) FROM request_companies c JOIN request_invoices i ON i.cpf = c.cnpj WHERE c.cpf > ''": fmt.Sprint(10*10 + 10*10),
		"SELECT count(*) FROM requests WHERE added_by_email GLOB 'p_????????????????' OR added_by_email = ''": "25",
		"SELECT count(DISTINCT intent_id) FROM company_creations":                                             "25",
		"SELECT count(*) FROM requests WHERE name IS NOT NULL OR notes IS NOT NULL OR _hash IS NOT NULL":      "0",
		"SELECT max(length(raw)) || typeof(raw) || max(reason) FROM _rejects":                                 "0blob",
		"SELECT extra FROM requests WHERE request_key = 4":                                                    `{"/margin":0.3,"/person/age":3,"/products/0/sku":"s<3>"}`,
		"SELECT base_url FROM _meta": "https://sales.example.com",
		"SELECT substr(description, -52) FROM _columns WHERE table_name = 'requests' AND column_name = 'extra'":             ". In this copy: only /margin, /person/age, /products/*/sku.",
		"SELECT substr(description_pt, -46) FROM _columns WHERE table_name = 'requests' AND column_name = 'extra'":          ". Nesta cópia: só /margin, /person/age, /products/*/sku.",
		"SELECT substr(description_pt, -19) FROM _columns WHERE table_name = 'requests' AND column_name = 'name'":           " Vazio nesta cópia.",
		"SELECT substr(description_pt, -57) FROM _columns WHERE table_name = 'requests' AND column_name = 'added_by_email'": " Nesta cópia: um pseudônimo, o mesmo em todas as tabelas.",
	} {
		if got := texts(t, db, query); got[0] != want && !strings.HasSuffix(want, got[0]) {
			t.Errorf("%s\n  is   %s\n  want %s", query, got, want)
		}
	}
	for _, c := range []string{"name", "added_by_email"} {
		description := texts(t, db, "SELECT description FROM _columns WHERE table_name = 'requests' AND column_name = '"+c+"'")[0]
		if !strings.HasPrefix(description, schema.Requests.Column(c).Doc) || !strings.Contains(description, "in this copy") && !strings.Contains(description, "In this copy") {
			t.Errorf("%s: %s", c, description)
		}
	}
	// A copy opens as a mirror.
	read, err := store.OpenReadOnly(t.Context(), to)
	must(t, err)
	defer func() { must(t, read.Close()) }()
	storetest.Sound(t, read.Reader())
}

// Not parallel: the tests that are wait until the table is as it was.
func TestUndeclaredColumnIsMaskedAndForgotten(t *testing.T) {
	declared := schema.Requests.Columns
	t.Cleanup(func() { schema.Requests.Columns = declared })
	schema.Requests.Columns = append(slices.Clone(declared),
		schema.Column{Name: "customer_name_2", Type: schema.Text, Path: "/customerName2", Doc: "Another name.", Label: "Nome"},
		schema.Column{Name: "customer_age", Type: schema.BigInt, Path: "/customerAge", Doc: "Age.", Label: "Idade"})
	path, to := mirrorPath(t), filepath.Join(t.TempDir(), "published.db")
	m := filledMirror(t, path)
	publishTo(t, path, masked(to))
	db := openFile(t, to)
	const filled = "SELECT count(customer_name_2) + count(customer_age) FROM requests"
	if was, is := texts(t, m.Reader(), filled)[0], texts(t, db, filled)[0]; was != fmt.Sprint(2*filledRows) || is != "0" {
		t.Errorf("%s values in the mirror, %s in the copy", was, is)
	}
	content, err := os.ReadFile(to)
	must(t, err)
	if bytes.Contains(content, []byte(storetest.Canary)) {
		t.Errorf("the copy holds %q", storetest.Canary)
	}
	for column, doc := range map[string]string{"customer_name_2": "Another name.", "customer_age": "Age."} {
		query := "SELECT personal || description FROM _columns WHERE column_name = '" + column + "'"
		if got, want := texts(t, db, query)[0], "1"+doc+" Empty in this copy."; got != want {
			t.Errorf("the copy's dictionary says %q, want %q", got, want)
		}
	}

	const others = 3 * filledRows / 5 // two in five of the companies have this number
	_, err = forget.Person(t.Context(), m, "11.222.333/0001-81", nil, time.Minute)
	must(t, err)
	if left := texts(t, m.Reader(), filled)[0]; left != fmt.Sprint(2*others) {
		t.Errorf("%s values after one company is forgotten, want %d", left, 2*others)
	}
}

// TestModes: of a new copy, and of what is made from it.
func TestModes(t *testing.T) {
	t.Parallel()
	path, dir := mirrorPath(t), t.TempDir()
	filledMirror(t, path)
	full, without := masked(filepath.Join(dir, "full.db")), masked(filepath.Join(dir, "masked.db"))
	full.Mask, full.FileMode = nil, 0o640
	without.Mask.KeepExtra = nil
	unmasked := full
	unmasked.To = without.To // replaces the masked copy
	for _, tc := range []struct {
		options Options
		mode    fs.FileMode
	}{{full, 0o640}, {masked(filepath.Join(dir, "extra.db")), 0o644}, {without, 0o644}, {unmasked, 0o640}} {
		publishTo(t, path, tc.options)
		info, err := os.Stat(tc.options.To)
		must(t, err)
		mode, err := ModeOf(t.Context(), openFile(t, tc.options.To), 0o640)
		must(t, err)
		if info.Mode() != tc.mode || mode != tc.mode {
			t.Errorf("%s has %v, and files made from it %v; want %v", tc.options.To, info.Mode(), mode, tc.mode)
		}
	}
}

func TestFullCopy(t *testing.T) {
	t.Parallel()
	path, to := mirrorPath(t), filepath.Join(t.TempDir(), "published.db")
	m := filledMirror(t, path)
	live, err := sqlx.Open("sqlite", sqlitefile.DSN(path, nil))
	must(t, err)
	_, err = live.Exec("CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER); CREATE TABLE _litestream_lock (id INTEGER)")
	must(t, errors.Join(err, live.Close()))
	o := masked(to)
	o.Mask = nil
	publishTo(t, path, o)
	db := openFile(t, to)
	if got := texts(t, db, "SELECT count(*) FROM sqlite_master WHERE name LIKE '%litestream%'")[0]; got != "0" {
		t.Errorf("%s tables of Litestream were published", got)
	}
	for _, table := range schema.All() {
		rows := fmt.Sprintf("SELECT quote(%s) FROM %s ORDER BY 1", strings.Join(table.ColumnNames(), ") || quote("), table.Name)
		if got, want := texts(t, db, rows), texts(t, m.Reader(), rows); !slices.Equal(got, want) {
			t.Errorf("%s differs", table.Name)
		}
	}
	if mode, err := sqlitefile.JournalMode(t.Context(), to); err != nil || mode != "delete" {
		t.Errorf("journal mode %s, %v", mode, err)
	}
}

// TestPublishReplaces: earlier versions, the file's mode and open readers survive a new publish.
func TestPublishReplaces(t *testing.T) {
	t.Parallel()
	path, dir := mirrorPath(t), t.TempDir()
	to := filepath.Join(dir, "copy.v1.db")
	m := openMirror(t, path)
	o := masked(to)
	var old *sqlx.DB
	for round := range 4 {
		must(t, writePage(m, round, 10, "n"))
		o.KeepVersions = []int{1, 3, 3, 2}[round]
		if got, want := publishTo(t, path, o).Earlier, []int{0, 1, 2, 1}[round]; got != want {
			t.Errorf("round %d: %d earlier copies, want %d", round, got, want)
		}
		if n := texts(t, openFile(t, to), "SELECT count(*) FROM requests")[0]; n != fmt.Sprint(10*(round+1)) {
			t.Errorf("round %d: %s requests", round, n)
		}
		if round == 0 {
			old = openFile(t, to)
			texts(t, old, "SELECT count(*) FROM requests") // opens the file
			must(t, os.Chmod(to, 0o640))
			must(t, os.WriteFile(to+"-wal", []byte("of a program that wrote to the old copy"), 0o644))
			must(t, os.WriteFile(filepath.Join(dir, "copy.v1-mine.db"), []byte("keep"), 0o644))
		}
	}
	if n := texts(t, old, "SELECT count(*) FROM requests")[0]; n != "10" {
		t.Errorf("who has the old copy open sees %s requests", n)
	}
	info, err := os.Stat(to)
	if must(t, err); info.Mode().Perm() != 0o640 {
		t.Errorf("mode %o", info.Mode())
	}
	var names []string
	files, err := os.ReadDir(dir)
	must(t, err)
	for _, f := range files {
		names = append(names, regexp.MustCompile(`\d{8}T\d{6}\.\d{3}Z`).ReplaceAllString(f.Name(), "STAMP"))
	}
	if want := []string{"copy.v1-STAMP.db", "copy.v1-mine.db", "copy.v1.db", "copy.v1.db.lock"}; !slices.Equal(names, want) {
		t.Errorf("files %v, want %v", names, want)
	}
}

// TestPublishRefuses: a refused publish changes no file.
func TestPublishRefuses(t *testing.T) {
	t.Parallel()
	path, dir := mirrorPath(t), t.TempDir()
	filledMirror(t, path)
	queue := filepath.Join(dir, "private", "outbox.db")
	o, err := outbox.Open(t.Context(), queue, outbox.Options{})
	must(t, err)
	must(t, o.Close())
	other := mirrorPath(t)
	openMirror(t, other)
	text := filepath.Join(dir, "notes.txt")
	must(t, os.WriteFile(text, []byte(strings.Repeat("not a database\n", 100)), 0o644))
	for to, want := range map[string]string{
		path: "is the mirror itself", other: "is a mirror that is written to", queue: "is no copy that was published", text: "is no copy that was published", dir: "look at the copy to replace",
	} {
		before, _ := os.ReadFile(to)
		_, err := Copy(t.Context(), path, masked(to))
		after, _ := os.ReadFile(to)
		if err == nil || !strings.Contains(err.Error(), want) || !bytes.Equal(before, after) {
			t.Errorf("to %s: %v", to, err)
		}
	}
	if _, err := Copy(t.Context(), filepath.Join(dir, "none.db"), masked(filepath.Join(dir, "x.db"))); !errors.Is(err, sqlitefile.ErrNoDatabase) {
		t.Errorf("without a mirror: %v", err)
	}
	lock, err := sqlitefile.AcquireLock(t.Context(), filepath.Join(dir, "x.db"), "publish", false)
	must(t, err)
	var locked *sqlitefile.LockedError
	if _, err := Copy(t.Context(), path, masked(filepath.Join(dir, "x.db"))); !errors.As(err, &locked) {
		t.Errorf("while another publishes: %v", err)
	}
	must(t, lock.Release())
}

// TestPublishCleansUp: a failed or killed publish leaves no files, and a damaged copy is replaced.
func TestPublishCleansUp(t *testing.T) {
	t.Parallel()
	path, dir := mirrorPath(t), t.TempDir()
	filledMirror(t, path)
	to := filepath.Join(dir, "copy.db")
	must(t, os.WriteFile(partPath(to), []byte(storetest.Canary), 0o644))
	must(t, os.WriteFile(partPath(to)+"-journal", []byte(storetest.Canary), 0o644))
	publishTo(t, path, masked(to))
	content, err := os.ReadFile(to)
	must(t, err)
	must(t, os.WriteFile(to, append(bytes.Clone(content[:5000]), make([]byte, 3000)...), 0o644))
	publishTo(t, path, masked(to))

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Copy(ctx, path, masked(to)); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	o := masked(to)
	o.Mask.KeepExtra = []string{"/x"}
	db, err := sqlx.Open("sqlite", sqlitefile.DSN(path, nil)+"mode=rw")
	must(t, err)
	_, err = db.Exec("UPDATE requests SET extra = 'not JSON' WHERE request_key = 2")
	must(t, errors.Join(err, db.Close()))
	if _, err := Copy(t.Context(), path, o); err == nil || !strings.Contains(err.Error(), "copy requests") {
		t.Errorf("a copy that cannot be made: %v", err)
	}
	again, err := os.ReadFile(to)
	files, _ := os.ReadDir(dir)
	if err != nil || !bytes.Equal(again, content) || len(files) != 2 {
		t.Errorf("after all that: %d files, %v", len(files), err)
	}
}

func TestPublishWantsRoom(t *testing.T) {
	t.Parallel()
	path, dir := mirrorPath(t), t.TempDir()
	free, known, err := sqlitefile.FreeBytes(dir)
	if must(t, err); !known {
		return
	}
	m, err := store.Open(t.Context(), path, store.Options{})
	must(t, err)
	must(t, m.Close())
	must(t, os.Truncate(path, free+10<<30)) // sparse
	var small *sqlitefile.NoRoomError
	if _, err := Copy(t.Context(), path, masked(filepath.Join(dir, "copy.db"))); !errors.As(err, &small) || !strings.Contains(err.Error(), "copying "+path+" to "+dir) {
		t.Errorf("with too little room: %v", err)
	}
}

func TestPseudonyms(t *testing.T) {
	t.Parallel()
	key := testKey(1)
	same := map[string][]string{
		"e-mail": {"ana@example.com", "ANA@Example.com", " ana@example.com"},
		"CPF":    {"529.982.247-25", "52998224725", " 529982247-25"},
		"CNPJ":   {"12.ABC.345/01DE-35", "12abc34501de35", "12ABC345/01DE-35"},
		"other":  {"outra coisa"}, "other case": {"Outra coisa"}, "dot": {"a.na@example.com"}, "intent": {"lote-1-11"}, "another intent": {"lote-11-1"},
	}
	seen := map[string]string{}
	for who, forms := range same {
		for _, form := range forms {
			p := key.pseudonym(form)
			if !regexp.MustCompile(`^p_[0-9a-z]{16}$`).MatchString(p) || p == testKey(2).pseudonym(form) || p != key.pseudonym(forms[0]) {
				t.Errorf("%s %q: %s", who, form, p)
			}
			if other, taken := seen[p]; taken && other != who {
				t.Errorf("%s and %s are both %s", who, other, p)
			}
			seen[p] = who
		}
	}
	if key.pseudonym("") != "" {
		t.Error("nothing has a pseudonym")
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x"} {
		if text := fmt.Sprintf(verb, Masking{Key: key}); strings.Contains(text, "1 1 1") || strings.Contains(text, "0101") || strings.Contains(text, "\x01") {
			t.Errorf("%s prints the key: %s", verb, text)
		}
	}
}

func TestKeptExtra(t *testing.T) {
	t.Parallel()
	const extra = `{"/a":{"b":[{"c":12345678901234567890.10,"d/~":2},{"c":"x<y"}]},"/ab":1,"/list/0":null,"/list/10/x":true,"/m~1n":"n"}`
	for keep, want := range map[string]string{
		"/a":                extra[:strings.Index(extra, `,"/ab"`)] + "}",
		"/a/b/*/c":          `{"/a/b/0/c":12345678901234567890.10,"/a/b/1/c":"x<y"}`,
		"/a/b/0/d~1~0":      `{"/a/b/0/d~1~0":2}`,
		"/list/*":           `{"/list/0":null,"/list/10/x":true}`,
		"/m~1n /ab":         `{"/ab":1,"/m~1n":"n"}`,
		"/b /a/b/2 /ab/x /": "",
	} {
		got, err := keptExtra(extra, strings.Fields(keep))
		if err != nil || got != want {
			t.Errorf("%s keeps %s, %v, want %s", keep, got, err, want)
		}
	}
}

// TestEveryPersonalColumnIsRemarked: the data dictionary of a masked copy says of each personal
// column how it is masked.
func TestEveryPersonalColumnIsRemarked(t *testing.T) {
	t.Parallel()
	m := Masking{KeepExtra: []string{"/x"}}
	kinds := map[string]int{}
	for _, table := range schema.All() {
		for _, c := range table.Columns {
			remark, portuguese := m.remark(table, c)
			public := c.Privacy == schema.Public
			if (remark == "") != public || (portuguese == "") != public || (m.expression(table, c) == c.Name) != public {
				t.Errorf("%s.%s: %q, %s", table.Name, c.Name, remark, m.expression(table, c))
			}
			kinds[remark]++
		}
	}
	if len(kinds) != 4 {
		t.Errorf("remarks %v", slices.Collect(maps.Keys(kinds)))
	}
}
