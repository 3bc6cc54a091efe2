package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"solarmirror/cmd/internal/buildinfo"
	"solarmirror/cmd/internal/terminal"

	"github.com/spf13/cobra"
)

func newDoctorCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check configuration, platform, files and mirror; say what is wrong and what mends it",
		Long: `Look at everything a sync needs, check by check, and say of each whether it is in
order, why not, and what to do next. Nothing is changed. What depends on something that is
missing is skipped. The exit code is 0 when no check failed, 1 when one did, and 2 when the
configuration does not load; warnings do not count.`,
		Example: "  solarmirror doctor",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p := a.newPatient()
			defer p.close()
			p.gather(cmd.Context())
			return a.examine(cmd.Context(), p, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// newPatient is what the doctor looks at on this machine.
func (a *app) newPatient() *patient {
	p := &patient{configPath: a.flags.configPath, now: time.Now, fileSystem: fileSystemOf, access: access}
	p.config, p.configErr = a.config()
	if p.configErr == nil {
		p.log, p.configErr = a.log()
	}
	return p
}

// severity is what a check came to.
type severity string

const (
	fine    severity = "ok"
	warned  severity = "warning" // it works, but somebody should look at it
	unfit   severity = "failed"
	skipped severity = "skipped" // what it depends on is not there
)

// finding is the outcome of one check.
type finding struct {
	Check   string   `json:"check"`
	Verdict severity `json:"verdict"`
	What    string   `json:"what"`             // what was found, or the cause
	Remedy  string   `json:"remedy,omitempty"` // the next thing to do
}

func found(format string, args ...any) finding {
	return finding{Verdict: fine, What: fmt.Sprintf(format, args...)}
}

func leftOut(why string) finding { return finding{Verdict: skipped, What: why} }

func warning(remedy, format string, args ...any) finding {
	return finding{Verdict: warned, What: fmt.Sprintf(format, args...), Remedy: remedy}
}

func failure(remedy, format string, args ...any) finding {
	return finding{Verdict: unfit, What: fmt.Sprintf(format, args...), Remedy: remedy}
}

// check is one thing the doctor looks at. No check relies on another having run.
type check struct {
	name  string
	lacks func(*patient) string // why it cannot be made; "" when it can
	look  func(context.Context, *patient) finding
}

// checks are made, and shown, in the order in which a sync comes to need what they look at.
func checks() []check {
	return []check{
		{"config", nothing, checkConfig},
		{"token", (*patient).lacksConfig, checkToken},
		{"reachability", (*patient).lacksPlatform, checkReachability},
		{"tls", (*patient).lacksPlatform, checkTLS},
		{"clock skew", (*patient).lacksContact, checkClock},
		{"dialect", (*patient).lacksDialect, checkDialect},
		{"file modes", (*patient).lacksFootprint, checkFileModes},
		{"file system", (*patient).lacksFootprint, checkFileSystem},
		{"free disk", (*patient).lacksFootprint, checkFreeDisk},
		{"journal mode", (*patient).lacksDatabase, checkJournal},
		{"schema version", (*patient).lacksFile, checkSchemaVersion},
		{"integrity", (*patient).lacksDatabase, checkIntegrity},
		{"erasure", (*patient).lacksMirror, checkErasure},
		{"freshness", (*patient).lacksMirror, checkFreshness},
	}
}

func nothing(*patient) string { return "" }

func (c check) examine(ctx context.Context, p *patient) finding {
	f := leftOut(c.lacks(p))
	if f.What == "" {
		f = c.look(ctx, p)
	}
	f.Check = c.name
	return f
}

// diagnosis is the outcome of all checks.
type diagnosis struct {
	Verdict severity  `json:"verdict"` // the worst of the checks: ok, warning or failed
	Checks  []finding `json:"checks"`
}

func (d *diagnosis) add(f finding) {
	rising := []severity{skipped, fine, warned, unfit}
	if slices.Index(rising, f.Verdict) > slices.Index(rising, d.Verdict) {
		d.Verdict = f.Verdict
	}
	d.Checks = append(d.Checks, f)
}

// unwellError says which checks failed. It wraps the fault of a configuration that does not load.
type unwellError struct {
	failed []string
	cause  error
}

func (e *unwellError) Error() string {
	noun := "check"
	if len(e.failed) > 1 {
		noun = "checks"
	}
	return fmt.Sprintf("%d %s failed: %s; do what the table says and run \"%s doctor\" again", len(e.failed), noun, strings.Join(e.failed, ", "), buildinfo.Command())
}

func (e *unwellError) Unwrap() error { return e.cause }

// examine makes every check and prints what they found; a failed one is an *unwellError.
func (a *app) examine(ctx context.Context, p *patient, asJSON bool) error {
	d := diagnosis{Verdict: fine}
	var failed []string
	for _, c := range checks() {
		f := c.examine(ctx, p)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		d.add(f)
		if f.Verdict == unfit {
			failed = append(failed, f.Check)
		}
	}
	if err := a.printDiagnosis(d, asJSON); err != nil {
		return err
	}
	if len(failed) > 0 {
		return &unwellError{failed: failed, cause: p.configErr}
	}
	return nil
}

func (a *app) printDiagnosis(d diagnosis, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(a.stdout).Encode(d)
	}
	t := terminal.NewTable("check", "verdict", "what", "remedy")
	for _, f := range d.Checks {
		t.Add(f.Check, f.Verdict, f.What, f.Remedy)
	}
	return t.Write(a.stdout)
}
