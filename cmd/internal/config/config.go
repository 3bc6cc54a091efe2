// Package config turns a TOML file, the environment and command-line flags
// into one validated Config.
//
// The model is a table of keys (see keys): each has a dotted name such as
// platform.page_limit, a default, a document line and one parser from text.
// config.example.toml is written from it (see Example).
// Every key can be given in four layers, the later winning:
//
//	default < TOML file < environment < flag
//
// The name of a key's environment variable derives from its own: platform.token
// is SOLARMIRROR_PLATFORM_TOKEN. An empty variable counts as not set. A
// variable gives a list as text (see splitList). The key platform.token_file is
// thereby also the _FILE variant of the token's variable.
//
// Invariants: a value is checked in every layer it stands in, even where a later
// layer overrules it; nothing unknown is passed over, neither a TOML key nor a
// SOLARMIRROR_ variable; all faults are found in one go and come back as one
// *Error; no error text and no printed form of a Config holds a secret. A loaded
// Config is never changed. The files of the token and of the alerts' addresses alone are read later,
// at each use, since their content is renewed while the program runs.
package config

import (
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"strings"
	"time"

	"solarmirror/cmd/internal/buildinfo"
	"solarmirror/store/dealclass"
	"solarmirror/sync/schedule"
)

// Config is the whole configuration, validated. Its fields follow the sections
// and keys of config.example.toml.
type Config struct {
	Platform Platform
	Mirror   Mirror
	Outbox   Outbox
	Marts    Marts
	Schedule Schedule
	Publish  Publish
	Report   Report
	Backup   Backup
	Export   Export
	HTTP     HTTP
	Log      Log
	Alerts   Alerts

	settings []setting // one per key, in the order of the table; for Show
}

// Platform says how to reach the sales platform and how hard to ask it.
type Platform struct {
	BaseURL           string         // http(s) URL with a host; "" = not given
	AllowPlainHTTP    bool           // the token may go to another machine over http
	Token             Secret         // "" = not given
	TokenFile         string         // path; "" = not given
	TimeZone          *time.Location // zone of the platform's dates
	PageLimit         int            // records asked per page, 1..10000
	FirstPage         int            // 0, 1 or FirstPageAuto
	Envelope          string         // auto, array, data or items
	RequestsPerSecond float64        // above 0, at most 10000
	MaxInFlight       int            // requests at one time, 1..64
	Timeout           time.Duration  // for one whole attempt
	MaxRetryWait      time.Duration  // longest Retry-After that is waited for
	MaxBody           int64          // bytes of one answer, decompressed
}

// FirstPageAuto is the Platform.FirstPage that leaves it to be found by asking.
const FirstPageAuto = -1

// Mirror says where the mirror lies and how it is kept.
type Mirror struct {
	Path            string      // SQLite file, relative to the working directory
	FileMode        fs.FileMode // of new files with personal data
	OverlapDays     int         // days asked again before the watermark
	KeepDeletedDays int         // until a record that is gone is deleted; 0 = never
}

// Marts says how the platform's figures are read where it leaves that open.
type Marts struct {
	PowerUnit string          // of totalPower: auto, kWp or Wp
	Deals     dealclass.Lists // decide the class of a deal; the defaults are in them
}

// Outbox says where companies wait to be created and what is kept of them.
type Outbox struct {
	Path              string // SQLite file, relative to the working directory
	KeyFile           string // path of the key that seals passwords; "" = they are not sealed
	KeepDays          int    // until a finished row is deleted; 0 = never
	KeepAmbiguousDays int    // until a row in doubt loses its password
}

// Schedule says when "solarmirror run" does what.
type Schedule struct {
	TimeZone       *time.Location // in which the specs are read; nil = the platform's
	Sync           schedule.Spec
	FullEquipments schedule.Spec
	FullRequests   schedule.Spec
	Push           schedule.Spec
	Publish        schedule.Spec
	Verify         schedule.Spec
	Report         schedule.Spec
	Backup         schedule.Spec
	Export         schedule.Spec
}

// Publish says where copies for readers go and what is in them.
type Publish struct {
	Path             string   // SQLite file, relative to the working directory
	MaskPersonalData bool     // pseudonyms or nothing where personal data stands
	KeepExtra        []string // JSON Pointers of what a masked copy keeps of extra; * is every element of an array
	KeepVersions     int      // copies kept, the newest included
	PseudonymKeyFile string   // path; "" = one beside the outbox, made when it is missing
}

// Report describes the scheduled sales report.
type Report struct {
	Path string // HTML file, relative to the working directory; "" = not given
	Lang string // pt or en
}

// Backup describes the scheduled backup.
type Backup struct {
	Path string // directory, relative to the working directory; "" = not given
	Keep int    // copies of each file; 0 = all
}

// Export describes the scheduled export.
type Export struct {
	Path   string // directory, relative to the working directory; "" = not given
	Format string // parquet, csv or excel-br
	Source string // SourceMirror, SourcePublished or the path of a copy
}

// The values of Export.Source that are no path.
const (
	SourceMirror    = "mirror"
	SourcePublished = "published"
)

// HTTP says where the status page is served.
type HTTP struct {
	Listen string // host:port; "" = nowhere
}

// Log says what is logged and in which form.
type Log struct {
	Level  string // trace, debug, info, warn or error
	Format string // auto, json or console; auto is console on a terminal
}

// Alerts says who is told when something is wrong.
type Alerts struct {
	URLs        []Secret      // addresses of notification services
	URLsFile    string        // path of a file that holds them, one a line; "" = not given
	PingURL     Secret        // "" = not given
	PingURLFile string        // path; "" = not given
	StaleAfter  time.Duration // age at which a stream is late, at the least
	Lang        string        // of messages: pt or en
}

// Secret is a value that no formatting verb and no encoder prints.
type Secret string

// Format prints a mask in place of the secret, for every verb.
func (s Secret) Format(f fmt.State, _ rune) { fmt.Fprint(f, s.masked()) }

// MarshalText gives the mask to encoders.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.masked()), nil }

// Reveal returns the secret itself.
func (s Secret) Reveal() string { return string(s) }

func (s Secret) masked() string {
	if s == "" {
		return ""
	}
	return "***"
}

// BaseURL returns platform.base_url, or an *Error that says how to give one.
// Only commands that talk to a platform need it.
func (c Config) BaseURL() (string, error) {
	if c.Platform.BaseURL == "" {
		return "", &Error{Problems: []string{
			"platform.base_url is not set: give SOLARMIRROR_PLATFORM_BASE_URL, or base_url under [platform] in config.toml, or run " + buildinfo.Command() + " init"}}
	}
	return c.Platform.BaseURL, nil
}

// PlainHTTP says whether platform.base_url is plain http to another machine, on whose way anybody
// can read the token. Only localhost and loopback addresses are this machine: a name is not looked
// up, since the answer may be another one when the request is sent.
func (c Config) PlainHTTP() bool {
	base, err := url.Parse(c.Platform.BaseURL)
	if err != nil || base.Scheme != "http" {
		return false
	}
	ip := net.ParseIP(base.Hostname())
	return !strings.EqualFold(base.Hostname(), "localhost") && (ip == nil || !ip.IsLoopback())
}

// TokenInClear says whether requests would show a token to anybody on the way, and nobody has allowed
// that.
func (c Config) TokenInClear() bool {
	given := c.Platform.Token != "" || c.Platform.TokenFile != ""
	return given && c.PlainHTTP() && !c.Platform.AllowPlainHTTP
}

// ScheduleZone is the zone in which the schedule's specs are read.
func (c Config) ScheduleZone() *time.Location {
	if c.Schedule.TimeZone != nil {
		return c.Schedule.TimeZone
	}
	return c.Platform.TimeZone
}

// Given returns how many keys the file and the environment set, as far as nothing overrides them.
func (c Config) Given() (file, environment int) {
	for _, s := range c.settings {
		switch {
		case s.line > 0:
			file++
		case strings.HasPrefix(s.origin, "environment "):
			environment++
		}
	}
	return file, environment
}
