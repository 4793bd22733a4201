package mcpctl

import (
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
	"time"

	"orchestrator/mcpctl/hub"
	"orchestrator/thread"
)

// switchboard is what is decided for one thread. What is in memory counts; it is stored at once for a person, and soon
// for what happens by itself.
type switchboard struct {
	t       thread.Thread // as it was when it was loaded: its agent and folder
	decided thread.MCPSwitches
	// ending are servers that are switched off but stay on until the running turn ends.
	ending map[string]bool
	reach  thread.MCPReach
	// prompts are hashes of the newest ones, to see each once.
	prompts []uint64
	task    string          // the prompt of the running turn
	fresh   []*entry        // servers that it switched on and that were never started before
	used    map[string]bool // servers that were called in it
}

// board returns a thread's switchboard, loaded the first time; nil if there is no such thread.
func (c *Controller) board(id thread.ID) *switchboard {
	c.mu.Lock()
	b := c.threads[id]
	c.mu.Unlock()
	if b != nil {
		return b
	}
	t, err := c.cfg.Threads.Find(string(id))
	if err != nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if b := c.threads[id]; b != nil {
		return b
	}
	b = &switchboard{t: t, decided: t.MCP.Clone(), ending: map[string]bool{}, used: map[string]bool{}}
	c.threads[id] = b
	return b
}

// chosen is a server that is on for a thread, and why.
type chosen struct {
	*entry
	by     thread.MCPBy
	why    string
	ending bool
}

// chosenFor returns the servers that a thread has switched on, by ID. mu is held.
func (b *switchboard) chosenFor(cat *catalog) []chosen {
	var all []chosen
	for _, e := range cat.entries {
		if on, ok := b.state(e); ok && e.accepted() {
			all = append(all, on)
		}
	}
	return all
}

// state returns how a server is switched, whether or not it can be used. mu is held.
func (b *switchboard) state(e *entry) (chosen, bool) {
	if w, ok := b.decided.Find(e.ID); ok {
		return chosen{entry: e, by: w.By, why: w.Why}, true
	}
	if b.ending[e.ID] {
		return chosen{entry: e, by: thread.MCPPerson, why: "off at the end of the turn", ending: true}, true
	}
	if !b.decided.Exact && !slices.Contains(b.decided.Off, e.ID) && e.isFor(b.t.Agent) {
		return chosen{entry: e, by: thread.MCPDefault, why: "its configuration"}, true
	}
	return chosen{}, false
}

// hides reports whether a tool is switched off.
func (b *switchboard) hides(server, tool string) bool {
	return slices.Contains(b.decided.Tools, server+"/"+tool)
}

// Enabled implements thread.MCP.
func (c *Controller) Enabled(id thread.ID) []string {
	b := c.board(id)
	if b == nil {
		return nil
	}
	cat := c.current()
	c.mu.Lock()
	defer c.mu.Unlock()
	var on []string
	for _, s := range b.chosenFor(cat) {
		if !s.ending {
			on = append(on, s.ID)
		}
	}
	return thread.MCPList(on, b.decided.Tools)
}

// Switch switches a server or a tool for a thread, as a person has asked.
func (c *Controller) Switch(ctx context.Context, r thread.MCPChange) (thread.MCPReport, error) {
	t, err := c.cfg.Threads.Find(r.Thread)
	if err != nil {
		return thread.MCPReport{}, err
	}
	e, err := c.get(r.Server)
	if err != nil {
		return thread.MCPReport{}, err
	}
	if r.On {
		if err := usable(e); err != nil {
			return thread.MCPReport{}, fmt.Errorf("switch on %s: %w", e.ID, err)
		}
	}
	if r.Tool != "" {
		if err := c.knows(e, r.Tool); err != nil {
			return thread.MCPReport{}, err
		}
	}
	working := c.cfg.Threads.Working(t.ID)
	err = c.decide(ctx, t.ID, func(b *switchboard) {
		switch {
		case r.Tool != "":
			b.decided = b.decided.SwitchTool(e.ID, r.Tool, r.On)
		case r.On:
			delete(b.ending, e.ID)
			b.decided = b.decided.SwitchOn(thread.MCPSwitch{Server: e.ID, By: thread.MCPPerson, Why: "switched on by you"})
		default:
			_, on := b.state(e)
			if delete(b.ending, e.ID); on && working && !r.Force {
				b.ending[e.ID] = true
			}
			b.decided = b.decided.SwitchOff(e.ID)
		}
	})
	if err != nil {
		return thread.MCPReport{}, err
	}
	if r.On && r.Tool == "" {
		c.hub.Prewarm(e.server(), nobody{t.ID, t.Dir})
	}
	return c.Report(ctx, thread.MCPQuery{Thread: string(t.ID)})
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

// Take implements thread.MCP.
func (c *Controller) Take(ctx context.Context, id thread.ID, server, why string) error {
	e, err := c.get(server)
	if err == nil {
		err = usable(e)
	}
	if err != nil {
		return fmt.Errorf("switch on %s: %w", server, err)
	}
	return c.decide(ctx, id, func(b *switchboard) {
		delete(b.ending, server)
		b.decided = b.decided.SwitchOn(thread.MCPSwitch{Server: server, By: thread.MCPOffer, Why: why})
	})
}

// decide changes what is decided for a thread once that is stored, and tells the agent and the screens. next may be
// called more than once.
func (c *Controller) decide(ctx context.Context, id thread.ID, next func(*switchboard)) error {
	b := c.board(id)
	if b == nil {
		return fmt.Errorf("thread %s: %w", id, thread.ErrNotFound)
	}
	c.saving.Lock()
	defer c.saving.Unlock()
	c.mu.Lock()
	try := &switchboard{t: b.t, decided: b.decided.Clone(), ending: maps.Clone(b.ending)}
	c.mu.Unlock()
	next(try)
	now := try.decided
	err := c.cfg.Threads.SetMCP(ctx, string(id), func(thread.MCPSwitches) thread.MCPSwitches { return now.Clone() })
	if err != nil {
		return err
	}
	c.mu.Lock()
	next(b)
	more := !b.decided.Equal(now) // something else was decided meanwhile
	c.mu.Unlock()
	if more {
		c.save(id)
	}
	c.tell(id)
	return nil
}

// tell tells a thread's agent and the screens that its servers have changed.
func (c *Controller) tell(id thread.ID) {
	c.agents.Changed(id)
	c.cfg.Threads.Changed(id)
}

// Prompt implements thread.MCP: its words may switch servers on, before the agent's next request.
func (c *Controller) Prompt(id thread.ID, text string) {
	b := c.board(id)
	if b == nil || strings.TrimSpace(text) == "" {
		return
	}
	h := fnv.New64a()
	h.Write([]byte(strings.Join(strings.Fields(text), " ")))
	cat := c.current()
	c.mu.Lock()
	if slices.Contains(b.prompts, h.Sum64()) {
		c.mu.Unlock()
		return
	}
	b.prompts = append(b.prompts, h.Sum64())
	b.prompts = b.prompts[max(0, len(b.prompts)-maxPrompts):]
	b.task = text
	var on []*entry
	for _, e := range cat.entries {
		if _, already := b.state(e); already && !b.ending[e.ID] || slices.Contains(b.decided.Off, e.ID) || !e.accepted() {
			continue
		}
		if reason, ok := e.patterns.Match(text); ok {
			b.decided = b.decided.SwitchOn(thread.MCPSwitch{Server: e.ID, By: thread.MCPPattern, Why: reason})
			on = append(on, e)
		}
	}
	t := b.t
	c.mu.Unlock()
	var fresh []*entry
	for _, e := range on {
		if _, known := c.reading(e); !known {
			fresh = append(fresh, e)
		}
		c.hub.Prewarm(e.server(), nobody{t.ID, t.Dir})
	}
	c.mu.Lock()
	b.fresh = fresh
	c.mu.Unlock()
	if len(on) > 0 {
		c.background(func() { c.tell(id) })
		c.save(id)
	}
	c.background(func() { c.suggest(id, text) })
}

// readyPause is how often Ready looks; connectPause is how long it waits for an agent to connect, and followPause for it
// to read its tools after a change.
const (
	readyPause   = 20 * time.Millisecond
	connectPause = 3 * time.Second
	followPause  = time.Second
)

// Ready implements thread.MCP.
func (c *Controller) Ready(ctx context.Context, id thread.ID) {
	c.mu.Lock()
	b := c.threads[id]
	var fresh []*entry
	given := false
	if b != nil {
		fresh, b.fresh = b.fresh, nil
		given = b.reach.Given
	}
	c.mu.Unlock()
	began := time.Now()
	tick := time.NewTicker(readyPause)
	defer tick.Stop()
	for given && !c.connected(id) && time.Since(began) < connectPause {
		select {
		case <-ctx.Done():
			return
		case <-c.ctx.Done():
			return
		case <-tick.C:
		}
	}
	if len(fresh) == 0 {
		return
	}
	known := time.Time{}
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.ctx.Done():
			return
		case <-tick.C:
		}
		switch {
		case known.IsZero() && c.started(fresh, id):
			known = time.Now()
		case !known.IsZero() && (c.followed(id, began) || time.Since(known) > followPause):
			return
		}
	}
}

// started reports whether the tools of all servers are known, or will not be soon.
func (c *Controller) started(servers []*entry, id thread.ID) bool {
	states := c.hub.States()
	for _, e := range servers {
		if _, known := c.reading(e); known {
			continue
		}
		failed := slices.ContainsFunc(states, func(s hub.State) bool {
			return s.Hash == e.hash && (s.Thread == "" || s.Thread == id) && s.Status != hub.Starting && s.Status != hub.Cold
		})
		if !failed {
			return false
		}
	}
	return true
}

// connected reports whether the agent has read its tools at all.
func (c *Controller) connected(id thread.ID) bool {
	f, ok := c.agents.(Freshness)
	if !ok {
		return true
	}
	_, read := f.Followed(id)
	return !read.IsZero()
}

// followed reports whether the agent has been told of a change since a moment, and has read its tools.
func (c *Controller) followed(id thread.ID, since time.Time) bool {
	f, ok := c.agents.(Freshness)
	if !ok {
		return true
	}
	told, read := f.Followed(id)
	return told.After(since) && read.After(told)
}

// maxPrompts is how many prompts of a thread are remembered as seen.
const maxPrompts = 50

// save stores what is decided for a thread, soon.
func (c *Controller) save(id thread.ID) {
	c.background(func() {
		c.saving.Lock()
		defer c.saving.Unlock()
		c.mu.Lock()
		b := c.threads[id]
		if b == nil {
			c.mu.Unlock()
			return
		}
		now := b.decided.Clone()
		c.mu.Unlock()
		ctx, cancel := context.WithTimeout(c.ctx, 30*time.Second)
		defer cancel()
		err := c.cfg.Threads.SetMCP(ctx, string(id), func(thread.MCPSwitches) thread.MCPSwitches { return now })
		if err != nil && ctx.Err() == nil {
			c.cfg.Log.Warn("store the switches of MCP servers", "thread", string(id), "err", err)
		}
	})
}

// background does something that nobody waits for.
func (c *Controller) background(do func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ctx.Err() == nil {
		c.work.Go(do)
	}
}

// suggest offers the server that a task most likely needs and that is not on.
func (c *Controller) suggest(id thread.ID, text string) {
	b := c.board(id)
	if b == nil {
		return
	}
	cat := c.current()
	for _, s := range c.likely(text) {
		e, ok := cat.find(s.Server)
		if !ok || !e.accepted() {
			continue
		}
		c.mu.Lock()
		_, on := b.state(e)
		off := slices.Contains(b.decided.Off, e.ID)
		given := b.reach.Given
		c.mu.Unlock()
		if on || off {
			continue
		}
		if given {
			c.cfg.Threads.Suggest(id, e.ID, s.Why)
		}
		return
	}
}

// TurnEnded implements thread.MCP: what was to be off at the end of the turn is off now, and what the turn used is
// remembered.
func (c *Controller) TurnEnded(id thread.ID) {
	c.mu.Lock()
	b := c.threads[id]
	if b == nil {
		c.mu.Unlock()
		return
	}
	ended := len(b.ending) > 0
	clear(b.ending)
	task := b.task
	var used []string
	for server := range b.used {
		used = append(used, server)
	}
	b.task = ""
	clear(b.used)
	c.mu.Unlock()
	if ended {
		c.tell(id)
	}
	if task != "" && len(used) > 0 && c.cfg.Memory != nil {
		slices.Sort(used)
		c.background(func() {
			h := fnv.New64a()
			h.Write([]byte(task))
			if err := c.cfg.Memory.Remember(fmt.Sprintf("%s %x", id, h.Sum64()), task, used); err != nil {
				c.cfg.Log.Warn("remember which MCP servers a task used", "err", err)
			}
		})
	}
}

// Restored implements thread.MCP.
func (c *Controller) Restored(id thread.ID) {
	c.mu.Lock()
	if b := c.threads[id]; b != nil {
		clear(b.ending)
	}
	c.mu.Unlock()
	t, err := c.cfg.Threads.Find(string(id))
	if err != nil {
		return
	}
	c.mu.Lock()
	if b := c.threads[id]; b != nil {
		b.t, b.decided = t, t.MCP.Clone()
		b.prompts = nil // the same words may come again, and mean the same
	}
	c.mu.Unlock()
	c.tell(id)
}

// Ended implements thread.MCP: the servers that only this thread used end with its agent.
func (c *Controller) Ended(id thread.ID) {
	c.mu.Lock()
	if b := c.threads[id]; b != nil {
		b.reach = thread.MCPReach{}
		clear(b.ending)
	}
	c.mu.Unlock()
	c.agents.Drop(id)
	c.hub.Forget(id)
}

// Launch implements thread.MCP.
func (c *Controller) Launch(t thread.Thread) *thread.MCPLaunch {
	cat := c.refresh()
	l := &thread.MCPLaunch{
		Name: gatewayName, Registered: c.cfg.Registered, Command: c.cfg.Bridge,
		Foreign: map[string][]thread.MCPForeign{}, Distrust: map[string]bool{},
	}
	if c.cfg.Web != "" {
		l.Command, l.URL, l.TokenVar, l.Token = nil, c.cfg.Web, c.cfg.TokenVar, c.cfg.Token(t)
	}
	for _, e := range cat.entries {
		for _, s := range e.Sources {
			l.Foreign[s.Agent] = append(l.Foreign[s.Agent], thread.MCPForeign{Name: e.Name, Remote: e.URL != ""})
			if s.Scope == projectScope && !e.accepted() {
				l.Distrust[s.Agent] = true
			}
		}
	}
	c.mu.Lock()
	if b := c.threads[t.ID]; b != nil {
		b.t = t
	}
	c.mu.Unlock()
	return l
}

// Launched implements thread.MCP.
func (c *Controller) Launched(id thread.ID, r thread.MCPReach) {
	b := c.board(id)
	if b == nil {
		return
	}
	c.mu.Lock()
	b.reach = r
	c.mu.Unlock()
	c.cfg.Threads.Changed(id)
}
