package mcpctl

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"time"

	"orchestrator/mcpctl/definition"
	"orchestrator/mcpctl/hidden"
	"orchestrator/mcpctl/hub"
	"orchestrator/mcpctl/trust"
	"orchestrator/thread"
)

// Report lists all servers, as a thread has them if one is named. It starts nothing.
func (c *Controller) Report(_ context.Context, q thread.MCPQuery) (thread.MCPReport, error) {
	b, err := c.boardOf(q.Thread)
	if err != nil {
		return thread.MCPReport{}, err
	}
	cat := c.watched(c.spotFor(b, q.Dir))
	states := c.hub.States()
	report := thread.MCPReport{Servers: []thread.MCPServer{}}
	for _, e := range cat.entries {
		s := c.row(b, e, states)
		if s.On {
			report.Tokens += s.Tokens
		}
		if b == nil || b.takes {
			report.All += c.lists.tokensOf(e)
		}
		report.Servers = append(report.Servers, s)
	}
	for _, p := range cat.problems {
		text := p.Text
		if p.Server != "" {
			text = p.Server + ": " + text
		}
		report.Problems = append(report.Problems, thread.MCPProblem{File: p.File, Line: p.Line, Text: hidden.Visible(text)})
	}
	if b != nil {
		c.mu.Lock()
		reach, id := b.reach, b.t.ID
		c.mu.Unlock()
		report.Outside = slices.Clone(reach.Outside)
		if report.None = !b.takes; !report.None {
			report.Takes = c.takes(id, reach)
		}
		switch {
		case c.cfg.Off:
			report.Outside = append(report.Outside, "the setting mcp is off: agents start the servers of their own configuration")
		case reach.Offered && !reach.Given:
			report.Outside = append(report.Outside, "this program has not connected to them: the file that ORCHESTRATOR_MCP_CONFIG names says how")
		case report.None, report.Takes == "":
			report.Outside = append(report.Outside, "this agent does not use our MCP servers")
		}
		if reach.Given && !reach.Deferred && c.cfg.CacheCost != nil {
			report.CacheTokens, report.CacheUSD = c.cfg.CacheCost(id)
		}
	}
	return report, nil
}

// takes returns when a switch takes effect for the thread's agent; empty for never.
func (c *Controller) takes(id thread.ID, r thread.MCPReach) string {
	switch {
	case c.cfg.Off:
		return ""
	case !r.Given && !slices.Contains(c.cfg.Threads.Running(), id):
		return "at the next start"
	case !r.Given:
		return ""
	case r.Live && !c.stale(id):
		return "at once"
	default:
		return "at the next resume"
	}
}

// row returns a server as a thread has it.
func (c *Controller) row(b *switchboard, e *entry, states []hub.State) thread.MCPServer {
	s := thread.MCPServer{
		ID: e.ID, Name: hidden.Visible(e.Name), Transport: string(e.Transport), Target: target(e.Definition),
		Trusted: e.Trusted(), Accepted: e.verdict.State == trust.Accepted, Changed: e.verdict.State == trust.Changed,
		Hash: e.hash, Problem: hidden.Visible(e.Problem), Share: string(shareOf(e.Definition)), Pattern: e.Patterns,
		State: string(hub.Cold),
	}
	for _, w := range e.Warnings {
		s.Warnings = append(s.Warnings, hidden.Visible(w))
	}
	for _, from := range e.Sources {
		s.Sources = append(s.Sources, thread.MCPSource{File: from.File, Line: from.Line, Agent: from.Agent, Scope: string(from.Scope)})
	}
	var own thread.ID
	var kept string
	var off []string
	if b != nil {
		c.mu.Lock()
		own, kept = b.t.ID, b.reach.Keeps
		if on, ok := b.state(e); ok {
			s.On, s.Ending, s.By, s.Why = e.accepted() && b.takes, on.ending, on.by, on.why
		}
		off = slices.Clone(b.decided.Tools)
		c.mu.Unlock()
	}
	c.lists.count(&s, e, off)
	best := len(byUse())
	for _, st := range states {
		if st.Hash != e.hash || st.Thread != "" && own != "" && st.Thread != own {
			continue
		}
		s.Memory += st.Bytes
		s.Starts += st.Starts
		if st.LastCall.After(s.Called) {
			s.Called, s.CallMS = st.LastCall, float64(st.LastTook.Microseconds())/1000
		}
		if rank := slices.Index(byUse(), st.Status); rank < best {
			best = rank
			s.State, s.Reason, s.Retry, s.PID = string(st.Status), hidden.Visible(st.Reason), st.Next, st.PID
		}
	}
	if b != nil && e.accepted() && !s.On {
		s.State, s.Reason, s.Retry = string(hub.Disabled), "", time.Time{} // others may use it
	}
	switch {
	case s.Problem != "":
		s.State, s.Reason = string(hub.Failed), s.Problem
	case e.unread != "":
		s.State, s.Reason = string(hub.Unapproved), e.unread
	case e.verdict.State == trust.Rejected:
		s.State, s.Reason, s.Rejected = string(hub.Unapproved), "you have rejected it", true
	case s.Changed:
		s.State, s.Reason, s.ChangedIn = string(hub.Unapproved), "it "+e.changed(), e.at.dir
	case !s.Accepted:
		s.State, s.Reason = string(hub.Unapproved), "you have not accepted it yet"
	}
	if kept != "" && c.shows(own, &s, off) {
		s.Kept = kept
	}
	return s
}

// shows reports whether the agent was given tools of a server that are off now: all of them, or those in the list.
func (c *Controller) shows(id thread.ID, s *thread.MCPServer, off []string) bool {
	if !s.On {
		return c.given(id, s.ID)
	}
	var own []string
	for _, ref := range off {
		if tool, ok := strings.CutPrefix(ref, s.ID+"/"); ok {
			own = append(own, tool)
		}
	}
	return len(own) > 0 && c.given(id, s.ID, own...)
}

// byUse are the states of a server with several processes: the first that one of them has is the server's.
func byUse() []hub.Status {
	return []hub.Status{
		hub.Busy, hub.Ready, hub.Degraded, hub.Starting, hub.NeedsInput, hub.NeedsAuth, hub.Quarantined, hub.Backoff, hub.Failed,
		hub.Unapproved, hub.Disabled, hub.Cold,
	}
}

// target is the command without its arguments, or the URL without what may be secret.
func target(d definition.Definition) string {
	if d.Transport == definition.Stdio {
		return hidden.Visible(strings.TrimSpace(d.Command + " " + firstPackage(d.Args)))
	}
	u, err := url.Parse(d.URL)
	if err != nil {
		return ""
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return hidden.Visible(u.String())
}

// firstPackage is the argument that names what a package runner runs, which tells more than its own name.
func firstPackage(args []string) string {
	for _, a := range args {
		if !strings.HasPrefix(a, "-") && !strings.ContainsAny(a, "=$") {
			return a
		}
	}
	return ""
}

// Detail returns everything about one server. It starts nothing.
func (c *Controller) Detail(ctx context.Context, q thread.MCPAct) (thread.MCPDetail, error) {
	b, err := c.boardOf(q.Thread)
	if err != nil {
		return thread.MCPDetail{}, err
	}
	at := c.spotFor(b, q.Dir)
	c.watched(at)
	e, err := c.get(at, q.Server)
	if err != nil {
		return thread.MCPDetail{}, err
	}
	d := thread.MCPDetail{MCPServer: c.row(b, e, c.hub.States()), Launch: c.spots.shown(e), Log: c.hub.Log(e.hash)}
	if e.verdict.State == trust.Changed {
		d.Diff = definition.Diff(e.verdict.Was, d.Launch)
	}
	if e.accepted() {
		r, _ := c.lists.reading(e)
		for _, t := range r.tools {
			one := thread.MCPTool{
				Name: hidden.Visible(t.Name), Description: hidden.Visible(description(t.Raw)), Tokens: c.lists.tokens(t.Raw),
				Diff: t.review.Diff, On: t.withheld == "",
			}
			if t.review.Withheld {
				one.Withheld = hidden.Visible(t.withheld)
			} else {
				one.Unusable = hidden.Visible(t.withheld)
			}
			if b != nil {
				c.mu.Lock()
				one.On = one.On && !b.hides(e.ID, t.Name)
				c.mu.Unlock()
			}
			for _, h := range t.review.Hidden {
				one.Hidden = append(one.Hidden, h.String())
			}
			d.List = append(d.List, one)
		}
		for _, o := range r.others { // of the others, only what the person has to look at
			if o.review.Withheld {
				d.List = append(d.List, thread.MCPTool{
					Name: kindWord(o.review.Kind) + " " + hidden.Visible(o.review.Name), Diff: o.review.Diff,
					Description: hidden.Visible(description(o.raw)), Withheld: hidden.Visible(o.withheld),
				})
			}
		}
	}
	d.ToolsHash, _ = c.lists.withheldTools(e)
	d.Rates = rates(ctx, c.cfg, e)
	return d, nil
}

// kindWord returns what a definition is of.
func kindWord(k trust.Kind) string {
	switch k {
	case trust.OfPrompt:
		return "prompt"
	case trust.OfResource:
		return "resource"
	case trust.OfTemplate:
		return "resource template"
	default:
		return "tool"
	}
}

// ratedPrompts is how many past prompts the rates of patterns are measured on.
const ratedPrompts = 200

// rates returns how often each pattern of a server would have fired on the project's past prompts.
func rates(ctx context.Context, cfg *Config, e *entry) []thread.MCPRate {
	if len(e.Patterns) == 0 {
		return nil
	}
	prompts, err := cfg.Threads.Prompts(ctx, ratedPrompts)
	if err != nil {
		cfg.Log.Warn("read past prompts", "err", err)
	}
	each, _ := e.patterns.Rate(prompts)
	var rates []thread.MCPRate
	for _, r := range each {
		rates = append(rates, thread.MCPRate{Pattern: hidden.Visible(r.Pattern), Fired: r.Fired, Of: r.Of})
	}
	return rates
}

// Why returns which servers a text would switch on or suggest.
func (c *Controller) Why(_ context.Context, q thread.MCPTask) ([]thread.MCPWhy, error) {
	b, err := c.boardOf(q.Thread)
	if err != nil {
		return nil, err
	}
	list := []thread.MCPWhy{}
	at := c.spotFor(b, q.Dir)
	for _, e := range c.in(at).entries {
		reason, ok := e.patterns.Match(q.Text)
		if !ok {
			continue
		}
		w := thread.MCPWhy{Server: e.ID, On: true, Why: reason}
		if err := usable(e); err != nil {
			w.On, w.Blocked = false, err.Error()
		} else if b != nil {
			c.mu.Lock()
			if slices.Contains(b.decided.Off, e.ID) {
				w.On, w.Blocked = false, "you switched it off for this thread"
			}
			c.mu.Unlock()
		}
		list = append(list, w)
	}
	for _, s := range c.likely(at, q.Text) {
		if !slices.ContainsFunc(list, func(w thread.MCPWhy) bool { return w.Server == s.Server }) {
			list = append(list, thread.MCPWhy{Server: s.Server, Why: s.Why, Score: s.Score})
		}
	}
	return list, nil
}
