package outboxcmd

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"solarmirror/cmd/internal/config"
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
	var unknown *push.UnknownColumnsError
	if errors.As(err, &unknown) {
		return nil, fmt.Errorf("import %s: %w%s", path, err, columnHelp(unknown.Names))
	}
	if err != nil {
		return nil, fmt.Errorf("import %s: %w", path, err)
	}
	return entries, nil
}

// columnHelp suggests columns for unknown names and lists all columns.
func columnHelp(unknown []string) string {
	portuguese, ours := push.ColumnNames()
	nearest := make([]string, len(unknown))
	for i, name := range unknown {
		nearest[i] = fmt.Sprintf("%q", config.Nearest(name, slices.Concat(portuguese, ours)))
	}
	return fmt.Sprintf("; did you mean %s?\nThe columns are: %s;\nor: %s.",
		strings.Join(nearest, ", "), strings.Join(portuguese, ", "), strings.Join(ours, ", "))
}
