package config

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestEveryFaultOfTheFile finds what is wrong beyond the first fault of syntax.
func TestEveryFaultOfTheFile(t *testing.T) {
	t.Parallel()
	const loud = "[log]\nlevel = \"loud\"\n"
	level := func(line string) string {
		return "config.toml:" + line + `: log.level: want one of trace, debug, info, warn, error, got "loud"`
	}
	for _, tc := range []struct {
		name, text string
		want       []string
	}{
		{"values without quotes", "[platform]\npage_limit = x\ntimeout = 5m\nfoo = 1\n" + loud, []string{
			`config.toml:2: not valid TOML at or after platform.page_limit: expected value but found "x" instead`,
			"config.toml:3: not valid TOML at or after platform.timeout: expected a top-level item to end with a newline, comment, or EOF, but got 'm' instead",
			"config.toml:4: unknown key platform.foo; did you mean platform.token?", level("6")}},
		{"an open list", "[publish]\nkeep_extra = [\"/a\",\nkeep_versions = 2000\n" + loud, []string{
			`config.toml:2: not valid TOML at or after publish.keep_extra: expected value but found "keep" instead`,
			`config.toml:3: publish.keep_versions: want a whole number from 1 to 1000, got "2000"`, level("5")}},
		{"an open string", "[platform]\nbase_url = \"https://a.example\npage_limit = 0\n" + loud, []string{
			"config.toml:2: not valid TOML at or after platform.base_url: strings cannot contain newlines",
			`config.toml:3: platform.page_limit: want a whole number from 1 to 10000, got "0"`, level("5")}},
		{"an open string of several lines", "[platform]\nbase_url = \"\"\"https://a.example\n" + loud, []string{
			`config.toml:2: not valid TOML at or after platform.base_url: unexpected EOF; expected '"""'`}},
		{"an open section", "[platform\npage_limit = 0\n[mirro\npath = 1\n" + loud, []string{
			"config.toml:1: not valid TOML: the name of a section stands in brackets, as in [platform]",
			`config.toml:2: platform.page_limit: want a whole number from 1 to 10000, got "0"`,
			"config.toml:3: not valid TOML: the name of a section stands in brackets, as in [platform]", level("6")}},
		{"a section twice", "[platform]\n[platform]\npage_limit = 3\n" + loud, []string{
			"config.toml:2: not valid TOML: Key 'platform' has already been defined.", level("5")}},
		{"keys twice, in Windows' lines", "[platform]\r\ntoken = \"a\"\r\ntoken = \"b\"\r\n[log]\r\nlevel = \"loud\"\r\nlevel = \"info\"\r\n", []string{
			"config.toml:3: not valid TOML at or after platform.token: Key 'platform.token' has already been defined.", level("5"),
			"config.toml:6: not valid TOML at or after log.level: Key 'log.level' has already been defined."}},
		{"one file for two purposes", "[mirror]\npath = \"./x.db\"\n[outbox]\npath = \"x.db\"\n", []string{
			"config.toml:2: mirror.path and config.toml:4: outbox.path name one file; give each its own"}},
		{"Latin-1", "# São\n[platform]\ntime_zone = \"S\xe3o\"", []string{"config.toml:3: a character is not UTF-8; save the file as UTF-8"}},
		{"UTF-16", "\xff\xfe[\x00l\x00", []string{"config.toml:1: is UTF-16 or no text at all; save it as UTF-8"}},
		{"a byte order mark", "\ufeff" + loud, []string{level("2")}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			_, err := Load(Source{Path: "config.toml", Text: tc.text})
			if d := cmp.Diff(tc.want, problemsOf(t, err)); d != "" {
				t.Error(d)
			}
		})
	}
}

// A line after a broken token may be its second half, so none of them is quoted.
func TestBrokenSecretIsNotQuoted(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"[platform]\ntoken = \"abc\ncanary77=\"\n", "[platform]\ntoken = abc\ncanary77 = 1\n", "[platform]\ntoken \"abc\ncanary77==\"\n",
		"[platform]\ntoken = \"\"\"abc\ncanary77=x\n", "[platform]\ntokn = \"abc\ncanary77=\"\n", "[platform]\ntoken = [\"a\",\ncanary77 = 1",
	} {
		_, err := Load(Source{Path: "config.toml", Text: text})
		if err == nil || strings.Contains(err.Error(), "canary") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestPathsThatAreNoFile holds what is said of a path that cannot be a configuration.
func TestPathsThatAreNoFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	large := filepath.Join(dir, "large")
	if err := os.WriteFile(large, make([]byte, maxFile+1), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		filepath.Join(dir, "none"): "no such file; to write one: ",
		dir:                        "is a directory; name a file: --config '" + dir + "/config.toml'",
		large:                      "is larger than 1 MiB, so it is no configuration; name another file with --config",
		large + "/x":               "cannot be read: not a directory; to see why: ls -ld '" + large + "/x'",
	} {
		_, err := Load(Source{Path: path})
		if err == nil || !strings.HasPrefix(err.Error(), "configuration: "+path+": "+want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// FuzzFaults loads any text: it never panics, and every fault of the file names a line of it.
func FuzzFaults(f *testing.F) {
	example, err := Example(nil)
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{
		example, "", "\n", "[platform", "[platform]\npage_limit = x\n", "a = \"\"\"", "a = [", "[[a]]\n[a]", "a.b.c = 1\na.b = 2", "\ufeff[", "x = {a = 1,",
		"[publish]\nkeep_extra = [\"/a\",\n[log]\nlevel = \"", "[platform]\n[platform]\n[platform]", "\xff", "[platform]\ntoken = '''\n\n", "=\n=\n=\n",
	} {
		f.Add(seed)
	}
	place := regexp.MustCompile(`(?:^| )config\.toml:(\d+): `)
	f.Fuzz(func(t *testing.T, text string) {
		_, err := Load(Source{Path: "config.toml", Text: text})
		if err == nil || text == "" {
			return
		}
		last := strings.Count(strings.TrimSuffix(text, "\n"), "\n") + 1
		for _, problem := range problemsOf(t, err) {
			at := place.FindStringSubmatch(problem)
			if at == nil {
				t.Fatalf("%q: a fault without a line: %s", text, problem)
			}
			if line, err := strconv.Atoi(at[1]); err != nil || line < 1 || line > last {
				t.Errorf("%q: line %s of %d: %s", text, at[1], last, problem)
			}
		}
	})
}
