// Package group shows several live terminals beside each other as one pane: one of them is the current one, which gets
// the keys, and the others are watched. A terminal stays attached when another one becomes current.
package group

import (
	"slices"

	"orchestrator/thread"
	"orchestrator/ui/follow"
	"orchestrator/ui/intent"
	"orchestrator/ui/layout"
	"orchestrator/ui/terminal"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
)

// pane is a terminal and what it was told.
type pane struct {
	live *terminal.Model
	run  thread.ExecutionID // that it shows, "" if nobody said which
	box  layout.Box
}

// Group is the terminals. Only one goroutine may call its methods.
type Group struct {
	open    func() *terminal.Model
	panes   []*pane
	now     *pane // the current one
	box     layout.Box
	covered bool // the current one is
	focused bool

	others []follow.Watched // to be watched
	hidden bool             // they are covered
}

// New returns a group; open returns another terminal that is not attached.
func New(open func() *terminal.Model) *Group {
	g := &Group{open: open}
	g.now = g.add()
	return g
}

func (g *Group) add() *pane {
	p := &pane{live: g.open()}
	g.panes = append(g.panes, p)
	return p
}

// Beside tells which terminals to watch beside the current one, and whether something covers them. Arrange follows that.
func (g *Group) Beside(others []follow.Watched, hidden bool) { g.others, g.hidden = others, hidden }

// Show makes the terminal of a thread the current one. The one before stays attached if it is to be watched.
func (g *Group) Show(id thread.ID) tea.Cmd {
	was := g.now.live.Thread()
	switch p := g.of(id); {
	case id != "" && id == was:
		for _, p := range g.panes { // it is attached anew, and so are the others
			p.run = "?"
		}
		g.now.run = ""
	case p != nil && id != "" && p.alive():
		g.become(p)
		return nil
	case was != "" && slices.ContainsFunc(g.others, func(w follow.Watched) bool { return w.ID == was }):
		g.become(g.free())
	}
	g.now.run = ""
	g.now.live.Watch(false)
	g.now.place(g.box)
	return g.now.live.Show(id)
}

// of returns the terminal of a thread, nil if there is none.
func (g *Group) of(id thread.ID) *pane {
	i := slices.IndexFunc(g.panes, func(p *pane) bool { return p.live.Thread() == id })
	if i < 0 {
		return nil
	}
	return g.panes[i]
}

// free returns a terminal that is not attached and not the current one.
func (g *Group) free() *pane {
	for _, p := range g.panes {
		if p != g.now && p.live.Thread() == "" {
			return p
		}
	}
	return g.add()
}

// become makes a terminal the current one.
func (g *Group) become(p *pane) {
	old := g.now.live
	old.Unread()
	old.Lend(0)
	old.Focus(false)
	g.now = p
	p.live.Suspend(g.covered)
	p.live.Focus(g.focused)
}

// alive reports whether the terminal is attached, or will be.
func (p *pane) alive() bool {
	s, _ := p.live.State()
	return s == terminal.Live || s == terminal.Attaching
}

func (p *pane) place(b layout.Box) {
	p.box = b
	p.live.Place(b)
}

// shows reports whether the terminal shows what is to be watched.
func (p *pane) shows(w follow.Watched) bool {
	return p.live.Thread() == w.ID && (p.run == w.Run || p.run == "" && p.alive())
}

// Arrange attaches and places all terminals as they were asked for.
func (g *Group) Arrange() tea.Cmd {
	g.now.live.Watch(false)
	g.now.place(g.box)
	used := []*pane{g.now}
	var missing []follow.Watched
	for _, w := range g.others {
		i := slices.IndexFunc(g.panes, func(p *pane) bool { return !slices.Contains(used, p) && p.shows(w) })
		if i < 0 {
			missing = append(missing, w)
			continue
		}
		g.panes[i].watch(w, g.hidden)
		used = append(used, g.panes[i])
	}
	var cmds []tea.Cmd
	for _, w := range missing {
		i := slices.IndexFunc(g.panes, func(p *pane) bool { return !slices.Contains(used, p) })
		if i < 0 {
			g.add()
			i = len(g.panes) - 1
		}
		p := g.panes[i]
		p.watch(w, g.hidden)
		cmds = append(cmds, p.live.Show(w.ID))
		used = append(used, p)
	}
	for _, p := range g.panes {
		if !slices.Contains(used, p) && p.live.Thread() != "" {
			p.live.Show("")
		}
	}
	return tea.Batch(cmds...)
}

// watch shows a thread's terminal beside the current one.
func (p *pane) watch(w follow.Watched, hidden bool) {
	p.run = w.Run
	p.live.Watch(true)
	p.place(w.Box)
	p.live.Suspend(hidden)
}

// Place sets the box of the current terminal. Arrange follows that.
func (g *Group) Place(b layout.Box) { g.box = b }

// Suspend stops painting the current terminal.
func (g *Group) Suspend(on bool) {
	g.covered = on
	g.now.live.Suspend(on)
}

// Focus sets whether keys go to the current terminal.
func (g *Group) Focus(on bool) {
	g.focused = on
	g.now.live.Focus(on)
}

// Update brings input to the current terminal, the wheel to the one under the pointer, and other messages to all.
func (g *Group) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.KeyMsg, tea.PasteMsg, tea.FocusMsg, tea.BlurMsg:
		return g.now.live.Update(msg)
	case tea.MouseWheelMsg:
		for _, p := range g.panes {
			if p.live.Thread() != "" && p.box.Contains(msg.X, msg.Y) {
				return p.live.Update(msg)
			}
		}
		return nil
	case tea.MouseMsg:
		return g.now.live.Update(msg)
	}
	var cmds []tea.Cmd
	for _, p := range g.panes {
		cmds = append(cmds, p.live.Update(msg))
	}
	return tea.Batch(cmds...)
}

// Close detaches from all terminals.
func (g *Group) Close() {
	for _, p := range g.panes {
		p.live.Close()
	}
}

// StillOf draws the content of a thread's terminal into the chrome, while it is covered.
func (g *Group) StillOf(id thread.ID, c *layout.Canvas, b layout.Box, st lipgloss.Style) {
	if p := g.of(id); p != nil && id != "" {
		p.live.Still(c, b, st)
	}
}

// Aside returns what is to be known of a thread's terminal that is watched: how many lines it is scrolled back, and why
// there is nothing to show.
func (g *Group) Aside(id thread.ID) (back int, problem error) {
	if p := g.of(id); p != nil && id != "" && p != g.now {
		return p.live.Back(), p.live.Problem()
	}
	return 0, nil
}

// What follows is that of the current terminal.

// Still draws its content into the chrome.
func (g *Group) Still(c *layout.Canvas, b layout.Box, st lipgloss.Style) { g.now.live.Still(c, b, st) }

// MouseMode returns the mode to request from Bubble Tea.
func (g *Group) MouseMode() tea.MouseMode { return g.now.live.MouseMode() }

// Keyboard returns what to request from Bubble Tea.
func (g *Group) Keyboard() tea.KeyboardEnhancements { return g.now.live.Keyboard() }

// Problem returns why there is nothing to show.
func (g *Group) Problem() error { return g.now.live.Problem() }

// Title returns the title that the program has set.
func (g *Group) Title() string { return g.now.live.Title() }

// Progress returns the progress that the program reports.
func (g *Group) Progress() (percent int, ok bool) { return g.now.live.Progress() }

// Back returns how many lines it is scrolled back.
func (g *Group) Back() int { return g.now.live.Back() }

// Free returns how many rows at its bottom are empty.
func (g *Group) Free() int { return g.now.live.Free() }

// Lend leaves some of them to something else.
func (g *Group) Lend(rows int) { g.now.live.Lend(rows) }

// Read enters scroll mode.
func (g *Group) Read() bool { return g.now.live.Read() }

// Unread leaves it.
func (g *Group) Unread() { g.now.live.Unread() }

// Reading reports whether it is on.
func (g *Group) Reading() bool { return g.now.live.Reading() }

// Act does what a key asks for in scroll mode.
func (g *Group) Act(in intent.Intent) (tea.Cmd, bool) { return g.now.live.Act(in) }

// BeginSearch starts a search in scroll mode.
func (g *Group) BeginSearch(back bool) { g.now.live.BeginSearch(back) }

// Search goes to the closest match.
func (g *Group) Search(text string) { g.now.live.Search(text) }

// Where returns where the cursor is in scroll mode.
func (g *Group) Where() string { return g.now.live.Where() }

// Link returns the page that the text at the cursor leads to.
func (g *Group) Link() (text, target string) { return g.now.live.Link() }
