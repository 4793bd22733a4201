// Package work shows the record of work: work sessions, their tasks and executions of all kinds as a tree, and on a page what
// one of them was given, what it said and what came of it.
//
// The server is asked when the view is opened, and again for what its events name; while it is closed nothing is asked.
package work

import (
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/work"
	"orchestrator/ui/dialog"
	"orchestrator/ui/host"
	"orchestrator/ui/plain"

	tea "charm.land/bubbletea/v2"
)

// Feature shows the record of work.
type Feature struct {
	src   *source
	panel *panel // open or closed
	page  *page  // open or closed
}

// New adds the feature to a host.
func New(h *host.Host, cfg Config) *Feature {
	f := &Feature{src: &source{Host: h, cfg: cfg, folds: folds{}}}
	f.panel = f.newPanel("")
	f.src.isOpen = func() bool { return h.Dialogs.Has(f.panel) }
	f.src.changed = func() { f.panel.fill() }
	return f
}

// Show opens the view.
func (f *Feature) Show() tea.Cmd {
	f.panel = f.newPanel(f.panel.at)
	f.src.Dialogs.Push(f.panel)
	return f.src.load(nil)
}

func (f *Feature) newPanel(at string) *panel {
	return &panel{src: f.src, at: at, do: does{enter: f.enter, read: f.read, answer: f.answer}}
}

// Touched takes that the record has changed in some work sessions, or anywhere if none is named.
func (f *Feature) Touched(sessions []string) tea.Cmd {
	cmd := f.src.touched(sessions)
	if f.page != nil && f.src.Dialogs.Has(f.page) {
		return tea.Batch(cmd, f.page.load())
	}
	return cmd
}

// Again tells that the server may know something else, because it is another one.
func (f *Feature) Again() { f.src.again() }

// Follow asks for what is out of date. Call it after every message.
func (f *Feature) Follow() tea.Cmd { return f.src.follow() }

// read opens the page of an execution.
func (f *Feature) read(r work.Row) tea.Cmd {
	f.page = &page{Host: f.src.Host, cfg: f.src.cfg, id: r.ID, name: r.Execution}
	f.src.Dialogs.Push(f.page)
	return f.page.load()
}

// enter opens a node: an execution's thread, or its page where it has none; what can be unfolded is.
func (f *Feature) enter(n node) dialog.Result {
	switch {
	case n.row == nil:
		return host.Stay(func() tea.Cmd { return f.src.fold(n, !n.open) })
	case (n.row.Kind == work.KindRun || n.row.Kind == work.KindTerminal) && f.src.Threads.Thread(n.row.Thread) != nil:
		id := n.row.Thread
		return host.Do(func() tea.Cmd { return f.src.cfg.Visit(id) })
	default:
		return host.Stay(func() tea.Cmd { return f.read(*n.row) })
	}
}

// answer asks once more, with what it would cost, and answers: choice is that which is offered first.
func (f *Feature) answer(n node, means thread.Meaning) dialog.Result {
	s, q := f.src.asks(n)
	if q == nil {
		return nil
	}
	id, of, name := s.ID, *q, n.row.Execution
	var body []dialog.Line
	for part := range strings.SplitSeq(of.About, "; ") {
		body = append(body, dialog.Plain(plain.Line(part))...)
	}
	choices := []dialog.Choice{dialog.Cancel("Later")}
	for i, c := range of.Choices {
		r := thread.AnswerRequest{Question: of.ID, Choice: i + 1}
		choices = append(choices, dialog.Choice{
			Label:  map[thread.Meaning]string{thread.Approve: "Start it", thread.ApproveAlways: "Start all", thread.Deny: "Cancel it"}[c.Means],
			Danger: c.Means != thread.Approve, Read: true, Preset: c.Means == means && means == thread.Approve,
			Result: host.Do(func() tea.Cmd { return f.send(id, r, name+": "+c.Text) }),
		})
	}
	return host.Stay(func() tea.Cmd {
		f.src.Dialogs.Push(dialog.NewAsk("proceed with "+name+"?", body, choices...).Until(func() string {
			now := f.src.Threads.Thread(id)
			if now == nil || !now.State.Question.Is(&of) {
				return "It was answered."
			}
			return ""
		}))
		return nil
	})
}

func (f *Feature) send(id thread.ID, r thread.AnswerRequest, said string) tea.Cmd {
	return host.Call(f.src.Host, host.Slow, api.Answer.On(f.src.Server, api.AnswerRequest{Thread: string(id), AnswerRequest: r}),
		func(_ thread.Status, err error) tea.Cmd {
			if err != nil {
				return f.src.Fail("answer "+f.src.Name(id), err)
			}
			return f.src.Notify(thread.LevelInfo, said)
		})
}
