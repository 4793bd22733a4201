package resume

import (
	"orchestrator/thread"
	"orchestrator/ui/dialog"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"
	"orchestrator/ui/layout"
	"orchestrator/ui/list"
	"orchestrator/ui/plain"
	"orchestrator/ui/theme"

	tea "charm.land/bubbletea/v2"
)

// threads is the list of interrupted threads with the proof of what can be resumed.
type threads struct {
	ids  []thread.ID
	look func(thread.ID) *thread.Status
	one  func(thread.ID) tea.Cmd
	all  func() tea.Cmd
	win  list.Window
}

// itemRows is how many rows a thread takes.
const itemRows = 3

// newThreads makes the list; look tells how a thread stands now, since proofs come in while it is open. One or all of
// the threads are resumed.
func newThreads(ids []thread.ID, look func(thread.ID) *thread.Status, one func(thread.ID) tea.Cmd, all func() tea.Cmd) *threads {
	l := &threads{ids: ids, look: look, one: one, all: all}
	l.win.Fit(len(ids), 0, nil)
	return l
}

// Title names it.
func (l *threads) Title() string {
	return plain.Count(len(l.ids), "thread") + " interrupted"
}

// Scope says which keys it takes.
func (l *threads) Scope() intent.Scope { return intent.Resuming }

// Hints names the keys of a list of threads to resume.
func (l *threads) Hints(layout.Box) []intent.Action {
	return []intent.Action{intent.ResumeOne, intent.ResumeAll, intent.Cancel}
}

// Size returns what it wants.
func (l *threads) Size(w, h int) (int, int) {
	return min(w, 90), min(max(len(l.ids)*itemRows, 2), h)
}

// Handle takes an intent.
func (l *threads) Handle(in intent.Intent) dialog.Result {
	act, _ := in.(intent.Action)
	switch act {
	case intent.ResumeOne:
		if at := l.win.At(); at < len(l.ids) {
			id := l.ids[at]
			return host.Do(func() tea.Cmd { return l.one(id) })
		}
		return dialog.Cancelled{}
	case intent.ResumeAll:
		return host.Do(l.all)
	case intent.Cancel:
		return dialog.Cancelled{}
	default:
		l.win.Handle(act)
	}
	return nil
}

// Draw draws it.
func (l *threads) Draw(c *layout.Canvas, b layout.Box, th *theme.Theme) {
	l.win.Fit(len(l.ids), b.H, func(int) int { return itemRows })
	for n, y := range l.win.Items() {
		box := layout.Box{X: b.X, Y: b.Y + y, W: b.W, H: min(itemRows, b.H-y)}
		s := l.look(l.ids[n])
		if s == nil {
			c.Print(box, 0, 0, th.Style(theme.Muted), "gone")
			continue
		}
		x := c.Print(box, 0, 0, th.Style(theme.Strong), plain.Line(s.DisplayName()))
		c.Print(box, x+2, 0, th.Style(theme.Muted), plain.Cut(plain.Line(s.Agent)+" · "+plain.Count(s.Turn, "turn"), box.W-x-2))
		how, tok := Proof(s.Resume)
		if s.State.State != thread.StateInterrupted {
			how, tok = "resumed", theme.Good
		}
		for y, line := range plain.Wrap(how, box.W-2) {
			c.Print(box, 2, y+1, th.Style(tok), line)
		}
		if n == l.win.At() {
			c.Tint(box.Row(0), th.Style(theme.SelectedFocus))
		}
	}
}
