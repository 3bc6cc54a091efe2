package doctor

import (
	"cmp"
	"context"
	"errors"
	"os"
	"runtime"
	"strings"

	"solarmirror/cmd/internal/config"
)

func checkConfig(_ context.Context, f *facts) Finding {
	var faults *config.Error
	if errors.As(f.ConfigErr, &faults) {
		return fail("mend what is named; solarmirror config example describes every key", "%s", strings.Join(faults.Problems, "; "))
	}
	if f.ConfigErr != nil {
		return fail("solarmirror config show", "%v", f.ConfigErr)
	}
	path := cmp.Or(f.ConfigPath, config.DefaultPath)
	if holds := secretsOf(path); holds != "" {
		if mode, readable := worldReadable(path); readable {
			return warn("chmod 600 "+path, "%s holds %s, and every user may read it (mode %04o)", path, holds, mode)
		}
	}
	if f.Config.Platform.BaseURL == "" {
		return warn("set SOLARMIRROR_PLATFORM_BASE_URL, or base_url under [platform] in "+path,
			"no [platform] base_url is set: there is nothing to sync with")
	}
	return pass("loads; the platform is %s", f.Config.Platform.BaseURL)
}

// secretsOf names the secrets in the configuration file, even those that the environment overrides.
func secretsOf(path string) string {
	fileOnly, err := config.Load(config.Source{Path: path})
	switch alerts := fileOnly.Alerts; {
	case err != nil:
		return ""
	case fileOnly.Platform.Token != "":
		return "the token"
	case len(alerts.URLs) > 0 || alerts.PingURL != "":
		return "addresses of alerts"
	}
	return ""
}

// worldReadable reports whether the mode of a file lets users outside its group read it. Windows
// has no such modes.
func worldReadable(path string) (mode os.FileMode, readable bool) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, false
	}
	return info.Mode().Perm(), runtime.GOOS != "windows" && info.Mode().Perm()&0o004 != 0
}

func checkToken(ctx context.Context, f *facts) Finding {
	settings := f.Config.Platform
	if settings.BaseURL == "" && settings.Token == "" && settings.TokenFile == "" {
		return skip("there is neither a token nor a platform to use it with")
	}
	if settings.Token == "" && settings.TokenFile == "" {
		return fail("set SOLARMIRROR_PLATFORM_TOKEN, or SOLARMIRROR_PLATFORM_TOKEN_FILE to a file that holds it", "there is no platform token")
	}
	if err := f.tokenError(ctx); err != nil {
		return fail("ls -l "+settings.TokenFile, "%v", err)
	}
	if settings.TokenFile == "" {
		return pass("given")
	}
	if mode, readable := worldReadable(settings.TokenFile); readable {
		return warn("chmod 600 "+settings.TokenFile, "%s: every user may read it (mode %04o)", settings.TokenFile, mode)
	}
	return pass("in %s", settings.TokenFile)
}

// tokenError returns why the token cannot be read; nil when it can.
func (f *facts) tokenError(ctx context.Context) error {
	_, err := f.Config.TokenSource()(ctx)
	return err
}
