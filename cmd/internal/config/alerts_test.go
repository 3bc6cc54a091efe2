package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What is wrong with an address is told by its key and number; the address holds a password.
func TestAlertAddressesAreNotQuoted(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"[alerts]\nurls = [\"ntfy://ntfy.sh/a\", \"hunter2\"]":                        ":2: alerts.urls: number 2 is no address to alert; want one that begins with discord://",
		"[alerts]\nurls = [\"smtp://u:hunter2@example.com/\"]":                        "number 1 is no address of smtp",
		"[alerts]\nurls = hunter2":                                                    "alerts.urls",
		"[alerts]\nurls = \"hunter2\"":                                                "want a list of strings, got a string",
		"[alerts]\nping_url = \"hunter2\"":                                            "alerts.ping_url: is no address to ping; want http:// or https://",
		"[alerts]\nping_url = \"https://hunter2.example.com\"\nping_url_file = \"f\"": "are both set; keep one",
		"[alerts]\nurls = [\"ntfy://hunter2.example.com/a\"]\nurls_file = \"f\"":      "are both set; keep one",
		"[alerts]\nlang = \"es\"":                                                     "want one of pt, en",
		"[alerts]\nstale_after = \"0\"":                                               "want a time such as",
	} {
		_, err := load(t, text)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	c := mustLoad(t, "[alerts]\nurls = [\"ntfy://u:hunter2@ntfy.sh/a\", \"ntfy://ntfy.sh/b\"]\nping_url = \"https://hunter2.example.com\"")
	var shown strings.Builder
	if err := c.Show(&shown); err != nil {
		t.Fatal(err)
	}
	if text := shown.String(); strings.Contains(text, "hunter2") || !strings.Contains(text, `urls           = ["***"]`) && !strings.Contains(text, `urls = ["***"]`) {
		t.Errorf("shown: %s", text)
	}
}

// The file of addresses is read at each use.
func TestAddressesAreReadAnew(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "urls")
	c := mustLoad(t, "", "SOLARMIRROR_ALERTS_URLS_FILE="+path)
	for content, want := range map[string]int{"ntfy://ntfy.sh/a\n": 1, "# two\nntfy://ntfy.sh/a\nntfy://ntfy.sh/b": 2} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if list, err := c.Alerts.Addresses(t.Context()); err != nil || len(list) != want {
			t.Errorf("%q: %q, %v", content, list, err)
		}
	}
	if err := os.WriteFile(path, []byte("hunter2\nntfy://ntfy.sh/b"), 0o600); err != nil {
		t.Fatal(err)
	}
	if list, err := c.Alerts.Addresses(t.Context()); err == nil || strings.Contains(err.Error(), "hunter2") || len(list) != 1 {
		t.Errorf("with a line that is none: %q, %v", list, err)
	}
}
