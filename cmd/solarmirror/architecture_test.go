package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

const (
	modulePath  = "solarmirror"
	moduleRoot  = "../.."
	maxLines    = 500
	maxFiles    = 30
	simulation  = "sync/platform/platformtest"
	commandTree = "cmd/"
	testSize    = "store/testsize"
	storeTest   = "store/storetest"
	martsTest   = "store/marts/martstest"
)

// floors lists, bottom up, what each package may import of ours. Packages below
// cmd are not listed: they may import all. A package of neither kind is refused
// until it has its place here.
func floors() map[string][]string {
	return map[string][]string{
		testSize:           {},
		"schema":           {},
		"sync/platform":    {},
		"sync/schedule":    {},
		storeTest:          {"schema"},
		"store/sqlitefile": {},
		"store/identity":   {},
		"store/dealclass":  {},
		"store":            {"schema", "store/sqlitefile", "store/identity", "store/dealclass"},
		"store/owntables":  {"store", "store/sqlitefile", "schema"},
		"store/marts/own":  {"store/owntables", "store", "store/sqlitefile", "schema"},
		"store/marts":      {"store/marts/own", "store", "store/sqlitefile", "store/dealclass", "schema"},
		martsTest:          {"store", "store/sqlitefile", "store/dealclass", "store/identity", "schema"},
		"store/forget":     {"store/marts", "store", "store/sqlitefile", "store/identity", "schema"},
		"store/outbox":     {"store", "store/sqlitefile", "store/identity", "schema"},
		"store/publish":    {"store/owntables", "store/outbox", "store", "store/sqlitefile", "store/identity", "schema"},
		"sync/flatten":     {"schema"},
		simulation:         {"sync/platform"},
		"sync/scan":        {"sync/platform"},
		"sync/pull":        {"sync/scan", "sync/platform", "sync/flatten", "store/marts", "store", "store/sqlitefile", "schema"},
		"sync/push":        {"sync/platform", "store/outbox", "store", "store/sqlitefile", "store/identity"},
	}
}

// floorsOfTests lists what the test files of a package may import beyond floors, testSize and
// storeTest.
func floorsOfTests() map[string][]string {
	return map[string][]string{
		"store/marts/own": {"store/publish"},
		"store/marts":     {martsTest, "store/publish"},
		"store/publish":   {"store/forget"},
		simulation:        {"schema"},
		"sync/pull":       {simulation, martsTest, "store/forget", "store/publish"},
		"sync/push":       {simulation},
	}
}

func TestArchitecture(t *testing.T) {
	t.Parallel()
	violations, files, err := checkArchitecture(os.DirFS(moduleRoot))
	if err != nil {
		t.Fatal(err)
	}
	if files == 0 {
		t.Fatalf("no Go file below %s", moduleRoot)
	}
	for _, v := range violations {
		t.Error(v)
	}
}

// goFile is what the check needs to know of one file.
type goFile struct {
	path      string
	dir       string // "" for the module root
	isTest    bool
	lines     int
	imports   []string
	documents bool // has a package comment
}

// checkArchitecture returns every broken rule of the module in tree, sorted, and
// how many Go files it looked at.
func checkArchitecture(tree fs.FS) (violations []string, files int, err error) {
	parsed, err := parseModule(tree)
	if err != nil {
		return nil, 0, err
	}
	for _, f := range parsed {
		violations = append(violations, checkFile(f)...)
	}
	violations = append(violations, undocumented(parsed)...)
	violations = append(violations, crowded(parsed)...)
	slices.Sort(violations)
	return violations, len(parsed), nil
}

func parseModule(tree fs.FS) ([]goFile, error) {
	var out []goFile
	err := fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && isForeign(tree, name):
			return fs.SkipDir
		case entry.IsDir() || path.Ext(name) != ".go":
			return nil
		}
		f, err := parseFile(tree, name)
		out = append(out, f)
		return err
	})
	return out, err
}

// isForeign reports whether a directory is none of this module's: hidden, test
// data, or a module of its own.
func isForeign(tree fs.FS, dir string) bool {
	base := path.Base(dir)
	_, err := fs.Stat(tree, path.Join(dir, "go.mod"))
	return strings.HasPrefix(base, ".") || base == "testdata" || err == nil
}

func parseFile(tree fs.FS, name string) (goFile, error) {
	source, err := fs.ReadFile(tree, name)
	if err != nil {
		return goFile{}, err
	}
	syntax, err := parser.ParseFile(token.NewFileSet(), name, source, parser.ImportsOnly|parser.ParseComments)
	if err != nil {
		return goFile{}, err
	}
	dir := path.Dir(name)
	if dir == "." {
		dir = ""
	}
	return goFile{
		path:      name,
		dir:       dir,
		isTest:    strings.HasSuffix(name, "_test.go"),
		lines:     bytes.Count(source, []byte("\n")),
		imports:   importPaths(syntax),
		documents: strings.TrimSpace(syntax.Doc.Text()) != "",
	}, nil
}

func importPaths(syntax *ast.File) []string {
	var out []string
	for _, spec := range syntax.Imports {
		if imported, err := strconv.Unquote(spec.Path.Value); err == nil {
			out = append(out, imported)
		}
	}
	return out
}

func checkFile(f goFile) (violations []string) {
	refuse := func(format string, args ...any) {
		violations = append(violations, f.path+": "+fmt.Sprintf(format, args...))
	}
	if f.lines > maxLines {
		refuse("%d lines, more than %d", f.lines, maxLines)
	}
	if f.dir == "sync" {
		refuse("a Go file directly in sync would shadow the standard package")
	}
	if f.dir == simulation && !f.isTest && slices.Contains(f.imports, "testing") {
		refuse("imports testing, but demo and simulate link this package")
	}
	if _, known := floors()[f.dir]; !known && !strings.HasPrefix(f.dir, commandTree) {
		refuse("package %q has no floor", f.dir)
		return violations
	}
	for _, imported := range f.imports {
		if ours, isOurs := strings.CutPrefix(imported, modulePath+"/"); isOurs && !mayImport(f, ours) {
			refuse("%s must not import %s", f.dir, ours)
		}
	}
	return violations
}

func mayImport(f goFile, imported string) bool {
	switch {
	case strings.HasPrefix(f.dir, commandTree), slices.Contains(floors()[f.dir], imported):
		return true
	case f.isTest:
		return imported == f.dir || imported == testSize || imported == storeTest || slices.Contains(floorsOfTests()[f.dir], imported)
	}
	return false
}

// crowded names the packages with more than maxFiles files. Tests and commands are left out.
func crowded(files []goFile) (violations []string) {
	count := map[string]int{}
	for _, f := range files {
		if !f.isTest && !strings.HasPrefix(f.dir, commandTree) {
			count[f.dir]++
		}
	}
	for dir, n := range count {
		if n > maxFiles {
			violations = append(violations, fmt.Sprintf("%s: %d files, more than %d", dir, n, maxFiles))
		}
	}
	return violations
}

// undocumented names the packages none of whose files opens with a package
// comment. The tests of a package document nothing.
func undocumented(files []goFile) (violations []string) {
	documented := map[string]bool{}
	for _, f := range files {
		if !f.isTest {
			documented[f.dir] = documented[f.dir] || f.documents
		}
	}
	for dir, ok := range documented {
		if !ok {
			violations = append(violations, dir+": no package comment")
		}
	}
	return violations
}

// TestArchitectureCheck proves that the check can fail: each file of the tree
// breaks one rule or shows what is allowed.
func TestArchitectureCheck(t *testing.T) {
	t.Parallel()
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	tree := fstest.MapFS{
		"cmd/solarmirror/main.go":                file("// Command solarmirror.\npackage main\nimport _ \"solarmirror/sync/pull\"\nimport _ \"solarmirror/sync/push\""),
		"schema/schema.go":                       file("// Package schema.\npackage schema\nimport _ \"solarmirror/store\""),
		"schema/long.go":                         file("package schema\n" + strings.Repeat("\n", maxLines)),
		"store/store.go":                         file("//go:build linux\n\npackage store\nimport _ \"solarmirror/schema\""),
		"store/store_test.go":                    file("// Package store_test has a comment, which is not the package's.\npackage store_test\nimport _ \"solarmirror/store\"\nimport _ \"solarmirror/sync/flatten\""),
		"sync/sync.go":                           file("// Package sync.\npackage sync"),
		"sync/pull/pull.go":                      file("// Package pull.\npackage pull\nimport _ \"solarmirror/sync/push\"\nimport _ \"solarmirror/sync/platform/platformtest\""),
		"sync/pull/pull_test.go":                 file("package pull\nimport _ \"solarmirror/sync/platform/platformtest\""),
		"sync/push/push.go":                      file("// Package push.\npackage push\nimport _ \"solarmirror/cmd/internal/config\""),
		"sync/platform/platformtest/server.go":   file("// Package platformtest.\npackage platformtest\nimport _ \"testing\"\nimport _ \"solarmirror/sync/platform\""),
		"sync/platform/platformtest/own_test.go": file("package platformtest\nimport _ \"testing\""),
		"util/util.go":                           file("// Package util.\npackage util"),
		"cmd/solarmirror/testdata/broken.go":     file("not Go"),
		"bench/go.mod":                           file("module bench"),
		"bench/bench.go":                         file("package bench"),
		".git/hooks/hook.go":                     file("not Go either"),
	}
	got, files, err := checkArchitecture(tree)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"schema/long.go: 501 lines, more than 500",
		"schema/schema.go: schema must not import store",
		"store/store_test.go: store must not import sync/flatten",
		"store: no package comment",
		"sync/platform/platformtest/server.go: imports testing, but demo and simulate link this package",
		"sync/pull/pull.go: sync/pull must not import sync/platform/platformtest",
		"sync/pull/pull.go: sync/pull must not import sync/push",
		"sync/push/push.go: sync/push must not import cmd/internal/config",
		"sync/sync.go: a Go file directly in sync would shadow the standard package",
		"sync/sync.go: package \"sync\" has no floor",
		"util/util.go: package \"util\" has no floor",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if files != 12 {
		t.Errorf("looked at %d files, want 12", files)
	}
}
