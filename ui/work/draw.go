package work

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/work"
	"orchestrator/ui/gauge"
	"orchestrator/ui/layout"
	"orchestrator/ui/plain"
	"orchestrator/ui/styled"
	"orchestrator/ui/theme"
)

// drawEmpty says how to begin.
func drawEmpty(c *layout.Canvas, b layout.Box, th *theme.Theme) {
	lines := styled.Wrap(b.W, styled.Span{Text: "No work yet. A work session is what a piece of work is for: begin one, and run agents in it.", Tok: theme.Muted})
	lines = append(lines, styled.Line{},
		styled.Of(theme.Code, `orchestrator session init "Fix the login"`),
		styled.Of(theme.Code, `orchestrator run --once --session work-001 "Find the cause"`))
	for y, l := range lines {
		if y < b.H {
			c.PrintSpans(b.Row(y), 0, 0, th, l.Spans)
		}
	}
}

// look is how a state is drawn.
type look struct {
	glyph string
	tok   theme.Token
	word  string
}

// lookOf returns how an execution is drawn; asks is set if it waits for the person to agree.
func lookOf(r work.Row, asks bool) look {
	switch {
	case asks:
		return look{"◆", theme.Waiting, "proceed?"}
	case r.State == work.NeedsInput:
		return look{"◆", theme.Waiting, "needs you"}
	case r.State == work.Queued:
		return look{"○", theme.Muted, "queued"}
	case r.State == work.Completed:
		return look{"✓", theme.Muted, "completed"}
	case r.State == work.Failed:
		return look{"▲", theme.Bad, "failed"}
	case r.State == work.Lost:
		return look{"▲", theme.Bad, "lost"}
	case r.State == work.Cancelled:
		return look{"□", theme.Muted, "cancelled"}
	case r.Kind == work.KindHand:
		return look{"◐", theme.Working, "deployed"}
	default:
		return look{"◐", theme.Working, string(r.State)}
	}
}

// lookOfTask returns how a task is drawn.
func lookOfTask(t work.TaskStatus) look {
	word := strings.ReplaceAll(string(t), "_", " ")
	switch t {
	case work.TaskInProgress:
		return look{"", theme.Working, word}
	case work.TaskComplete:
		return look{"", theme.Muted, word}
	case work.TaskFailed:
		return look{"", theme.Bad, word}
	default:
		return look{"", theme.Muted, word}
	}
}

// origin says who knows what an execution did, "" if we do.
func origin(r work.Row) string {
	switch r.Origin {
	case work.OriginHand:
		return "by hand"
	case work.OriginNative:
		return "sub-agent"
	default:
		if r.Kind == work.KindTerminal {
			return "terminal"
		}
		return ""
	}
}

// The widths of columns, from the right edge: cost, age, state; of work sessions counts, money and gauge.
const (
	costWidth  = 9
	ageWidth   = 7
	stateWidth = 11
	gaugeWidth = 10
)

// drawNode draws a row.
func (f *source) drawNode(c *layout.Canvas, b layout.Box, th *theme.Theme, n node) {
	_, b = b.Left(min(2*n.depth, b.W/4))
	switch {
	case n.row != nil:
		f.drawExecution(c, b, th, n)
	case n.task != nil:
		l := lookOfTask(n.task.Status)
		x := c.Print(b, 0, 0, th.Style(theme.Muted), fold(n))
		right := b.W - costWidth - ageWidth - stateWidth
		c.Print(b, right, 0, th.Style(l.tok), l.word)
		right--
		x = c.Print(b, x, 0, th.Style(theme.Text), plain.Cut(plain.Line(n.task.Title), max(right-x-6, 4)))
		c.Print(b, x+1, 0, th.Style(theme.Muted), countOf(n.count))
	case n.session != nil:
		f.drawSession(c, b, th, n)
	default:
		x := c.Print(b, 0, 0, th.Style(theme.Muted), fold(n))
		x = c.Print(b, x, 0, th.Style(theme.Heading), "in no work session")
		c.Print(b, x+1, 0, th.Style(theme.Muted), countOf(n.count))
	}
}

// fold is the mark of what can be unfolded.
func fold(n node) string {
	switch {
	case !n.folds:
		return "  "
	case n.open:
		return "▾ "
	default:
		return "▸ "
	}
}

func countOf(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

// drawSession draws a work session: its name, phase and status, how much of its budget is spent, and how many executions it
// has.
func (f *source) drawSession(c *layout.Canvas, b layout.Box, th *theme.Theme, n node) {
	s := n.session
	right := b.W
	put := func(tok theme.Token, text string, w int) {
		c.Print(b, right-plain.Width(text), 0, th.Style(tok), text)
		right -= max(w, plain.Width(text)) + 2
	}
	if b.W >= 96 {
		put(theme.Muted, counts(s.Sum, s.Queued), 16)
	}
	said, share, limited := f.spent(s)
	if b.W < 66 && limited {
		said = thread.Percent(share)
	}
	put(theme.Strong, said, 0)
	if limited && b.W >= 58 {
		tok := theme.Muted
		if share >= 100 {
			tok = theme.Bad
		}
		if b.W >= 66 {
			put(tok, thread.Percent(share), 4)
		}
		c.PrintSpans(b, right-gaugeWidth+1, 0, th, gauge.Line(min(share, 100), gaugeWidth))
		right -= gaugeWidth + 1
	}
	x := c.Print(b, 0, 0, th.Style(theme.Muted), fold(n))
	words := statusOf(s.Session)
	room := right - x - 1
	if room-plain.Width(words) >= 16 {
		right = room - plain.Width(words) + x
		tok := theme.Muted
		if s.Session.Status == work.SessionFailed {
			tok = theme.Bad
		}
		c.Print(b, right, 0, th.Style(tok), words)
	}
	c.Print(b, x, 0, th.Style(theme.Heading), plain.Cut(plain.Line(s.Session.Name), max(right-x-1, 4)))
}

// statusOf says where a work session stands: its phase while it is open, else how it ended.
func statusOf(s work.Session) string {
	if s.Status.Final() || s.Phase == 0 {
		return string(s.Status)
	}
	return fmt.Sprintf("%d %s", s.Phase, s.Phase)
}

// counts says how many executions there are.
func counts(s work.Stat, queued int) string {
	var parts []string
	add := func(n int, word string) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, word))
		}
	}
	add(queued, "queued")
	add(s.Open, "open")
	add(s.Failed, "failed")
	add(s.Completed, "done")
	return strings.Join(parts, ", ")
}

// drawExecution draws an execution: its mark, name and type, and what it is, its state, how long it took and what it cost.
func (f *source) drawExecution(c *layout.Canvas, b layout.Box, th *theme.Theme, n node) {
	r := *n.row
	_, q := f.asks(n)
	l := lookOf(r, q != nil)
	c.Print(b, b.W-plain.Width(r.Money()), 0, th.Style(theme.Text), r.Money())
	right := b.W - costWidth
	took := f.took(r)
	c.Print(b, right-plain.Width(took), 0, th.Style(theme.Muted), took)
	right -= ageWidth
	c.Print(b, right-stateWidth, 0, th.Style(l.tok), l.word)
	right -= stateWidth + 1
	x := c.Print(b, 0, 0, th.Style(l.tok), l.glyph+" ")
	x = c.Print(b, x, 0, th.Style(theme.Text), plain.Cut(plain.Line(r.Execution), max(right-x, 4)))
	for _, part := range []struct {
		tok  theme.Token
		text string
	}{
		{theme.Strong, r.AgentType}, {theme.Muted, origin(r)}, {theme.Muted, agentOf(r)}, {theme.Muted, r.Scope},
	} {
		text := plain.First(part.text)
		if text == "" || right-x < 6 {
			continue
		}
		x = c.Print(b, x+2, 0, th.Style(part.tok), plain.Cut(text, right-x-2))
	}
}

// agentOf names the agent and its model, as far as the type does not say it.
func agentOf(r work.Row) string {
	agent := r.Agent
	if agent == r.AgentType {
		agent = ""
	}
	return strings.TrimSpace(agent + " " + r.Model)
}

// took is how long an execution took, or has been at it.
func (f *source) took(r work.Row) string {
	switch {
	case r.Seconds > 0:
		return thread.Elapsed(r.Took().Round(time.Second))
	case r.State.Holds() && !r.Deployed.IsZero():
		return thread.Elapsed(f.Clock().Sub(r.Deployed).Round(time.Second))
	default:
		return ""
	}
}

// drawFoot says more about the row under the cursor.
func (f *source) drawFoot(c *layout.Canvas, b layout.Box, th *theme.Theme, n node) {
	for x := range b.W {
		c.Print(b, x, 0, th.Style(theme.Border), "─")
	}
	var lines []string
	tok := theme.Text
	switch {
	case n.row != nil:
		r := *n.row
		_, q := f.asks(n)
		l := lookOf(r, q != nil)
		switch {
		case q != nil:
			lines, tok = []string{q.About}, theme.Waiting
		case r.Error != "":
			lines, tok = []string{r.Error, r.Scope}, theme.Bad
			if !r.State.Final() {
				tok = theme.Muted
			}
		default:
			lines = []string{cmp.Or(r.Message, r.Scope, strings.TrimSpace(r.AgentType+", "+l.word))}
		}
	case n.task != nil:
		lines = []string{n.task.Title, n.task.Body}
	case n.session != nil:
		s := n.session.Session
		policy := cmp.Or(s.Approval, work.ApproveSuggest)
		lines = []string{s.Scope, fmt.Sprintf("%s, policy %s, %s", s.Status, policy, s.Created.Local().Format("Jan 2 15:04"))}
	default:
		lines = []string{"Executions that belong to no work session: the newest of what ran here."}
	}
	_, b = b.Top(1)
	y := 0
	for i, text := range lines {
		if i > 0 {
			tok = theme.Muted
		}
		for _, l := range styled.Wrap(b.W, styled.Span{Text: plain.Line(text), Tok: tok}) {
			if y < b.H && l.Text() != "" {
				c.PrintSpans(b.Row(y), 0, 0, th, l.Spans)
				y++
			}
		}
	}
}
