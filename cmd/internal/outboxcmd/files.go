package outboxcmd

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"solarmirror/sync/push"
)

// fileFormats are the forms of a file of companies.
var fileFormats = []string{"csv", "jsonl", "json"}

// FileFormat returns the format of a file: the one given, or else the one its name says.
func FileFormat(path, given string) (string, error) {
	if given == "" {
		given = strings.TrimPrefix(strings.ToLower(filepath.Ext(path)), ".")
	}
	if given == "ndjson" {
		given = "jsonl"
	}
	if !slices.Contains(fileFormats, given) {
		return "", fmt.Errorf("the form of %s is not known by its name; say --format csv, jsonl or json", path)
	}
	return given, nil
}

// ReadFile reads the companies of a file, "-" being stdin. The format is one that FileFormat returns.
func ReadFile(path, format string, stdin io.Reader) ([]push.Entry, error) {
	in := stdin
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return nil, fmt.Errorf("import: %w", err)
		}
		defer file.Close()
		in = file
	}
	read := map[string]func(io.Reader) ([]push.Entry, error){"csv": push.ReadCSV, "jsonl": push.ReadJSONLines, "json": push.ReadJSON}[format]
	entries, err := read(in)
	if err != nil {
		return nil, fmt.Errorf("import %s: %w", path, err)
	}
	return entries, nil
}
