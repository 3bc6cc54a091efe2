package config

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// DefaultPath is the file that is read when none is named; it may be missing.
const DefaultPath = "config.toml"

const envPrefix = "SOLARMIRROR_"

// Source is where a configuration comes from, besides its defaults.
type Source struct {
	Path    string   // TOML file that must be there; "" = DefaultPath if it is there
	Text    string   // content of the file at Path; "" = the file is read
	Environ []string // NAME=value, as os.Environ gives it
	Flags   []Flag
}

// Flag is a command-line flag that stands for a key.
type Flag struct {
	Name  string // as typed: "--log-level"
	Key   string // "log.level"
	Value string
}

// Error holds everything found wrong with a configuration, one problem a line,
// each naming its place, its key and what was expected.
type Error struct{ Problems []string }

func (e *Error) Error() string {
	if len(e.Problems) == 1 {
		return "configuration: " + e.Problems[0]
	}
	return fmt.Sprintf("configuration: %d problems\n  %s", len(e.Problems), strings.Join(e.Problems, "\n  "))
}

// setting is the text a key got in one layer.
type setting struct {
	key    string
	text   string
	place  string // how a problem names the spot: "config.toml:12: platform.timeout"
	origin string // how Show names it: "config.toml:12", "environment SOLARMIRROR_…"
	line   int    // of the file; 0 in every other layer
}

// layer holds the settings of one source by key name.
type layer map[string]setting

// fault is one problem; its text names the place.
type fault struct {
	line int // of the file; 0 where no line is at fault
	text string
}

func (s setting) fault(problem string) fault { return fault{s.line, s.place + ": " + problem} }

// Load reads, merges and checks the layers of src. Its error, when there is
// one, is an *Error with every problem of every layer.
func Load(src Source) (Config, error) {
	table := keys()
	file, faults := readFile(table, src)
	env, envFaults := readEnviron(table, src.Environ)
	c, setFaults := merge(table, readDefaults(table), file, env, readFlags(src.Flags))
	faults = slices.Concat(faults, envFaults, setFaults, c.checkFiles(), c.checkPaths(), c.checkOutputs(), c.checkDeals())
	if len(faults) > 0 {
		return Config{}, newError(faults)
	}
	return c, nil
}

// newError puts the faults of the file first, in the order of its lines, as people mend them.
func newError(faults []fault) *Error {
	slices.SortStableFunc(faults, func(a, b fault) int {
		if a.line == 0 || b.line == 0 {
			return cmp.Compare(b.line, a.line)
		}
		return cmp.Compare(a.line, b.line)
	})
	e := &Error{}
	for _, f := range faults {
		e.Problems = append(e.Problems, f.text)
	}
	return e
}

// merge applies the layers in rising order of precedence.
func merge(table []key, layers ...layer) (c Config, faults []fault) {
	for _, k := range table {
		var effective setting
		for _, l := range layers {
			s, given := l[k.name]
			if !given {
				continue
			}
			err := k.set(&c, s.text)
			if all, several := err.(interface{ Unwrap() []error }); several {
				for _, err := range all.Unwrap() {
					faults = append(faults, s.fault(err.Error()))
				}
			} else if err != nil {
				faults = append(faults, s.fault(err.Error()))
			}
			effective = s
		}
		if k.secret {
			effective.text = Secret(effective.text).masked()
		}
		c.settings = append(c.settings, effective)
	}
	return c, faults
}

// checkFiles names each secret that is given twice: by itself and in a file.
func (c Config) checkFiles() (faults []fault) {
	for _, name := range []string{"platform.token", "alerts.urls", "alerts.ping_url"} {
		value, file := c.setting(name), c.setting(name+"_file")
		if value.text != "" && file.text != "" {
			faults = append(faults, fault{max(value.line, file.line), fmt.Sprintf("%s and %s are both set; keep one", value.place, file.place)})
		}
	}
	return faults
}

// checkPaths refuses an outbox in the file of another database. Mirror and published copy may be
// one file, for commands that read the copy.
func (c Config) checkPaths() (faults []fault) {
	outbox := c.setting("outbox.path")
	for _, name := range []string{"mirror.path", "publish.path"} {
		a, b := c.setting(name), outbox
		if a.line == 0 { // what the file sets comes first: a default is not to be mended
			a, b = b, a
		}
		if a.text != "" && filepath.Clean(a.text) == filepath.Clean(b.text) {
			faults = append(faults, fault{max(a.line, b.line), fmt.Sprintf("%s and %s name one file; give each its own", a.place, b.place)})
		}
	}
	return faults
}

// checkDeals names each conflict at the list that the user changed; of two, at closed_statuses.
func (c Config) checkDeals() (faults []fault) {
	for _, conflict := range c.Marts.Deals.Conflicts() {
		at := c.setting("marts.closed_statuses")
		if at.text == "" {
			at = c.setting("marts." + conflict.Other)
		}
		faults = append(faults, at.fault(conflict.String()))
	}
	return faults
}

func (c Config) setting(name string) setting {
	for _, s := range c.settings {
		if s.key == name {
			return s
		}
	}
	return setting{}
}

func readDefaults(table []key) layer {
	l := layer{}
	for _, k := range table {
		l[k.name] = setting{key: k.name, text: k.fallback, place: k.name, origin: "default"}
	}
	return l
}

func readFlags(flags []Flag) layer {
	l := layer{}
	for _, f := range flags {
		l[f.Key] = setting{key: f.Key, text: f.Value, place: f.Name, origin: "flag " + f.Name}
	}
	return l
}

func readEnviron(table []key, environ []string) (l layer, faults []fault) {
	byEnv := map[string]key{}
	variables := make([]string, len(table))
	for i, k := range table {
		variables[i] = k.env()
		byEnv[k.env()] = k
	}
	l = layer{}
	for _, entry := range environ {
		name, text, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, envPrefix) {
			continue
		}
		k, known := byEnv[name]
		if !known {
			faults = append(faults, fault{0, fmt.Sprintf("unknown environment variable %s; did you mean %s?", name, Nearest(name, variables))})
			continue
		}
		if text != "" {
			l[k.name] = setting{key: k.name, text: text, place: name, origin: "environment " + name}
		}
	}
	return l, faults
}
