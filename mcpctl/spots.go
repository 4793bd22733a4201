package mcpctl

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"orchestrator/mcpctl/discovery"
	"orchestrator/thread"
)

// spots knows the places at which servers are started.
type spots struct{ cfg *Config }

// spotIn returns where the servers of a thread are started in a folder; those that threads share have no thread.
func (p spots) spotIn(id thread.ID, dir string) spot {
	s := spot{dir: dir}
	if id == "" {
		return s
	}
	if s.env = p.cfg.Threads.Environ(id); s.env != nil {
		sum := sha256.Sum256([]byte(strings.Join(s.env, "\x00")))
		s.id = hex.EncodeToString(sum[:])
	}
	return s
}

// folder returns the folder of the project whose catalog holds at a spot: the spot's own, or in a worktree the one that
// it is a copy of.
func (p spots) folder(s spot) string {
	if s.dir == "" {
		return p.cfg.Project
	}
	return p.cfg.Places.In(s.dir).Where()
}

// isProject reports whether servers for a spot are started as those of the catalog are.
func (p spots) isProject(s spot) bool {
	return s.env == nil && (s.dir == "" || s.dir == p.folder(s))
}

// environ is the environment at a spot.
func (p spots) environ(s spot) []string {
	if s.env != nil {
		return s.env
	}
	return p.cfg.Env
}

// lookup returns a function that knows the variables of definitions at a spot.
func (p spots) lookup(s spot) func(name string) (string, bool) {
	env := p.environ(s)
	return func(name string) (string, bool) {
		if name == "workspaceFolder" {
			return p.cfg.Project, true
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
func (p spots) places(s spot) discovery.Places {
	in := p.cfg.Places.In(s.dir)
	if s.env != nil {
		in.Lookup = p.lookup(s)
	}
	return in
}

// shown returns what a person sees of what a server starts.
func (p spots) shown(e *entry) []string {
	return e.Shown(p.places(e.at).Hasher(cmp.Or(e.at.dir, p.cfg.Project)))
}
