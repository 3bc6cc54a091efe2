package push

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"solarmirror/store/outbox"
	"solarmirror/store/sqlitefile"
	"solarmirror/sync/platform"
)

// childEnv makes the test binary push, as a process that can be killed.
const childEnv = "PUSH_TEST_CHILD"

// childPush is what a push in a process of its own is told.
type childPush struct {
	Outbox, Mirror, URL string
	Key                 string        // path of the sealing key; "" is none
	Ahead               time.Duration // of the real clock, so that postponed rows are due
	Timeout             time.Duration // of a request
	PanicAt             int64         // the reading of the clock at which it panics, from 1; 0 is never
}

// command is a push of the rig's files in a process of its own, not yet started.
func (r *rig) command(c childPush) *exec.Cmd {
	c.Outbox, c.Mirror, c.URL = r.outboxPath(), r.mirrorPath(), r.server.URL
	given, err := json.Marshal(c)
	must(r.t, err)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+string(given), "GORACE=atexit_sleep_ms=0", "GOTRACEBACK=system")
	return cmd
}

// pushAsChild is the life of that process. It logs all there is to stderr.
func pushAsChild(given string) int {
	var c childPush
	err := json.Unmarshal([]byte(given), &c)
	if err == nil {
		err = c.push(context.Background())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func (c childPush) push(ctx context.Context) error {
	var readings atomic.Int64
	now := func() time.Time {
		if readings.Add(1) == c.PanicAt {
			panic("the clock stands still")
		}
		return time.Now().Add(c.Ahead)
	}
	log := zerolog.New(os.Stderr).Level(zerolog.TraceLevel)
	lock, err := sqlitefile.AcquireLock(ctx, c.Outbox, "push", false)
	if err != nil {
		return err
	}
	defer lock.Release()
	client, err := platform.New(platform.Config{
		BaseURL: c.URL, Token: func(context.Context) (string, error) { return token, nil }, RequestsPerSecond: 10_000,
		Timeout: c.Timeout, MaxRetryWait: time.Millisecond, Now: now, Log: log,
	})
	if err != nil {
		return err
	}
	defer client.Close()
	options := outbox.Options{Now: now, Log: log}
	if c.Key != "" {
		if options.Key, err = outbox.ReadSealingKey(context.Background(), c.Key); err != nil {
			return err
		}
	}
	o, err := outbox.Open(ctx, c.Outbox, options)
	if err != nil {
		return err
	}
	defer o.Close()
	m, err := outbox.OpenCreations(ctx, c.Mirror)
	if err != nil {
		return err
	}
	defer m.Close()
	_, err = (&Pusher{Client: client, Outbox: o, Mirror: m, Now: now, Log: log}).Push(ctx)
	return err
}
