package doctor

import (
	"context"
	"strings"

	"solarmirror/cmd/internal/alerts"
	"solarmirror/cmd/internal/words"
)

const (
	noAlerts     = "nobody is told when something is wrong: set urls or ping_url under [alerts]"
	mendAlerts   = "write addresses as the README has them; try them with: solarmirror doctor --alert"
	againAlerted = "mend the address or what it leads to, then run: solarmirror doctor --alert"
)

func checkAlerts(ctx context.Context, f *facts) Finding {
	settings := f.Config.Alerts
	if !settings.Given() {
		return skip(noAlerts)
	}
	if problems := settings.CheckFiles(ctx); problems != nil {
		return fail(mendAlerts, "%s", strings.Join(problems, "; "))
	}
	addresses, _ := settings.Addresses(ctx)
	ping, _ := settings.Ping(ctx)
	for _, path := range []string{settings.URLsFile, settings.PingURLFile} {
		if mode, readable := worldReadable(path); path != "" && readable {
			return warn("chmod 600 "+words.ShellWord(path), "%s: every user may read it (mode %04o)", path, mode)
		}
	}
	pinged := "none to ping"
	if ping != "" {
		pinged = "one to ping"
	}
	return pass("addresses to tell: %d; %s", len(addresses), pinged)
}

// tryAlerts sends a test message to every address.
func tryAlerts(ctx context.Context, f *facts) []Finding {
	settings := f.Config.Alerts
	if f.ConfigErr != nil || !settings.Given() {
		finding := skip(noAlerts)
		finding.Check = "alert"
		return []Finding{finding}
	}
	addresses, _ := settings.Addresses(ctx) // the check says what is wrong with them
	ping, _ := settings.Ping(ctx)
	var findings []Finding
	for _, r := range alerts.Try(ctx, addresses, ping, alerts.Tongue{Lang: settings.Lang}) {
		finding := pass("the test message was taken")
		if r.Err != nil {
			finding = fail(againAlerted, "%v", r.Err)
		}
		finding.Check = r.Name
		findings = append(findings, finding)
	}
	return findings
}
