package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"solarmirror/schema"
	"solarmirror/sync/platform/platformtest"
)

// withFurtherStreams is this program, with streams that its own code has never heard of: TestMain
// runs it under this name.
const withFurtherStreams = "solarmirror-with-further-streams"

// declareFurtherStreams declares one stream with everything a stream can have, and one with nothing
// that it can do without.
func declareFurtherStreams() {
	kept := schema.Requests.Columns[slices.Index(schema.Requests.ColumnNames(), "extra"):]
	key := func(name, root string, t schema.Type) schema.Column {
		c := schema.Column{Name: name, Type: t, Privacy: schema.Public, Doc: "Key.", Label: "Chave"}
		if t == schema.BigInt {
			c.Not, c.Clause = true, "REFERENCES "+root+"("+name+")"
		}
		return c
	}
	column := func(path string, t schema.Type) schema.Column {
		name := schema.SnakeCase(path, "_")
		return schema.Column{Name: name, Type: t, Path: path, Doc: "As sent.", Label: name, Privacy: schema.Public}
	}
	position := schema.Column{Name: "position", Type: schema.BigInt, Not: true, Privacy: schema.Public, Doc: "Place in the list.", Label: "Posição"}
	kind := schema.Column{Name: "inspection_type", Type: schema.Text, Not: true, Privacy: schema.Public, Doc: "Always site.", Label: "Tipo"}
	inspector, email := column("/inspector/name", schema.Text), column("/inspector/email", schema.Text)
	inspector.Privacy, email.Privacy = schema.Undeclared, schema.Counted

	photos := &schema.Table{
		Name: "inspection_photos", Doc: "Photos of an inspection.", Label: "Fotos", Shape: schema.Many, Path: "/photos", Key: []string{"inspection_key", "position"},
		Columns: []schema.Column{key("inspection_key", "inspections", schema.BigInt), position, column("/title", schema.Text)},
	}
	inspections := &schema.Table{
		Name: "inspections", Doc: "Inspections of sites.", Label: "Vistorias", Shape: schema.Root, Key: []string{"inspection_key"},
		Unique: []string{"inspection_type", "id"}, Indices: [][]string{{"_deleted_at"}}, Children: []*schema.Table{photos},
		Columns: slices.Concat([]schema.Column{
			key("inspection_key", "", schema.Surrogate), kind, column("/id", schema.Text), column("/result", schema.Text), column("/inspectedAt", schema.Timestamp),
			inspector, email, column("/removed", schema.Boolean),
		}, kept),
	}
	depots := &schema.Table{
		Name: "depots", Doc: "Depots.", Label: "Depósitos", Shape: schema.Root, Key: []string{"depot_key"},
		Unique: []string{"region", "code"}, Indices: [][]string{{"_deleted_at"}},
		Columns: slices.Concat([]schema.Column{key("depot_key", "", schema.Surrogate), column("/region", schema.Text), column("/code", schema.Text), column("/area", schema.Real)}, kept),
	}
	schema.Streams = append(schema.Streams,
		&schema.Stream{
			Name: "inspections", Path: "/field/inspections", Root: inspections, Partition: "site", Passes: []string{schema.Live, schema.Removed},
			Dates: schema.Dates{From: "editedFrom", To: "editedTo", Updates: true}, Created: []string{"inspected_at"}, FullJob: schema.FullRequests,
		},
		&schema.Stream{
			Name: "depots", Path: "/depots", Root: depots, Passes: []string{schema.Live},
			Dates: schema.Dates{From: "openedAfter", To: "openedBefore"}, FullJob: schema.FullEquipments,
		})
}

// listed is a record of a fieldPlatform, with the day its dates are compared with.
type listed struct {
	day    string
	record map[string]any
}

// fieldPlatform serves the further lists, and the others as the simulated platform does.
type fieldPlatform struct {
	others http.Handler

	mu    sync.Mutex
	lists map[string][]listed // by path
	asked []string            // queries with a date
}

// dateParameters are those that the platform knows for each list.
var dateParameters = map[string][2]string{"/field/inspections": {"editedFrom", "editedTo"}, "/depots": {"openedAfter", "openedBefore"}}

func (p *fieldPlatform) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w.Header()["Date"] = nil // it has no fractions of a second, by which syncs are told apart here
	for path, parameters := range dateParameters {
		var page, limit int
		rest, ours := strings.CutPrefix(r.URL.Path, "/api/v2"+path+"/")
		if !ours {
			continue
		}
		if _, err := fmt.Sscanf(rest, "%d/%d", &page, &limit); err != nil || page < 1 || limit > 50 {
			http.Error(w, "no such page", http.StatusBadRequest)
			return
		}
		found := p.find(path, parameters, r.URL.Query())
		from := min((page-1)*limit, len(found))
		_ = json.NewEncoder(w).Encode(map[string]any{"data": found[from:min(from+limit, len(found))], "totalItems": len(found)})
		return
	}
	p.others.ServeHTTP(w, r)
}

func (p *fieldPlatform) find(path string, parameters [2]string, query url.Values) []map[string]any {
	from, to := query.Get(parameters[0]), query.Get(parameters[1])
	if from+to != "" {
		p.asked = append(p.asked, path+"?"+query.Encode())
	}
	found := []map[string]any{}
	for _, l := range p.lists[path] {
		removed := l.record["removed"] == true
		if l.day >= from && (to == "" || l.day <= to) && removed == (query.Get("removed") == "true") {
			found = append(found, l.record)
		}
	}
	return found
}

// change changes the records of a list.
func (p *fieldPlatform) change(path string, edit func([]listed) []listed) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lists[path] = edit(p.lists[path])
}

func (p *fieldPlatform) dates() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.asked)
}

func inspection(n int, result string, removed bool) map[string]any {
	return map[string]any{
		"id": fmt.Sprintf("i%d", n), "result": result, "inspectedAt": fmt.Sprintf("2026-0%d-02T10:00:00Z", n%3+1), "removed": removed,
		"inspector": map[string]any{"name": "Ana", "email": "ana@example.com"}, "photos": []any{map[string]any{"title": "roof"}, map[string]any{"title": "meter"}},
	}
}

// A stream that is declared, and nothing else, is there in every command.
func TestDeclaredStreamIsEverywhere(t *testing.T) {
	t.Parallel()
	platform := &fieldPlatform{
		others: platformtest.New(platformtest.Options{Seed: 1, Requests: 20, Equipments: smallCatalogue(), Token: simulationToken}),
		lists:  map[string][]listed{},
	}
	for n := range 9 {
		platform.lists["/field/inspections"] = append(platform.lists["/field/inspections"], listed{"2026-01-10", inspection(n, "good", n == 8)})
		platform.lists["/depots"] = append(platform.lists["/depots"], listed{"2026-01-10", map[string]any{"region": "Sul", "code": strconv.Itoa(n), "area": n}})
	}
	server := httptest.NewServer(platform)
	t.Cleanup(server.Close)
	c := &furtherCommand{dir: t.TempDir(), environ: append(os.Environ(),
		"SOLARMIRROR_PLATFORM_BASE_URL="+server.URL, "SOLARMIRROR_PLATFORM_TOKEN="+simulationToken, "SOLARMIRROR_PLATFORM_REQUESTS_PER_SECOND=10000")}
	today := time.Now().Format(time.DateOnly)

	c.run(t, exitOK, "sync")
	c.holds(t, "SELECT count(*), count(removed = 1 OR NULL), min(inspection_type) FROM inspections", "9,1,site")
	c.holds(t, "SELECT count(*), min(title), max(title) FROM inspection_photos", "18,meter,roof")
	c.holds(t, "SELECT count(*), sum(area) FROM depots", "9,36")
	if tables := c.run(t, exitOK, "status"); !strings.Contains(tables, "\ninspections  ") || !strings.Contains(tables, "\ndepots  ") {
		t.Errorf("status says:\n%s", tables)
	}
	c.holds(t, "SELECT stream, complete_through IS NOT NULL, last_outcome, rejects FROM bi_freshness WHERE stream IN ('inspections', 'depots') ORDER BY 1",
		"depots,1,ok,0\ninspections,1,ok,0")

	// A change is found by its date; that of a depot only by a full read.
	platform.change("/field/inspections", func(list []listed) []listed {
		list[2] = listed{today, inspection(2, "bad", false)}
		list[3].record = inspection(3, "bad", false) // not dated: an incremental sync must not see it
		return append(list, listed{today, inspection(9, "good", false)})
	})
	platform.change("/depots", func(list []listed) []listed {
		list[1] = listed{list[1].day, map[string]any{"region": "Sul", "code": "1", "area": 100}}
		return append(list, listed{today, map[string]any{"region": "Norte", "code": "1", "area": 5}})
	})
	before := len(platform.dates())
	c.run(t, exitOK, "sync", "inspections", "depots")
	c.holds(t, "SELECT count(*), group_concat(CASE result WHEN 'bad' THEN id END) FROM inspections", "10,i2")
	c.holds(t, "SELECT count(*), sum(area) FROM depots", "10,41")
	c.holds(t, "SELECT stream, complete_through > last_full_scan_at FROM bi_freshness WHERE stream IN ('inspections', 'depots') ORDER BY 1", "depots,0\ninspections,1")
	for _, asked := range []string{"/field/inspections?editedFrom=", "/depots?openedAfter="} {
		if !slices.ContainsFunc(platform.dates()[before:], func(query string) bool { return strings.HasPrefix(query, asked) }) {
			t.Errorf("the sync did not ask for %s…", asked)
		}
	}

	c.run(t, exitOK, "backfill", "--from", "2026-01-01", "--to", "2026-02-15", "inspections", "depots")
	c.holds(t, "SELECT stream, pass, count(completed_at) FROM _windows WHERE from_date IS NOT NULL GROUP BY 1, 2", "depots,live,2\ninspections,live,2\ninspections,removed,2")
	c.holds(t, "SELECT group_concat(CASE result WHEN 'bad' THEN id END) FROM inspections", `"i2,i3"`)

	c.run(t, exitOK, "verify", "inspections", "depots")
	platform.change("/field/inspections", func(list []listed) []listed { return list[1:] })
	platform.change("/depots", func(list []listed) []listed { return list[1:] })
	if found := c.run(t, exitOK, "verify", "inspections", "depots"); !strings.Contains(found, "site  i0   extra") || !strings.Contains(found, "Sul   0    extra") {
		t.Errorf("verify says:\n%s", found)
	}
	c.run(t, exitOK, "sync", "--full", "inspections", "depots")
	c.holds(t, "SELECT count(*) FROM inspections WHERE _deleted_at IS NOT NULL", "0")
	c.run(t, exitOK, "sync", "--full", "inspections", "depots")
	c.holds(t, "SELECT id FROM inspections WHERE _deleted_at IS NOT NULL", "i0")
	c.holds(t, "SELECT code FROM depots WHERE _deleted_at IS NOT NULL", "0")

	columns := c.run(t, exitOK, "schema", "columns")
	for _, column := range []string{"inspection_photos", "/photos/*/title", "depots"} {
		if !strings.Contains(columns, column) {
			t.Errorf("schema columns says nothing of %s:\n%s", column, columns)
		}
	}
	c.run(t, exitOK, "export", "--format", "parquet", "--to", "lake")
	for _, pattern := range []string{"inspections/month=2026-0[123]", "inspection_photos/month=2026-0[123]", "depots"} {
		if files, _ := filepath.Glob(filepath.Join(c.dir, "lake", pattern, "part.parquet")); len(files) != strings.Count(pattern, "[")*2+1 {
			t.Errorf("exported to %s: %v", pattern, files)
		}
	}
	c.run(t, exitOK, "export", "--format", "csv", "--to", "csv")
	if rows, err := os.ReadFile(filepath.Join(c.dir, "csv", "inspection_photos.csv")); err != nil || bytes.Count(rows, []byte("\n")) != 21 {
		t.Errorf("exported %v\n%s", err, rows)
	}
	c.run(t, exitOK, "report", "--out", "report.html")
	if page, err := os.ReadFile(filepath.Join(c.dir, "report.html")); err != nil || !bytes.Contains(page, []byte("inspections")) {
		t.Errorf("the report does not name the stream: %v", err)
	}
	c.run(t, exitOK, "publish", "--to", "masked.db")
	c.holds(t, "SELECT count(*), count(inspector_name), count(DISTINCT inspector_email), count(inspector_email LIKE '%@example.com' OR NULL) FROM inspections", "10,10,1,10")
	c.environ = append(c.environ, "SOLARMIRROR_MIRROR_PATH=masked.db")
	c.holds(t, "SELECT count(*), count(inspector_name), count(DISTINCT inspector_email), count(inspector_email LIKE '%@example.com' OR NULL) FROM inspections", "10,0,1,0")
}

// furtherCommand runs the program that has the further streams.
type furtherCommand struct {
	dir     string
	environ []string
}

func (c *furtherCommand) run(t *testing.T, want int, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), withFurtherStreams, args...)
	cmd.Dir, cmd.Env = c.dir, c.environ
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	if code := exitCodeOf(t, cmd, cmd.Run()); code != want {
		t.Fatalf("%v: exit code %d, want %d\n%s%s", args, code, want, &out, &problems)
	}
	return out.String()
}

// holds checks what a query of the mirror answers, without its heading.
func (c *furtherCommand) holds(t *testing.T, query, want string) {
	t.Helper()
	_, got, _ := strings.Cut(c.run(t, exitOK, "query", "--format", "csv", query), "\n")
	if d := cmp.Diff(want, strings.TrimSpace(got)); d != "" {
		t.Errorf("%s\n%s", query, d)
	}
}
