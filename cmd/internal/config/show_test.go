package config

import (
	"flag"
	"fmt"
	"os"
	"slices"
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

var update = flag.Bool("update", false, "write config.example.toml anew")

// TestExampleIsGenerated compares the file in the repository with the table of keys.
func TestExampleIsGenerated(t *testing.T) {
	t.Parallel()
	want, err := Example(nil)
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(examplePath, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(examplePath)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, string(got)); d != "" {
		t.Errorf("go test ./cmd/internal/config -update writes it anew: %s", d)
	}
}

// TestExampleOfValues loads a written example with other values than the defaults.
func TestExampleOfValues(t *testing.T) {
	t.Parallel()
	text, err := Example(map[string]string{
		"platform.base_url": "https://a.example", "platform.token_file": `d\"x"/token`, "platform.first_page": "1", "marts.lost_statuses": `A\, B,C`,
	})
	if err != nil {
		t.Fatal(err)
	}
	c := mustLoad(t, text)
	if c.Platform.BaseURL != "https://a.example" || c.Platform.TokenFile != `d\"x"/token` || c.Platform.FirstPage != 1 {
		t.Errorf("loaded as %+v", c.Platform)
	}
	if lost := c.Marts.Deals.Lost; !slices.Contains(lost, "a, b") || !slices.Contains(lost, "c") {
		t.Errorf("loaded as %q", lost)
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
	example, err := os.ReadFile(examplePath)
	if err != nil {
		t.Fatal(err)
	}
	pageLimit := 1 + strings.Count(strings.SplitAfter(string(example), "page_limit = ")[0], "\n")
	for _, line := range []string{
		`token = "***" # environment SOLARMIRROR_PLATFORM_TOKEN`,
		`first_page = 1 # environment SOLARMIRROR_PLATFORM_FIRST_PAGE`,
		fmt.Sprintf(`page_limit = 50 # %s:%d`, examplePath, pageLimit),
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
