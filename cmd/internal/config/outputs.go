package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"solarmirror/sync/schedule"
)

// output is where a scheduled job writes.
type output struct {
	job     string
	spec    schedule.Spec
	path    string
	what    string // the path in words
	example string
	isDir   bool
}

func (o output) key() string { return o.job + ".path" }

// outputs lists the paths that a job needs only when it is scheduled.
func (c Config) outputs() []output {
	var list []output
	for _, o := range []output{
		{"report", c.Schedule.Report, c.Report.Path, "file", "data/report/sales.html", false},
		{"backup", c.Schedule.Backup, c.Backup.Path, "directory", "data/backups", true},
		{"export", c.Schedule.Export, c.Export.Path, "directory", "data/export", true},
	} {
		if o.spec.String() != "" {
			list = append(list, o)
		}
	}
	return list
}

// checkOutputs names the scheduled jobs that have no path, and those whose path holds, or lies
// within, that of something else. It does not look at the disk.
func (c Config) checkOutputs() (faults []fault) {
	taken := []output{{job: "mirror", path: c.Mirror.Path}, {job: "outbox", path: c.Outbox.Path}, {job: "publish", path: c.Publish.Path}}
	for _, o := range c.outputs() {
		if o.path == "" {
			at := c.setting("schedule." + o.job)
			faults = append(faults, fault{at.line, fmt.Sprintf("%s is set, and %s is empty; write path = %q, or another %s, under [%s]",
				at.place, o.key(), o.example, o.what, o.job)})
			continue
		}
		for _, other := range taken {
			if relation := relate(o.path, other.path); relation != "" {
				faults = append(faults, c.setting(o.key()).fault(fmt.Sprintf("%q %s %s (%q); give it a %s of its own",
					o.path, relation, other.key(), other.path, o.what)))
			}
		}
		taken = append(taken, o)
	}
	return faults
}

// relate says how two paths collide; "" when they do not.
func relate(path, other string) string {
	within := func(inner, outer string) bool {
		relative, err := filepath.Rel(outer, inner)
		return err == nil && relative != ".." && !strings.HasPrefix(relative, ".."+string(filepath.Separator))
	}
	path, errPath := filepath.Abs(path)
	other, errOther := filepath.Abs(other)
	inside, around := within(path, other), within(other, path)
	switch {
	case errPath != nil || errOther != nil:
		return ""
	case inside && around:
		return "is also"
	case inside:
		return "lies inside"
	case around:
		return "holds"
	}
	return ""
}

// CheckOutputs looks at the disk before the schedule begins. A scheduled job whose path can never be
// written is an *Error. A path that is missing is none: the job makes it.
func (c Config) CheckOutputs() error {
	var faults []fault
	for _, o := range c.outputs() {
		at := c.setting(o.key())
		switch info, err := os.Stat(o.path); {
		case errors.Is(err, syscall.ENOTDIR):
			faults = append(faults, at.fault(fmt.Sprintf("%q lies below a file; name a %s below a directory", o.path, o.what)))
		case err != nil: // missing, or a disk that may work when the job is due
		case info.IsDir() && !o.isDir:
			faults = append(faults, at.fault(fmt.Sprintf("%q is a directory; name a file in it, such as %q", o.path, filepath.Join(o.path, filepath.Base(o.example)))))
		case !info.IsDir() && o.isDir:
			faults = append(faults, at.fault(fmt.Sprintf("%q is a file; name a directory, such as %q", o.path, o.example)))
		}
	}
	if faults == nil {
		return nil
	}
	return newError(faults)
}
