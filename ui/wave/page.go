package wave

import (
	"fmt"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/plan"
	"orchestrator/thread/wave"
	"orchestrator/ui/dialog"
	"orchestrator/ui/graph"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"
	"orchestrator/ui/layout"
	"orchestrator/ui/plain"
	"orchestrator/ui/theme"

	tea "charm.land/bubbletea/v2"
)

// page is the dialog with the graph of a task.
type page struct {
	src   *source
	do    pageDoes
	name  string
	node  string // where the cursor goes at first, "" for what needs somebody
	graph graph.Graph
	ready bool
	err   string

	loading, again, waiting bool
	ticking                 bool
	last                    time.Time
	whole                   bool // all of what the node under the cursor asks was drawn
}

// pageDoes is what nodes lead to.
type pageDoes struct {
	enter  func(v wave.View, n wave.NodeView) dialog.Result
	answer func(q thread.NodeQuestion, yes, whole bool) dialog.Result
	menu   func(task plan.Task, node *wave.NodeView) tea.Cmd
	read   func(task, agent string) tea.Cmd
}

func newPage(src *source, name, node string, do pageDoes) *page {
	return &page{src: src, name: name, node: node, do: do, graph: graph.Graph{Cursor: true}}
}

// touched takes that tasks have changed: it asks again if its own has, not too often, and less often where there is much of it.
func (p *page) touched(names []string) tea.Cmd {
	for _, n := range names {
		if n == p.name {
			return p.load()
		}
	}
	return nil
}

// load asks for the task.
func (p *page) load() tea.Cmd {
	if p.loading || p.waiting {
		p.again = true
		return nil
	}
	pause := apart
	if len(p.graph.View().Nodes) > 500 {
		pause = 4 * apart
	}
	if wait := pause - p.src.Clock().Sub(p.last); wait > 0 {
		p.waiting = true
		return p.src.After(wait, host.Reply(func() tea.Cmd {
			if p.waiting = false; !p.src.Dialogs.Has(p) {
				return nil
			}
			return p.load()
		}))
	}
	p.loading, p.again, p.last = true, false, p.src.Clock()
	return host.Call(p.src.Host, host.Quick, api.WaveStatus.On(p.src.Server, wave.TaskRef{Task: p.name}), func(v wave.View, err error) tea.Cmd {
		p.loading, p.err = false, ""
		if err != nil {
			p.err = err.Error()
		} else {
			p.take(v)
		}
		if !p.src.Dialogs.Has(p) {
			return nil
		}
		if p.again {
			return tea.Batch(p.load(), p.tick())
		}
		return p.tick()
	})
}

// take takes over what the server knows.
func (p *page) take(v wave.View) {
	p.graph.Set(v, p.src.Clock())
	if !p.ready && p.node != "" {
		p.graph.Go(p.node)
	}
	p.ready = true
}

// tick draws it each second while something of it works: its times go on.
func (p *page) tick() tea.Cmd {
	if p.ticking || p.graph.View().Task.Status != plan.InProgress {
		return nil
	}
	p.ticking = true
	return p.src.After(time.Second, host.Reply(func() tea.Cmd {
		if p.ticking = false; !p.src.Dialogs.Has(p) {
			return nil
		}
		return p.tick()
	}))
}

// Title returns the title.
func (p *page) Title() string {
	if t := p.graph.View().Task; t.Title != "" {
		return plain.Line(p.name + "  " + t.Title)
	}
	return plain.Line(p.name)
}

// Scope returns the scope of its keys.
func (p *page) Scope() intent.Scope { return intent.Graph }

// Size returns the size that it needs: all that there is.
func (p *page) Size(w, h int) (int, int) { return w, h }

// Item names what is under the cursor, to see later whether it still is.
func (p *page) Item() string {
	n, _ := p.graph.Node()
	return fmt.Sprint(p.name, " ", n.Agent, " ", n.State, " ", n.Asked)
}

// asks is what the node under the cursor asks, false for nothing.
func (p *page) asks() (thread.NodeQuestion, bool) {
	n, ok := p.graph.Node()
	q, asks := questionOf(p.graph.View(), n)
	at, answered := p.src.answered[q.Name()]
	return q, ok && asks && !(answered && at.Equal(q.Since))
}

// Hints returns the keys that do something with the node under the cursor.
func (p *page) Hints(layout.Box) []intent.Action {
	n, ok := p.graph.Node()
	var out []intent.Action
	_, asks := p.asks()
	if asks {
		out = append(out, intent.Yes, intent.No)
	}
	if ok && (n.Thread != "" || asks) {
		out = append(out, intent.Open)
	}
	if ok && !n.Gate {
		out = append(out, intent.Why)
	}
	return append(out, intent.NextField, intent.Menu, intent.Cancel)
}

// Label returns the words for keys.
func (p *page) Label(a intent.Action) string {
	switch a {
	case intent.Yes:
		return "yes"
	case intent.No:
		return "no"
	case intent.Open:
		return "open"
	case intent.Why:
		return "handed over"
	case intent.NextField:
		return "next that needs you"
	case intent.Menu:
		return "menu"
	default:
		return ""
	}
}

// Handle handles an intent.
func (p *page) Handle(in intent.Intent) dialog.Result {
	act, _ := in.(intent.Action)
	n, ok := p.graph.Node()
	switch act {
	case intent.Cancel:
		return dialog.Cancelled{}
	case intent.NextField:
		p.graph.Next()
		return nil
	case intent.Menu:
		return host.Stay(func() tea.Cmd { return p.do.menu(p.graph.View().Task, &n) })
	default:
	}
	if p.graph.Handle(act) || !ok {
		return nil
	}
	switch act {
	case intent.Open:
		return p.do.enter(p.graph.View(), n)
	case intent.Why:
		if !n.Gate {
			return host.Stay(func() tea.Cmd { return p.do.read(p.name, n.Agent) })
		}
	case intent.Yes, intent.No:
		if q, asks := p.asks(); asks {
			return p.do.answer(q, act == intent.Yes, p.whole)
		}
	default:
	}
	return nil
}

// Click moves the cursor to a node. A click on the one under the cursor opens it.
func (p *page) Click(x, y int) dialog.Result {
	if hit, again := p.graph.Click(x, y); hit && again {
		n, _ := p.graph.Node()
		return p.do.enter(p.graph.View(), n)
	}
	return nil
}

// Draw draws it.
func (p *page) Draw(c *layout.Canvas, b layout.Box, th *theme.Theme) {
	if p.err != "" {
		var last layout.Box
		b, last = b.Bottom(1)
		c.Print(last, 0, 0, th.Style(theme.Bad), plain.Cut("not up to date: "+plain.Line(p.err), last.W))
	}
	if !p.ready {
		if p.err == "" {
			c.Print(b, 0, 0, th.Style(theme.Muted), "…")
		}
		return
	}
	now := p.src.Clock()
	if p.src.Threads.Lost {
		now = time.Time{} // nobody knows what goes on
	}
	p.graph.Draw(c, b, th, now)
	p.whole = p.graph.Whole()
}
