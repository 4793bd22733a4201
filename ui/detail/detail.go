// Package detail lists facts about a thread: how full its context is according to the provider, what it cost, its folder,
// branch, session, parent and grants.
package detail

import (
	"fmt"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/grant"
	"orchestrator/ui/gauge"
	"orchestrator/ui/intent"
	"orchestrator/ui/layout"
	"orchestrator/ui/pager"
	"orchestrator/ui/plain"
	"orchestrator/ui/styled"
	"orchestrator/ui/theme"
)

// Model is the view.
type Model struct{ pages pager.Pager }

// New returns the view.
func New() *Model {
	m := &Model{}
	m.pages.Free = true
	return m
}

// Handle handles an action and reports whether it was one for the view.
func (m *Model) Handle(a intent.Action) bool { return m.pages.Handle(a) }

// Scroll scrolls by lines.
func (m *Model) Scroll(n int) { m.pages.Scroll(n) }

// Draw draws the view of a thread; parent is the name of its parent, and sharing those of threads in the same folder.
func (m *Model) Draw(c *layout.Canvas, b layout.Box, th *theme.Theme, s *thread.Status, parent string,
	sharing []string) {
	if s == nil {
		return
	}
	bar, rest := b.Top(2)
	if s.Gauge.Window > 0 {
		gauge.Bar(c, bar.Row(0), th, s.Gauge)
	}
	m.pages.Set(lines(s, parent, sharing, b.W-1))
	m.pages.Draw(c, rest, th, false)
}

// fact returns a labelled value of the view.
func fact(label, value string, w int) []styled.Line {
	if value == "" {
		return nil
	}
	const column = 14
	lines := styled.Wrap(w-column, styled.Span{Text: plain.Line(value)})
	return styled.Indent(lines, styled.Span{Text: fmt.Sprintf("%-*s", column, label), Tok: theme.Muted},
		styled.Span{Text: strings.Repeat(" ", column)})
}

func head(text string) []styled.Line { return []styled.Line{{}, styled.Of(theme.Heading, text)} }

func lines(s *thread.Status, parent string, sharing []string, w int) []styled.Line {
	var out []styled.Line
	add := func(l []styled.Line) { out = append(out, l...) }
	g := s.Gauge
	switch {
	case g.Tokens == 0:
		add(fact("context", "no messages yet", w))
	case g.Window == 0:
		add(fact("context", gauge.Numbers(g)+" tokens (context window unknown)", w))
	default:
		add(fact("context", fmt.Sprintf("%s, %s free", gauge.Of(g), thread.Tokens(max(g.Window-g.Tokens, 0))), w))
	}
	add(fact("made of", strings.Join(gauge.Apart(g), ", "), w))
	add(fact("source", source(g), w))
	add(fact("model", g.Model, w))
	add(prompts(s, w))
	u := s.Usage
	if u.Context() == 0 && g.CostUSD == 0 {
		add(about(s, parent, sharing, w))
		return out
	}
	add(head("Usage"))
	add(fact("input", thread.Tokens(u.Input), w))
	add(fact("cache read", thread.Tokens(u.CacheRead), w))
	add(fact("cache write", thread.Tokens(u.CacheWrite), w))
	add(fact("output", thread.Tokens(u.Output), w))
	cost := "unknown (no price for this model)"
	if _, known := s.Cost(); known {
		cost = s.Money()
	}
	add(fact("cost", cost, w))
	add(about(s, parent, sharing, w))
	return out
}

// prompts lists the unanswered prompts.
func prompts(s *thread.Status, w int) []styled.Line {
	if len(s.Prompts) == 0 {
		return nil
	}
	title := "Unanswered prompts"
	if s.Queued > 0 {
		title += fmt.Sprintf(", %d queued", s.Queued)
	}
	out := head(title)
	for _, p := range s.Prompts {
		text := plain.First(p.Text)
		if p.Reason != "" {
			text += " (" + p.Reason + ")"
		}
		out = append(out, fact(string(p.State), text, w)...)
	}
	return out
}

// about lists the facts about the thread, and its handoff.
func about(s *thread.Status, parent string, sharing []string, w int) []styled.Line {
	var out []styled.Line
	add := func(l []styled.Line) { out = append(out, l...) }
	add(head("Thread"))
	if s.Title != "" {
		add(fact("name", s.Name+" (for verbs and its branch)", w))
	}
	add(fact("task", s.Label, w))
	add(fact("agent", strings.TrimSpace(s.Agent+" "+s.Model), w))
	if r := s.Run; r != nil && r.Tier != "" { // an older version counted nothing
		add(fact("run's model", thread.SayModel(r.Model, r.Chosen), w))
		add(fact("run's calls", thread.SayCalls(r.Calls, r.MaxCalls, r.Rereads), w))
		add(fact("gap", r.Gap, w))
	}
	add(fact("turns", fmt.Sprint(s.Turn), w))
	add(fact("parent", parent, w))
	add(fact("folder", s.Dir, w))
	add(fact("shared with", plain.Names(sharing), w))
	add(fact("branch", s.Worktree.Branch, w))
	add(fact("setup", setup(s), w))
	add(fact("session", s.Session, w))
	add(fact("permissions", s.Launch.PermissionMode, w))
	add(fact("grants", grants(s), w))
	if s.Launch.NoGateway {
		add(fact("gateway", "off for this thread", w))
	} else if s.Aside != "" {
		add(fact("gateway", "not used: "+plain.Line(s.Aside), w))
	}
	if s.Around && !s.Launch.NoGateway {
		add(fact("gateway", "its requests do not come through it: nothing is masked", w))
	}
	switch s.Outcome.Kind {
	case thread.OutcomeMerged:
		add(fact("outcome", "merged as "+short(s.Outcome.Commit), w))
	case thread.OutcomeAbandoned:
		add(fact("outcome", "abandoned: "+s.Outcome.Reason, w))
	case thread.OutcomeNone:
	}
	if h := s.Handoff; h != nil {
		add(head("Handoff"))
		add(fact("task", h.Description, w))
		add(fact("budget", thread.Tokens(int64(h.Metadata.TokenBudget))+" tokens", w))
		add(styled.WrapAll(w, theme.Text, plain.Lines(h.ContextSummary)))
	}
	return out
}

func setup(s *thread.Status) string {
	if s.Setup.State == thread.SetupRuns {
		return "running"
	}
	return s.SetupProblem()
}

// grants lists what the agent may do with this program.
func grants(s *thread.Status) string {
	if len(s.Grants) == 0 {
		return "none (the agent sees only its own thread)"
	}
	return grant.Format(s.Grants)
}

func short(commit string) string {
	if len(commit) > 10 {
		return commit[:10]
	}
	return commit
}

func source(g thread.Gauge) string {
	switch {
	case g.Tokens == 0:
		return ""
	case g.Estimated:
		return "estimate (~): the provider reports no usage"
	case g.Source == "transcript":
		return "the agent's transcript (requests bypass the gateway)"
	default:
		return "reported by the provider"
	}
}
