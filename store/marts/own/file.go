package own

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"solarmirror/schema"
	"solarmirror/store"
	"solarmirror/store/owntables"
)

// Mart is a file of the directory.
type Mart struct {
	File  string // its name
	Table string // the table it makes; "" where its name makes none
	Err   error  // why it cannot be built; nil otherwise

	description string
	types       map[string]schema.Type // by column, in lower case, as all that the file says of columns
	labels      map[string]string
	public      map[string]bool
	sql, hash   string
}

const maxFile = 1 << 20 // bytes

var (
	fileName   = regexp.MustCompile(`^[a-z][a-z0-9_]*\.sql$`)
	columnName = regexp.MustCompile(`^[\pL_][\pL\pN_]*$`)
	firstWord  = regexp.MustCompile(`(?i)^(select|with)\b`)
)

// Read reads the files of a directory, in the order of their names. Hidden files and those that are
// no SQL are left out.
func Read(dir string) ([]*Mart, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("read the directory of own marts: %w", err)
	}
	var marts []*Mart
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") || !strings.EqualFold(filepath.Ext(e.Name()), ".sql") {
			continue
		}
		m := &Mart{File: e.Name()}
		if fileName.MatchString(m.File) {
			m.Table = store.OwnPrefix + strings.TrimSuffix(m.File, ".sql")
			m.Err = m.read(filepath.Join(dir, m.File))
		} else {
			m.Err = errors.New("the name makes no table: small letters, digits and _ only, a letter first, then .sql")
		}
		marts = append(marts, m)
	}
	return marts, nil
}

func (m *Mart) read(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular() || info.Size() > maxFile:
		return fmt.Errorf("it is no file, or larger than %d KiB", maxFile>>10)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	hash := sha256.Sum256(text)
	m.hash = hex.EncodeToString(hash[:])
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0 {
		return errors.New("it is not UTF-8 text")
	}
	return m.parse(strings.ReplaceAll(string(text), "\r\n", "\n"))
}

// parse reads the comments at the beginning.
func (m *Mart) parse(text string) error {
	m.types, m.labels, m.public = map[string]schema.Type{}, map[string]string{}, map[string]bool{}
	var words []string
	rest := text
	for {
		line, after, _ := strings.Cut(strings.TrimLeft(rest, " \t\n"), "\n")
		comment, is := strings.CutPrefix(line, "--")
		if !is {
			break
		}
		rest = after
		comment = strings.TrimSpace(comment)
		switch key, value, _ := strings.Cut(comment, ":"); key {
		case "types":
			if err := m.parseTypes(value); err != nil {
				return err
			}
		case "label":
			column, label, ok := strings.Cut(value, "=")
			if !ok || strings.TrimSpace(label) == "" {
				return fmt.Errorf("want \"-- label: column = words\", got \"-- %s\"", comment)
			}
			m.labels[fold(column)] = strings.TrimSpace(label)
		case "public":
			for column := range strings.SplitSeq(value, ",") {
				m.public[fold(column)] = true
			}
		default:
			words = append(words, comment)
		}
	}
	m.description = strings.Join(strings.Fields(strings.Join(words, " ")), " ")
	m.sql = strings.TrimSpace(rest)
	if err := store.OneStatement(m.sql); err != nil {
		return err
	}
	if !firstWord.MatchString(m.sql) {
		return errors.New("it is not a SELECT")
	}
	return nil
}

var declarable = []schema.Type{schema.Text, schema.Real, schema.BigInt, schema.Boolean, schema.Date, schema.Timestamp}

func (m *Mart) parseTypes(list string) error {
	for item := range strings.SplitSeq(list, ",") {
		words := strings.Fields(item)
		if len(words) != 2 || !slices.Contains(declarable, schema.Type(strings.ToUpper(words[1]))) {
			return fmt.Errorf("want \"-- types: column TYPE, …\" with types of %v, got %q", declarable, strings.TrimSpace(item))
		}
		m.types[fold(words[0])] = schema.Type(strings.ToUpper(words[1]))
	}
	return nil
}

// fold writes a name of a column as SQLite compares it.
func fold(column string) string { return strings.ToLower(strings.TrimSpace(column)) }

// declares checks that the columns that the file speaks of exist.
func (m *Mart) declares(columns []owntables.Column) error {
	known := map[string]bool{}
	for _, c := range columns {
		known[fold(c.Name)] = true
	}
	var names []string
	for name := range m.types {
		names = append(names, name)
	}
	for name := range m.labels {
		names = append(names, name)
	}
	for name := range m.public {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if !known[name] {
			return fmt.Errorf("its first lines speak of a column %q that the SELECT does not have", name)
		}
	}
	return nil
}
