package publish

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
	"strings"
)

// keptExtra returns what stays of a record's extra: the values at the kept pointers or under them,
// and of a value above a kept pointer what the pointer leads to. "" when nothing does.
func keptExtra(extra string, keep []string) (string, error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal([]byte(extra), &all); err != nil {
		return "", fmt.Errorf("read extra: %w", err)
	}
	kept := map[string]json.RawMessage{}
	for pointer, value := range all {
		for _, pattern := range keep {
			rest, within := followPointer(steps(pattern), steps(pointer))
			if !within {
				continue
			}
			found, err := reach(pointer, value, rest)
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

// steps are the names of a JSON Pointer, escaped as they are.
func steps(pointer string) []string { return strings.Split(strings.TrimPrefix(pointer, "/"), "/") }

// followPointer compares a pattern with a pointer as far as both go; rest is what the pattern has
// more.
func followPointer(pattern, pointer []string) (rest []string, within bool) {
	for i := range min(len(pattern), len(pointer)) {
		if !stepMatches(pattern[i], pointer[i]) {
			return nil, false
		}
	}
	return pattern[min(len(pattern), len(pointer)):], true
}

func stepMatches(pattern, step string) bool {
	_, err := strconv.ParseUint(step, 10, 32)
	return pattern == step || pattern == "*" && err == nil
}

// reach returns what the rest of a pattern leads to inside the value at pointer, by their own
// pointers.
func reach(pointer string, value json.RawMessage, rest []string) (map[string]json.RawMessage, error) {
	if len(rest) == 0 {
		return map[string]json.RawMessage{pointer: value}, nil
	}
	children, err := childrenOf(value)
	if err != nil {
		return nil, err
	}
	found := map[string]json.RawMessage{}
	for step, child := range children {
		if !stepMatches(rest[0], step) {
			continue
		}
		below, err := reach(pointer+"/"+step, child, rest[1:])
		if err != nil {
			return nil, err
		}
		maps.Copy(found, below)
	}
	return found, nil
}

var escapeStep = strings.NewReplacer("~", "~0", "/", "~1")

// childrenOf returns the members of an object, or the elements of an array, by their step; none for
// any other value.
func childrenOf(value json.RawMessage) (map[string]json.RawMessage, error) {
	children := map[string]json.RawMessage{}
	switch bytes.TrimSpace(value)[0] {
	case '{':
		var members map[string]json.RawMessage
		if err := json.Unmarshal(value, &members); err != nil {
			return nil, err
		}
		for name, child := range members {
			children[escapeStep.Replace(name)] = child
		}
	case '[':
		var elements []json.RawMessage
		if err := json.Unmarshal(value, &elements); err != nil {
			return nil, err
		}
		for i, child := range elements {
			children[strconv.Itoa(i)] = child
		}
	}
	return children, nil
}
