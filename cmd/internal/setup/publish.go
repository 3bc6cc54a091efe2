package setup

import (
	"context"
	"path/filepath"

	"github.com/rs/zerolog"

	"solarmirror/cmd/internal/config"
	"solarmirror/store/publish"
	"solarmirror/store/sqlitefile"
)

// Publish writes the configured copy of the mirror.
func Publish(ctx context.Context, c config.Config, log zerolog.Logger, wait bool) (*publish.Published, error) {
	if err := FinishRestore(ctx, c, log, wait); err != nil {
		return nil, err
	}
	if err := sqlitefile.MustExist(c.Mirror.Path); err != nil { // before pseudonymKey creates a key
		return nil, err
	}
	o := publish.Options{To: c.Publish.Path, FileMode: c.Mirror.FileMode, KeepVersions: c.Publish.KeepVersions, Wait: wait}
	if c.Publish.MaskPersonalData {
		key, err := pseudonymKey(ctx, c)
		if err != nil {
			return nil, err
		}
		o.Mask = &publish.Masking{Key: key, KeepExtra: c.Publish.KeepExtra}
	}
	return publish.Copy(ctx, c.Mirror.Path, o)
}

// pseudonymKey reads the configured key file, which must exist: creating it after a typing error in
// the path would change all pseudonyms. Without a configured file, the key is beside the outbox,
// and the first publish creates it.
func pseudonymKey(ctx context.Context, c config.Config) (publish.PseudonymKey, error) {
	if c.Publish.PseudonymKeyFile == "" {
		return publish.EnsurePseudonymKey(ctx, filepath.Join(filepath.Dir(c.Outbox.Path), "pseudonym.key"))
	}
	key, err := publish.ReadPseudonymKey(ctx, c.Publish.PseudonymKeyFile)
	if err != nil {
		return publish.PseudonymKey{}, &config.Error{Problems: []string{"publish.pseudonym_key_file: " + err.Error()}}
	}
	return key, nil
}
