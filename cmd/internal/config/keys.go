package config

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"solarmirror/cmd/internal/alerts"
	"solarmirror/store/dealclass"
	"solarmirror/sync/schedule"
)

// key is one line of the configuration. The table of them is the only place
// that knows which keys exist.
type key struct {
	name     string // section.key
	doc      string // what it means, as config.example.toml says it
	fallback string // the default, as text
	kind     kind
	secret   bool
	set      func(c *Config, text string) error // its error must not quote a secret
}

// kind is the TOML type a key is written as.
type kind int

const (
	kindString kind = iota
	kindInteger
	kindNumber          // integer or float
	kindStringOrInteger // "auto" or 1
	kindBoolean
	kindList // of strings; as text, see splitList
)

func (k kind) String() string {
	return [...]string{"a string", "a whole number", "a number", "a string or a whole number", "true or false", "a list of strings"}[k]
}

// env returns the name of the key's environment variable.
func (k key) env() string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(k.name, ".", "_"))
}

// section and leaf are the two halves of the name.
func (k key) section() string { section, _, _ := strings.Cut(k.name, "."); return section }
func (k key) leaf() string    { _, leaf, _ := strings.Cut(k.name, "."); return leaf }

func keys() []key {
	return slices.Concat(platformKeys(), mirrorKeys(), outboxKeys(), scheduleKeys(), martsKeys(), publishKeys(), copyKeys(), httpKeys(), logKeys(), alertKeys())
}

func platformKeys() []key {
	return []key{
		{name: "platform.base_url",
			doc: "Address of the platform, without /api/v2: https://sales.example.com. Commands that ask the platform need it.",
			set: func(c *Config, text string) error { return setBaseURL(&c.Platform.BaseURL, text) }},
		{name: "platform.allow_plain_http", fallback: "false", kind: kindBoolean,
			doc: "Whether the token may be sent to another machine over http://, where anybody on the way can read it. Without this, commands that ask such a platform are refused.",
			set: func(c *Config, text string) error { return setBool(&c.Platform.AllowPlainHTTP, text) }},
		{name: "platform.token", secret: true,
			doc: "The access token. Better kept out of this file: set SOLARMIRROR_PLATFORM_TOKEN, or use token_file.",
			set: func(c *Config, text string) error { c.Platform.Token = Secret(text); return nil }},
		{name: "platform.token_file",
			doc: "A file that holds the token and nothing else; read again at each use, so it may be renewed at any time. Not together with token.",
			set: func(c *Config, text string) error { c.Platform.TokenFile = text; return nil }},
		{name: "platform.time_zone", fallback: "America/Sao_Paulo",
			doc: "Zone of the platform's calendar days, as an IANA name.",
			set: func(c *Config, text string) error { return setZone(&c.Platform.TimeZone, text) }},
		{name: "platform.page_limit", fallback: "50", kind: kindInteger,
			doc: "Records asked for per page, 1 to 10000. Servers cap it, often at 50.",
			set: func(c *Config, text string) error { return setInt(&c.Platform.PageLimit, text, 1, 10_000) }},
		{name: "platform.first_page", fallback: "auto", kind: kindStringOrInteger,
			doc: `Number of the first page: 0, 1, or "auto" to find it by asking.`,
			set: func(c *Config, text string) error { return setFirstPage(&c.Platform.FirstPage, text) }},
		{name: "platform.envelope", fallback: "auto",
			doc: `Form of a list answer: "array" (bare), "data" ({"data":[…]}), "items" ({"data":{"items":[…]}}), or "auto" for any of them.`,
			set: func(c *Config, text string) error {
				return setOneOf(&c.Platform.Envelope, text, "auto", "array", "data", "items")
			}},
		{name: "platform.requests_per_second", fallback: "5", kind: kindNumber,
			doc: "Most requests sent per second, retries included; above 0, at most 10000.",
			set: func(c *Config, text string) error { return setRate(&c.Platform.RequestsPerSecond, text, 10_000) }},
		{name: "platform.max_in_flight", fallback: "4", kind: kindInteger,
			doc: "Most requests under way at one time, 1 to 64.",
			set: func(c *Config, text string) error { return setInt(&c.Platform.MaxInFlight, text, 1, 64) }},
		{name: "platform.timeout", fallback: "60s",
			doc: "Longest a single request may take, from dialling to the last byte.",
			set: func(c *Config, text string) error { return setDuration(&c.Platform.Timeout, text) }},
		{name: "platform.max_retry_wait", fallback: "5m",
			doc: "Longest wait a server may ask for (Retry-After); beyond it the stream fails and the next run tries again.",
			set: func(c *Config, text string) error { return setDuration(&c.Platform.MaxRetryWait, text) }},
		{name: "platform.max_body", fallback: "64MiB",
			doc: "Largest answer accepted, decompressed; units B, KiB, MiB, GiB.",
			set: func(c *Config, text string) error { return setSize(&c.Platform.MaxBody, text) }},
	}
}

func mirrorKeys() []key {
	return []key{
		{name: "mirror.path", fallback: "data/mirror/solarmirror.db",
			doc: "The SQLite file analysts open. A relative path starts at the working directory.",
			set: func(c *Config, text string) error { return setPath(&c.Mirror.Path, text) }},
		{name: "mirror.file_mode", fallback: "0640",
			doc: "Mode of new files with personal data, in octal, whatever the umask: the mirror with its -wal and -shm, and unmasked copies, exports and reports. Owner and group may read them with 0640; masked ones are readable by all. Files that exist keep their mode.",
			set: func(c *Config, text string) error { return setFileMode(&c.Mirror.FileMode, text) }},
		{name: "mirror.overlap_days", fallback: "2", kind: kindInteger,
			doc: "Days before the watermark that each sync asks for again, 0 to 365.",
			set: func(c *Config, text string) error { return setInt(&c.Mirror.OverlapDays, text, 0, 365) }},
		{name: "mirror.keep_deleted_days", fallback: "0", kind: kindInteger,
			doc: "Days until a record that is gone from the platform is deleted with its history, by the next full sync, 0 to 36500; 0 keeps it for ever.",
			set: func(c *Config, text string) error { return setInt(&c.Mirror.KeepDeletedDays, text, 0, 36_500) }},
	}
}

func outboxKeys() []key {
	return []key{
		{name: "outbox.path", fallback: "data/private/outbox.db",
			doc: "The SQLite file companies wait in. It holds passwords, so its directory must be private (mode 0700).",
			set: func(c *Config, text string) error { return setPath(&c.Outbox.Path, text) }},
		{name: "outbox.key_file",
			doc: `A file with the key that seals the passwords in the outbox, made by "solarmirror outbox keygen". Without one they are kept as they are until they are sent.`,
			set: func(c *Config, text string) error { c.Outbox.KeyFile = text; return nil }},
		{name: "outbox.keep_days", fallback: "90", kind: kindInteger,
			doc: "Days until a finished row is deleted, 0 to 36500; 0 keeps it for ever.",
			set: func(c *Config, text string) error { return setInt(&c.Outbox.KeepDays, text, 0, 36_500) }},
		{name: "outbox.keep_ambiguous_days", fallback: "7", kind: kindInteger,
			doc: "Days until a row in doubt loses its password, 1 to 365.",
			set: func(c *Config, text string) error { return setInt(&c.Outbox.KeepAmbiguousDays, text, 1, 365) }},
	}
}

func scheduleKeys() []key {
	job := func(name, fallback, doc string, spec func(*Config) *schedule.Spec) key {
		return key{name: "schedule." + name, fallback: fallback, doc: doc,
			set: func(c *Config, text string) error { return setSpec(spec(c), text) }}
	}
	return []key{
		{name: "schedule.time_zone",
			doc: "Zone the times of the schedule are in, as an IANA name; the platform's when empty.",
			set: func(c *Config, text string) error {
				if text == "" {
					return nil
				}
				return setZone(&c.Schedule.TimeZone, text)
			}},
		job("sync", "*/15 * * * *",
			`When "solarmirror run" reads what was updated: minute, hour, day of month, month, day of week, as in cron, or "off" (or empty) for never.`,
			func(c *Config) *schedule.Spec { return &c.Schedule.Sync }),
		job("full_equipments", "0 * * * *", "When it reads the whole catalogue, which alone shows prices and stock.",
			func(c *Config) *schedule.Spec { return &c.Schedule.FullEquipments }),
		job("full_requests", "0 3 * * 0", "When it reads all orders and budgets, which alone shows what is gone.",
			func(c *Config) *schedule.Spec { return &c.Schedule.FullRequests }),
		job("push", "* * * * *", "When it sends what is due in the outbox.",
			func(c *Config) *schedule.Spec { return &c.Schedule.Push }),
		job("publish", "10 * * * *", "When it publishes a copy for readers.",
			func(c *Config) *schedule.Spec { return &c.Schedule.Publish }),
		job("verify", "0 5 * * 0", "When it compares the mirror with the platform.",
			func(c *Config) *schedule.Spec { return &c.Schedule.Verify }),
		job("report", "", "When it writes the sales report to [report] path.",
			func(c *Config) *schedule.Spec { return &c.Schedule.Report }),
		job("backup", "", "When it copies mirror and outbox to [backup] path.",
			func(c *Config) *schedule.Spec { return &c.Schedule.Backup }),
		job("export", "", "When it writes the tables as files to [export] path.",
			func(c *Config) *schedule.Spec { return &c.Schedule.Export }),
	}
}

func martsKeys() []key {
	defaults := dealclass.Default()
	statuses := func(name, doc string, words []string, list func(*Config) *[]string) key {
		return key{name: "marts." + name, kind: kindList, doc: doc + " Default words: " + strings.Join(words, ", ") + ".",
			set: func(c *Config, text string) error { return setStatuses(list(c), words, text) }}
	}
	return []key{
		{name: "marts.power_unit", fallback: "auto",
			doc: `Unit of the platform's totalPower, which it does not state: "kWp", "Wp" or "auto". With "auto" the rated power of the modules in 20 deals or more decides once, and the mirror remembers it; until then kWp. If it decided wrongly, set "kWp" or "Wp"; "auto" goes back to what is remembered. A change has the next sync build the marts anew.`,
			set: func(c *Config, text string) error { return setOneOf(&c.Marts.PowerUnit, text, "auto", "kWp", "Wp") }},
		statuses("cancelled_statuses",
			`Deal statuses that make an order cancelled and a budget lost. This and the next three lists add to default words; "!word" takes a default word out. Case, accents and outer white space do not count. A change has the next sync build the marts anew.`,
			defaults.Cancelled, func(c *Config) *[]string { return &c.Marts.Deals.Cancelled }),
		statuses("lost_statuses",
			"Deal statuses with the same effect, as said of a budget that became nothing.",
			defaults.Lost, func(c *Config) *[]string { return &c.Marts.Deals.Lost }),
		statuses("closed_statuses",
			"Deal statuses of finished deals: an order is won, whatever its payment status, and a budget stays open. None of them may be in the two lists above.",
			defaults.Closed, func(c *Config) *[]string { return &c.Marts.Deals.Closed }),
		statuses("cancelled_payment_statuses",
			"Payment statuses that make an order cancelled whose deal status is in none of the lists above.",
			defaults.CancelledPayment, func(c *Config) *[]string { return &c.Marts.Deals.CancelledPayment }),
		{name: "marts.own_dir",
			doc: `A directory of marts of your own: NAME.sql with one SELECT makes the table my_NAME, computed anew when a sync has changed something. See "Marts of your own" in README.md. Empty for none.`,
			set: func(c *Config, text string) error { c.Marts.OwnDir = text; return nil }},
		{name: "marts.own_timeout", fallback: "60s",
			doc: "Longest that computing one of them may take; one that takes longer keeps its last rows.",
			set: func(c *Config, text string) error { return setDuration(&c.Marts.OwnTimeout, text) }},
	}
}

func publishKeys() []key {
	return []key{
		{name: "publish.path", fallback: "data/published/solarmirror.db",
			doc: "The copy of the mirror that \"solarmirror publish\" makes for readers.",
			set: func(c *Config, text string) error { return setPath(&c.Publish.Path, text) }},
		{name: "publish.mask_personal_data", fallback: "true", kind: kindBoolean,
			doc: "Whether the copy holds pseudonyms, or nothing, in place of personal data. With false it is a full copy.",
			set: func(c *Config, text string) error { return setBool(&c.Publish.MaskPersonalData, text) }},
		{name: "publish.keep_extra", kind: kindList,
			doc: `JSON Pointers, as "solarmirror status" lists new fields, of what a masked copy keeps of extra, with all under them: ["/profitMargin", "/products/*/sku"]. Only you know that no personal data stands there.`,
			set: func(c *Config, text string) error { return setPointers(&c.Publish.KeepExtra, text) }},
		{name: "publish.keep_versions", fallback: "1", kind: kindInteger,
			doc: "How many copies are kept, the newest included, 1 to 1000. Earlier ones lie beside it under the time they were published at.",
			set: func(c *Config, text string) error { return setInt(&c.Publish.KeepVersions, text, 1, 1000) }},
		{name: "publish.pseudonym_key_file",
			doc: `A file with the key pseudonyms are made with, as "solarmirror outbox keygen" makes one. Without one, pseudonym.key in the directory of the outbox, made when it is missing. Another key gives other pseudonyms.`,
			set: func(c *Config, text string) error { c.Publish.PseudonymKeyFile = text; return nil }},
	}
}

// copyKeys are those of the scheduled report, backup and export.
func copyKeys() []key {
	return []key{
		{name: "report.path",
			doc: `The HTML file of the scheduled report, such as "data/report/sales.html". [schedule] report needs it.`,
			set: func(c *Config, text string) error { c.Report.Path = text; return nil }},
		{name: "report.lang", fallback: "pt",
			doc: `Language of the scheduled report: "pt" or "en".`,
			set: func(c *Config, text string) error { return setOneOf(&c.Report.Lang, text, "pt", "en") }},
		{name: "backup.path",
			doc: `The directory of the scheduled backups, such as "data/backups". Better on another disk than the mirror. [schedule] backup needs it.`,
			set: func(c *Config, text string) error { c.Backup.Path = text; return nil }},
		{name: "backup.keep", fallback: "7", kind: kindInteger,
			doc: "How many backups are kept, 0 to 1000; 0 keeps them all.",
			set: func(c *Config, text string) error { return setInt(&c.Backup.Keep, text, 0, 1000) }},
		{name: "export.path",
			doc: `The directory of the scheduled export, such as "data/export": new, empty, or that of an earlier export. [schedule] export needs it.`,
			set: func(c *Config, text string) error { c.Export.Path = text; return nil }},
		{name: "export.format", fallback: "parquet",
			doc: `Form of its files: "parquet", "csv", or "excel-br" for CSV that a Brazilian Excel opens.`,
			set: func(c *Config, text string) error {
				return setOneOf(&c.Export.Format, text, "parquet", "csv", "excel-br")
			}},
		{name: "export.source", fallback: SourceMirror,
			doc: `What it reads: "mirror", with personal data; "published", the copy at [publish] path; or the path of another copy.`,
			set: func(c *Config, text string) error { return setPath(&c.Export.Source, text) }},
	}
}

func httpKeys() []key {
	return []key{
		{name: "http.listen", fallback: "127.0.0.1:8480",
			doc: `Address of the status page of "solarmirror run", host:port, or "off" (or empty) for none. It asks nobody for a password: let only those reach it who may see it.`,
			set: func(c *Config, text string) error { return setListen(&c.HTTP.Listen, text) }},
	}
}

func logKeys() []key {
	return []key{
		{name: "log.level", fallback: "info",
			doc: "Least level that is logged: trace, debug, info, warn or error. Requests are logged at debug.",
			set: func(c *Config, text string) error {
				return setOneOf(&c.Log.Level, text, "trace", "debug", "info", "warn", "error")
			}},
		{name: "log.format", fallback: "auto",
			doc: `Form of the log: "json", "console", or "auto" for console on a terminal and JSON elsewhere.`,
			set: func(c *Config, text string) error {
				return setOneOf(&c.Log.Format, text, "auto", "json", "console")
			}},
	}
}

func alertKeys() []key {
	return []key{
		{name: "alerts.urls", kind: kindList, secret: true,
			doc: `Addresses that are told when something is wrong and when it is over: discord://, generic+https://, gotify://, ntfy://, slack://, smtp://, teams://, telegram://; the README has examples. They hold passwords: better kept out of this file, in SOLARMIRROR_ALERTS_URLS (commas between, "\," for a comma in one) or urls_file.`,
			set: func(c *Config, text string) error { return setAddresses(&c.Alerts.URLs, text) }},
		{name: "alerts.urls_file",
			doc: "A file with these addresses, one a line; read again at each use. Not together with urls.",
			set: func(c *Config, text string) error { c.Alerts.URLsFile = text; return nil }},
		{name: "alerts.ping_url", secret: true,
			doc: "An address that is asked at each job, with /start when it begins, as it is when it succeeded and with /fail when it failed, as healthchecks.io has them. Who serves it notices when this program is not running. {job} in it becomes the job's name.",
			set: func(c *Config, text string) error { return setPing(&c.Alerts.PingURL, text) }},
		{name: "alerts.ping_url_file",
			doc: "A file that holds that address; read again at each use. Not together with ping_url.",
			set: func(c *Config, text string) error { c.Alerts.PingURLFile = text; return nil }},
		{name: "alerts.stale_after", fallback: "2h",
			doc: "Age at which a stream is late; twice the time between two runs of the job that reads it, where that is longer.",
			set: func(c *Config, text string) error { return setDuration(&c.Alerts.StaleAfter, text) }},
		{name: "alerts.lang", fallback: "pt",
			doc: "Language of the messages: pt or en.",
			set: func(c *Config, text string) error { return setOneOf(&c.Alerts.Lang, text, alerts.Languages()...) }},
	}
}

// want is the error of every parser that may quote what it was given.
func want(what, got string) error { return fmt.Errorf("want %s, got %q", what, got) }

func setInt(to *int, text string, least, most int) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		return want(fmt.Sprintf("a whole number from %d to %d", least, most), text)
	}
	*to = n
	return nil
}

func setRate(to *float64, text string, most float64) error {
	rate, err := strconv.ParseFloat(text, 64)
	if err != nil || !(rate > 0 && rate <= most) { // the negation refuses NaN too
		return want(fmt.Sprintf("a number above 0 and at most %g", most), text)
	}
	*to = rate
	return nil
}

func setBool(to *bool, text string) error {
	if text != "true" && text != "false" {
		return want("true or false", text)
	}
	*to = text == "true"
	return nil
}

// setFileMode refuses modes that the program could not work with, and those that let any user write.
func setFileMode(to *fs.FileMode, text string) error {
	mode, err := strconv.ParseUint(text, 8, 32)
	if err != nil || mode&^0o664 != 0 || mode&0o600 != 0o600 {
		return want(`a mode in octal such as "0640", in which the owner may read and write and others may not write`, text)
	}
	*to = fs.FileMode(mode)
	return nil
}

func setFirstPage(to *int, text string) error {
	page, known := map[string]int{"auto": FirstPageAuto, "0": 0, "1": 1}[text]
	if !known {
		return want(`"auto", 0 or 1`, text)
	}
	*to = page
	return nil
}

func setOneOf(to *string, text string, allowed ...string) error {
	if !slices.Contains(allowed, text) {
		return want("one of "+strings.Join(allowed, ", "), text)
	}
	*to = text
	return nil
}

func setPath(to *string, text string) error {
	if text == "" {
		return errors.New("want a path, got nothing")
	}
	*to = text
	return nil
}

func setListen(to *string, text string) error {
	if text == "" || text == "off" {
		*to = ""
		return nil
	}
	_, port, err := net.SplitHostPort(text)
	if n, portErr := strconv.Atoi(port); err != nil || portErr != nil || n < 1 || n > 65_535 {
		return want(`an address such as "127.0.0.1:8480" or ":8480", or "off"`, text)
	}
	*to = text
	return nil
}

func setDuration(to *time.Duration, text string) error {
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return want(`a time such as "60s" or "5m"`, text)
	}
	*to = d
	return nil
}

func setSize(to *int64, text string) error {
	units := []struct {
		suffix string
		bytes  int64
	}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"B", 1}} // "B" last: the others end in it
	wanted := want(`a size such as "64MiB" (units B, KiB, MiB, GiB)`, text)
	for _, unit := range units {
		digits, found := strings.CutSuffix(text, unit.suffix)
		if !found {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64)
		if err != nil || n <= 0 || n > math.MaxInt64/unit.bytes {
			return wanted
		}
		*to = n * unit.bytes
		return nil
	}
	return wanted
}

func setZone(to **time.Location, text string) error {
	// LoadLocation would take these two for UTC and for this machine's own zone.
	if text == "" || text == "Local" {
		return want("the name of a time zone such as America/Sao_Paulo", text)
	}
	zone, err := time.LoadLocation(text)
	if err != nil {
		return want("the name of a time zone such as America/Sao_Paulo", text)
	}
	*to = zone
	return nil
}

func setSpec(to *schedule.Spec, text string) error {
	spec, err := schedule.ParseSpec(text)
	if err != nil {
		return err
	}
	*to = spec
	return nil
}

// setBaseURL never quotes what it refuses: a URL may hold a password or a key.
func setBaseURL(to *string, text string) error {
	if text == "" {
		*to = ""
		return nil
	}
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return errors.New("is not a URL; want one such as https://sales.example.com")
	case u.Scheme != "http" && u.Scheme != "https", u.Hostname() == "":
		return errors.New("want http:// or https:// and a host, such as https://sales.example.com")
	case !alerts.GoodPort(u):
		return errors.New("has a port that is none; want 1 to 65535, or no port")
	case u.User != nil:
		return errors.New("must not hold a user name or password; the token goes to platform.token_file")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return errors.New("must end before any ? or #")
	}
	*to = text
	return nil
}

// names returns the dotted names of the table.
func names(table []key) []string {
	out := make([]string, len(table))
	for i, k := range table {
		out[i] = k.name
	}
	return out
}

func find(table []key, name string) (key, bool) {
	i := slices.IndexFunc(table, func(k key) bool { return k.name == name })
	if i < 0 {
		return key{}, false
	}
	return table[i], true
}
