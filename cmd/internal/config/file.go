package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"

	"solarmirror/cmd/internal/buildinfo"
	"solarmirror/cmd/internal/words"
)

// maxFile is the largest configuration file that is read, in bytes.
const maxFile = 1 << 20

// readFile reads the TOML layer. An empty path means DefaultPath, which may be
// missing.
func readFile(table []key, src Source) (layer, []fault) {
	f := tomlFile{table: table, path: cmp.Or(src.Path, DefaultPath), layer: layer{}}
	text := src.Text
	if text == "" {
		content, err := readText(f.path)
		if errors.Is(err, fs.ErrNotExist) && src.Path == "" {
			return nil, nil
		}
		if err != nil {
			return nil, []fault{{0, f.path + ": " + err.Error()}}
		}
		text = content
	}
	f.read(text)
	return f.layer, f.faults
}

// readText reads a file that people edit. Its errors do not name the file.
func readText(path string) (string, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		command := buildinfo.Command() + " init"
		if path != DefaultPath {
			command += " --config " + words.ShellWord(path)
		}
		return "", fmt.Errorf("%w; to write one: %s", noFileError{}, command)
	case err != nil:
		return "", fmt.Errorf("cannot be read: %w; to see why: ls -ld %s", pathCause(err), words.ShellWord(path))
	case info.IsDir():
		return "", fmt.Errorf("is a directory; name a file: --config %s", words.ShellWord(filepath.Join(path, DefaultPath)))
	case !info.Mode().IsRegular() && path != os.DevNull: // reading a named pipe would wait for a writer
		return "", fmt.Errorf("is no regular file (%s); copy its content to a file and name that with --config", info.Mode())
	case info.Size() > maxFile:
		return "", errors.New("is larger than 1 MiB, so it is no configuration; name another file with --config")
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("cannot be read: %w; to see why: ls -ld %s", pathCause(err), words.ShellWord(path))
	}
	return string(content), nil
}

// noFileError is fs.ErrNotExist in the words of this package.
type noFileError struct{}

func (noFileError) Error() string        { return "no such file" }
func (noFileError) Is(target error) bool { return target == fs.ErrNotExist }

// pathCause returns the cause alone, without the operation and the path.
func pathCause(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

// tomlFile walks one TOML document and sorts its values into a layer.
type tomlFile struct {
	table  []key
	path   string
	meta   toml.MetaData
	layer  layer
	faults []fault
}

// walk takes the known keys below prefix and refuses the others.
func (f *tomlFile) walk(prefix string, values map[string]toml.Primitive) {
	for _, leaf := range slices.Sorted(maps.Keys(values)) {
		name := prefix + leaf
		at := f.locate(values[leaf])
		if k, known := find(f.table, name); known {
			f.take(k, at)
			continue
		}
		if inner := f.section(values[leaf], at); len(inner) > 0 {
			f.walk(name+".", inner)
			continue
		}
		if !isSection(f.table, name) || !at.isTable() {
			f.refuse(at, fmt.Sprintf("unknown key %s; did you mean %s?", name, Nearest(name, names(f.table))))
		}
	}
}

func (f *tomlFile) take(k key, at located) {
	text, fits := k.kind.text(at.value)
	if !fits {
		f.refuse(at, fmt.Sprintf("%s: want %s, got %s", k.name, k.kind, k.kind.misfit(at.value)))
		return
	}
	origin := fmt.Sprintf("%s:%d", f.path, at.line)
	f.layer[k.name] = setting{key: k.name, text: text, place: origin + ": " + k.name, origin: origin, line: at.line}
}

func (f *tomlFile) refuse(at located, text string) { f.fault(at.line, text) }

func (f *tomlFile) fault(line int, text string) {
	f.faults = append(f.faults, fault{line, f.path + ":" + strconv.Itoa(line) + ": " + text})
}

// located is a TOML value with the line it stands on.
type located struct {
	value any
	line  int
}

var errLocated = errors.New("located")

// UnmarshalTOML takes the value and refuses it: the library tells the position
// of a value only in the error of its decoding.
func (l *located) UnmarshalTOML(value any) error {
	l.value = value
	return errLocated
}

func (l located) isTable() bool {
	_, ok := l.value.(map[string]any)
	return ok
}

func (f *tomlFile) locate(value toml.Primitive) located {
	var l located
	var position toml.ParseError
	if errors.As(f.meta.PrimitiveDecode(value, &l), &position) {
		l.line = position.Position.Line
	}
	return l
}

// section returns what a table holds, nothing for any other value.
func (f *tomlFile) section(value toml.Primitive, at located) map[string]toml.Primitive {
	var inner map[string]toml.Primitive
	if !at.isTable() || f.meta.PrimitiveDecode(value, &inner) != nil {
		return nil
	}
	return inner
}

func isSection(table []key, name string) bool {
	return slices.ContainsFunc(table, func(k key) bool { return k.section() == name })
}

// text returns a TOML value as the text the key's parser takes, and whether it
// is of the kind at all.
func (k kind) text(value any) (string, bool) {
	switch v := value.(type) {
	case string:
		return v, k == kindString || k == kindStringOrInteger
	case int64:
		return strconv.FormatInt(v, 10), k == kindInteger || k == kindNumber || k == kindStringOrInteger
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64), k == kindNumber
	case bool:
		return strconv.FormatBool(v), k == kindBoolean
	case []any:
		return listText(v, k)
	}
	return "", false
}

// listText returns the text of a list of strings. Empty ones are refused: alone, one would read as
// no item at all.
func listText(list []any, k kind) (string, bool) {
	items := make([]string, len(list))
	for i, item := range list {
		text, isString := item.(string)
		if !isString || strings.TrimSpace(text) == "" {
			return "", false
		}
		items[i] = text
	}
	return joinList(items), k == kindList
}

// misfit names the type of a value that text refuses, and of a list of strings the first item at fault.
func (k kind) misfit(value any) string {
	if list, isList := value.([]any); isList && k == kindList {
		for _, item := range list {
			switch text, isString := item.(string); {
			case !isString:
				return "a list that holds " + typeName(item)
			case strings.TrimSpace(text) == "":
				return "a list that holds an empty string"
			}
		}
	}
	return typeName(value)
}

func typeName(value any) string {
	switch value.(type) {
	case string:
		return "a string"
	case int64:
		return "a whole number"
	case float64:
		return "a number with a fraction"
	case bool:
		return "a boolean"
	case []any, []map[string]any:
		return "a list"
	case map[string]any:
		return "a table"
	}
	return "a date"
}
