package doctor

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"time"

	"solarmirror/cmd/internal/setup"
	"solarmirror/cmd/internal/status"
	"solarmirror/store"
	"solarmirror/store/sqlitefile"
	"solarmirror/sync/platform"
)

// facts are what the checks look at. What several of them need is gathered once, before the first.
// A fact that could not be had is left as an error, and the checks that need it are skipped.
type facts struct {
	Options

	now        func() time.Time
	roots      *x509.CertPool // trusted authorities; nil is the system's
	fileSystem func(dir string) (fileSystem, error)
	access     func(path string, write bool) error // nil when this user may

	client     *platform.Client // nil without a base URL
	contact    contact
	contactErr error
	files      sqlitefile.FileState
	filesErr   error
	mirror     *store.Mirror // nil when it could not be opened
	mirrorErr  error
	meta       store.Meta
}

func (f *facts) gather(ctx context.Context) {
	if f.ConfigErr != nil {
		return
	}
	// Before the mirror is opened: SQLite makes files of its own beside it.
	f.files, f.filesErr = sqlitefile.ReadFileState(f.Config.Mirror.Path)
	f.openMirror(ctx)
	f.reach(ctx)
}

func (f *facts) openMirror(ctx context.Context) {
	mirror, err := store.OpenReadOnly(ctx, f.Config.Mirror.Path)
	if err != nil {
		f.mirrorErr = err
		return
	}
	meta, err := mirror.Meta(ctx)
	if err != nil {
		f.mirrorErr = errors.Join(err, mirror.Close())
		return
	}
	f.mirror, f.meta = mirror, meta
}

// reach makes the client and the first contact with the platform.
func (f *facts) reach(ctx context.Context) {
	if f.Config.Platform.BaseURL == "" {
		return
	}
	c := f.Config
	c.Platform.Timeout = min(c.Platform.Timeout, networkDeadline)
	c.Platform.MaxRetryWait = min(c.Platform.MaxRetryWait, networkDeadline/2)
	client, err := setup.Client(c, f.Log, nil)
	if err != nil {
		f.ConfigErr = err
		return
	}
	f.client = client
	f.contact, f.contactErr = f.makeContact(ctx)
}

func (f *facts) close() {
	if f.mirror != nil {
		_ = f.mirror.Close() // it was only read
	}
	if f.client != nil {
		f.client.Close()
	}
}

// Each needs… function says which need of a check is not met, "" when all are.

func (*facts) needsNothing() string { return "" }

func (f *facts) needsConfig() string {
	if f.ConfigErr != nil {
		return "the configuration does not load"
	}
	return ""
}

func (f *facts) needsPlatform() string {
	if f.ConfigErr == nil && f.client == nil {
		return "no [platform] base_url is set"
	}
	return f.needsConfig()
}

func (f *facts) needsContact() string {
	if why := f.needsPlatform(); why != "" {
		return why
	}
	if f.contactErr != nil {
		return "the platform was not reached"
	}
	return ""
}

func (f *facts) needsDirectory() string {
	if why := f.needsConfig(); why != "" {
		return why
	}
	if f.filesErr != nil {
		return fmt.Sprintf("the place of the mirror cannot be looked at: %v", f.filesErr)
	}
	return ""
}

func (f *facts) needsFile() string {
	if why := f.needsDirectory(); why != "" {
		return why
	}
	if !f.files.Exists || errors.Is(f.mirrorErr, sqlitefile.ErrNoDatabase) {
		return fmt.Sprintf("there is no database yet at %s", f.Config.Mirror.Path)
	}
	return ""
}

// needsDatabase accepts a mirror of any schema version.
func (f *facts) needsDatabase() string {
	var older *sqlitefile.OlderError
	var newer *sqlitefile.NewerError
	if errors.As(f.mirrorErr, &older) || errors.As(f.mirrorErr, &newer) {
		return ""
	}
	return f.needsMirror()
}

func (f *facts) needsMirror() string {
	if why := f.needsFile(); why != "" {
		return why
	}
	if f.mirrorErr != nil {
		return "the database cannot be read; see schema version"
	}
	return ""
}

func (f *facts) needsDialect() string {
	if why := f.needsContact(); why != "" {
		return why
	}
	if why := f.needsMirror(); why != "" {
		return why
	}
	if status.DialectOf(f.meta) == nil {
		return "nothing is remembered yet; the first sync finds it"
	}
	return ""
}
