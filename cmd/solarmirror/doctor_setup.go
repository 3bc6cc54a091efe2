package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"solarmirror/cmd/internal/config"
	"solarmirror/store/sqlitefile"
)

func checkConfig(_ context.Context, p *patient) finding {
	var faults *config.Error
	if errors.As(p.configErr, &faults) {
		return failure("mend what is named; config.example.toml describes every key", "%s", strings.Join(faults.Problems, "; "))
	}
	if p.configErr != nil {
		return failure("solarmirror config show", "%v", p.configErr)
	}
	path := cmp.Or(p.configPath, config.DefaultPath)
	if holdsToken(path) {
		if mode, open := openToOthers(path); open {
			return warning("chmod 600 "+path, "%s holds the token, and every user may read it (mode %04o)", path, mode)
		}
	}
	if p.config.Platform.BaseURL == "" {
		return warning("set SOLARMIRROR_PLATFORM_BASE_URL, or base_url under [platform] in "+path,
			"no [platform] base_url is set: there is nothing to sync with")
	}
	return found("loads; the platform is %s", p.config.Platform.BaseURL)
}

// holdsToken says whether the token stands in the configuration file itself, be it in force or not.
func holdsToken(path string) bool {
	alone, err := config.Load(config.Source{Path: path})
	return err == nil && alone.Platform.Token != ""
}

// openToOthers says whether users outside the file's group may read it.
func openToOthers(path string) (mode os.FileMode, open bool) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, false
	}
	return info.Mode().Perm(), info.Mode().Perm()&0o004 != 0
}

func checkToken(ctx context.Context, p *patient) finding {
	settings := p.config.Platform
	if settings.BaseURL == "" && settings.Token == "" && settings.TokenFile == "" {
		return leftOut("there is neither a token nor a platform to use it with")
	}
	if settings.Token == "" && settings.TokenFile == "" {
		return failure("set SOLARMIRROR_PLATFORM_TOKEN, or SOLARMIRROR_PLATFORM_TOKEN_FILE to a file that holds it", "there is no platform token")
	}
	if err := p.tokenFault(ctx); err != nil {
		return failure("ls -l "+settings.TokenFile, "%v", err)
	}
	if settings.TokenFile == "" {
		return found("given")
	}
	if mode, open := openToOthers(settings.TokenFile); open {
		return warning("chmod 600 "+settings.TokenFile, "%s: every user may read it (mode %04o)", settings.TokenFile, mode)
	}
	return found("in %s", settings.TokenFile)
}

func checkFileModes(_ context.Context, p *patient) finding {
	if f, bad := checkOutboxModes(p.config.Outbox); bad {
		return f
	}
	dir, path := p.footprint.Dir, p.config.Mirror.Path
	if err := p.access(dir, true); err != nil {
		return failure("ls -ld "+dir, "the directory of the mirror, %s, cannot be written to: %v; syncs must run as a user who may", dir, err)
	}
	if !p.footprint.Exists {
		return found("%s can be written to", dir)
	}
	if err := p.access(path, false); err != nil {
		return failure("ls -l "+path, "%s cannot be read: %v", path, err)
	}
	if err := p.access(path, true); err != nil {
		return failure("ls -l "+path, "%s cannot be written to: %v; syncs must run as a user who may", path, err)
	}
	return found("%s can be read and written, and so can its directory", path)
}

// checkOutboxModes looks whether an outbox that is there is private, as the commands that use it insist on.
func checkOutboxModes(o config.Outbox) (f finding, bad bool) {
	if _, err := os.Stat(o.Path); err != nil {
		return finding{}, false
	}
	private := []string{filepath.Dir(o.Path), o.Path}
	if o.KeyFile != "" {
		private = append(private, o.KeyFile)
	}
	for _, path := range private {
		var open *sqlitefile.ModeError
		switch err := sqlitefile.CheckPrivate(path); {
		case errors.As(err, &open):
			return failure(fmt.Sprintf("chmod %o %s", open.Want, path), "%s is open to other users (mode %04o), and passwords are kept there", path, open.Mode.Perm()), true
		case err != nil:
			return failure("ls -ld "+path, "%v", err), true
		}
	}
	return finding{}, false
}
