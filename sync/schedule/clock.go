package schedule

import (
	"context"
	"time"
)

// Clock is the time a Worker goes by.
type Clock interface {
	Now() time.Time
	// Sleep returns nil after d, or ctx's error as soon as ctx ends.
	Sleep(ctx context.Context, d time.Duration) error
}

// SystemClock is the machine's clock.
type SystemClock struct{}

// Now is the time of day, without the monotonic reading: that one stands still while a machine is
// suspended and hides that the clock was set.
func (SystemClock) Now() time.Time { return time.Now().Round(0) }

// Sleep waits.
func (SystemClock) Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
