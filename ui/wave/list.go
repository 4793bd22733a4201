package wave

import (
	"fmt"
	"strings"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/plan"
	"orchestrator/thread/wave"
	"orchestrator/ui/dialog"
	"orchestrator/ui/graph"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"
	"orchestrator/ui/layout"
	"orchestrator/ui/plain"
	"orchestrator/ui/styled"
	"orchestrator/ui/theme"

	tea "charm.land/bubbletea/v2"
)

// list is the dialog with the tasks.
type list struct {
	src   *source
	do    does
	rows  dialog.Rows[wave.Sum]
	at    string // the task under the cursor when it was closed
	whole bool   // all of what the task under the cursor asks was drawn
}

// does is what rows lead to.
type does struct {
	enter  func(task string) dialog.Result
	answer func(q thread.NodeQuestion, yes, whole bool) dialog.Result
	menu   func(task plan.Task, node *wave.NodeView) tea.Cmd
	work   func() tea.Cmd
}

// fill lays the rows out again. The cursor stays on its task.
func (l *list) fill() {
	before := l.rows.Len() > 0
	l.rows.Bar = true
	l.rows.Set(l.src.known, func(a, b wave.Sum) bool { return a.Task.Name == b.Task.Name })
	if before {
		return
	}
	best := 0
	for i, s := range l.rows.Items() { // where it was, else at what asks, else at what works
		rank := 0
		switch {
		case s.Task.Name == l.at:
			rank = 3
		case l.at == "" && l.asks(s) != nil:
			rank = 2
		case l.at == "" && s.Task.Status == plan.InProgress:
			rank = 1
		}
		if rank > best {
			best = rank
			l.rows.Go(i)
		}
	}
}

// Title returns the title.
func (l *list) Title() string {
	switch n := l.rows.Len(); {
	case n == 0:
		return "tasks of plans"
	case l.src.more:
		return "tasks of plans: the newest " + plain.Count(n, "task")
	default:
		return "tasks of plans: " + plain.Count(n, "task")
	}
}

// Scope returns the scope of its keys.
func (l *list) Scope() intent.Scope { return intent.Waves }

// Size returns the size that it needs.
func (l *list) Size(w, h int) (int, int) { return min(w, 140), h }

// Item names what is under the cursor, to see later whether it still is.
func (l *list) Item() string {
	s, _ := l.rows.Item()
	return fmt.Sprint(s.Task.Name, " ", l.asks(s))
}

// asks is what a task asks first that is not being answered, nil for nothing.
func (l *list) asks(s wave.Sum) *thread.NodeQuestion {
	if s.Task.Status != plan.InProgress {
		return nil
	}
	for _, q := range s.Open {
		if l.src.still(q) {
			return &q
		}
	}
	return nil
}

// Hints returns the keys that do something with the task under the cursor.
func (l *list) Hints(layout.Box) []intent.Action {
	s, ok := l.rows.Item()
	var out []intent.Action
	if ok && l.asks(s) != nil {
		out = append(out, intent.Yes, intent.No)
	}
	if ok {
		out = append(out, intent.Open)
	}
	if l.src.cfg.Acts.Add != nil {
		out = append(out, intent.New)
	}
	return append(out, intent.Menu, intent.NextField, intent.Cancel)
}

// Label returns the words for keys.
func (l *list) Label(a intent.Action) string {
	switch a {
	case intent.Yes:
		return "yes"
	case intent.No:
		return "no"
	case intent.Open:
		return "graph"
	case intent.New:
		return "new task"
	case intent.Menu:
		return "menu"
	case intent.NextField:
		return "work sessions"
	default:
		return ""
	}
}

// Handle handles an intent.
func (l *list) Handle(in intent.Intent) dialog.Result {
	act, _ := in.(intent.Action)
	s, ok := l.rows.Item()
	if ok {
		l.at = s.Task.Name
	}
	switch {
	case act == intent.Cancel:
		return dialog.Cancelled{}
	case act == intent.NextField || act == intent.PrevField:
		return host.Do(l.do.work)
	case act == intent.New && l.src.cfg.Acts.Add != nil:
		return host.Stay(l.src.cfg.Acts.Add)
	case act == intent.Menu:
		return host.Stay(func() tea.Cmd { return l.do.menu(s.Task, nil) })
	case l.rows.Handle(act), !ok:
		return nil
	}
	switch act {
	case intent.Open:
		return l.do.enter(s.Task.Name)
	case intent.Yes, intent.No:
		if q := l.asks(s); q != nil {
			return l.do.answer(*q, act == intent.Yes, l.whole)
		}
	default:
	}
	return nil
}

// Click selects a row. A click on the selected one opens it.
func (l *list) Click(x, y int) dialog.Result {
	if hit, again := l.rows.Click(x, y); hit && again {
		s, _ := l.rows.Item()
		return l.do.enter(s.Task.Name)
	}
	return nil
}

// Draw draws it.
func (l *list) Draw(c *layout.Canvas, b layout.Box, th *theme.Theme) {
	if l.src.err != "" {
		var last layout.Box
		b, last = b.Bottom(1)
		c.Print(last, 0, 0, th.Style(theme.Bad), plain.Cut("not up to date: "+plain.Line(l.src.err), last.W))
	}
	switch {
	case !l.src.loaded && l.src.err == "":
		c.Print(b, 0, 0, th.Style(theme.Muted), "…")
		return
	case l.rows.Len() == 0:
		drawEmpty(c, b, th)
		return
	}
	l.whole = false
	if b.H >= 10 {
		var foot layout.Box
		b, foot = b.Bottom(4)
		if s, ok := l.rows.Item(); ok {
			l.drawFoot(c, foot, th, s)
		}
	}
	l.rows.Draw(c, b, th, func(row layout.Box, s wave.Sum) { l.drawRow(c, row, th, s) })
}

// drawEmpty says how to begin.
func drawEmpty(c *layout.Canvas, b layout.Box, th *theme.Theme) {
	lines := styled.Wrap(b.W, styled.Span{Text: "No tasks yet. A task is a plan at work: several agents in waves, each of which reads what the ones before it handed over.", Tok: theme.Muted})
	lines = append(lines, styled.Line{}, styled.Of(theme.Code, `orchestrator help plans`), styled.Of(theme.Code, `orchestrator wave run PLAN "Spring campaign"`))
	for y, l := range lines {
		if y < b.H {
			c.PrintSpans(b.Row(y), 0, 0, th, l.Spans)
		}
	}
}

// The columns of a row, in cells from the right: how long it takes, what it used, how far it is.
const (
	wallWidth = 9
	usedWidth = 16
	doneWidth = 9
	nameWidth = 10
)

// markOf is the mark of a task: what it needs first.
func (l *list) markOf(s wave.Sum) (glyph string, tok theme.Token) {
	switch {
	case l.asks(s) != nil:
		return "◆", theme.Waiting
	case s.Task.Status == plan.Proposed:
		return "◇", theme.News
	case s.Task.Status == plan.Pending:
		return "○", theme.Muted
	case s.Task.Status == plan.Failed, s.States[plan.NodeFailed] > 0:
		return "▲", theme.Bad
	case s.Stalls > 0:
		return "■", theme.Warn
	case s.Stale > 0:
		return "≈", theme.Warn
	case s.Task.Status == plan.InProgress:
		return "◐", theme.Working
	case s.Task.Status == plan.Cancelled:
		return "□", theme.Muted
	default:
		return "✓", theme.Muted
	}
}

// drawRow draws a task: its mark, name and title, plan and status, how far it is, what it used and how long it takes.
func (l *list) drawRow(c *layout.Canvas, b layout.Box, th *theme.Theme, s wave.Sum) {
	right := b.W
	put := func(tok theme.Token, text string, w int) {
		c.Print(b, right-plain.Width(text), 0, th.Style(tok), text)
		right -= w
	}
	wall := ""
	if s.Wall > 0 {
		wall = thread.Elapsed(l.wall(s).Round(time.Second))
	}
	put(theme.Muted, wall, wallWidth)
	if b.W >= 72 && s.Usage.Context() > 0 {
		put(theme.Text, thread.Tokens(s.Usage.Context())+" "+s.Usage.Money(), usedWidth)
	} else if b.W >= 72 {
		right -= usedWidth
	}
	if s.Agents > 0 {
		put(theme.Text, fmt.Sprintf("%d/%d", s.Done, s.Agents), doneWidth)
	} else {
		right -= doneWidth
	}
	status, stok := graph.Status(s.Task.Status)
	if b.W >= 56 {
		right -= len("in progress")
		c.Print(b, right, 0, th.Style(stok), status)
		right--
	}
	glyph, tok := l.markOf(s)
	c.Print(b, 0, 0, th.Style(tok), glyph)
	x := max(c.Print(b, 2, 0, th.Style(theme.Text), plain.Line(s.Task.Name)), 2+nameWidth) + 1
	name := plain.Line(s.Task.PlanName)
	room := right - x - 1
	if b.W < 90 {
		name = ""
	}
	title := plain.Cut(plain.Line(s.Task.Title), max(room-plain.Width(name)-2, min(room, 12)))
	x = c.Print(b, x, 0, th.Style(theme.Strong), title)
	c.Print(b, x+2, 0, th.Style(theme.Muted), plain.Cut(name, right-x-3))
}

// wall is how long a task has been at work by now.
func (l *list) wall(s wave.Sum) time.Duration {
	if s.Task.Status != plan.InProgress || s.Task.Started.IsZero() {
		return s.Wall
	}
	return max(l.src.Clock().Sub(s.Task.Started), s.Wall)
}

// drawFoot says what the task under the cursor asks, or how its agents stand.
func (l *list) drawFoot(c *layout.Canvas, b layout.Box, th *theme.Theme, s wave.Sum) {
	c.Rule(b, th.Style(theme.Border), "─")
	_, b = b.Top(1)
	var lines []styled.Line
	q := l.asks(s)
	if q != nil {
		lines = styled.Wrap(b.W, styled.Span{Text: plain.Line(q.Agent) + ": ", Tok: theme.Strong}, styled.Span{Text: plain.Line(q.Text), Tok: theme.Waiting})
		l.whole = len(lines) <= b.H
	} else {
		var parts []string
		for _, st := range []struct {
			state plan.NodeState
			word  string
		}{
			{plan.NodeFailed, "failed"}, {plan.NodeWorking, "at work"}, {plan.NodeAsking, "asking"}, {plan.NodeWaiting, "waiting"}, {plan.NodeDelivered, "done"},
			{plan.NodeSkipped, "left out"}, {plan.NodeCancelled, "cancelled"},
		} {
			if n := s.States[st.state]; n > 0 {
				parts = append(parts, fmt.Sprintf("%d %s", n, st.word))
			}
		}
		if s.Stale > 0 {
			parts = append(parts, fmt.Sprintf("%d stale", s.Stale))
		}
		if s.Stalls > 0 {
			parts = append(parts, fmt.Sprintf("%d stalled", s.Stalls))
		}
		lines = styled.Wrap(b.W, styled.Span{Text: strings.Join(parts, ", "), Tok: theme.Muted})
	}
	if s.Task.Reason != "" {
		lines = append(lines, styled.Wrap(b.W, styled.Span{Text: plain.Line(s.Task.Reason)})...)
	}
	if s.Task.Body != "" {
		lines = append(lines, styled.Wrap(b.W, styled.Span{Text: plain.First(s.Task.Body), Tok: theme.Muted})...)
	}
	y := 0
	for _, line := range lines {
		if y < b.H && line.Text() != "" {
			c.PrintSpans(b.Row(y), 0, 0, th, line.Spans)
			y++
		}
	}
}
