package resume

import (
	"slices"

	"orchestrator/thread"
	"orchestrator/ui/dialog"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"
	"orchestrator/ui/layout"
	"orchestrator/ui/plain"
	"orchestrator/ui/theme"

	tea "charm.land/bubbletea/v2"
)

// threads is the list of interrupted threads, with the proof that each can be resumed.
type threads struct {
	ids  dialog.Rows[thread.ID]
	look func(thread.ID) *thread.Status
	one  func(thread.ID) tea.Cmd
	all  func() tea.Cmd
}

// itemRows is the number of rows per thread.
const itemRows = 3

// newThreads returns the list. look returns the current status of a thread, because proofs arrive while the list is
// open. one and all resume threads.
func newThreads(
	ids []thread.ID, look func(thread.ID) *thread.Status, one func(thread.ID) tea.Cmd, all func() tea.Cmd,
) *threads {
	l := &threads{ids: dialog.Rows[thread.ID]{Height: itemRows}, look: look, one: one, all: all}
	l.ids.Set(ids, nil)
	return l
}

// waits reports whether a thread can still be resumed: somebody else may have done so.
func (l *threads) waits(id thread.ID) bool {
	s := l.look(id)
	return s != nil && s.State.State == thread.StateInterrupted
}

// over reports whether there is nothing left to resume. The list stays open nevertheless: a dialog that closes by itself
// leaves the keys that were meant for it to what is below.
func (l *threads) over() bool { return !slices.ContainsFunc(l.ids.Items(), l.waits) }

// Title returns the title.
func (l *threads) Title() string {
	if l.over() {
		return "no thread is interrupted any more"
	}
	return plain.Count(l.ids.Len(), "thread") + " interrupted"
}

// Scope returns the scope of its keys.
func (l *threads) Scope() intent.Scope { return intent.Resuming }

// Hints returns the keys to show in its frame.
func (l *threads) Hints(layout.Box) []intent.Action {
	if l.over() {
		return []intent.Action{intent.Cancel}
	}
	return []intent.Action{intent.ResumeOne, intent.ResumeAll, intent.Cancel}
}

// Size returns the size that it needs.
func (l *threads) Size(w, h int) (int, int) {
	return min(w, 90), min(max(l.ids.Len()*itemRows, 2), h)
}

// Handle handles an intent.
func (l *threads) Handle(in intent.Intent) dialog.Result {
	act, _ := in.(intent.Action)
	if (act == intent.ResumeOne || act == intent.ResumeAll) && l.over() {
		return dialog.Cancelled{}
	}
	switch act {
	case intent.ResumeOne:
		if id, _ := l.ids.Item(); l.waits(id) {
			return host.Do(func() tea.Cmd { return l.one(id) })
		}
	case intent.ResumeAll:
		return host.Do(l.all)
	case intent.Cancel:
		return dialog.Cancelled{}
	default:
		l.ids.Handle(act)
	}
	return nil
}

// Click selects a thread. A click on the selected one resumes it.
func (l *threads) Click(x, y int) dialog.Result {
	if _, again := l.ids.Click(x, y); again {
		return l.Handle(intent.ResumeOne)
	}
	return nil
}

// Draw draws the list.
func (l *threads) Draw(c *layout.Canvas, b layout.Box, th *theme.Theme) {
	l.ids.Draw(c, b, th, func(box layout.Box, id thread.ID) {
		s := l.look(id)
		if s == nil {
			c.Print(box, 0, 0, th.Style(theme.Muted), "gone")
			return
		}
		x := c.Print(box, 0, 0, th.Style(theme.Strong), plain.Line(s.TypedName()))
		about := plain.Line(s.Agent) + " · " + plain.Count(s.Turn, "turn")
		c.Print(box, x+2, 0, th.Style(theme.Muted), plain.Cut(about, box.W-x-2))
		how, tok := Proof(s.Resume)
		if s.State.State != thread.StateInterrupted {
			how, tok = "resumed", theme.News
		}
		for y, line := range plain.Wrap(how, box.W-2) {
			c.Print(box, 2, y+1, th.Style(tok), line)
		}
	})
}
