package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"

	"solarmirror/cmd/internal/testtools"
)

// recipe is a fenced block of store/README.md.
type recipe struct{ heading, language, text string }

func recipes(t *testing.T) (list []recipe) {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(moduleRoot, "store", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	heading := ""
	for _, part := range regexp.MustCompile("(?ms)^## (.+?)$|^```(\\w+)\n(.*?)^```$").FindAllStringSubmatch(string(page), -1) {
		if part[1] != "" {
			heading = part[1]
			continue
		}
		list = append(list, recipe{heading, part[2], part[3]})
	}
	return list
}

// TestRecipes follows store/README.md from top to bottom, in a directory with a live mirror and a published copy of it, masked. What a block is written in
// says who reads it; every one has to bring something to light.
func TestRecipes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	live, published := filepath.Join(dir, "data", "mirror", "solarmirror.db"), filepath.Join(dir, "data", "published", "solarmirror.db")
	if err := os.MkdirAll(filepath.Dir(live), 0o755); err != nil {
		t.Fatal(err)
	}
	settings, err := os.ReadFile(syncTwice(t, live))
	if err := errors.Join(err, os.WriteFile(filepath.Join(dir, "config.toml"), settings, 0o600)); err != nil {
		t.Fatal(err)
	}
	kitchen := kitchen{dir, published}
	kitchen.shell(t, "solarmirror publish")
	done := map[string]int{}
	for _, r := range recipes(t) {
		t.Run(r.heading+"/"+r.language, func(t *testing.T) { kitchen.cook(t, r) })
		done[r.language]++
	}
	for _, language := range []string{"sh", "sql", "odbc", "powerquery", "python", "duckdb", "json", "toml"} {
		if done[language] == 0 {
			t.Errorf("no recipe in %s: the fences are no longer found", language)
		}
	}
}

// kitchen is where recipes are tried.
type kitchen struct{ dir, published string }

func (k kitchen) cook(t *testing.T, r recipe) {
	var printed string
	switch r.language {
	case "sh":
		printed = k.shell(t, r.text)
	case "sql":
		cmd := exec.Command(testtools.Program(t, "sqlite3", "sqlite3"), "-readonly", "-bail", k.published)
		cmd.Stdin = strings.NewReader(r.text)
		printed = k.run(t, cmd)
	case "python":
		module, from := "pandas", "python3-pandas"
		if strings.Contains(r.text, "pyodbc") {
			module, from = "pyodbc", "python3-pyodbc"
		}
		printed = k.run(t, exec.Command(testtools.Python(t, module, from), "-c", r.text))
	case "odbc":
		printed = k.connect(t, strings.TrimSpace(r.text), "SELECT count(*) FROM bi_requests")
	case "powerquery":
		texts := regexp.MustCompile(`(?s)Odbc\.Query\(\s*"(.*?)",\s*"(.*?)"\)`).FindStringSubmatch(r.text)
		if texts == nil {
			t.Fatalf("no Odbc.Query in\n%s", r.text)
		}
		printed = k.connect(t, texts[1], texts[2])
	case "duckdb":
		printed = k.duckDB(t, r.text)
	case "json", "toml":
		printed = k.assistant(t, r)
	case "console":
		t.Skip("a program that runs until it is stopped")
	default:
		t.Fatalf("nobody reads %s", r.language)
	}
	if strings.TrimSpace(printed) == "" {
		t.Errorf("nothing came of\n%s", r.text)
	}
}

func (k kitchen) run(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	cmd.Dir = k.dir
	return string(output(t, cmd))
}

// shell runs commands among which solarmirror is this program, and returns what they printed or wrote to new files.
func (k kitchen) shell(t *testing.T, commands string) string {
	t.Helper()
	for name, from := range map[string]string{"sqlite3": "sqlite3", "isql": "unixodbc"} {
		if regexp.MustCompile(`\b` + name + " -").MatchString(commands) {
			testtools.Program(t, name, from)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if err := os.Symlink(self, filepath.Join(bin, "solarmirror")); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(commands, "litestream ") {
		if err := os.Symlink(testtools.GoProgram(t, "litestream"), filepath.Join(bin, "litestream")); err != nil {
			t.Fatal(err)
		}
		commands = strings.ReplaceAll(commands, `"solarmirror run"`, `"sh -c 'solarmirror sync; sleep 3'"`) // which ends by itself
	}
	cmd := exec.Command("sh", "-eu", "-c", commands)
	cmd.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "REPLICA=file://"+k.dir+"/replica")
	printed := k.run(t, cmd)
	if file := regexp.MustCompile(`> (\S+)`).FindStringSubmatch(commands); file != nil {
		written, err := os.ReadFile(filepath.Join(k.dir, file[1]))
		if err != nil || len(written) == 0 {
			t.Errorf("%s holds %d bytes, %v", file[1], len(written), err)
		}
		printed += string(written)
	}
	return printed
}

// connect uses a connection string written for Windows, with this machine's driver and file in it.
func (k kitchen) connect(t *testing.T, connection, query string) string {
	t.Helper()
	driver := testtools.File(t, "/usr/lib/*/odbc/libsqlite3odbc.so", "libsqliteodbc")
	here := strings.NewReplacer("{SQLite3 ODBC Driver}", driver, `C:\solar\solarmirror.db`, k.published).Replace(connection)
	if !strings.Contains(here, driver) || !strings.Contains(here, k.published) {
		t.Fatalf("another driver or file than expected: %s", connection)
	}
	const script = "import pyodbc, sys\nfor row in pyodbc.connect(sys.argv[1]).execute(sys.argv[2]): print(*row)"
	return k.run(t, exec.Command(testtools.Python(t, "pyodbc", "python3-pyodbc"), "-c", script, here, query))
}

// assistant starts the server that an assistant's configuration names, on this machine, and returns
// the names of its tools.
func (k kitchen) assistant(t *testing.T, r recipe) (tools string) {
	t.Helper()
	decode := json.Unmarshal
	if r.language == "toml" {
		decode = toml.Unmarshal
	}
	type server struct {
		Command string
		Args    []string
		Env     map[string]string
	}
	var lists map[string]map[string]server
	if err := decode([]byte(r.text), &lists); err != nil {
		t.Fatal(err)
	}
	for _, list := range lists {
		s := list["solarmirror"]
		if !regexp.MustCompile(`[/\\]solarmirror(\.exe)?$`).MatchString(s.Command) || s.Env["SOLARMIRROR_PUBLISH_PATH"] == "" {
			t.Fatalf("%+v", s)
		}
		cmd := assistantRig{copy: k.published}.server(t)
		cmd.Args = append(cmd.Args[:1], s.Args...)
		listed, err := assistantRig{}.connectTo(t, cmd).ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, tool := range listed.Tools {
			tools += tool.Name + "\n"
		}
	}
	return tools
}

// duckDB runs statements one after another and prints the rows of the last.
func (k kitchen) duckDB(t *testing.T, statements string) string {
	t.Helper()
	const script = `
import { DuckDBInstance } from "@duckdb/node-api";
process.chdir(process.argv[1]);
const db = await (await DuckDBInstance.create()).connect();
try {
  for (const row of (await db.runAndReadAll(process.argv[2])).getRowsJson()) console.log(row.join("|"));
} catch (fault) {
  console.log(String(fault));
  if (!String(fault).includes("Failed to download extension")) process.exit(1);
}`
	printed := string(output(t, testtools.Node(t, "@duckdb/node-api", script, k.dir, statements)))
	if strings.Contains(printed, "Failed to download extension") {
		t.Skipf("DuckDB cannot fetch its SQLite extension from here: %s", printed)
	}
	return printed
}
