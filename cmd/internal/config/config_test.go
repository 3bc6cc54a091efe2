package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"solarmirror/store/dealclass"
	"solarmirror/sync/schedule"
)

// load writes text to a file of its own and loads that with the environment.
func load(t *testing.T, text string, environ ...string) (Config, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return Load(Source{Path: path, Environ: environ})
}

func mustLoad(t *testing.T, text string, environ ...string) Config {
	t.Helper()
	c, err := load(t, text, environ...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// problemsOf returns the problems of err, which must be an *Error, with the
// directory of the file taken off.
func problemsOf(t *testing.T, err error) []string {
	t.Helper()
	var fault *Error
	if !errors.As(err, &fault) {
		t.Fatalf("error is %T %v, want *Error", err, err)
	}
	var out []string
	for _, problem := range fault.Problems {
		if i := strings.Index(problem, "config.toml"); i > 0 && strings.HasPrefix(problem, "/") {
			problem = problem[i:]
		}
		out = append(out, problem)
	}
	return out
}

func diff(a, b any) string {
	return cmp.Diff(a, b, cmpopts.IgnoreUnexported(Config{}),
		cmp.Comparer(func(a, b *time.Location) bool { return a.String() == b.String() }),
		cmp.Comparer(func(a, b schedule.Spec) bool { return a.String() == b.String() }),
		cmp.Comparer(func(a, b Secret) bool { return a == b }))
}

func spec(t *testing.T, text string) schedule.Spec {
	t.Helper()
	s, err := schedule.ParseSpec(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	want := Config{
		Platform: Platform{
			TimeZone: zone(t, "America/Sao_Paulo"), PageLimit: 50, FirstPage: FirstPageAuto, Envelope: "auto",
			RequestsPerSecond: 5, MaxInFlight: 4, Timeout: time.Minute, MaxRetryWait: 5 * time.Minute, MaxBody: 64 << 20,
		},
		Mirror: Mirror{Path: "data/mirror/solarmirror.db", FileMode: 0o640, OverlapDays: 2},
		Outbox: Outbox{Path: "data/private/outbox.db", KeepDays: 90, KeepAmbiguousDays: 7},
		Schedule: Schedule{
			Sync: spec(t, "*/15 * * * *"), FullEquipments: spec(t, "0 * * * *"), FullRequests: spec(t, "0 3 * * 0"),
			Push: spec(t, "* * * * *"), Publish: spec(t, "10 * * * *"), Verify: spec(t, "0 5 * * 0"),
		},
		Marts:   Marts{PowerUnit: "auto", Deals: dealclass.Default()},
		Publish: Publish{Path: "data/published/solarmirror.db", MaskPersonalData: true, KeepExtra: []string{}, KeepVersions: 1},
		Report:  Report{Lang: "pt"},
		Backup:  Backup{Keep: 7},
		Export:  Export{Format: "parquet", Source: SourceMirror},
		HTTP:    HTTP{Listen: "127.0.0.1:8480"},
		Log:     Log{Level: "info", Format: "auto"},
		Alerts:  Alerts{StaleAfter: 2 * time.Hour, Lang: "pt"},
	}
	if d := diff(want, mustLoad(t, "")); d != "" {
		t.Error(d)
	}
}

func TestEveryKeyFromFileAndFromEnvironment(t *testing.T) {
	t.Parallel()
	deals := dealclass.Default()
	deals.Cancelled = append(deals.Cancelled, "zerado, sem retorno")
	deals.Lost = append(deals.Lost, `zona a\b\`)
	deals.Closed = append(deals.Closed, "zarpou")
	deals.CancelledPayment = []string{"cancelado"}
	want := Config{
		Platform: Platform{
			BaseURL: "http://127.0.0.1:8900", AllowPlainHTTP: true, Token: "s3cret", TimeZone: zone(t, "America/Manaus"), PageLimit: 500, FirstPage: 0,
			Envelope: "items", RequestsPerSecond: 0.5, MaxInFlight: 64, Timeout: 90 * time.Second, MaxRetryWait: time.Hour, MaxBody: 3 << 10,
		},
		Mirror: Mirror{Path: "m.db", FileMode: 0o604, OverlapDays: 0, KeepDeletedDays: 400},
		Outbox: Outbox{Path: "o.db", KeyFile: "o.key", KeepDays: 0, KeepAmbiguousDays: 1},
		Schedule: Schedule{
			TimeZone: zone(t, "UTC"), Sync: spec(t, "@hourly"), FullEquipments: spec(t, "1 * * * *"), FullRequests: spec(t, "2 3 1 * *"),
			Push: spec(t, "off"), Publish: spec(t, "@daily"), Verify: spec(t, "5 4 * * 1-5"),
			Report: spec(t, "0 7 * * 1"), Backup: spec(t, "30 1 * * *"), Export: spec(t, "@weekly"),
		},
		Marts:   Marts{PowerUnit: "Wp", Deals: deals},
		Publish: Publish{Path: "p.db", KeepExtra: []string{"/profitMargin", "/products/*/sku"}, KeepVersions: 3, PseudonymKeyFile: "p.key"},
		Report:  Report{Path: "r.html", Lang: "en"},
		Backup:  Backup{Path: "b", Keep: 30},
		Export:  Export{Path: "e", Format: "excel-br", Source: SourcePublished},
		Log:     Log{Level: "debug", Format: "json"},
		Alerts: Alerts{
			URLs: []Secret{"ntfy://ntfy.sh/topic", "smtp://u:s3cret@mail.example.com:587/?from=a@example.com&to=b@example.com,c@example.com"}, PingURL: "https://hc-ping.com/s3cret/{job}",
			StaleAfter: 3 * time.Hour, Lang: "en",
		},
	}
	text := `
		[platform]
		base_url = "http://127.0.0.1:8900"
		allow_plain_http = true
		token = "s3cret"
		time_zone = "America/Manaus"
		page_limit = 500
		first_page = 0
		envelope = "items"
		requests_per_second = 0.5
		max_in_flight = 64
		timeout = "90s"
		max_retry_wait = "1h"
		max_body = "3KiB"
		[mirror]
		path = "m.db"
		file_mode = "604"
		overlap_days = 0
		keep_deleted_days = 400
		[outbox]
		path = "o.db"
		key_file = "o.key"
		keep_days = 0
		keep_ambiguous_days = 1
		[schedule]
		time_zone = "UTC"
		sync = "@hourly"
		full_equipments = "1 * * * *"
		full_requests = "2 3 1 * *"
		push = ""
		publish = "@daily"
		verify = "5 4 * * 1-5"
		report = "0 7 * * 1"
		backup = "30 1 * * *"
		export = "@weekly"
		[marts]
		power_unit = "Wp"
		cancelled_statuses = ["Zerado, sem retorno"]
		lost_statuses = ['Zona A\B\']
		closed_statuses = [" ZARPOU ", "Entregue"]
		cancelled_payment_statuses = ["!Cancelled", "cancelado"]
		[publish]
		path = "p.db"
		mask_personal_data = false
		keep_extra = ["/profitMargin", "/products/*/sku"]
		keep_versions = 3
		pseudonym_key_file = "p.key"
		[report]
		path = "r.html"
		lang = "en"
		[backup]
		path = "b"
		keep = 30
		[export]
		path = "e"
		format = "excel-br"
		source = "published"
		[http]
		listen = ""
		[log]
		level = "debug"
		format = "json"
		[alerts]
		urls = ["ntfy://ntfy.sh/topic", "smtp://u:s3cret@mail.example.com:587/?from=a@example.com&to=b@example.com,c@example.com"]
		ping_url = "https://hc-ping.com/s3cret/{job}"
		stale_after = "3h"
		lang = "en"`
	if d := diff(want, mustLoad(t, text)); d != "" {
		t.Errorf("from the file: %s", d)
	}

	file := tomlFile{table: keys(), layer: layer{}}
	file.read(text)
	environ := []string{"PATH=/bin"}
	for _, k := range keys() {
		if slices.Contains([]string{"platform.token_file", "alerts.urls_file", "alerts.ping_url_file"}, k.name) { // not together with what they hold
			continue
		}
		value, given := file.layer[k.name]
		if !given {
			t.Errorf("the file above does not set %s", k.name)
		}
		if value.text == "" { // an empty variable counts as not set
			value.text = "off"
		}
		environ = append(environ, k.env()+"="+value.text)
	}
	if d := diff(want, mustLoad(t, "", environ...)); d != "" {
		t.Errorf("from the environment: %s", d)
	}
}

func TestPrecedence(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(path, []byte("log.level = \"warn\""), 0o600); err != nil {
		t.Fatal(err)
	}
	flag := []Flag{{Name: "--log-level", Key: "log.level", Value: "trace"}}
	for _, tc := range []struct {
		name, want string
		src        Source
	}{
		{"file over default", "warn", Source{Path: path}},
		{"environment over file", "error", Source{Path: path, Environ: []string{"SOLARMIRROR_LOG_LEVEL=error"}}},
		{"empty variable is not set", "warn", Source{Path: path, Environ: []string{"SOLARMIRROR_LOG_LEVEL="}}},
		{"flag over environment", "trace", Source{Path: path, Environ: []string{"SOLARMIRROR_LOG_LEVEL=error"}, Flags: flag}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			c, err := Load(tc.src)
			if err != nil {
				t.Fatal(err)
			}
			if c.Log.Level != tc.want {
				t.Errorf("level is %q, want %q", c.Log.Level, tc.want)
			}
		})
	}
}

func TestProblems(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, text string
		environ    []string
		want       []string
	}{
		{name: "unknown key",
			text: "[platform]\ntokn = \"x\"",
			want: []string{"config.toml:2: unknown key platform.tokn; did you mean platform.token?"}},
		{name: "key outside its section",
			text: "base_url = \"https://a.example\"",
			want: []string{"config.toml:1: unknown key base_url; did you mean platform.base_url?"}},
		{name: "unknown section",
			text: "[mirro]\npath = \"x\"",
			want: []string{"config.toml:2: unknown key mirro.path; did you mean mirror.path?"}},
		{name: "a value where a section is due",
			text: "mirror = 1",
			want: []string{"config.toml:1: unknown key mirror; did you mean mirror.path?"}},
		{name: "types",
			text: "[platform]\npage_limit = \"50\"\nfirst_page = true\nrequests_per_second = []\ntimeout = 60\n[platform.token]\nx = 1",
			want: []string{
				"config.toml:2: platform.page_limit: want a whole number, got a string",
				"config.toml:3: platform.first_page: want a string or a whole number, got a boolean",
				"config.toml:4: platform.requests_per_second: want a number, got a list",
				"config.toml:5: platform.timeout: want a string, got a whole number",
				"config.toml:6: platform.token: want a string, got a table"}},
		{name: "lists and booleans",
			text: "[publish]\nmask_personal_data = \"no\"\nkeep_extra = \"/a\"\n[platform]\ntoken = [\"x\"]\n[mirror]\npath = true",
			want: []string{
				"config.toml:2: publish.mask_personal_data: want true or false, got a string",
				"config.toml:3: publish.keep_extra: want a list of strings, got a string",
				"config.toml:5: platform.token: want a string, got a list",
				"config.toml:7: mirror.path: want a string, got a boolean"}},
		{name: "a list of something else",
			text: "publish.keep_extra = [\"/a,/b\", 1]\nmarts.lost_statuses = [\"x\", [\"y\"]]\nmarts.closed_statuses = [\"x\", \" \"]\nmarts.cancelled_statuses = \"x\"\nmarts.canceled_statuses = [\"x\"]",
			want: []string{
				"config.toml:1: publish.keep_extra: want a list of strings, got a list that holds a whole number",
				"config.toml:2: marts.lost_statuses: want a list of strings, got a list that holds a list",
				"config.toml:3: marts.closed_statuses: want a list of strings, got a list that holds an empty string",
				"config.toml:4: marts.cancelled_statuses: want a list of strings, got a string",
				"config.toml:5: unknown key marts.canceled_statuses; did you mean marts.cancelled_statuses?"}},
		{name: "words of a list",
			text:    "[marts]\ncancelled_statuses = [\"!Arquivado\"]\nlost_statuses = [\"!\"]\nclosed_statuses = [\"!lost\"]",
			environ: []string{"SOLARMIRROR_MARTS_CANCELLED_PAYMENT_STATUSES=a,,b"},
			want: []string{
				`config.toml:2: marts.cancelled_statuses: "!Arquivado" takes nothing out: "arquivado" is not one of the default words`,
				"config.toml:3: marts.lost_statuses: want words, and one of them is empty",
				`config.toml:4: marts.closed_statuses: "!lost" takes nothing out: "lost" is not one of the default words`,
				"SOLARMIRROR_MARTS_CANCELLED_PAYMENT_STATUSES: want words, and one of them is empty"}},
		{name: "a closed status that a default list has",
			text: "[marts]\nclosed_statuses = [\"Devolvido\", \"Arquivado\"]",
			want: []string{`config.toml:2: marts.closed_statuses: "devolvido" is in both closed_statuses and cancelled_statuses, default words included; keep it in one ("!devolvido" takes a default word out)`}},
		{name: "a lost status that is closed by default",
			text:    "[marts]\nclosed_statuses = []",
			environ: []string{"SOLARMIRROR_MARTS_LOST_STATUSES=Entregue"},
			want:    []string{`SOLARMIRROR_MARTS_LOST_STATUSES: "entregue" is in both closed_statuses and lost_statuses, default words included; keep it in one ("!entregue" takes a default word out)`}},
		{name: "a status in two lists of different layers",
			text:    "[marts]\ncancelled_statuses = [\"Arquivado\"]",
			environ: []string{"SOLARMIRROR_MARTS_CLOSED_STATUSES=arquivado"},
			want:    []string{`SOLARMIRROR_MARTS_CLOSED_STATUSES: "arquivado" is in both closed_statuses and cancelled_statuses, default words included; keep it in one ("!arquivado" takes a default word out)`}},
		{name: "empty where a value is due",
			text: "mirror.path = \"\"\nplatform.time_zone = \"\"",
			want: []string{
				"config.toml:1: mirror.path: want a path, got nothing",
				`config.toml:2: platform.time_zone: want the name of a time zone such as America/Sao_Paulo, got ""`}},
		{name: "addresses",
			text: "http.listen = \"8480\"",
			want: []string{`config.toml:1: http.listen: want an address such as "127.0.0.1:8480" or ":8480", or "off", got "8480"`}},
		{name: "ports",
			text: "http.listen = \"localhost:http\"",
			want: []string{`config.toml:1: http.listen: want an address such as "127.0.0.1:8480" or ":8480", or "off", got "localhost:http"`}},
		{name: "unknown variable",
			environ: []string{"SOLARMIRROR_PLATFORM_TOKEN_FIEL=x"},
			want:    []string{"unknown environment variable SOLARMIRROR_PLATFORM_TOKEN_FIEL; did you mean SOLARMIRROR_PLATFORM_TOKEN_FILE?"}},
		{name: "an unknown unit",
			text: "[marts]\npower_unit = \"kW\"",
			want: []string{`config.toml:2: marts.power_unit: want one of auto, kWp, Wp, got "kW"`}},
		{name: "a misspelt key of the unit",
			text: "[marts]\npower_units = \"kWp\"",
			want: []string{"config.toml:2: unknown key marts.power_units; did you mean marts.power_unit?"}},
		{name: "a fault that a later layer hides",
			text:    "log.level = \"loud\"",
			environ: []string{"SOLARMIRROR_LOG_LEVEL=info"},
			want:    []string{`config.toml:1: log.level: want one of trace, debug, info, warn, error, got "loud"`}},
		{name: "token twice in the environment",
			environ: []string{"SOLARMIRROR_PLATFORM_TOKEN=x", "SOLARMIRROR_PLATFORM_TOKEN_FILE=y"},
			want:    []string{"SOLARMIRROR_PLATFORM_TOKEN and SOLARMIRROR_PLATFORM_TOKEN_FILE are both set; keep one"}},
		{name: "token twice in different layers",
			text:    "[platform]\ntoken_file = \"x\"",
			environ: []string{"SOLARMIRROR_PLATFORM_TOKEN=y"},
			want:    []string{"SOLARMIRROR_PLATFORM_TOKEN and config.toml:2: platform.token_file are both set; keep one"}},
		{name: "all at once",
			text:    "[log]\nlevel = \"loud\"\n[platform]\nbase = 1",
			environ: []string{"SOLARMIRROR_X=1", "SOLARMIRROR_PLATFORM_MAX_IN_FLIGHT=65"},
			want: []string{
				`config.toml:2: log.level: want one of trace, debug, info, warn, error, got "loud"`,
				"config.toml:4: unknown key platform.base; did you mean platform.base_url?",
				"unknown environment variable SOLARMIRROR_X; did you mean SOLARMIRROR_LOG_LEVEL?",
				`SOLARMIRROR_PLATFORM_MAX_IN_FLIGHT: want a whole number from 1 to 64, got "65"`}},
		{name: "syntax",
			text:    "[platform]\npage_limit = x\n",
			environ: []string{"SOLARMIRROR_LOG_FORMAT=xml"},
			want: []string{
				"config.toml:2: not valid TOML at or after platform.page_limit: expected value but found \"x\" instead",
				`SOLARMIRROR_LOG_FORMAT: want one of auto, json, console, got "xml"`}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			_, err := load(t, tc.text, tc.environ...)
			got := problemsOf(t, err)
			for i := range got { // a second file name may stand inside the text
				if before, after, found := strings.Cut(got[i], " and /"); found {
					got[i] = before + " and " + after[strings.Index(after, "config.toml"):]
				}
			}
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestBounds holds the values each key takes and refuses, by its text.
func TestBounds(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		env     string
		takes   []string
		refuses []string
	}{
		{"PLATFORM_BASE_URL", []string{"https://a.example", "HTTP://[::1]:80/x"},
			[]string{"a.example", "ftp://a.example", "https://", "https://:8080", "https://u:p@a.example", "https://a.example?x=1", "https://a.example?", "https://a.example#x", "http://%zz"}},
		{"PLATFORM_TIME_ZONE", []string{"UTC", "America/Rio_Branco"}, []string{"Local", "America/Atlantis", "../etc/passwd"}},
		{"PLATFORM_PAGE_LIMIT", []string{"1", "10000"}, []string{"0", "10001", "-1", "1.5", "50 ", "99999999999999999999"}},
		{"PLATFORM_FIRST_PAGE", []string{"auto", "0", "1"}, []string{"2", "-1", "Auto"}},
		{"PLATFORM_ENVELOPE", []string{"auto", "array", "data", "items"}, []string{"bare"}},
		{"PLATFORM_REQUESTS_PER_SECOND", []string{"0.1", "10000"}, []string{"0", "-1", "10001", "NaN", "Inf", "x"}},
		{"PLATFORM_MAX_IN_FLIGHT", []string{"1", "64"}, []string{"0", "65"}},
		{"PLATFORM_TIMEOUT", []string{"1ms", "1h30m"}, []string{"60", "0s", "-1s", "60 s"}},
		{"PLATFORM_MAX_RETRY_WAIT", []string{"5m"}, []string{"soon"}},
		{"PLATFORM_MAX_BODY", []string{"1B", "64MiB", "64 MiB", "2GiB"}, []string{"64", "0B", "-1KiB", "64MB", "MiB", "1.5MiB", "9999999999GiB"}},
		{"PLATFORM_ALLOW_PLAIN_HTTP", []string{"true", "false"}, []string{"yes"}},
		{"MIRROR_FILE_MODE", []string{"0640", "640", "600", "0664"}, []string{"0440", "0666", "0750", "1640", "0o640", "-640", "0x1A0", "648", "rw-r-----", "9999999999999999999999"}},
		{"MIRROR_OVERLAP_DAYS", []string{"0", "365"}, []string{"-1", "366"}},
		{"MIRROR_KEEP_DELETED_DAYS", []string{"0", "36500"}, []string{"-1", "36501"}},
		{"SCHEDULE_TIME_ZONE", []string{"UTC"}, []string{"Local", "Brazil"}},
		{"SCHEDULE_SYNC", []string{"off", "*/5 * * * *", "@daily"}, []string{"*/5 * * *", "TZ=UTC 0 5 * * *", "0 0 30 2 *"}},
		{"SCHEDULE_VERIFY", []string{"off"}, []string{"weekly"}},
		{"SCHEDULE_REPORT", []string{"", "off"}, []string{"mondays", "0 7 * *"}},
		{"SCHEDULE_BACKUP", []string{"", "off"}, []string{"daily", "0 0 30 2 *"}},
		{"SCHEDULE_EXPORT", []string{"", "off"}, []string{"60 * * * *"}},
		{"REPORT_LANG", []string{"pt", "en"}, []string{"pt-BR", "PT", "es"}},
		{"BACKUP_KEEP", []string{"0", "1000"}, []string{"-1", "1001", "all"}},
		{"EXPORT_FORMAT", []string{"parquet", "csv", "excel-br"}, []string{"xlsx", "CSV", "csv excel-br"}},
		{"EXPORT_SOURCE", []string{"mirror", "published", "copies/m.db"}, nil},
		{"PUBLISH_MASK_PERSONAL_DATA", []string{"true", "false"}, []string{"yes", "1", "True"}},
		{"PUBLISH_KEEP_EXTRA", []string{"/a", "/a, /b/*/c", "/a~1b"}, []string{"/", "a", "/a,", "/a,b", "/a\n/b"}},
		{"MARTS_CLOSED_STATUSES", []string{"Instalado", `Instalado\, pago, Pago`, "!entregue,!Concluído"}, []string{",", "a,", "!", "!novo", `a\\,`}},
		{"MARTS_CANCELLED_STATUSES", []string{"perdido", "Entregue e devolvido"}, []string{"Entregue", `["foo", "a,b"]`}},
		{"PUBLISH_KEEP_VERSIONS", []string{"1", "1000"}, []string{"0", "1001"}},
		{"LOG_LEVEL", []string{"trace", "error"}, []string{"INFO"}},
		{"LOG_FORMAT", []string{"auto", "json", "console"}, []string{"text"}},
	} {
		t.Run(tc.env, func(t *testing.T) {
			t.Parallel()
			for _, value := range tc.takes {
				if _, err := load(t, "", "SOLARMIRROR_"+tc.env+"="+value); err != nil {
					t.Errorf("refuses %q: %v", value, err)
				}
			}
			for _, value := range tc.refuses {
				_, err := load(t, "", "SOLARMIRROR_"+tc.env+"="+value)
				if err == nil {
					t.Errorf("takes %q", value)
				} else if problem := problemsOf(t, err)[0]; !strings.HasPrefix(problem, "SOLARMIRROR_"+tc.env+": ") {
					t.Errorf("for %q the problem does not begin with its variable: %s", value, problem)
				}
			}
		})
	}
}

func TestSecretsAreNeverPrinted(t *testing.T) {
	t.Parallel()
	const canary = "canary77"
	const digits = "0777000777000777" // longer than the number in the name of a temporary directory
	c := mustLoad(t, "", "SOLARMIRROR_PLATFORM_TOKEN="+canary)
	encoded, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	var shown strings.Builder
	if err := c.Show(&shown); err != nil {
		t.Fatal(err)
	}
	texts := []string{string(encoded), shown.String()}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		texts = append(texts, fmt.Sprintf(verb, c), fmt.Sprintf(verb, c.Platform.Token))
	}
	// Faulty files whose values the TOML library would quote in its message.
	for _, file := range []string{
		"platform.token = 77canary77", "platform.token = 7.canary77", "platform.token = 0canary77", "platform.token = 2026-01-canary77",
		"platform.tokn = " + digits, "[platform]\ntoken = [\"canary77\"]", "platform.token = canary77", "platform.token = \"canary77", "platform.tokn = \"canary77\"",
		"platform.base_url = \"https://u:canary77@a.example\"", "platform.base_url = \"https://a.example?key=canary77\"", "platform.base_url = \"https://canary77 \\u0007\"",
	} {
		_, err := load(t, file)
		texts = append(texts, err.Error())
	}
	for _, text := range texts {
		if strings.Contains(text, canary) || strings.Contains(text, digits) || strings.Contains(text, fmt.Sprintf("%x", canary)) {
			t.Errorf("holds the secret: %s", text)
		}
	}
}
