package mcpctl

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"orchestrator/mcpctl/discovery"
	"orchestrator/thread"
)

// spotFor returns where the servers of a thread are started, or without one those of a folder, empty for the project's.
func (c *Controller) spotFor(b *switchboard, dir string) spot {
	if b == nil && dir != "" {
		return c.spotIn("", c.cfg.Places.In(dir).Where())
	}
	return c.spotOf(b)
}

// spotOf returns where the servers of a thread are started; nil means the project.
func (c *Controller) spotOf(b *switchboard) spot {
	if b == nil {
		return spot{dir: c.cfg.Project}
	}
	c.mu.Lock()
	id, dir := b.t.ID, b.t.Dir
	c.mu.Unlock()
	return c.spotIn(id, dir)
}

// spotIn returns where the servers of a thread are started in a folder; those that threads share have no thread.
func (c *Controller) spotIn(id thread.ID, dir string) spot {
	s := spot{dir: dir}
	if id == "" {
		return s
	}
	if s.env = c.cfg.Threads.Environ(id); s.env != nil {
		sum := sha256.Sum256([]byte(strings.Join(s.env, "\x00")))
		s.id = hex.EncodeToString(sum[:])
	}
	return s
}

// folder returns the folder of the project whose catalog holds at a spot: the spot's own, or in a worktree the one that
// it is a copy of.
func (c *Controller) folder(s spot) string {
	if s.dir == "" {
		return c.cfg.Project
	}
	return c.cfg.Places.In(s.dir).Where()
}

// isProject reports whether servers for a spot are started as those of the catalog are.
func (c *Controller) isProject(s spot) bool {
	return s.env == nil && (s.dir == "" || s.dir == c.folder(s))
}

// environ is the environment at a spot.
func (c *Controller) environ(s spot) []string {
	if s.env != nil {
		return s.env
	}
	return c.cfg.Env
}

// lookup returns a function that knows the variables of definitions at a spot.
func (c *Controller) lookup(s spot) func(name string) (string, bool) {
	env := c.environ(s)
	return func(name string) (string, bool) {
		if name == "workspaceFolder" {
			return c.cfg.Project, true
		}
		for i := len(env) - 1; i >= 0; i-- {
			if v, ok := strings.CutPrefix(env[i], name+"="); ok {
				return v, true
			}
		}
		return "", false
	}
}

// places are where servers are configured, with the values of a spot.
func (c *Controller) places(s spot) discovery.Places {
	p := c.cfg.Places.In(s.dir)
	if s.env != nil {
		p.Lookup = c.lookup(s)
	}
	return p
}
