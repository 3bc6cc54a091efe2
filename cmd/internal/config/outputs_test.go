package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A job that is scheduled needs a path, which may not lie in the way of anything else.
func TestOutputs(t *testing.T) {
	t.Parallel()
	const scheduled = "[schedule]\nreport = \"@daily\"\nbackup = \"@daily\"\nexport = \"@daily\"\n"
	for _, tc := range []struct {
		name, text string
		want       []string
	}{
		{name: "no path", text: scheduled, want: []string{
			`config.toml:2: schedule.report is set, and report.path is empty; write path = "data/report/sales.html", or another file, under [report]`,
			`config.toml:3: schedule.backup is set, and backup.path is empty; write path = "data/backups", or another directory, under [backup]`,
			`config.toml:4: schedule.export is set, and export.path is empty; write path = "data/export", or another directory, under [export]`}},
		{name: "off", text: "report.path = \"data/mirror/solarmirror.db\"\nbackup.path = \"data\"\nexport.path = \"data\""},
		{name: "the mirror itself", text: scheduled + "[report]\npath = \"./data/x/../mirror/solarmirror.db\"\n[backup]\npath = \"b\"\n[export]\npath = \"e\"", want: []string{
			`config.toml:6: report.path: "./data/x/../mirror/solarmirror.db" is also mirror.path ("data/mirror/solarmirror.db"); give it a file of its own`}},
		{name: "around others", text: scheduled + "[report]\npath = \"r.html\"\n[backup]\npath = \"data/private/\"\n[export]\npath = \"data/published\"", want: []string{
			`config.toml:8: backup.path: "data/private/" holds outbox.path ("data/private/outbox.db"); give it a directory of its own`,
			`config.toml:10: export.path: "data/published" holds publish.path ("data/published/solarmirror.db"); give it a directory of its own`}},
		{name: "in one another", text: scheduled + "[report]\npath = \"out/r.html\"\n[backup]\npath = \"out\"\n[export]\npath = \"out/e\"", want: []string{
			`config.toml:8: backup.path: "out" holds report.path ("out/r.html"); give it a directory of its own`,
			`config.toml:10: export.path: "out/e" lies inside backup.path ("out"); give it a directory of its own`}},
		{name: "in one directory", text: scheduled + "[report]\npath = \"data/published/r.html\"\n[backup]\npath = \"data/..b\"\n[export]\npath = \"data/published/e\""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			_, err := load(t, tc.text)
			var got []string
			if err != nil {
				got = problemsOf(t, err)
			}
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestOutputsOnDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ key, path, want string }{
		{"REPORT", dir, " is a directory; name a file in it, such as "},
		{"REPORT", filepath.Join(file, "r.html"), " lies below a file; name a file below a directory"},
		{"REPORT", file, ""},
		{"REPORT", filepath.Join(dir, "missing", "r.html"), ""},
		{"BACKUP", file, ` is a file; name a directory, such as "data/backups"`},
		{"BACKUP", filepath.Join(file, "b"), " lies below a file; name a directory below a directory"},
		{"EXPORT", file, ` is a file; name a directory, such as "data/export"`},
		{"EXPORT", dir, ""},
		{"EXPORT", filepath.Join(dir, "missing"), ""},
	} {
		environ := "SOLARMIRROR_" + tc.key + "_PATH=" + tc.path
		if err := mustLoad(t, "", environ).CheckOutputs(); err != nil {
			t.Errorf("a job that is off, %s: %v", environ, err)
		}
		err := mustLoad(t, "", environ, "SOLARMIRROR_SCHEDULE_"+tc.key+"=@daily").CheckOutputs()
		switch {
		case tc.want == "" && err != nil:
			t.Errorf("%s: %v", environ, err)
		case tc.want != "" && (err == nil || !strings.Contains(problemsOf(t, err)[0], "SOLARMIRROR_"+tc.key+"_PATH: ") || !strings.Contains(err.Error(), tc.want)):
			t.Errorf("%s: %v, want %s", environ, err, tc.want)
		}
	}
}
