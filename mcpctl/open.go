package mcpctl

import (
	"context"
	"log/slog"
	"time"

	"orchestrator/mcpctl/hub"
	"orchestrator/mcpctl/match"
	"orchestrator/thread"
)

// New returns a controller. Use must be called before agents connect.
func New(cfg Config) *Controller {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Tokens == nil {
		cfg.Tokens = func(s string) int { return (len(s) + 3) / 4 }
	}
	c := &Controller{
		cfg: &cfg, spots: spots{&cfg}, catalogs: map[string]*catalog{}, inside: map[string]*catalog{},
		indexes: map[string]*match.Index{}, threads: map[thread.ID]*switchboard{}, told: map[string]hub.Status{},
	}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	h := cfg.Hub
	h.Dir, h.Launch, h.Changed, h.Event = cfg.Project, c.launch, c.manifestChanged, c.serverChanged
	c.hub = hub.New(h)
	c.lists = newReadings(&cfg, c.hub)
	return c
}

// Use sets who tells agents that their lists have changed.
func (c *Controller) Use(a Agents) { c.agents = a }

// Close ends all servers. No process is left.
func (c *Controller) Close(ctx context.Context) error {
	c.cancel()
	err := c.hub.Close(ctx)
	c.work.Wait()
	return err
}

// Run notices changed configuration files until the context ends.
func (c *Controller) Run(ctx context.Context) error {
	tick := time.NewTicker(watchPause)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-c.ctx.Done():
			return nil
		case <-tick.C:
			c.lookAll()
		}
	}
}

// manifestChanged is told by the hub that a server's lists are new.
func (c *Controller) manifestChanged(hash string) {
	c.mu.Lock()
	c.lists.forgetLists(hash)
	clear(c.indexes)
	c.mu.Unlock()
	c.tellAll()
}

// serverChanged is told by the hub of every transition; screens are told of those that they show.
func (c *Controller) serverChanged(s hub.State) {
	key := s.Hash + " " + string(s.Thread)
	c.mu.Lock()
	last, known := c.told[key]
	if !known {
		last = hub.Cold
	}
	now := s.Status
	if now == hub.Busy {
		now = hub.Ready
	}
	if forgotten := s.Thread != "" && c.threads[s.Thread] == nil; now == hub.Cold || forgotten { // its end may be told late
		delete(c.told, key)
	} else {
		c.told[key] = now
	}
	c.mu.Unlock()
	if now != last {
		c.cfg.Threads.Changed(s.Thread)
	}
}
