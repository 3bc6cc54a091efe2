package doctor

import (
	"io/fs"
	"strings"
	"testing"

	"solarmirror/cmd/internal/config"
)

func TestConfig(t *testing.T) {
	t.Parallel()
	const withToken = "[platform]\nbase_url = \"https://example.com\"\ntoken = \"hunter2\"\n"
	for _, tc := range []struct {
		name string
		mode fs.FileMode
		toml string
		want Verdict
		says string
	}{
		{"good", 0o644, "[platform]\nbase_url = \"https://example.com\"", OK, "https://example.com"},
		{"no platform", 0o644, "", Warning, "base_url"},
		{"not TOML", 0o644, "[platform", Failed, "file:1"},
		{"unknown key", 0o644, "[platform]\nbase = 1", Failed, "unknown key platform.base"},
		{"token for all to read", 0o644, withToken, Warning, "chmod 600"},
		{"token for its owner", 0o600, withToken, OK, "loads"},
		{"alerts for all to read", 0o644, "[alerts]\nping_url = \"https://hunter2.example.com\"", Warning, "addresses of alerts"},
		{"an alert address that is none", 0o600, "[alerts]\nurls = [\"hunter2\"]", Failed, "file:2: alerts.urls: number 1 is no address to alert"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			path := writeFile(t, tc.mode, tc.toml)
			f := &facts{Options: Options{ConfigPath: path}}
			f.Config, f.ConfigErr = config.Load(config.Source{Path: path})
			got := runCheck(t, "config", f)
			expect(t, got, tc.want, tc.says)
			if strings.Contains(got.What, "hunter2") {
				t.Errorf("the token is shown: %+v", got)
			}
		})
	}
}

func TestToken(t *testing.T) {
	t.Parallel()
	const platform = "PLATFORM_BASE_URL=https://example.com"
	for _, tc := range []struct {
		name     string
		settings []string
		want     Verdict
		says     string
	}{
		{"in the environment", []string{platform, "PLATFORM_TOKEN=hunter2"}, OK, "given"},
		{"in a file", []string{platform, "PLATFORM_TOKEN_FILE=" + writeFile(t, 0o600, "hunter2\n")}, OK, "in "},
		{"in a file for the group", []string{platform, "PLATFORM_TOKEN_FILE=" + writeFile(t, 0o640, "hunter2\n")}, OK, "in "},
		{"in a file for all to read", []string{platform, "PLATFORM_TOKEN_FILE=" + writeFile(t, 0o644, "hunter2\n")}, Warning, "mode 0644"},
		{"in an empty file", []string{platform, "PLATFORM_TOKEN_FILE=" + writeFile(t, 0o600, "\n")}, Failed, "is empty"},
		{"in a file that is not there", []string{platform, "PLATFORM_TOKEN_FILE=/nowhere/token"}, Failed, "/nowhere/token"},
		{"missing", []string{platform}, Failed, "SOLARMIRROR_PLATFORM_TOKEN_FILE"},
		{"missing, and so is the platform", nil, Skipped, "neither"},
		{"configuration does not load", []string{"PLATFORM_PAGE_LIMIT=x"}, Skipped, "does not load"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got := runCheck(t, "token", newFacts(t, tc.settings...))
			expect(t, got, tc.want, tc.says)
			if strings.Contains(got.What, "hunter2") {
				t.Errorf("the token is shown: %+v", got)
			}
		})
	}
}
