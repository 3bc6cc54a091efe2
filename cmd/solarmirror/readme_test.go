package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// chapter is what stands under one heading of a README, up to the next.
type chapter struct {
	heading string
	blocks  []string // fenced; of a comment only its sign
	prose   string
}

var (
	blockComment = regexp.MustCompile(`(?m)(^|[ \t]+)(#|--) .*$`)
	proseNames   = regexp.MustCompile("`[^`]+`|\\]\\([^)]+\\)") // `code` and (links)
	proseNumbers = regexp.MustCompile(`\d([\d.,:]*\d)?`)
	decimals     = strings.NewReplacer(".", "", ",", "") // 1,000.5 is 1.000,5
)

func chapters(t *testing.T, file string) (list []chapter) {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(moduleRoot, file))
	if err != nil {
		t.Fatal(err)
	}
	for i, part := range strings.Split(string(page), "```") {
		for line := range strings.Lines(part) {
			switch {
			case i%2 == 0 && strings.HasPrefix(line, "#"):
				list = append(list, chapter{heading: strings.TrimSpace(line)})
			case len(list) == 0:
				t.Fatalf("%s does not begin with a heading", file)
			case i%2 == 0:
				list[len(list)-1].prose += " " + strings.TrimSpace(line)
			}
		}
		if i%2 == 1 {
			last := &list[len(list)-1]
			last.blocks = append(last.blocks, blockComment.ReplaceAllString(part, " $2"))
		}
	}
	return list
}

// names are the code, the links and the numbers of the prose, which are the same in any words.
func (c chapter) names() []string {
	prose := strings.NewReplacer("README.pt-BR.md", "README.md", ".pt.png)", ".en.png)").Replace(c.prose) // each leads to the other, and has its own pictures
	names := proseNames.FindAllString(prose, -1)
	for _, number := range proseNumbers.FindAllString(proseNames.ReplaceAllString(prose, ""), -1) {
		names = append(names, decimals.Replace(number))
	}
	return slices.Sorted(slices.Values(names))
}

// README.pt-BR.md says what README.md says: chapter by chapter the same commands, names, links and
// numbers, in whatever words.
func TestReadmeInPortuguese(t *testing.T) {
	t.Parallel()
	level := func(c chapter) string { return c.heading[:strings.Index(c.heading, " ")] }
	english, portuguese := chapters(t, "README.md"), chapters(t, "README.pt-BR.md")
	for i, en := range english {
		if i >= len(portuguese) || level(portuguese[i]) != level(en) {
			t.Fatalf("README.pt-BR.md has no chapter for %q, or in another place", en.heading)
		}
		pt := portuguese[i]
		for n, block := range en.blocks {
			if n >= len(pt.blocks) {
				t.Errorf("README.pt-BR.md, %q, lacks block %d of %q:\n%s", pt.heading, n+1, en.heading, block)
			} else if diff := cmp.Diff(strings.Split(block, "\n"), strings.Split(pt.blocks[n], "\n")); diff != "" {
				t.Errorf("README.pt-BR.md, %q, block %d: (-%s +%s)\n%s", pt.heading, n+1, en.heading, pt.heading, diff)
			}
		}
		if len(pt.blocks) > len(en.blocks) {
			t.Errorf("README.pt-BR.md, %q, has %d blocks, %q has %d", pt.heading, len(pt.blocks), en.heading, len(en.blocks))
		}
		if diff := cmp.Diff(en.names(), pt.names()); diff != "" {
			t.Errorf("README.pt-BR.md, %q, has other code, links or numbers: (-%s +%s)\n%s", pt.heading, en.heading, pt.heading, diff)
		}
		if t.Failed() && len(portuguese) != len(english) {
			t.Fatalf("README.md has %d chapters, README.pt-BR.md %d: the two part here", len(english), len(portuguese))
		}
	}
	if len(portuguese) > len(english) {
		t.Errorf("README.md has no chapter for %q", portuguese[len(english)].heading)
	}
}
