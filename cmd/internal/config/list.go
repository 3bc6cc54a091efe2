package config

import (
	"strings"

	"solarmirror/store/dealclass"
)

// The text of a list, as an environment variable has it, is its items with commas between. A
// backslash before a comma or a backslash makes that part of the item; before anything else it is
// an ordinary character. White space around an item does not count.

var escapeItem = strings.NewReplacer(`\`, `\\`, `,`, `\,`)

func joinList(items []string) string {
	escaped := make([]string, len(items))
	for i, item := range items {
		escaped[i] = escapeItem.Replace(item)
	}
	return strings.Join(escaped, ",")
}

// splitList is the inverse of joinList. An empty text is the empty list.
func splitList(text string) []string {
	items := []string{}
	if text == "" {
		return items
	}
	var item strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text) && (text[i+1] == ',' || text[i+1] == '\\'):
			i++
			item.WriteByte(text[i])
		case c == ',':
			items = append(items, strings.TrimSpace(item.String()))
			item.Reset()
		default:
			item.WriteByte(c)
		}
	}
	return append(items, strings.TrimSpace(item.String()))
}

// setPointers takes a list of JSON Pointers. The whole document is none of them: that would keep everything.
func setPointers(to *[]string, text string) error {
	list := splitList(text)
	for _, pointer := range list {
		if len(pointer) < 2 || pointer[0] != '/' || strings.ContainsAny(pointer, "\r\n") {
			return want(`JSON Pointers such as "/profitMargin"`, pointer)
		}
	}
	*to = list
	return nil
}

// setStatuses takes a list of changes to the default words.
func setStatuses(to *[]string, defaults []string, text string) error {
	if strings.HasPrefix(text, "[") && strings.HasSuffix(text, "]") { // a TOML list in a variable
		return want("words with commas between, without brackets and quotes", text)
	}
	list, err := dealclass.Extend(defaults, splitList(text)...)
	if err != nil {
		return err
	}
	*to = list
	return nil
}
