package config

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// What people copy from the documents and the deployment files must be settings: a variable that is none ends the program at once.
func TestDocumentsSetWhatExists(t *testing.T) {
	t.Parallel()
	set := regexp.MustCompile(`(?m)(?:--env |export |ENV |- name: |^ +)(SOLARMIRROR_[A-Z_]+)(?:[=:]|$)`)
	root := filepath.Join("..", "..", "..")
	deploy := filepath.Join(root, "cmd", "solarmirror", "deploy")
	for _, file := range []string{
		filepath.Join(root, "README.md"), filepath.Join(root, "Dockerfile"),
		filepath.Join(deploy, "README.md"), filepath.Join(deploy, "compose.yaml"), filepath.Join(deploy, "cronjob.yaml"),
	} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		found := set.FindAllStringSubmatch(string(text), -1)
		if len(found) == 0 {
			t.Errorf("%s sets nothing", file)
		}
		for _, match := range found {
			if _, err := load(t, "", match[1]+"=x"); err != nil && strings.Contains(err.Error(), "unknown environment variable") {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
}

// Each piece of configuration in the README is one.
func TestREADMEConfigurationLoads(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile("(?s)```toml\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	if len(found) == 0 {
		t.Error("there is none")
	}
	for _, match := range found {
		if _, err := load(t, match[1]); err != nil {
			t.Errorf("%v\n%s", err, match[1])
		}
	}
}
