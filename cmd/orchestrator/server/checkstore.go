package server

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"orchestrator/thread"
)

// checkStoreAfter is how long after a start the store is checked as a whole, if the start did not do it: it reads all of
// it, and nobody should wait for that.
const checkStoreAfter = 30 * time.Second

// storeCheck checks the store in the background.
type storeCheck struct {
	check func(context.Context, time.Time) error // nil for a store that needs it not
	tell  func(text string)
	log   *slog.Logger
	found atomic.Pointer[string]
}

// run checks the store once. Damage is told to clients, also to those that come later.
func (c *storeCheck) run(ctx context.Context) error {
	if c.check == nil {
		return nil
	}
	begin := time.NewTimer(checkStoreAfter)
	defer begin.Stop()
	select {
	case <-begin.C:
	case <-ctx.Done():
		return nil
	}
	err := c.check(ctx, time.Now())
	switch {
	case err == nil || ctx.Err() != nil:
	case errors.Is(err, thread.ErrDamaged):
		text := err.Error()
		c.found.Store(&text)
		c.tell(text)
	default:
		c.log.Warn("check the store", "error", err)
	}
	return nil
}

// damage returns what was found.
func (c *storeCheck) damage() []string {
	if text := c.found.Load(); text != nil {
		return []string{*text}
	}
	return nil
}
