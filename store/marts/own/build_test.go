package own

import (
	"os"
	"strings"
	"testing"
	"time"
)

func TestBuild(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.file("por_tipo.sql", `-- Value sold by kind.
-- label: total = Valor total
-- types: total REAL, ultimo DATE, visto TIMESTAMP
SELECT kind, sum(final_value) AS total, date(max(order_created)) AS ultimo, max(order_created) AS visto, count(*) AS n, code AS codigo
FROM requests GROUP BY kind ORDER BY kind;
`)
	d.refresh()
	d.wants("kit:150.5:2026-03-02:2 solo:7.0::1", "SELECT kind || ':' || total || ':' || coalesce(ultimo, '') || ':' || n AS x FROM my_por_tipo ORDER BY kind")
	d.wants("kind:TEXT total:REAL ultimo:DATE visto:TIMESTAMP n:BIGINT codigo:TEXT", "SELECT name || ':' || type AS x FROM pragma_table_info('my_por_tipo')")
	d.wants("Valor total", "SELECT label_pt AS x FROM _columns WHERE table_name = 'my_por_tipo' AND column_name = 'total'")
	d.wants("UTC", "SELECT unit AS x FROM _columns WHERE table_name = 'my_por_tipo' AND column_name = 'visto'")
	d.wants("codigo:0 kind:0 n:1 total:1 ultimo:1 visto:1", "SELECT column_name || ':' || personal AS x FROM _columns WHERE table_name = 'my_por_tipo' ORDER BY column_name")
	d.wants("Value sold by kind.:2:", "SELECT description || ':' || row_count || ':' || coalesce(error, '') AS x FROM _own_marts")

	built := d.text("SELECT tried_at AS x FROM _own_marts")
	d.refresh()
	d.wants(built, "SELECT tried_at AS x FROM _own_marts") // nothing has changed

	root := d.text("SELECT rootpage AS x FROM sqlite_master WHERE name = 'my_por_tipo'")
	d.changed()
	d.refresh()
	if d.text("SELECT tried_at AS x FROM _own_marts") == built {
		t.Error("not built after a change")
	}
	d.wants(root, "SELECT rootpage AS x FROM sqlite_master WHERE name = 'my_por_tipo'") // the same rows were not written

	d.run("UPDATE requests SET final_value = 8 WHERE id = 'c'")
	d.changed()
	d.refresh()
	d.wants("150.5 8.0", "SELECT total AS x FROM my_por_tipo ORDER BY kind")

	d.remove("por_tipo.sql")
	d.refresh()
	d.wants("", "SELECT name AS x FROM sqlite_master WHERE name GLOB 'my_*' OR name GLOB '_own_p*'")
	d.wants("", "SELECT table_name AS x FROM _own_marts UNION ALL SELECT column_name FROM _columns WHERE table_name GLOB 'my_*'")
}

func TestFailuresKeepTheLastTable(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for _, name := range []string{"a", "b", "c"} {
		d.file(name+".sql", "SELECT code AS v FROM requests ORDER BY code")
	}
	d.refresh()
	d.file("a.sql", "SELECT code AS v FROM requests WHERE code > 'C1' ORDER BY code")
	for text, want := range map[string]string{
		"SELECT nada FROM requests":                            "no such column: nada",
		"SELECT code AS v FROM WHERE":                          "syntax error",
		"SELECT 1; SELECT 2":                                   "one statement",
		"-- only words":                                        "no statement",
		"PRAGMA user_version":                                  "not a SELECT",
		"WITH x AS (SELECT 1) DELETE FROM requests":            "not authorized",
		"SELECT 1 AS v FROM my_b":                              "a circle: my_b reads my_b",
		"SELECT count(*) FROM requests":                        "add AS name",
		"SELECT code AS v, kind AS v FROM requests":            "duplicate column name: v",
		"SELECT code AS \"order\" FROM requests":               "syntax error",
		"-- types: v DATE\nSELECT 'x' AS v":                    "column v: the value in row 1 is no DATE",
		"-- types: v INTEGER\nSELECT 1 AS v":                   "want \"-- types",
		"-- types: w REAL\nSELECT 1 AS v":                      "a column \"w\"",
		"-- public: v\nSELECT upper(notes) AS v FROM requests": "reads personal data, requests.notes",
		"SELECT 9e999 AS v":                                    "infinite",
		"SELECT load_extension('x') AS v":                      "not authorized",
		"SELECT code AS v FROM other.requests":                 "no such table",
		"SELECT v FROM my_gone":                                "no such table: my_gone",
		"SELECT json_extract('{', '$') AS v":                   "malformed JSON",
		"CREATE TABLE x AS SELECT 1":                           "not a SELECT",
		"SELECT 1 AS v\x00":                                    "not UTF-8",
		"SELECT ?1 AS v":                                       "missing named argument",
		"-- label: v\nSELECT 1 AS v":                           "want \"-- label",
		"SELECT writefile('x', 'y') AS v":                      "no such function",
		"WITH RECURSIVE r(v) AS (SELECT 1 UNION ALL SELECT v FROM missing) SELECT v FROM r": "no such table",
	} {
		d.file("b.sql", text)
		d.refresh()
		if got := d.errorOf("my_b"); !strings.Contains(got, want) {
			t.Errorf("%s\n  gives %q, want %q", text, got, want)
		}
		d.wants("C1 C2 C3", "SELECT v AS x FROM my_b")
		d.wants("C2 C3", "SELECT v AS x FROM my_a") // built before, though b fails
		d.wants("C1 C2 C3", "SELECT v AS x FROM my_c")
	}
	d.file("b.sql", "SELECT kind AS v FROM requests ORDER BY kind")
	d.refresh()
	d.wants("", "SELECT error AS x FROM _own_marts WHERE error IS NOT NULL")
	d.wants("kit kit solo", "SELECT v AS x FROM my_b")
}

func TestOrder(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.file("a.sql", "SELECT n * 2 AS n FROM my_b")
	d.file("b.sql", "SELECT n + 1 AS n FROM main.my_c")
	d.file("c.sql", "SELECT count(*) AS n FROM requests")
	d.file("d.sql", "WITH my_a AS (SELECT 5 AS n) SELECT n FROM my_a")
	d.refresh()
	d.wants("8 4 3 5", "SELECT n AS x FROM my_a UNION ALL SELECT n FROM my_b UNION ALL SELECT n FROM my_c UNION ALL SELECT n FROM my_d")

	// Another statement of c builds those that read it, too.
	d.file("c.sql", "SELECT 10 AS n")
	d.refresh()
	d.wants("22 11 10", "SELECT n AS x FROM my_a UNION ALL SELECT n FROM my_b UNION ALL SELECT n FROM my_c")

	d.file("c.sql", "SELECT max(n) AS n FROM my_a")
	d.file("e.sql", "SELECT n FROM my_a")
	d.refresh()
	for _, name := range []string{"my_a", "my_b", "my_c"} {
		got := d.errorOf(name)
		if !strings.HasPrefix(got, "a circle: ") || !strings.Contains(got, "my_c reads my_a") {
			t.Errorf("%s: %q", name, got)
		}
	}
	d.wants("22 11 10 22", "SELECT n AS x FROM my_a UNION ALL SELECT n FROM my_b UNION ALL SELECT n FROM my_c UNION ALL SELECT n FROM my_e")

	// One that fails from the start takes with it who reads it.
	d.file("f.sql", "SELECT nada")
	d.file("g.sql", "SELECT * FROM my_f")
	d.refresh()
	if got := d.errorOf("my_g"); !strings.Contains(got, "my_f") || !strings.Contains(got, "fails itself") {
		t.Errorf("my_g: %q", got)
	}
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.file("slow.sql", "SELECT 1 AS n")
	d.refresh()
	d.file("slow.sql", "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT n FROM r WHERE n < 2 OR n < 0")
	d.open(d.mirror.Path(), 100*time.Millisecond)
	d.refresh()
	if got := d.errorOf("my_slow"); got != "it took longer than [marts] own_timeout = 100ms" {
		t.Errorf("error %q", got)
	}
	d.wants("1", "SELECT n AS x FROM my_slow")
	d.wants("", "SELECT name AS x FROM sqlite_master WHERE name GLOB '_own_p*'")
}

func TestDirectory(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.file("a.sql", "SELECT 1 AS n")
	d.file("Margem.sql", "SELECT 1 AS n")
	d.file("b-c.SQL", "SELECT 1 AS n")
	d.file("notes.txt", "words")
	d.file(".a.sql.swp", "words")
	marts, err := Check(t.Context(), d.dir, nil)
	must(t, err)
	var names []string
	for _, m := range marts {
		if m.Err != nil {
			names = append(names, m.File)
		}
	}
	if got := strings.Join(names, " "); got != "Margem.sql b-c.SQL" {
		t.Errorf("faults: %s", got)
	}
	d.refresh()
	// A directory that cannot be read drops nothing.
	must(t, os.Rename(d.dir, d.dir+".away"))
	d.refresh()
	d.changed()
	d.refresh()
	d.wants("1", "SELECT n AS x FROM my_a")
	must(t, os.Rename(d.dir+".away", d.dir))
	d.run("DROP TABLE my_a")
	d.refresh()
	d.wants("1", "SELECT n AS x FROM my_a")
}
