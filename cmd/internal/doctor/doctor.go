// Package doctor runs the checks of the doctor command. They cover everything that a sync needs:
// configuration, platform, files and mirror. The checks change nothing.
//
// # Model
//
// A check inspects one thing and returns a [Finding]: a verdict, its cause and a remedy. [Run]
// gathers the facts that several checks share, then runs the checks in a fixed order. A check whose
// facts are missing is skipped. No check uses the finding of another check.
//
// # Adding a check
//
// Write a function in the file of its subject and list it in checks:
//
//	config.go      the configuration and the token
//	alerts.go      the addresses of alerts; with --alert a test message to each
//	network.go     the connection to the platform: address, TLS, clock
//	dialect.go     the platform's answers, compared with the dialect saved in the mirror
//	permissions.go read and write access to the files, and who else may read them
//	filesystem.go  the disk and the file system of the mirror
//	mirror.go      the mirror: journal, schema version, damage, pending erasure, age, marts,
//	               power unit, deal statuses to decide
//
// A check builds its finding with pass, warn, fail or skip.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"solarmirror/cmd/internal/buildinfo"
	"solarmirror/cmd/internal/config"
)

// Verdict is the judgment of a check.
type Verdict string

// The verdicts.
const (
	OK      Verdict = "ok"
	Warning Verdict = "warning" // a sync works; a person should act all the same
	Failed  Verdict = "failed"
	Skipped Verdict = "skipped" // a fact that the check needs is missing
)

// Finding is the result of one check.
type Finding struct {
	Check   string  `json:"check"`
	Verdict Verdict `json:"verdict"`
	What    string  `json:"what"`             // the state found, or the cause of the problem
	Remedy  string  `json:"remedy,omitempty"` // what the user should do next
}

func pass(format string, args ...any) Finding {
	return Finding{Verdict: OK, What: fmt.Sprintf(format, args...)}
}

func skip(reason string) Finding { return Finding{Verdict: Skipped, What: reason} }

func warn(remedy, format string, args ...any) Finding {
	return Finding{Verdict: Warning, What: fmt.Sprintf(format, args...), Remedy: remedy}
}

func fail(remedy, format string, args ...any) Finding {
	return Finding{Verdict: Failed, What: fmt.Sprintf(format, args...), Remedy: remedy}
}

type check struct {
	name    string
	needs   func(*facts) string // returns the reason to skip the check; "" when there is none
	inspect func(context.Context, *facts) Finding
}

// connectionChecks is the number of checks that need the platform alone; they come first.
const connectionChecks = 4

// checks lists the checks in the order in which a sync needs the things they inspect.
func checks() []check {
	return []check{
		{"config", (*facts).needsNothing, checkConfig},
		{"token", (*facts).needsConfig, checkToken},
		{"alerts", (*facts).needsConfig, checkAlerts},
		{"reachability", (*facts).needsPlatform, checkReachability},
		{"tls", (*facts).needsPlatform, checkTLS},
		{"clock skew", (*facts).needsResponse, checkClock},
		{"dialect", (*facts).needsDialect, checkDialect},
		{"file modes", (*facts).needsDirectory, checkFileModes},
		{"file system", (*facts).needsDirectory, checkFileSystem},
		{"free disk", (*facts).needsDirectory, checkFreeDisk},
		{"journal mode", (*facts).needsDatabase, checkJournal},
		{"schema version", (*facts).needsFile, checkSchemaVersion},
		{"integrity", (*facts).needsDatabase, checkIntegrity},
		{"erasure", (*facts).needsMirror, checkErasure},
		{"freshness", (*facts).needsMirror, checkFreshness},
		{"marts", (*facts).needsMirror, checkMarts},
		{"power unit", (*facts).needsMirror, checkPowerUnit},
		{"deal statuses", (*facts).needsMirror, checkDealStatuses},
	}
}

func (c check) run(ctx context.Context, f *facts) Finding {
	finding := skip(c.needs(f))
	if finding.What == "" {
		finding = c.inspect(ctx, f)
	}
	finding.Check = c.name
	return finding
}

// Diagnosis is the result of all checks.
type Diagnosis struct {
	Verdict Verdict   `json:"verdict"` // the worst of the checks; at least ok
	Checks  []Finding `json:"checks"`

	configErr error
}

func (d *Diagnosis) add(f Finding) {
	rising := []Verdict{OK, Warning, Failed}
	if slices.Index(rising, f.Verdict) > slices.Index(rising, d.Verdict) {
		d.Verdict = f.Verdict
	}
	d.Checks = append(d.Checks, f)
}

// Err returns an error that names the failed checks; nil when none failed. It wraps the error of a
// configuration that does not load, which decides the exit code.
func (d *Diagnosis) Err() error {
	var failed []string
	for _, f := range d.Checks {
		if f.Verdict == Failed {
			failed = append(failed, f.Check)
		}
	}
	if len(failed) == 0 {
		return nil
	}
	return &failedError{checks: failed, cause: d.configErr}
}

type failedError struct {
	checks []string // their names
	cause  error    // the error of loading the configuration, or nil
}

func (e *failedError) Error() string {
	noun := "check"
	if len(e.checks) > 1 {
		noun = "checks"
	}
	return fmt.Sprintf("%d %s failed: %s; do what the table says and run \"%s doctor\" again", len(e.checks), noun, strings.Join(e.checks, ", "), buildinfo.Command())
}

func (e *failedError) Unwrap() error { return e.cause }

// Options are the inputs of Run.
type Options struct {
	Alert      bool   // send test messages
	ConfigPath string // the value of --config; "" is the default path
	Config     config.Config
	ConfigErr  error // the error of loading Config, or nil
	Log        zerolog.Logger
}

// Run runs every check. It returns an error only when ctx is canceled.
func Run(ctx context.Context, o Options) (*Diagnosis, error) {
	f := &facts{Options: o, now: time.Now, fileSystem: fileSystemOf, access: access}
	defer f.close()
	return f.diagnose(ctx)
}

// Connect tries the configuration on the platform, before there is a file or a mirror. Without a
// token it asks for no record. Its error names each failed check with its remedy, and wraps the
// cause.
func Connect(ctx context.Context, o Options) error {
	f := &facts{Options: o, now: time.Now}
	defer f.close()
	f.connect(ctx)
	var failed []string
	var tokenErr error
	for _, c := range checks()[:connectionChecks] {
		if c.name == "token" {
			if o.Config.Platform.Token == "" && o.Config.Platform.TokenFile == "" {
				continue
			}
			tokenErr = f.tokenError(ctx)
		}
		if finding := c.run(ctx, f); finding.Verdict == Failed {
			failed = append(failed, finding.What+"; "+finding.Remedy)
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if failed == nil {
		return nil
	}
	return &connectError{text: strings.Join(failed, "\n"), cause: errors.Join(f.ConfigErr, tokenErr, f.probeErr)}
}

type connectError struct {
	text  string
	cause error
}

func (e *connectError) Error() string { return e.text }
func (e *connectError) Unwrap() error { return e.cause }

func (f *facts) diagnose(ctx context.Context) (*Diagnosis, error) {
	f.gather(ctx)
	d := &Diagnosis{Verdict: OK, configErr: f.ConfigErr}
	for _, c := range checks() {
		finding := c.run(ctx, f)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		d.add(finding)
	}
	if f.Alert {
		for _, finding := range tryAlerts(ctx, f) {
			d.add(finding)
		}
	}
	return d, nil
}
