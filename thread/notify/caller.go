package notify

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"orchestrator/thread"
)

// caller runs one command, once at a time.
type caller struct {
	cfg     Config
	command Command
	queue   chan thread.Happening

	mu    sync.Mutex  // guards the fields below
	runs  []told      // in the last minute, waiting ones included
	left  int         // left out since the last run
	total int         // left out since that was reported
	count *time.Timer // runs while what is left out is counted
	// counts is when what was left out was reported last, and failure when a failure was.
	counts, failure time.Time
}

// told is when a happening of a thread was taken.
type told struct {
	at time.Time
	of thread.ID
}

func newCaller(cfg Config, c Command) *caller {
	return &caller{cfg: cfg, command: c, queue: make(chan thread.Happening, PerMinute)}
}

// wants reports whether a happening is one to run on. Trouble with commands is none.
func (c *caller) wants(h thread.Happening) bool {
	return h.Kind != thread.HappenedCall && slices.Contains(c.command.Kinds, h.Kind)
}

// offer queues a happening, or counts that it is left out.
func (c *caller) offer(h thread.Happening) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	c.runs = slices.DeleteFunc(c.runs, func(r told) bool { return now.Sub(r.at) >= time.Minute })
	if c.room(h.Thread) {
		select {
		case c.queue <- h:
			c.runs = append(c.runs, told{now, h.Thread})
			return
		default: // earlier ones take long
		}
	}
	c.left++
	if c.total++; c.count == nil {
		wait := c.cfg.Count
		if !c.counts.IsZero() {
			wait = max(wait, quiet-now.Sub(c.counts))
		}
		c.count = time.AfterFunc(wait, c.counted)
	}
}

// room reports whether a thread may be told of once more in this minute: a noisy one leaves room for the others. What is
// about no thread has no limit of its own.
func (c *caller) room(of thread.ID) bool {
	mine := 0
	for _, r := range c.runs {
		if r.of == of && of != "" {
			mine++
		}
	}
	return len(c.runs) < PerMinute && mine < PerThread
}

// counted reports how many were left out.
func (c *caller) counted() {
	c.mu.Lock()
	n := c.total
	c.total, c.count, c.counts = 0, nil, time.Now()
	c.mu.Unlock()
	c.cfg.Report(fmt.Sprintf("%s: %d events were left out. It runs once at a time, at most %d times a minute and %d of these for one thread",
		c.command.Name, n, PerMinute, PerThread))
}

// work runs the command on what is queued until ctx ends.
func (c *caller) work(ctx context.Context) {
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.count != nil {
			c.count.Stop()
		}
	}()
	for {
		select {
		case <-ctx.Done():
			return
		case h := <-c.queue:
			c.mu.Lock()
			left := c.left
			c.left = 0
			c.mu.Unlock()
			if ctx.Err() != nil {
				return
			}
			if err := run(ctx, c.cfg, c.command.Words, Message{h, c.cfg.Project, left}); err != nil && ctx.Err() == nil {
				c.report(err.Error())
			}
		}
	}
}

// report reports a failure, once in a while.
func (c *caller) report(text string) {
	c.mu.Lock()
	now := time.Now()
	due := c.failure.IsZero() || now.Sub(c.failure) >= quiet
	if due {
		c.failure = now
	}
	c.mu.Unlock()
	if due {
		c.cfg.Report(fmt.Sprintf("%s: %s. Further trouble with it within the hour is not reported", c.command.Name, text))
	}
}
