package config

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"

	"github.com/BurntSushi/toml"
)

// Show writes the effective configuration as TOML, each key with a comment that
// says where its value came from. Secrets are masked.
func (c Config) Show(w io.Writer) error {
	var out bytes.Buffer
	aligned := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	section := ""
	for i, k := range keys() {
		if k.section() != section {
			if section != "" {
				fmt.Fprintln(aligned)
			}
			section = k.section()
			fmt.Fprintf(aligned, "[%s]\n", section)
		}
		s := c.settings[i]
		line, err := tomlLine(k, s.text)
		if err != nil {
			return fmt.Errorf("show %s: %w", k.name, err)
		}
		fmt.Fprintf(aligned, "%s\t# %s\n", line, s.origin)
	}
	if err := aligned.Flush(); err != nil {
		return fmt.Errorf("show the configuration: %w", err)
	}
	_, err := out.WriteTo(w)
	return err
}

// tomlLine writes one assignment in the library's own quoting.
func tomlLine(k key, text string) (string, error) {
	line, err := toml.Marshal(map[string]any{k.leaf(): k.tomlValue(text)})
	return string(bytes.TrimSpace(line)), err
}

// tomlValue is the inverse of kind.text, for text the key's parser accepted.
func (k key) tomlValue(text string) any {
	switch k.kind {
	case kindString:
		return text
	case kindBoolean:
		return text == "true"
	case kindList:
		return splitList(text)
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n
	}
	if x, err := strconv.ParseFloat(text, 64); err == nil {
		return x
	}
	return text
}
