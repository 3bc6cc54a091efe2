package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"github.com/dustin/go-humanize"
)

// bytesPerRecord is what the files of a run need at their fullest: the mirror with its marts, a contender's file, and the CSV files or the published copy.
const bytesPerRecord = 12_000

// run measures everything and prints it.
func run(ctx context.Context, o options, stdout, stderr io.Writer) (err error) {
	dir, err := os.MkdirTemp(o.dir, "solarmirror-benchmark-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := checkRoom(dir, o.sizes[len(o.sizes)-1]); err != nil {
		return err
	}
	binary, err := buildProgram(ctx, dir)
	if err != nil {
		return err
	}
	p, err := startPlatform(ctx)
	if err != nil {
		return err
	}
	defer func() {
		if err = errors.Join(err, p.stop()); ctx.Err() != nil {
			err = errors.New("interrupted") // whatever the child processes say to it
		}
	}()
	b := &bench{options: o, dir: dir, binary: binary, platform: p, table: table{stdout}, log: stderr,
		outcomes: map[measured][]outcome{}}
	fmt.Fprintf(stdout, "%s\n%s at the start\n", machine(), load())
	b.table.header()
	for _, size := range o.sizes {
		if err := b.measureSize(ctx, size); err != nil {
			return err
		}
	}
	if err := b.throttle(ctx); err != nil {
		return err
	}
	b.printVerdicts(stdout)
	fmt.Fprintf(stdout, "\n%s at the end\n", load())
	return nil
}

// checkRoom refuses what the disk cannot hold.
func checkRoom(dir string, size int) error {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil {
		return err
	}
	need, free := uint64(size)*bytesPerRecord, fs.Bavail*uint64(fs.Bsize)
	if free < need {
		return fmt.Errorf("%d records need %s of disk, %s has %s free: name another directory with -dir, or smaller -sizes",
			size, humanize.Bytes(need), filepath.Dir(dir), humanize.Bytes(free))
	}
	return nil
}

// bench is a run under way.
type bench struct {
	options
	dir      string
	binary   string // the program itself
	platform *farPlatform
	table    table
	log      io.Writer
	version  int                    // of the records that have changed
	outcomes map[measured][]outcome // one per round
	verdicts []verdict
}

// measured names what was measured in each round.
type measured struct {
	size            int
	contender, step string
}

func (b *bench) file(name string) string { return filepath.Join(b.dir, name+".db") }

// measureSize measures all contenders, in turn, at one size, and what else depends on it. The mirror of the last round is left for the latter.
func (b *bench) measureSize(ctx context.Context, size int) error {
	for round := range b.roundsAt(size) {
		for _, c := range b.contenders {
			fmt.Fprintf(b.log, "%d records, round %d: %s\n", size, round+1, c.name)
			if err := b.measureContender(ctx, size, c); err != nil {
				return fmt.Errorf("%d records: %w", size, err)
			}
		}
	}
	for _, c := range b.contenders {
		for _, s := range c.steps() {
			b.table.row(size, c.name, s, median(b.outcomes[measured{size, c.name, s.name}]))
		}
	}
	b.judge(size)
	if err := b.measureProgram(ctx, size); err != nil {
		return fmt.Errorf("%d records: %w", size, err)
	}
	return removeDatabase(b.file(ours))
}

// measureContender takes one contender through its steps, from an empty file.
func (b *bench) measureContender(ctx context.Context, size int, c contender) error {
	db := b.file(c.name)
	if err := removeDatabase(db); err != nil {
		return err
	}
	for _, s := range c.steps() {
		b.version++
		if err := b.platform.set(setting{Records: size, Every: s.every, Version: b.version}); err != nil {
			return err
		}
		got, err := b.measureStep(ctx, c, db)
		if err != nil {
			return err
		}
		if c.name == shell {
			got.Records = int64(size)
		}
		if got.Records < int64(size) {
			return fmt.Errorf("%s, %s: %d records were read", c.name, s.name, got.Records)
		}
		at := measured{size, c.name, s.name}
		b.outcomes[at] = append(b.outcomes[at], got)
	}
	if c.name == ours {
		return nil
	}
	return removeDatabase(db)
}

func (b *bench) measureStep(ctx context.Context, c contender, db string) (outcome, error) {
	if c.name != shell {
		return measure(ctx, c, task{URL: b.platform.URL, DB: db}, nil)
	}
	defer removeCSV(b.dir)
	if err := writeCSV(ctx, b.file(ours), b.dir); err != nil {
		return outcome{}, err
	}
	return importByShell(ctx, db, b.dir)
}

func removeDatabase(path string) error {
	for _, tail := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(path + tail); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}
