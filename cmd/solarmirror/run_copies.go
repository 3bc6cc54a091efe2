package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"

	"solarmirror/cmd/internal/config"
	"solarmirror/cmd/internal/export"
	"solarmirror/cmd/internal/report"
	"solarmirror/cmd/internal/setup"
	"solarmirror/cmd/internal/status"
	"solarmirror/store"
	"solarmirror/store/publish"
	"solarmirror/store/sqlitefile"
)

// copying makes a job of work that only reads the mirror. Such a job still takes its turn with those
// that write: a reader during a sync would keep the WAL from being emptied, and copy half of the
// sync. Its run is recorded afterwards, or the copy would contain a run that has not ended.
func (w *worker) copying(job string, work func(context.Context, *account) error) func(context.Context, *account) error {
	return func(ctx context.Context, did *account) error {
		began := w.clock.Now()
		err := work(ctx, did)
		ledger, opening := setup.Creations(ctx, w.config)
		if ledger == nil {
			return cmp.Or(err, opening)
		}
		defer ledger.Close()
		return errors.Join(err, w.record(ctx, ledger, job, began, err, store.Counts{}))
	}
}

func (w *worker) publish(ctx context.Context, did *account) error {
	published, err := setup.Publish(ctx, w.config, w.log, false)
	if published != nil {
		did.facts.Str("path", published.Path).Int64("bytes", published.Size)
	}
	return err
}

func (w *worker) report(ctx context.Context, did *account) error {
	c := w.config
	did.facts.Str("path", c.Report.Path)
	return explainOutput(c.Report.Path, []string{"report", "--lang", c.Report.Lang, "--out", c.Report.Path}, func() error {
		return w.reading(ctx, jobReport, func(mirror *store.Mirror) error {
			if err := sqlitefile.MakeDir(filepath.Dir(c.Report.Path), 0o755); err != nil {
				return fmt.Errorf("create the directory of the report: %w", err)
			}
			return report.WriteFile(ctx, c.Report.Path, mirror, report.Options{
				Language: reportLanguages[c.Report.Lang], Zone: c.Platform.TimeZone, Now: w.clock.Now(), FileMode: c.Mirror.FileMode,
			})
		})
	})
}

func (w *worker) backup(ctx context.Context, did *account) error {
	c := w.config
	did.facts.Str("path", c.Backup.Path)
	return explainOutput(c.Backup.Path, []string{"backup", "--to", c.Backup.Path, "--keep", strconv.Itoa(c.Backup.Keep)}, func() error {
		if err := setup.FinishRestore(ctx, c, w.log, false); err != nil {
			return err
		}
		done, err := publish.Backup(ctx, publish.BackupOptions{
			To: c.Backup.Path, Mirror: c.Mirror.Path, Outbox: c.Outbox.Path, Now: w.clock.Now(), Keep: c.Backup.Keep,
		})
		if done != nil {
			did.facts.Int64("bytes", done.MirrorSize+done.OutboxSize)
		}
		return err
	})
}

func (w *worker) export(ctx context.Context, did *account) error {
	c := w.config
	did.facts.Str("path", c.Export.Path)
	flags := exportFlags{to: c.Export.Path, format: c.Export.Format, source: c.Export.Source}
	if flags.format == "excel-br" {
		flags.format, flags.style = "csv", "excel-br"
	}
	isCopy := flags.source != config.SourceMirror
	return explainOutput(flags.to, flags.line(), func() error {
		format, err := flags.chosen()
		if err != nil {
			return err
		}
		run := func(mirror *store.Mirror) error {
			files, err := export.Run(ctx, mirror, export.Options{Dir: flags.to, Format: format, FileMode: c.Mirror.FileMode, Fresh: isCopy, Now: w.clock.Now})
			did.facts.Int64("rows", files.Rows).Int("written", files.Written).Int("removed", files.Removed)
			return err
		}
		switch flags.source {
		case config.SourceMirror:
			return w.reading(ctx, jobExport, run)
		case config.SourcePublished:
			return fromCopy(ctx, c.Publish.Path, run)
		}
		return fromCopy(ctx, flags.source, run)
	})
}

// reading opens the mirror for work.
func (w *worker) reading(ctx context.Context, job string, work func(*store.Mirror) error) error {
	mirror, err := setup.Reader(ctx, w.config, w.log)
	if err != nil {
		return err
	}
	defer mirror.Close()
	behind, err := mirror.MartsBehind(ctx)
	if err != nil {
		return err
	}
	if behind {
		w.log.Warn().Str("job", job).Msg(status.MartsBehind)
	}
	return work(mirror)
}

// fromCopy opens a copy of the mirror for work. It hides the causes that would be taken for the
// mirror's: a damaged copy must not end the worker, and sync does not mend it.
func fromCopy(ctx context.Context, path string, work func(*store.Mirror) error) error {
	mirror, err := store.OpenReadOnly(ctx, path)
	if err == nil {
		defer mirror.Close()
		err = work(mirror)
	}
	for _, cause := range []error{sqlitefile.ErrNoDatabase, sqlitefile.ErrNotMirror, sqlitefile.ErrCorrupt} {
		if errors.Is(err, cause) {
			return fmt.Errorf("[export] source %s: %v; make it anew with `solarmirror publish`, or name another source", path, cause)
		}
	}
	return err
}

// line is the command line that gives these flags.
func (f exportFlags) line() []string {
	line := []string{"export", "--format", f.format}
	if f.style != "" {
		line = append(line, "--style", f.style)
	}
	if f.source != config.SourceMirror {
		line = append(line, "--source", f.source)
	}
	return append(line, "--to", f.to)
}

// explainOutput adds to an error of write the remedy for the path, and the command that does the
// same as the job.
func explainOutput(path string, command []string, write func() error) error {
	err := write()
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	if !sqlitefile.Explained(err) {
		err = sqlitefile.ExplainFile(path, err)
	}
	return fmt.Errorf("%w; this job by hand: `%s`", err, commandLine(command))
}
