package hub

import (
	"context"
	"time"
)

// Clock is the time as the hub sees it.
type Clock interface {
	Now() time.Time
	// After is like time.After.
	After(time.Duration) <-chan time.Time
}

type realClock struct{}

func (realClock) Now() time.Time                         { return time.Now() }
func (realClock) After(d time.Duration) <-chan time.Time { return time.After(d) }

// withTimeout returns a context that ends with a cause when the clock has advanced by d.
func withTimeout(ctx context.Context, c Clock, d time.Duration, why error) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	after := c.After(d)
	go func() {
		select {
		case <-after:
			cancel(why)
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(context.Canceled) }
}
