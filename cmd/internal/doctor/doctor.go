// Package doctor checks everything a sync needs: configuration, platform, files and mirror. It
// changes nothing.
//
// # Model
//
// A check looks at one thing and returns a [Finding]: in order or not, what was found, and what to
// do next. [Run] first gathers the facts that several checks need (see facts), then makes each
// check whose needs are met and skips the others. No check relies on another having run.
//
// # Adding a check
//
// Write a function in the file of its kind and list it in checks:
//
//	config.go      the configuration and its token
//	network.go     the way to the platform: address, TLS, clock
//	dialect.go     how the platform answers, compared with what the mirror remembers
//	permissions.go who may read and write the files
//	filesystem.go  the disk below the mirror
//	mirror.go      the mirror itself: journal, schema, damage, erasure, age
//
// Each makes its finding with pass, warn, fail or skip.
package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"solarmirror/cmd/internal/buildinfo"
	"solarmirror/cmd/internal/config"
)

// Verdict is the result of a check.
type Verdict string

// The verdicts.
const (
	OK      Verdict = "ok"
	Warning Verdict = "warning" // it works, but somebody should look at it
	Failed  Verdict = "failed"
	Skipped Verdict = "skipped" // something it needs is missing
)

// Finding is the outcome of one check.
type Finding struct {
	Check   string  `json:"check"`
	Verdict Verdict `json:"verdict"`
	What    string  `json:"what"`             // what was found, or the cause
	Remedy  string  `json:"remedy,omitempty"` // the next thing to do
}

func pass(format string, args ...any) Finding {
	return Finding{Verdict: OK, What: fmt.Sprintf(format, args...)}
}

func skip(why string) Finding { return Finding{Verdict: Skipped, What: why} }

func warn(remedy, format string, args ...any) Finding {
	return Finding{Verdict: Warning, What: fmt.Sprintf(format, args...), Remedy: remedy}
}

func fail(remedy, format string, args ...any) Finding {
	return Finding{Verdict: Failed, What: fmt.Sprintf(format, args...), Remedy: remedy}
}

// check is one thing to look at.
type check struct {
	name  string
	needs func(*facts) string // which of its needs is not met; "" when all are
	look  func(context.Context, *facts) Finding
}

// checks are in the order in which a sync needs what they look at.
func checks() []check {
	return []check{
		{"config", (*facts).needsNothing, checkConfig},
		{"token", (*facts).needsConfig, checkToken},
		{"reachability", (*facts).needsPlatform, checkReachability},
		{"tls", (*facts).needsPlatform, checkTLS},
		{"clock skew", (*facts).needsContact, checkClock},
		{"dialect", (*facts).needsDialect, checkDialect},
		{"file modes", (*facts).needsDirectory, checkFileModes},
		{"file system", (*facts).needsDirectory, checkFileSystem},
		{"free disk", (*facts).needsDirectory, checkFreeDisk},
		{"journal mode", (*facts).needsDatabase, checkJournal},
		{"schema version", (*facts).needsFile, checkSchemaVersion},
		{"integrity", (*facts).needsDatabase, checkIntegrity},
		{"erasure", (*facts).needsMirror, checkErasure},
		{"freshness", (*facts).needsMirror, checkFreshness},
	}
}

func (c check) run(ctx context.Context, f *facts) Finding {
	finding := skip(c.needs(f))
	if finding.What == "" {
		finding = c.look(ctx, f)
	}
	finding.Check = c.name
	return finding
}

// Diagnosis is the outcome of all checks.
type Diagnosis struct {
	Verdict Verdict   `json:"verdict"` // the worst of the checks: ok, warning or failed
	Checks  []Finding `json:"checks"`

	configErr error
}

func (d *Diagnosis) add(f Finding) {
	rising := []Verdict{Skipped, OK, Warning, Failed}
	if slices.Index(rising, f.Verdict) > slices.Index(rising, d.Verdict) {
		d.Verdict = f.Verdict
	}
	d.Checks = append(d.Checks, f)
}

// Err is a *FailedError when a check failed, nil otherwise.
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
	return &FailedError{Checks: failed, Cause: d.configErr}
}

// FailedError says which checks failed.
type FailedError struct {
	Checks []string
	Cause  error // why the configuration does not load; nil when it does
}

func (e *FailedError) Error() string {
	noun := "check"
	if len(e.Checks) > 1 {
		noun = "checks"
	}
	return fmt.Sprintf("%d %s failed: %s; do what the table says and run \"%s doctor\" again", len(e.Checks), noun, strings.Join(e.Checks, ", "), buildinfo.Command())
}

func (e *FailedError) Unwrap() error { return e.Cause }

// Options are what the checks begin with.
type Options struct {
	ConfigPath string // as given; "" is the default
	Config     config.Config
	ConfigErr  error // why Config did not load
	Log        zerolog.Logger
}

// Run makes every check. Its error is that of ctx.
func Run(ctx context.Context, o Options) (*Diagnosis, error) {
	f := &facts{Options: o, now: time.Now, fileSystem: fileSystemOf, access: access}
	defer f.close()
	return f.diagnose(ctx)
}

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
	return d, nil
}
