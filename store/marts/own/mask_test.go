package own

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"solarmirror/schema"
	"solarmirror/store"
	"solarmirror/store/publish"
	"solarmirror/store/storetest"
)

// masked publishes a masked copy and opens it.
func (d *desk) masked() *store.Mirror {
	d.Helper()
	to := filepath.Join(d.TempDir(), "copy.db")
	key, err := publish.EnsurePseudonymKey(d.Context(), filepath.Join(d.TempDir(), "key"))
	must(d.T, err)
	_, err = publish.Copy(d.Context(), d.mirror.Path(), publish.Options{To: to, KeepVersions: 1, Mask: &publish.Masking{Key: key}})
	must(d.T, err)
	data, err := os.ReadFile(to)
	must(d.T, err)
	for _, canary := range []string{"canary", "CANARY", "Canary"} {
		if i := bytes.Index(data, []byte(canary)); i >= 0 {
			d.Errorf("the masked copy holds %q", data[max(0, i-20):min(len(data), i+40)])
		}
	}
	m, err := store.OpenReadOnly(d.Context(), to)
	return storetest.Opened(d.T, m, err)
}

func TestMask(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for name, text := range map[string]string{
		"plain":    "SELECT code, notes, responsible_email AS seller, final_value FROM requests",
		"through":  "SELECT s.seller, s.notes, s.code FROM (SELECT * FROM my_plain) AS s",
		"computed": "-- public: n\nSELECT kind, count(*) AS n, max(code) AS last FROM requests GROUP BY kind",
		"hides":    "SELECT upper(notes) AS a, 'x' || responsible_email AS b, length(code) AS c, notes COLLATE NOCASE AS n FROM requests",
		"union":    "SELECT code AS v FROM requests UNION ALL SELECT notes FROM requests",
		"nested":   "SELECT v FROM (SELECT code AS v FROM requests UNION SELECT notes FROM requests)",
		"with":     "WITH r(v) AS (VALUES ((SELECT code FROM requests)), ((SELECT notes FROM requests))) SELECT v FROM r",
		"again":    "SELECT v FROM my_union",
		"scalar":   "SELECT code, (SELECT r.notes FROM requests AS r WHERE r.request_key = q.request_key) AS v FROM requests AS q",
		"extra":    "SELECT j.value AS v FROM requests, json_each(json_array(notes)) AS j",
	} {
		d.file(name+".sql", text)
	}
	d.refresh()
	d.wants("", "SELECT table_name || error AS x FROM _own_marts WHERE error IS NOT NULL")
	d.wants("C1 canary-notes", "SELECT DISTINCT v AS x FROM my_union WHERE v IN ('C1', 'canary-notes') ORDER BY v")
	c := &desk{T: t, mirror: d.masked()}
	c.wants("C1 C2 C3", "SELECT code AS x FROM my_plain ORDER BY code")
	c.wants("0:2:3", "SELECT count(notes) || ':' || count(seller) || ':' || count(final_value) AS x FROM my_plain")
	c.wants("1:4", "SELECT count(DISTINCT seller) || ':' || count(*) AS x FROM my_through JOIN requests ON responsible_email = seller")
	c.wants("kit:2: solo:1:", "SELECT kind || ':' || n || ':' || coalesce(last, '') AS x FROM my_computed ORDER BY kind")
	c.wants("0:0:0:0", "SELECT count(a) || ':' || count(b) || ':' || count(c) || ':' || count(n) AS x FROM my_hides")
	for _, table := range []string{"my_union", "my_nested", "my_with", "my_again", "my_scalar", "my_extra"} {
		c.wants("0", "SELECT count(v) AS x FROM "+table)
	}
	c.wants("seller: a pseudonym, the same in every table.", "SELECT column_name || substr(description, instr(description, ' In this copy')+13) AS x FROM _columns WHERE table_name = 'my_plain' AND column_name = 'seller'")
}

// TestPublic: a column cannot be public in a statement that reads personal data, in whatever way.
func TestPublic(t *testing.T) {
	t.Parallel()
	s, err := newScratch(t.Context(), nil)
	must(t, err)
	defer s.close()
	for text, want := range map[string]string{
		"SELECT count(*) AS n FROM requests": "",
		"SELECT sum(r.final_value) AS n FROM bi_items AS i JOIN bi_requests AS r USING (request_key)":     "",
		"WITH c AS (SELECT kind FROM requests) SELECT count(*) AS n FROM c":                               "",
		"SELECT sum(value) AS n FROM json_each('[1]')":                                                    "",
		"SELECT max(rowid) AS n FROM bi_margin":                                                           "",
		"SELECT count(*) AS n FROM requests WHERE notes > 'a'":                                            "requests.notes",
		"SELECT count(*) AS n FROM requests GROUP BY responsible_email":                                   "requests.responsible_email",
		"SELECT count(*) AS n FROM bi_sellers AS a JOIN bi_sellers AS b USING (seller_email)":             "seller_email in USING",
		"SELECT count(*) AS n FROM bi_sellers AS a JOIN bi_sellers AS b USING /* ( */ (\"seller_email\")": "seller_email in USING",
		"SELECT count(*) AS n FROM bi_sellers NATURAL JOIN bi_discounts":                                  "NATURAL",
		"SELECT count(*) AS n FROM sqlite_master WHERE sql > ''":                                          "sqlite_master",
		"SELECT count(*) AS n FROM requests WHERE EXISTS (SELECT 1 FROM _runs WHERE error > '')":          "_runs.error",
	} {
		m := &Mart{Table: "my_x"}
		must(t, m.parse("-- public: n\n"+text))
		_, err := s.define(t.Context(), m)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// TestExamples: the examples of the documents can be built.
func TestExamples(t *testing.T) {
	t.Parallel()
	dir, n := t.TempDir(), 0
	for _, document := range []string{"README.md", "store/README.md"} {
		text, err := os.ReadFile(filepath.Join("../../..", document))
		must(t, err)
		_, section, found := strings.Cut(string(text), "# Marts of your own\n")
		_, block, fenced := strings.Cut(section, "```sql\n")
		if !found || !fenced {
			t.Fatalf("%s has no example", document)
		}
		n++
		block, _, _ = strings.Cut(block, "```")
		must(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("example%d.sql", n)), []byte(block), 0o600))
	}
	marts, err := Check(t.Context(), dir, nil)
	must(t, err)
	for _, m := range marts {
		if m.Err != nil || m.description == "" {
			t.Errorf("%s: %v", m.File, m.Err)
		}
	}
	if len(marts) != n {
		t.Errorf("%d marts of %d examples", len(marts), n)
	}
}

// TestPublicIsOfOneSchema: what was public by another schema is masked until it is built again.
func TestPublicIsOfOneSchema(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.file("n.sql", "-- public: n\nSELECT count(*) AS n, kind FROM requests GROUP BY kind")
	d.refresh()
	d.run(fmt.Sprintf(`UPDATE _own_marts SET definition = replace(definition, '"schema":%d', '"schema":%d')`, schema.Version, schema.Version-1))
	c := &desk{T: t, mirror: d.masked()}
	c.wants("kit: solo:", "SELECT kind || ':' || coalesce(n, '') AS x FROM my_n ORDER BY kind")
}

// TestLastRowsKeepTheirMask: a mart that reads one that has failed has its old rows, and so their
// masks, whatever its new statement says.
func TestLastRowsKeepTheirMask(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.file("a.sql", "SELECT notes AS v FROM requests WHERE notes > ''")
	d.file("b.sql", "SELECT v FROM my_a")
	d.refresh()
	d.file("a.sql", "SELECT code AS v FROM requests WHERE json_extract('{', '$') > 0")
	d.refresh()
	if !strings.Contains(d.errorOf("my_a"), "malformed") {
		t.Fatal(d.errorOf("my_a"))
	}
	d.wants("canary-notes", "SELECT DISTINCT v AS x FROM my_b")
	d.masked()
}

// TestMasksOfRandomStatements builds random statements over tables full of canaries. What can be
// built has the types that it declares, and nothing of a canary is in a masked copy.
func TestMasksOfRandomStatements(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	tables := []*schema.Table{schema.Requests, schema.Find("request_companies"), schema.Find("request_products"), schema.BiRequests}
	d.run("DELETE FROM requests")
	must(t, d.mirror.Update(t.Context(), func(tx *store.Tx) error {
		for _, table := range tables {
			for n := range 3 {
				row := storetest.FillRow(table, n)
				for i, c := range table.Columns {
					if c.Privacy != schema.Public && c.Type == schema.Text {
						row[i] = fmt.Sprintf("canary-%d-%s", n, c.Name)
					}
				}
				if _, err := tx.Exec("fill", "INSERT INTO "+table.Name+" VALUES (?"+strings.Repeat(", ?", len(row)-1)+")", row...); err != nil {
					return err
				}
			}
		}
		return nil
	}))
	built := 0
	rapid.Check(t, func(r *rapid.T) {
		column := func(alias string, table *schema.Table) string {
			c := rapid.SampledFrom(table.Columns).Draw(r, "column")
			return alias + "." + c.Name
		}
		simple := func(name string) string {
			a, b := rapid.SampledFrom(tables).Draw(r, "table"), rapid.SampledFrom(tables).Draw(r, "other")
			x := rapid.SampledFrom([]string{"%s", "%s", "upper(%s)", "%s || ''", "coalesce(NULL, %s)", "max(%s)", "(SELECT %s)", "iif(1, %s, NULL)"}).Draw(r, "expression")
			x = fmt.Sprintf(x, column("a", a))
			y := column("b", b)
			join := rapid.SampledFrom([]string{"JOIN %s AS b ON true", "LEFT JOIN %s AS b ON false", "JOIN %s AS b USING (request_key)", "CROSS JOIN %s AS b"}).Draw(r, "join")
			return fmt.Sprintf("SELECT %s AS %s, %s AS y FROM %s AS a %s", x, name, y, a.Name, fmt.Sprintf(join, b.Name))
		}
		text := simple("x")
		switch rapid.IntRange(0, 5).Draw(r, "shape") {
		case 0:
			text += rapid.SampledFrom([]string{" UNION ALL ", " UNION ", " EXCEPT "}).Draw(r, "union") + simple("z")
		case 1:
			text = "SELECT x, y FROM (" + text + " UNION ALL " + simple("x") + ")"
		case 2:
			text = "WITH c AS (" + text + ") SELECT c.x, d.y FROM c JOIN c AS d ON true"
		case 3:
			text = "SELECT x AS y, y AS x FROM (" + text + ") LIMIT 5"
		case 4:
			text = "SELECT x, y FROM my_before"
		}
		public := rapid.SampledFrom([]string{"", "-- public: x\n", "-- public: x, y\n"}).Draw(r, "public")
		d.file("random.sql", public+text)
		if rapid.Bool().Draw(r, "keep") && d.text("SELECT count(*) AS x FROM sqlite_master WHERE name = 'my_random'") == "1" {
			d.file("before.sql", simple("x"))
		}
		d.refresh()
		if d.errorOf("my_random") == "" {
			built++
			var wrong []string
			must(t, d.mirror.Reader().SelectContext(context.Background(), &wrong, "SELECT name FROM pragma_table_info('my_random') WHERE type NOT IN ('TEXT', 'REAL', 'BIGINT', 'BOOLEAN', 'DATE', 'TIMESTAMP', 'BLOB')"))
			if len(wrong) > 0 {
				r.Errorf("%s: no type of ours: %v", text, wrong)
			}
		}
		d.masked()
		if t.Failed() {
			r.Fatalf("%s%s", public, text)
		}
	})
	if built == 0 {
		t.Error("nothing was built")
	}
}
