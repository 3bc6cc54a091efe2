package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"solarmirror/cmd/internal/config"
	"solarmirror/cmd/internal/words"
	"solarmirror/store/sqlitefile"
)

func checkFileModes(_ context.Context, f *facts) Finding {
	if finding := checkOutboxModes(f.Config.Outbox); finding.Verdict == Failed {
		return finding
	}
	dir, path := f.files.Dir, f.Config.Mirror.Path
	if err := f.access(dir, true); err != nil {
		return fail("ls -ld "+dir, "the directory of the mirror, %s, cannot be written to: %v; syncs must run as a user who may", dir, err)
	}
	if !f.files.Exists {
		return pass("%s can be written to", dir)
	}
	if err := f.access(path, false); err != nil {
		return fail("ls -l "+path, "%s cannot be read: %v", path, err)
	}
	if err := f.access(path, true); err != nil {
		return fail("ls -l "+path, "%s cannot be written to: %v; syncs must run as a user who may", path, err)
	}
	if finding := checkPersonalModes(f.Config); finding.Verdict == Warning {
		return finding
	}
	return pass("%s can be read and written, and so can its directory", path)
}

// checkPersonalModes warns of files with personal data that every user may read although [mirror]
// file_mode does not let them. Otherwise it returns the zero Finding.
func checkPersonalModes(c config.Config) Finding {
	files := []string{c.Mirror.Path, c.Mirror.Path + "-wal", c.Mirror.Path + "-shm"}
	if !c.Publish.MaskPersonalData {
		files = append(files, c.Publish.Path)
	}
	var open, quoted []string
	for _, path := range files {
		if mode, readable := worldReadable(path); readable && c.Mirror.FileMode&0o004 == 0 {
			open = append(open, fmt.Sprintf("%s (mode %04o)", path, mode))
			quoted = append(quoted, words.ShellWord(path))
		}
	}
	if open == nil {
		return Finding{}
	}
	return warn(fmt.Sprintf("chmod %04o %s", c.Mirror.FileMode, strings.Join(quoted, " ")),
		"every user may read what holds personal data: %s; if they shall, set [mirror] file_mode = \"0644\"", strings.Join(open, ", "))
}

// checkOutboxModes fails when an outbox exists and other users have access to it: the outbox
// commands refuse such a file. Otherwise it returns the zero Finding.
func checkOutboxModes(o config.Outbox) Finding {
	if _, err := os.Stat(o.Path); err != nil {
		return Finding{}
	}
	private := []string{filepath.Dir(o.Path), o.Path}
	if o.KeyFile != "" {
		private = append(private, o.KeyFile)
	}
	for _, path := range private {
		var open *sqlitefile.ModeError
		switch err := sqlitefile.CheckPrivate(path); {
		case errors.As(err, &open):
			return fail(fmt.Sprintf("chmod %o %s", open.Want, path), "%s is open to other users (mode %04o), and passwords are kept there", path, open.Mode.Perm())
		case err != nil:
			return fail("ls -ld "+path, "%v", err)
		}
	}
	return Finding{}
}
