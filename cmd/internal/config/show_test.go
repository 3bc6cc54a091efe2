package config

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const examplePath = "../../../config.example.toml"

func TestExampleEqualsDefaults(t *testing.T) {
	t.Parallel()
	c, err := Load(Source{Path: examplePath})
	if err != nil {
		t.Fatal(err)
	}
	if d := diff(mustLoad(t, ""), c); d != "" {
		t.Error(d)
	}
}

// TestExampleDocumentsEveryKey compares the example with the table: the same
// keys in the same order, each under its document line.
func TestExampleDocumentsEveryKey(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile(examplePath)
	if err != nil {
		t.Fatal(err)
	}
	type entry struct{ Name, Doc string }
	var got, want []entry
	var section string
	var comment []string
	for line := range strings.Lines(string(content)) {
		line = strings.TrimSpace(line)
		if text, ok := strings.CutPrefix(line, "#"); ok {
			comment = append(comment, strings.TrimSpace(text))
			continue
		}
		if strings.HasPrefix(line, "[") {
			section = strings.Trim(line, "[]")
		}
		if leaf, _, ok := strings.Cut(line, " = "); ok {
			got = append(got, entry{section + "." + leaf, strings.Join(comment, " ")})
		}
		comment = nil
	}
	for _, k := range keys() {
		want = append(want, entry{k.name, k.doc})
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestShow(t *testing.T) {
	t.Parallel()
	c, err := Load(Source{
		Path:    examplePath,
		Environ: []string{"SOLARMIRROR_PLATFORM_TOKEN=canary", "SOLARMIRROR_PUBLISH_KEEP_EXTRA=/a,/b/*", `SOLARMIRROR_MARTS_LOST_STATUSES=Sem retorno, Zerado\, A\B, !Lost`, "SOLARMIRROR_PUBLISH_MASK_PERSONAL_DATA=false", "SOLARMIRROR_PLATFORM_FIRST_PAGE=1", `SOLARMIRROR_MIRROR_PATH=a "b"\c.db`},
		Flags:   []Flag{{Name: "--quiet", Key: "log.level", Value: "warn"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := c.Show(&out); err != nil {
		t.Fatal(err)
	}
	shown := out.String()
	for _, line := range []string{
		`token = "***" # environment SOLARMIRROR_PLATFORM_TOKEN`,
		`first_page = 1 # environment SOLARMIRROR_PLATFORM_FIRST_PAGE`,
		`page_limit = 50 # ` + examplePath + `:26`,
		`path = "a \"b\"\\c.db" # environment SOLARMIRROR_MIRROR_PATH`,
		`keep_extra = ["/a", "/b/*"] # environment SOLARMIRROR_PUBLISH_KEEP_EXTRA`,
		`lost_statuses = ["Sem retorno", "Zerado, A\\B", "!Lost"] # environment SOLARMIRROR_MARTS_LOST_STATUSES`,
		`mask_personal_data = false # environment SOLARMIRROR_PUBLISH_MASK_PERSONAL_DATA`,
		`level = "warn" # flag --quiet`,
	} {
		if !strings.Contains(strings.Join(strings.Fields(shown), " "), line) {
			t.Errorf("no line %s in:\n%s", line, shown)
		}
	}

	again := mustLoad(t, strings.Replace(shown, "***", "canary", 1))
	if d := diff(c, again); d != "" {
		t.Errorf("what is shown does not load as it was: %s", d)
	}
}

func TestShowSaysDefault(t *testing.T) {
	t.Parallel()
	c, err := Load(Source{Path: os.DevNull})
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := c.Show(&out); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(out.String(), "# default\n"); got != len(keys()) {
		t.Errorf("%d keys of %d are said to be defaults:\n%s", got, len(keys()), out.String())
	}
}
