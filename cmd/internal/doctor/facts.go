package doctor

import (
	"cmp"
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

// facts holds the inputs of the checks. Inputs that several checks share are gathered once, before
// the first check. If gathering an input fails, its error is kept here, and the checks that need
// that input are skipped.
type facts struct {
	Options

	now        func() time.Time
	roots      *x509.CertPool // trusted certificate authorities; nil means those of the system
	fileSystem func(dir string) (fileSystem, error)
	access     func(path string, write bool) error // an error when this user has no such access

	client      *platform.Client // nil when no base URL is configured
	response    response
	responseErr error
	probeErr    error // of asking for records
	files       sqlitefile.FileState
	filesErr    error
	mirror      *store.Mirror // nil when it cannot be opened
	mirrorErr   error
	meta        store.Meta
	litestream  bool // has replicated the mirror, and may run
}

func (f *facts) gather(ctx context.Context) {
	if f.ConfigErr != nil {
		return
	}
	// Measure first: opening the mirror makes SQLite create -wal and -shm files beside it.
	f.files, f.filesErr = sqlitefile.ReadFileState(f.Config.Mirror.Path)
	f.openMirror(ctx)
	f.connect(ctx)
}

func (f *facts) openMirror(ctx context.Context) {
	mirror, err := setup.Reader(ctx, f.Config, f.Log)
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
	if f.litestream, err = sqlitefile.HasLitestream(ctx, mirror.Reader()); err != nil {
		f.mirrorErr = err
	}
}

// connect makes the client of the platform and sends the first request.
func (f *facts) connect(ctx context.Context) {
	if f.Config.Platform.BaseURL == "" {
		return
	}
	c := f.Config
	c.Platform.Timeout = min(c.Platform.Timeout, requestTimeout)
	c.Platform.MaxRetryWait = min(c.Platform.MaxRetryWait, requestTimeout/2)
	client, err := setup.Client(c, f.Log, nil)
	if err != nil {
		f.ConfigErr = err
		return
	}
	f.client = client
	f.response, f.responseErr = f.requestRoot(ctx)
}

func (f *facts) close() {
	if f.mirror != nil {
		_ = f.mirror.Close() // the mirror is open for reading only
	}
	if f.client != nil {
		f.client.Close()
	}
}

// Each needs… function returns the reason to skip a check, or "" when its facts are known.

// unless returns reason when ok is false, else "".
func unless(ok bool, reason string) string {
	if ok {
		return ""
	}
	return reason
}

func (*facts) needsNothing() string { return "" }

func (f *facts) needsConfig() string {
	return unless(f.ConfigErr == nil, "the configuration does not load")
}

func (f *facts) needsPlatform() string {
	return cmp.Or(f.needsConfig(), unless(f.client != nil, "no [platform] base_url is set"))
}

func (f *facts) needsResponse() string {
	return cmp.Or(f.needsPlatform(), unless(f.responseErr == nil, "the platform was not reached"))
}

func (f *facts) needsDirectory() string {
	return cmp.Or(f.needsConfig(),
		unless(f.filesErr == nil, fmt.Sprintf("the place of the mirror cannot be looked at: %v", f.filesErr)))
}

func (f *facts) needsFile() string {
	exists := f.files.Exists && !errors.Is(f.mirrorErr, sqlitefile.ErrNoDatabase)
	return cmp.Or(f.needsDirectory(), unless(exists, "there is no database yet at "+f.Config.Mirror.Path))
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
	return cmp.Or(f.needsFile(), unless(f.mirrorErr == nil, "the database cannot be read; see schema version"))
}

func (f *facts) needsDialect() string {
	return cmp.Or(f.needsResponse(), f.needsMirror(),
		unless(status.DialectOf(f.meta) != nil, "nothing is remembered yet; the first sync finds it"))
}
