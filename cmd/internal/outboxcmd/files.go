package outboxcmd

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"solarmirror/sync/push"
)

var readers = map[string]func(io.Reader) ([]push.Entry, error){"csv": push.ReadCSV, "jsonl": push.ReadJSONLines, "json": push.ReadJSON}

// FileFormat returns the format of a file: the given one, else the one of its extension.
func FileFormat(path, given string) (string, error) {
	if given == "" {
		given = strings.TrimPrefix(strings.ToLower(filepath.Ext(path)), ".")
	}
	if given == "ndjson" {
		given = "jsonl"
	}
	if readers[given] == nil {
		return "", fmt.Errorf("the form of %s is not known by its name; say --format csv, jsonl or json", path)
	}
	return given, nil
}

// ReadFile reads the companies of a file; "-" is stdin. The format must come from FileFormat.
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
	entries, err := readers[format](in)
	if err != nil {
		return nil, fmt.Errorf("import %s: %w", path, err)
	}
	return entries, nil
}
