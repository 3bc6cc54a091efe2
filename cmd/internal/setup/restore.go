package setup

import (
	"context"
	"time"

	"github.com/rs/zerolog"

	"solarmirror/cmd/internal/config"
	"solarmirror/store/publish"
)

// RestorePatience is how long a restore waits for programs that have the databases open.
const RestorePatience = 10 * time.Second

// FinishRestore completes a restore of the configured mirror and outbox that was interrupted. Every
// command calls it before it opens one of them; the other functions of this package that open one
// do.
func FinishRestore(ctx context.Context, c config.Config, log zerolog.Logger, wait bool) error {
	did, err := publish.FinishRestore(ctx, c.Mirror.Path, RestorePatience, wait)
	if did != "" {
		log.Warn().Str("mirror", c.Mirror.Path).Msg(did)
	}
	return err
}
