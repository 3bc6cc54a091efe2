package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"
)

// readFile reads the TOML layer. An empty path means DefaultPath, which may be
// missing.
func readFile(table []key, path string) (layer, []string) {
	optional := path == ""
	if optional {
		path = DefaultPath
	}
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && optional:
		return nil, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, []string{path + ": no such file; config.example.toml is one to copy"}
	case err != nil:
		return nil, []string{fmt.Sprintf("cannot read the configuration file: %v", err)}
	}
	f := tomlFile{table: table, path: path, layer: layer{}}
	f.read(string(text))
	return f.layer, f.problems()
}

// tomlFile walks one TOML document and sorts its values into a layer.
type tomlFile struct {
	table  []key
	path   string
	meta   toml.MetaData
	layer  layer
	faults []fault
}

// fault is a problem at a line of the file; line 0 is the file as a whole.
type fault struct {
	line int
	text string
}

func (f *tomlFile) read(text string) {
	var root map[string]toml.Primitive
	meta, err := toml.Decode(text, &root)
	if err != nil {
		f.faults = append(f.faults, syntaxFault(f.table, err))
		return
	}
	f.meta = meta
	f.walk("", root)
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
	f.layer[k.name] = setting{key: k.name, text: text, place: origin + ": " + k.name, origin: origin}
}

func (f *tomlFile) refuse(at located, text string) {
	f.faults = append(f.faults, fault{line: at.line, text: text})
}

// problems puts the faults in the order of the file, as people mend it.
func (f *tomlFile) problems() []string {
	slices.SortStableFunc(f.faults, func(a, b fault) int { return cmp.Compare(a.line, b.line) })
	var out []string
	for _, fault := range f.faults {
		place := f.path
		if fault.line > 0 {
			place += ":" + strconv.Itoa(fault.line)
		}
		out = append(out, place+": "+fault.text)
	}
	return out
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

// syntaxFault words the library's error. Some of its messages quote the value,
// which may be a token someone forgot to put in quotes: they pass only where the
// last key read is one known to hold no secret.
func syntaxFault(table []key, err error) fault {
	var position toml.ParseError
	if !errors.As(err, &position) {
		return fault{text: "is not valid TOML"}
	}
	words := "a value it cannot read; text stands in quotes"
	if k, known := find(table, position.LastKey); known && !k.secret || isSection(table, position.LastKey) {
		words = position.Message
	}
	text := "not valid TOML: " + words
	if position.LastKey != "" {
		text = fmt.Sprintf("not valid TOML at or after %s: %s", position.LastKey, words)
	}
	return fault{line: position.Position.Line, text: text}
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
