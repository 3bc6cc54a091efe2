package doctor

import (
	"cmp"
	"context"
	"errors"
	"os"
	"strings"

	"solarmirror/cmd/internal/config"
)

func checkConfig(_ context.Context, f *facts) Finding {
	var faults *config.Error
	if errors.As(f.ConfigErr, &faults) {
		return fail("mend what is named; config.example.toml describes every key", "%s", strings.Join(faults.Problems, "; "))
	}
	if f.ConfigErr != nil {
		return fail("solarmirror config show", "%v", f.ConfigErr)
	}
	path := cmp.Or(f.ConfigPath, config.DefaultPath)
	if holdsToken(path) {
		if mode, open := openToOthers(path); open {
			return warn("chmod 600 "+path, "%s holds the token, and every user may read it (mode %04o)", path, mode)
		}
	}
	if f.Config.Platform.BaseURL == "" {
		return warn("set SOLARMIRROR_PLATFORM_BASE_URL, or base_url under [platform] in "+path,
			"no [platform] base_url is set: there is nothing to sync with")
	}
	return pass("loads; the platform is %s", f.Config.Platform.BaseURL)
}

// holdsToken says whether the configuration file holds a token, in force or not.
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

func checkToken(ctx context.Context, f *facts) Finding {
	settings := f.Config.Platform
	if settings.BaseURL == "" && settings.Token == "" && settings.TokenFile == "" {
		return skip("there is neither a token nor a platform to use it with")
	}
	if settings.Token == "" && settings.TokenFile == "" {
		return fail("set SOLARMIRROR_PLATFORM_TOKEN, or SOLARMIRROR_PLATFORM_TOKEN_FILE to a file that holds it", "there is no platform token")
	}
	if err := f.tokenFault(ctx); err != nil {
		return fail("ls -l "+settings.TokenFile, "%v", err)
	}
	if settings.TokenFile == "" {
		return pass("given")
	}
	if mode, open := openToOthers(settings.TokenFile); open {
		return warn("chmod 600 "+settings.TokenFile, "%s: every user may read it (mode %04o)", settings.TokenFile, mode)
	}
	return pass("in %s", settings.TokenFile)
}

// tokenFault says why there is no token, if there is none.
func (f *facts) tokenFault(ctx context.Context) error {
	_, err := f.Config.TokenSource()(ctx)
	return err
}
