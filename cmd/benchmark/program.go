package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// buildProgram builds solarmirror itself, as it is shipped.
func buildProgram(ctx context.Context, dir string) (string, error) {
	root, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "solarmirror").Output()
	if err != nil {
		return "", fmt.Errorf("find the module: %w; run this in cmd/benchmark", err)
	}
	binary := filepath.Join(dir, "solarmirror")
	cmd := exec.CommandContext(ctx, "go", "build", "-o", binary, "./cmd/solarmirror")
	cmd.Dir = strings.TrimSpace(string(root))
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build solarmirror: %w: %s", err, out)
	}
	return binary, nil
}

// program is solarmirror itself, told to work on a mirror of the run.
func (b *bench) program(ctx context.Context, db string, rate int, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, b.binary, append([]string{"--quiet"}, args...)...)
	cmd.Dir = b.dir
	cmd.Env = append(os.Environ(),
		"SOLARMIRROR_PLATFORM_BASE_URL="+b.platform.URL, "SOLARMIRROR_PLATFORM_TOKEN=a-token",
		fmt.Sprintf("SOLARMIRROR_PLATFORM_REQUESTS_PER_SECOND=%d", rate),
		"SOLARMIRROR_MIRROR_PATH="+db, "SOLARMIRROR_OUTBOX_PATH="+b.file("outbox"), "SOLARMIRROR_PUBLISH_PATH="+b.file("published"))
	return cmd
}

// How a platform is that holds the program back.
const (
	perSecond = 5
	latency   = 200 * time.Millisecond
)

// unlimited is a rate that is never reached.
const unlimited = 10_000

// starts is how often a start is timed.
const starts = 9

// measureProgram measures, at one size, what the program itself does on the mirror of the last round.
func (b *bench) measureProgram(ctx context.Context, size int) error {
	for _, args := range [][]string{{"status"}, {"query", "SELECT deal_status FROM requests LIMIT 1"}} {
		var took []time.Duration
		for range starts {
			got, err := measureCommand(b.program(ctx, b.file(ours), unlimited, args...))
			if err != nil {
				return err
			}
			took = append(took, got.Load.Wall)
		}
		wall := medianOf(took)
		b.decide(size, fmt.Sprintf("`%s` in under 50 ms", args[0]), milliseconds(wall), wall < 50*time.Millisecond)
	}
	var took []time.Duration
	for range starts {
		wall, err := b.firstCommit(ctx, size)
		if err != nil {
			return err
		}
		took = append(took, wall)
	}
	wall := medianOf(took)
	b.decide(size, "start to first committed page in under 300 ms", milliseconds(wall), wall < 300*time.Millisecond)
	if err := b.publishBesideSlowSync(ctx, size); err != nil {
		return err
	}
	return b.publishBesideSync(ctx, size)
}

// firstCommit starts a sync and returns how long it took until another process saw records in the file.
func (b *bench) firstCommit(ctx context.Context, size int) (took time.Duration, err error) {
	if err := b.platform.set(setting{Records: size}); err != nil {
		return 0, err
	}
	path := b.file("first")
	defer func() { err = errors.Join(err, removeDatabase(path), os.RemoveAll(path+".lock")) }()
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	cmd := b.program(ctx, path, unlimited, "sync", "orders", "budgets")
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	for took == 0 && ctx.Err() == nil {
		time.Sleep(time.Millisecond)
		if hasRecords(path) {
			took = time.Since(began)
		}
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait() // it was killed
	return took, ctx.Err()
}

// hasRecords says whether a file is a mirror with records in it. Whatever is in the way of looking means that it is not yet.
func hasRecords(path string) (has bool) {
	if _, err := os.Stat(path); err != nil {
		return false
	}
	db, err := sql.Open("sqlite3", "file:"+path+"?mode=ro")
	if err != nil {
		return false
	}
	defer db.Close()
	return db.QueryRow("SELECT EXISTS (SELECT 1 FROM requests)").Scan(&has) == nil && has
}

// throttle measures how full the limiter is kept during a first load from a slow platform that fails now and then.
func (b *bench) throttle(ctx context.Context) error {
	if b.throttled == 0 {
		return nil
	}
	fmt.Fprintf(b.log, "first load of %d records from a slow platform: about %d s\n", b.throttled, b.throttled/pageSize/perSecond*5/4)
	if err := b.platform.set(setting{Records: b.throttled, Latency: latency, Fail: 20}); err != nil {
		return err
	}
	path := b.file("throttled")
	if _, err := measureCommand(b.program(ctx, path, perSecond, "sync", "orders", "budgets")); err != nil {
		return err
	}
	seen, err := b.platform.traffic()
	if err != nil {
		return err
	}
	share := float64(seen.Requests-1) / seen.Last.Sub(seen.First).Seconds() / perSecond
	b.decide(b.throttled, "limiter 95 % full: 200 ms latency, 5 requests/s, every 20th fails",
		fmt.Sprintf("%.1f %% of %d requests", 100*share, seen.Requests), share >= 0.95)
	return removeDatabase(path)
}
