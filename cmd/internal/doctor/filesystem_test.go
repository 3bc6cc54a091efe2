package doctor

import (
	"errors"
	"testing"

	"solarmirror/store/sqlitefile"
)

func TestFileSystem(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		at   fileSystem
		err  error
		want Verdict
		says string
	}{
		{"local", fileSystem{checked: true}, nil, OK, "a local disk"},
		{"network", fileSystem{name: "NFS", network: true, checked: true}, nil, Failed, "NFS"},
		{"doubtful", fileSystem{name: "9p", checked: true}, nil, Warning, "9p"},
		{"another system", fileSystem{}, nil, Skipped, "not checked"},
		{"no answer", fileSystem{}, errors.New("statfs: stale file handle"), Skipped, "stale file handle"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			f := newFacts(t)
			f.fileSystem = func(string) (fileSystem, error) { return tc.at, tc.err }
			expect(t, runCheck(t, "file system", f), tc.want, tc.says)
		})
	}
}

func TestFreeDisk(t *testing.T) {
	t.Parallel()
	const gib = 1 << 30
	for _, tc := range []struct {
		name string
		disk sqlitefile.FileState
		want Verdict
		says string
	}{
		{"enough", sqlitefile.FileState{Size: 4 * gib, Free: 8 * gib, FreeKnown: true}, OK, "8.0 GiB free"},
		{"less than twice the database", sqlitefile.FileState{Size: 4 * gib, Free: 8*gib - 1, FreeKnown: true}, Warning, "df -h"},
		{"a small database and 1 GiB", sqlitefile.FileState{Size: 1000, Free: gib, FreeKnown: true}, OK, "1000 bytes"},
		{"a small database and less", sqlitefile.FileState{Size: 1000, Free: gib - 1, FreeKnown: true}, Warning, "1.0 GiB would do"},
		{"too little for a sync", sqlitefile.FileState{Size: 1000, Free: 32<<20 - 1, FreeKnown: true}, Failed, "df -h"},
		{"not known", sqlitefile.FileState{Size: 1000}, Skipped, "not checked"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			f := newFacts(t)
			f.files = tc.disk
			expect(t, runCheck(t, "free disk", f), tc.want, tc.says)
		})
	}
}
