package mcpctl

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"orchestrator/mcpctl/gateway"
	"orchestrator/mcpctl/hub"
	"orchestrator/mcpctl/trust"
	"orchestrator/thread"
	"orchestrator/thread/ground/cache"
)

// readings knows the lists of servers, and the tokens of what is in them.
type readings struct {
	cfg *Config
	hub *hub.Hub

	counted *cache.Cache[[sha256.Size]byte, int64] // tokens, by definition

	mu    sync.Mutex         // guards reads
	reads map[string]reading // of manifests, by ID and launch hash
}

func newReadings(cfg *Config, h *hub.Hub) *readings {
	return &readings{cfg: cfg, hub: h, reads: map[string]reading{}, counted: cache.New[[sha256.Size]byte, int64](maxCounted)}
}

// forgetLists forgets the lists of a launch hash, so that they are read again.
func (c *readings) forgetLists(hash string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.DeleteFunc(c.reads, func(key string, _ reading) bool { return strings.HasSuffix(key, " "+hash) })
}

// forgetAllLists forgets all lists.
func (c *readings) forgetAllLists() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.reads)
}

// reading returns what is known of a server's lists; false if it was never started. It starts nothing.
func (c *readings) reading(e *entry) (reading, bool) {
	c.mu.Lock()
	r, ok := c.reads[e.ID+" "+e.hash]
	c.mu.Unlock()
	if ok {
		return r, true
	}
	m, ok := c.hub.Cached(e.server())
	if !ok {
		return reading{}, false
	}
	r = reading{manifest: m}
	var raws []json.RawMessage
	for _, t := range m.Tools {
		if t.Problem == "" {
			raws = append(raws, t.Raw)
		}
	}
	review, err := c.cfg.Trust.Check(e.Definition, e.hash,
		trust.Lists{Tools: raws, Prompts: m.Prompts, Resources: m.Resources, Templates: m.Templates})
	next := 0
	for _, t := range m.Tools {
		one := tool{Tool: t, withheld: t.Problem}
		switch {
		case t.Problem != "":
		case err != nil:
			one.withheld = "its definition cannot be compared with the one you accepted: " + err.Error()
		default:
			one.review = review.Tools[next]
			next++
			one.withheld = withheld(one.review)
		}
		if one.withheld == "" && !allows(e.Definition, t.Name) {
			one.withheld = "its configuration leaves it out"
		}
		r.tools = append(r.tools, one)
	}
	if err == nil {
		r.judge(m.Prompts, review.Prompts)
		r.judge(m.Resources, review.Resources)
		r.judge(m.Templates, review.Templates)
	}
	c.mu.Lock()
	c.reads[e.ID+" "+e.hash] = r
	c.mu.Unlock()
	return r, true
}

// judge adds what is not a tool, with the judgement of each.
func (r *reading) judge(raws []json.RawMessage, reviews []trust.Tool) {
	for i, raw := range raws {
		r.others = append(r.others, other{raw: raw, review: reviews[i], withheld: withheld(reviews[i])})
	}
}

// knows returns an error if a server is known not to have a tool.
func (c *readings) knows(e *entry, name string) error {
	r, ok := c.reading(e)
	if !ok {
		return nil
	}
	if slices.ContainsFunc(r.tools, func(t tool) bool { return t.Name == name }) {
		return nil
	}
	return thread.Hint(fmt.Errorf("tool %q of %s: %w", name, e.ID, thread.ErrNotFound),
		"`orchestrator mcp show "+e.ID+"` lists its tools")
}

// tokens returns how many tokens a definition has, as an agent gets it.
func (c *readings) tokens(raw []byte) int64 {
	sum := sha256.Sum256(raw)
	n, ok := c.counted.Get(sum)
	if ok {
		return n
	}
	definition, ok := gateway.Definition(raw, "")
	if !ok {
		definition = raw
	}
	n = int64(c.cfg.Tokens(string(definition)))
	c.counted.Put(sum, n)
	return n
}

// maxCounted is how many definitions' tokens are remembered.
const maxCounted = 20_000

// withheldTools returns the definitions of a server that wait for the person, and what tells them from others; "" if
// there are none.
func (c *readings) withheldTools(e *entry) (hash string, lists trust.Lists) {
	if !e.accepted() {
		return "", lists
	}
	r, _ := c.reading(e)
	h := sha256.New()
	waits := func(t trust.Tool, raw json.RawMessage) bool {
		if !t.Withheld || t.State == trust.ToolInvalid {
			return false
		}
		hash = "some"
		fmt.Fprintf(h, "%s %s\n", t.Kind, raw)
		return true
	}
	for _, t := range r.tools {
		if waits(t.review, t.Raw) {
			lists.Tools = append(lists.Tools, t.Raw)
		}
	}
	for _, o := range r.others {
		if !waits(o.review, o.raw) {
			continue
		}
		switch o.review.Kind {
		case trust.OfPrompt:
			lists.Prompts = append(lists.Prompts, o.raw)
		case trust.OfResource:
			lists.Resources = append(lists.Resources, o.raw)
		default:
			lists.Templates = append(lists.Templates, o.raw)
		}
	}
	if hash == "" {
		return "", lists
	}
	return hex.EncodeToString(h.Sum(nil)), lists
}

// count fills in the numbers of tools.
func (c *readings) count(s *thread.MCPServer, e *entry, off []string) {
	if !e.accepted() {
		return
	}
	r, known := c.reading(e)
	s.Known = known
	for _, t := range r.tools {
		s.Tools++
		switch {
		case t.review.Withheld:
			s.Withheld++
		case t.withheld != "":
		case !slices.Contains(off, e.ID+"/"+t.Name):
			s.ToolsOn++
			s.Tokens += c.tokens(t.Raw)
		}
	}
	for _, o := range r.others {
		if o.review.Withheld {
			s.Withheld++
		}
	}
}

// tokensOf returns the tokens of all definitions of a server that are not withheld.
func (c *readings) tokensOf(e *entry) int64 {
	var s thread.MCPServer
	c.count(&s, e, nil)
	return s.Tokens
}
