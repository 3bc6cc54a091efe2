package publish

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
	"strings"
)

// keptExtra returns the part of a record's extra that a masked copy keeps: the values at a kept
// pointer or below it. Where extra stores a value above a kept pointer, keptExtra resolves the rest
// of the pointer inside it. "" when nothing is kept.
func keptExtra(extra string, keep []string) (string, error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal([]byte(extra), &all); err != nil {
		return "", fmt.Errorf("read extra: %w", err)
	}
	kept := map[string]json.RawMessage{}
	for pointer, value := range all {
		for _, pattern := range keep {
			rest, within := matchPointer(tokens(pattern), tokens(pointer))
			if !within {
				continue
			}
			found, err := resolvePointer(pointer, value, rest)
			if err != nil {
				return "", fmt.Errorf("read extra at a kept path: %w", err)
			}
			maps.Copy(kept, found)
		}
	}
	if len(kept) == 0 {
		return "", nil
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(kept)
	return strings.TrimSuffix(out.String(), "\n"), err
}

// tokens returns the reference tokens of a JSON Pointer, still escaped.
func tokens(pointer string) []string { return strings.Split(strings.TrimPrefix(pointer, "/"), "/") }

// matchPointer compares the tokens of pattern and pointer up to the length of the shorter one; rest
// is the remainder of pattern.
func matchPointer(pattern, pointer []string) (rest []string, within bool) {
	for i := range min(len(pattern), len(pointer)) {
		if !tokenMatches(pattern[i], pointer[i]) {
			return nil, false
		}
	}
	return pattern[min(len(pattern), len(pointer)):], true
}

func tokenMatches(pattern, token string) bool {
	_, err := strconv.ParseUint(token, 10, 32)
	return pattern == token || pattern == "*" && err == nil
}

// resolvePointer returns the values that the rest of a pattern matches inside the value at pointer,
// by pointer.
func resolvePointer(pointer string, value json.RawMessage, rest []string) (map[string]json.RawMessage, error) {
	if len(rest) == 0 {
		return map[string]json.RawMessage{pointer: value}, nil
	}
	below, err := children(value)
	if err != nil {
		return nil, err
	}
	found := map[string]json.RawMessage{}
	for token, child := range below {
		if !tokenMatches(rest[0], token) {
			continue
		}
		values, err := resolvePointer(pointer+"/"+token, child, rest[1:])
		if err != nil {
			return nil, err
		}
		maps.Copy(found, values)
	}
	return found, nil
}

var escapeToken = strings.NewReplacer("~", "~0", "/", "~1")

// children returns the members of an object or the elements of an array, by token; none for any
// other value.
func children(value json.RawMessage) (map[string]json.RawMessage, error) {
	list := map[string]json.RawMessage{}
	switch bytes.TrimSpace(value)[0] {
	case '{':
		var members map[string]json.RawMessage
		if err := json.Unmarshal(value, &members); err != nil {
			return nil, err
		}
		for name, child := range members {
			list[escapeToken.Replace(name)] = child
		}
	case '[':
		var elements []json.RawMessage
		if err := json.Unmarshal(value, &elements); err != nil {
			return nil, err
		}
		for i, child := range elements {
			list[strconv.Itoa(i)] = child
		}
	}
	return list, nil
}
