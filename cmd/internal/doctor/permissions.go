package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"solarmirror/cmd/internal/config"
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
	return pass("%s can be read and written, and so can its directory", path)
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
