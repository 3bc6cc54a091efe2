package pull

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/rs/zerolog"

	"solarmirror/store"
	"solarmirror/store/marts"
	"solarmirror/store/sqlitefile"
	"solarmirror/sync/flatten"
)

const (
	promotionBatch = 100 // records promoted in one transaction
	shownBatches   = 100 // from one line of progress to the next
)

// Promote does what a migration left to do: it moves values that were unknown when they were read, and have a column now, there
// out of extra, and builds the marts if the migration emptied them. Nothing is asked of the platform, and neither when a record
// changed nor its history is touched. Every batch is a transaction that says how far it came, so that an interrupted promotion goes
// on where it was; a mirror with nothing left to do is not written to. The caller holds the mirror's lock.
//
// Errors: [sqlitefile.NoRoomError] before anything is done.
func Promote(ctx context.Context, mirror *store.Mirror, log zerolog.Logger) error {
	if err := promoteColumns(ctx, mirror, log); err != nil {
		return err
	}
	return fillMarts(ctx, mirror, log)
}

// fillMarts builds the marts of a mirror that has none, so that analysts do not meet empty tables until the next sync. During the
// first load it builds nothing.
func fillMarts(ctx context.Context, mirror *store.Mirror, log zerolog.Logger) error {
	var built bool
	if err := mirror.Reader().GetContext(ctx, &built, "SELECT EXISTS (SELECT 1 FROM _marts)"); err != nil {
		return fmt.Errorf("read _marts: %w", sqlitefile.Explain(mirror.Path(), err))
	}
	if built {
		return nil
	}
	streams, err := mirror.Freshness(ctx)
	if err != nil {
		return err
	}
	loaded := func(f store.Freshness) bool { return !f.CompleteThrough.IsZero() }
	loading := func(f store.Freshness) bool { return !math.IsNaN(f.Loaded) }
	if !slices.ContainsFunc(streams, loaded) || slices.ContainsFunc(streams, loading) {
		return nil
	}
	log.Info().Msg("the marts are empty and are built now")
	return marts.Refresh(ctx, mirror)
}

func promoteColumns(ctx context.Context, mirror *store.Mirror, log zerolog.Logger) error {
	due, err := mirror.Promotions(ctx)
	if err != nil || len(due) == 0 {
		return err
	}
	if err := mirror.CheckRoom(); err != nil {
		return err
	}
	for _, d := range due {
		p := newPromotion(mirror, d, log)
		for done := false; !done; {
			if done, err = p.batch(ctx); err != nil {
				return fmt.Errorf("promoting new columns of %s: %w", d.Root, err)
			}
		}
	}
	return nil
}

// promotion is the promotion of one root's records.
type promotion struct {
	mirror  *store.Mirror
	log     zerolog.Logger
	due     store.Promotion
	streams []*Stream // of the root
	// promoters are by stream, as drift is.
	promoters map[*Stream]*flatten.Promoter
	batches   int
	moved     int
}

func newPromotion(mirror *store.Mirror, due store.Promotion, log zerolog.Logger) *promotion {
	p := &promotion{mirror: mirror, due: due, log: log, promoters: map[*Stream]*flatten.Promoter{}}
	for _, s := range Streams() {
		if s.Root.Name == due.Root {
			p.streams = append(p.streams, s)
			p.promoters[s] = s.plan.NewPromoter(due.Paths)
		}
	}
	return p
}

// batch commits the next records, or the end of the promotion.
func (p *promotion) batch(ctx context.Context) (done bool, err error) {
	tx, err := p.mirror.Begin(ctx)
	if err != nil {
		return false, err
	}
	if done, err = p.batchTx(tx); err != nil {
		return false, errors.Join(err, tx.Rollback())
	}
	if err := tx.Commit(); err != nil {
		return false, err
	}
	p.batches++
	p.log.WithLevel(p.level(done)).Str("table", p.due.Root).Strs("paths", p.due.Paths).Int("records", p.moved).Bool("finished", done).
		Msg("values moved from extra into their new columns")
	return done, nil
}

// level lets a person see progress without drowning in it.
func (p *promotion) level(done bool) zerolog.Level {
	if done || p.batches%shownBatches == 0 {
		return zerolog.InfoLevel
	}
	return zerolog.DebugLevel
}

func (p *promotion) batchTx(tx *store.Tx) (done bool, err error) {
	keys, err := tx.Holding(p.due, promotionBatch)
	if err != nil {
		return false, err
	}
	if len(keys) == 0 {
		return true, p.end(tx)
	}
	if err := p.gather(tx, keys); err != nil {
		return false, err
	}
	for _, s := range p.streams {
		if err := p.write(tx, s); err != nil {
			return false, err
		}
	}
	p.due.After = keys[len(keys)-1]
	return false, tx.SetPromotion(p.due)
}

// gather promotes records, each with the others of its stream. One that cannot be taken apart stays as it is, with all its values.
func (p *promotion) gather(tx *store.Tx, keys []int64) error {
	for _, promoter := range p.promoters {
		promoter.Reset()
	}
	records, err := tx.Records(p.streams[0].Root, keys)
	if err != nil {
		return err
	}
	for _, rows := range records {
		for _, s := range p.streams {
			if !s.owns(rows[0].Row(0)) {
				continue
			}
			if _, err := p.promoters[s].Add(rows); err != nil {
				p.log.Warn().Err(err).Msg("a record's values stay in extra; it is complete again when the platform next changes it")
			}
		}
	}
	return nil
}

func (p *promotion) write(tx *store.Tx, s *Stream) error {
	promoter := p.promoters[s]
	keys := promoter.Keys()
	if len(keys) == 0 {
		return nil
	}
	p.moved += len(keys)
	if err := tx.Rewrite(promoter.Rows(), keys); err != nil {
		return err
	}
	return tx.Drift(s.Name, driftList(promoter.Drift()))
}

// end forgets that the fields were unknown.
func (p *promotion) end(tx *store.Tx) error {
	for _, s := range p.streams {
		if err := tx.ForgetDrift(s.Name, p.due.Paths); err != nil {
			return err
		}
	}
	return tx.EndPromotion(p.due.Root)
}
