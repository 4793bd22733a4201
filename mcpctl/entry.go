package mcpctl

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"orchestrator/mcpctl/definition"
	"orchestrator/mcpctl/discovery"
	"orchestrator/mcpctl/hub"
	"orchestrator/mcpctl/match"
	"orchestrator/mcpctl/trust"
	"orchestrator/thread"
)

// entry is a configured server with what the person said about it.
type entry struct {
	definition.Definition
	hash     string
	verdict  trust.Verdict
	patterns match.Patterns
}

// accepted reports whether exactly this may be started.
func (e *entry) accepted() bool { return e.verdict.State == trust.Accepted && e.Problem == "" }

// server is the entry as the hub takes it.
func (e *entry) server() hub.Server {
	return hub.Server{ID: e.ID, Hash: e.hash, Definition: e.Definition, Trusted: e.Trusted()}
}

// isFor reports whether a server is on for an agent unless something else is decided: it is configured for that agent or
// for the project as a whole, is enabled there, and has no patterns that would switch it on when it is needed.
func (e *entry) isFor(agent string) bool {
	if !e.Enabled || len(e.Patterns) > 0 {
		return false
	}
	return slices.ContainsFunc(e.Sources, func(s definition.Source) bool {
		return s.Agent == agent || s.Agent == "orchestrator" || strings.HasSuffix(s.File, "/.mcp.json")
	})
}

// catalog is what is configured, at one moment.
type catalog struct {
	entries  []*entry // by ID
	problems []discovery.Problem
	at       time.Time
}

// find returns a server by its ID.
func (c *catalog) find(id string) (*entry, bool) {
	i, ok := slices.BinarySearchFunc(c.entries, id, func(e *entry, id string) int { return strings.Compare(e.ID, id) })
	if !ok {
		return nil, false
	}
	return c.entries[i], true
}

func same(a, b *catalog) bool {
	return slices.EqualFunc(a.entries, b.entries, func(x, y *entry) bool {
		return x.ID == y.ID && x.hash == y.hash && x.verdict.State == y.verdict.State && x.Problem == y.Problem &&
			x.Enabled == y.Enabled && slices.Equal(x.Patterns, y.Patterns)
	})
}

// usable says why a server cannot be switched on.
func usable(e *entry) error {
	switch {
	case e.Problem != "":
		return fmt.Errorf("%s: %w", e.Problem, thread.ErrInvalid)
	case !e.accepted():
		return thread.Hint(fmt.Errorf("you have not accepted what it starts: %w", thread.ErrRefused),
			"read it and accept it: `orchestrator mcp approve "+e.ID+"`, or m and a on the screen")
	}
	return nil
}
