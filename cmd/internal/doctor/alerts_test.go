package doctor

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestAlerts(t *testing.T) {
	t.Parallel()
	const urls, ping = "ALERTS_URLS_FILE=", "ALERTS_PING_URL_FILE="
	for _, tc := range []struct {
		name     string
		settings []string
		want     Verdict
		says     string
	}{
		{"none", nil, Skipped, "nobody is told"},
		{"given", []string{"ALERTS_URLS=ntfy://ops:hunter2@ntfy.sh/topic", "ALERTS_PING_URL=https://hc-ping.com/hunter2"}, OK, "addresses to tell: 1; one to ping"},
		{"in a file", []string{urls + writeFile(t, 0o600, "# ours\n\nntfy://ops:hunter2@ntfy.sh/topic\nntfy://ntfy.sh/b\n")}, OK, "addresses to tell: 2; none to ping"},
		{"in a file for all to read", []string{urls + writeFile(t, 0o604, "ntfy://ops:hunter2@ntfy.sh/topic")}, Warning, "mode 0604"},
		{"ping in a file for all to read", []string{ping + writeFile(t, 0o604, "https://hc-ping.com/hunter2")}, Warning, "mode 0604"},
		{"a line that is no address", []string{urls + writeFile(t, 0o600, "ntfy://ntfy.sh/b\nhunter2")}, Failed, "line 2 of"},
		{"an empty file", []string{urls + writeFile(t, 0o600, "")}, Failed, "is empty"},
		{"a file that is not there", []string{urls + "/nowhere/urls"}, Failed, "/nowhere/urls"},
		{"a file of comments", []string{urls + writeFile(t, 0o600, "# none yet\n")}, Failed, "there is no address in"},
		{"two files at fault", []string{urls + "/nowhere/urls", ping + "/nowhere/ping"}, Failed, "/nowhere/ping"},
		{"two files at fault, the first", []string{urls + "/nowhere/urls", ping + "/nowhere/ping"}, Failed, "/nowhere/urls"},
		{"a directory", []string{urls + t.TempDir()}, Failed, "alerts.urls_file"},
		{"a ping that is no address", []string{ping + writeFile(t, 0o600, "hunter2")}, Failed, "want http:// or https://"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got := runCheck(t, "alerts", newFacts(t, tc.settings...))
			expect(t, got, tc.want, tc.says)
			if strings.Contains(got.What, "hunter2") {
				t.Errorf("a secret is shown: %+v", got)
			}
		})
	}
}

// A test message goes to every address, and what became of each is told without what is secret of
// it.
func TestTryAlerts(t *testing.T) {
	t.Parallel()
	got := make(chan string, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- r.URL.Path + " " + string(body)
		if strings.HasPrefix(r.URL.Path, "/bad") {
			http.Error(w, "hunter2", http.StatusNotFound)
		}
	}))
	defer server.Close()
	generic := strings.Replace(server.URL, "http://", "generic+http://", 1)
	f := newFacts(t, "ALERTS_URLS="+generic+"/good,"+generic+"/bad/hunter2", "ALERTS_PING_URL="+server.URL+"/ping/{job}", "ALERTS_LANG=en")
	findings := tryAlerts(t.Context(), f)
	if len(findings) != 3 {
		t.Fatalf("%+v", findings)
	}
	expect(t, findings[0], OK, "taken")
	expect(t, findings[1], Failed, "404 Not Found", "solarmirror doctor --alert")
	expect(t, findings[2], OK, "taken")
	if findings[1].Check != "alert 2 (generic)" || findings[2].Check != "ping" || strings.Contains(findings[1].What, "hunter2") {
		t.Errorf("%+v", findings)
	}
	close(got)
	var all []string
	for text := range got {
		all = append(all, text)
	}
	if text := strings.Join(all, "\n"); !strings.Contains(text, "/good Alerts of solarmirror arrive here.") || !strings.Contains(text, "/ping/sync/log") {
		t.Errorf("came %s", text)
	}
	if none := tryAlerts(t.Context(), newFacts(t)); len(none) != 1 || none[0].Verdict != Skipped {
		t.Errorf("without addresses: %+v", none)
	}
}
