package ui

import (
	"context"

	"orchestrator/thread"
	"orchestrator/ui/dialog"
	"orchestrator/ui/field"
	"orchestrator/ui/intent"
	"orchestrator/ui/tree"

	tea "charm.land/bubbletea/v2"
)

// do acts on an intent: the innermost that knows it takes it.
func (m *Model) do(in intent.Intent) tea.Cmd {
	if m.dialogs.Open() {
		return m.inDialog(in)
	}
	if m.typing != nil {
		return m.inLine(in)
	}
	switch in := in.(type) {
	case intent.Jump:
		m.tree.Jump(in.N)
		return nil
	case intent.Action:
		for _, try := range []func(intent.Action) (tea.Cmd, bool){m.inView, m.inTree, m.onScreen, m.onThread, m.onFiles, m.onProject} {
			if cmd, ok := try(in); ok {
				return cmd
			}
		}
	}
	return nil
}

// inDialog gives an intent to the dialog on top and acts on how it ends.
func (m *Model) inDialog(in intent.Intent) tea.Cmd {
	search, _ := m.dialogs.Top().(*dialog.Picker)
	before := ""
	if search != nil {
		before = search.Query()
	}
	if r := m.dialogs.Handle(in); r != nil {
		return m.result(r)
	}
	if search != nil && search == m.live.finder && search.Query() != before {
		return m.find(search)
	}
	return nil
}

// inLine takes what is typed into the status line.
func (m *Model) inLine(in intent.Intent) tea.Cmd {
	t := m.typing
	switch in {
	case intent.Accept:
		m.typing = nil
	case intent.Cancel:
		m.typing = nil
		m.typed(t.what, t.was)
		return nil
	case intent.Up:
		m.tree.Move(-1)
		return nil
	case intent.Down:
		m.tree.Move(1)
		return nil
	default:
		t.field.Handle(in)
	}
	m.typed(t.what, t.field.Value())
	return nil
}

// typed applies the line as far as it goes.
func (m *Model) typed(what intent.Action, text string) {
	switch {
	case what == intent.Filter:
		m.tree.Filter(text)
	case m.views.now == viewDiff:
		m.views.diff.Search(text)
	default:
		m.views.turn.Search(text)
	}
}

// inTree moves in the list while it has the keys.
func (m *Model) inTree(a intent.Action) (tea.Cmd, bool) {
	if m.screen.area != areaTree {
		return nil, false
	}
	switch a {
	case intent.Up:
		m.tree.Move(-1)
	case intent.Down:
		m.tree.Move(1)
	case intent.PageUp:
		m.tree.Move(-m.tree.Page())
	case intent.PageDown:
		m.tree.Move(m.tree.Page())
	case intent.First:
		m.tree.Move(-m.tree.Len())
	case intent.Last:
		m.tree.Move(m.tree.Len())
	case intent.Fold:
		m.tree.Fold()
	case intent.Unfold:
		m.tree.Unfold()
	case intent.Focus:
		return m.enter(), true
	case intent.Leave:
		m.tree.Filter("")
		m.tree.ShowArchive(false)
	default:
		return nil, false
	}
	return nil, true
}

// enter gives the keys to the main pane; an agent that does not run is resumed first.
func (m *Model) enter() tea.Cmd {
	s := m.tree.Selected()
	if s == nil {
		return m.openNew()
	}
	if m.views.now != viewTerminal || running(s) {
		m.screen.area = areaMain
		return nil
	}
	if !s.Archived.IsZero() {
		return m.tell(thread.LevelInfo, s.DisplayName()+" is archived; "+m.keys.KeyOf(intent.Archive)+" brings it back")
	}
	m.live.wish = s.ID
	return tea.Batch(m.tell(thread.LevelInfo, "resuming "+s.DisplayName()+" …"), m.resume(s.ID, true))
}

// running reports whether a thread has a terminal to show.
func running(s *thread.Status) bool { return s.Execution != nil && s.State.State.Live() }

// onScreen acts on the screen as a whole.
func (m *Model) onScreen(a intent.Action) (tea.Cmd, bool) {
	switch a {
	case intent.Quit:
		return m.leave(), true
	case intent.Leave:
		m.screen.area = areaTree
	case intent.NextView, intent.PrevView:
		n := 1
		if a == intent.PrevView {
			n = int(viewCount) - 1
		}
		return m.show(view((int(m.views.now) + n) % int(viewCount))), true
	case intent.Help:
		m.showHelp()
	case intent.Palette:
		m.showPalette()
	case intent.Find:
		m.live.finder = dialog.NewSearch("find")
		m.dialogs.Push(m.live.finder)
	case intent.Messages:
		m.showMessages()
	case intent.MCP:
		m.live.servers = dialog.NewText("MCP servers", dialog.Plain(m.mcp.Details()...))
		m.dialogs.Push(m.live.servers)
		return m.loadMCP(), true
	case intent.Agents:
		m.showAgents()
		return m.loadAgents(), true
	case intent.Restart:
		return m.openRestart(), true
	case intent.Redraw:
		m.live.run = "" // attach again
		return func() tea.Msg { return tea.ClearScreen() }, true
	case intent.Suspend:
		m.screen.away = true
		return tea.Suspend, true
	case intent.Sidebar:
		m.screen.noSide = !m.screen.noSide
	case intent.Filter:
		m.screen.area = areaTree
		m.typing = &typing{what: intent.Filter, field: field.New(m.tree.Filtered()), was: m.tree.Filtered()}
	case intent.Archived:
		m.tree.ShowArchive(!m.tree.Archive())
	case intent.NextWait:
		if !m.tree.NextWaiting() {
			return m.tell(thread.LevelInfo, "nobody waits for you"), true
		}
	case intent.Resumes:
		if !m.showResumes(true) {
			return m.tell(thread.LevelInfo, "nothing is interrupted"), true
		}
	case intent.ResumeAll:
		return m.openResumeAll(), true
	case intent.Undo:
		return m.openUndo(), true
	default:
		return nil, false
	}
	return nil, true
}

// show changes what the main pane shows; a view to be read takes the keys.
func (m *Model) show(v view) tea.Cmd {
	m.views.now, m.views.reading = v, false
	m.screen.area = areaMain
	if v == viewTerminal {
		m.screen.area = areaTree
	}
	return tea.Batch(m.fill(), m.looking())
}

// onThread acts on the selected thread; without one it says so.
func (m *Model) onThread(a intent.Action) (tea.Cmd, bool) {
	if a == intent.New {
		return m.openNew(), true
	}
	s := m.tree.Selected()
	if s == nil {
		return nil, false
	}
	id := s.ID
	ref := string(id)
	switch a {
	case intent.Send:
		m.dialogs.Push(dialog.NewPrompt(s))
	case intent.Prompts:
		return m.openPrompts(s), true
	case intent.Rename:
		m.dialogs.Push(dialog.NewRename(s))
	case intent.Pin:
		on := !s.Pinned
		return m.change("", func(ctx context.Context) error { return m.cfg.Server.Pin(ctx, ref, on) }, nil), true
	case intent.Archive:
		if !s.Archived.IsZero() {
			name := s.DisplayName()
			return m.change(name+" is back", func(ctx context.Context) error { return m.cfg.Server.Unarchive(ctx, ref) }, nil), true
		}
		m.openArchive(s)
	case intent.Delete:
		m.openDelete(s)
	case intent.Grants:
		m.dialogs.Push(dialog.NewGrants(s))
	case intent.Why:
		d := dialog.NewText("why "+tree.LookOfState(s.State.State).Word+"?", dialog.Plain("…"))
		m.dialogs.Push(d)
		return m.loadWhy(id, d), true
	case intent.Resume, intent.Start:
		if running(s) {
			return m.tell(thread.LevelInfo, s.DisplayName()+" is running"), true
		}
		return tea.Batch(m.tell(thread.LevelInfo, "resuming "+s.DisplayName()+" …"), m.resume(id, false)), true
	case intent.Stop:
		m.openStop(s)
	case intent.TakeOffer:
		m.openOffer()
	case intent.DismissOffer:
		if o := m.offer(); o != nil {
			return m.answer(o.ID, "dismiss", "dismissed"), true
		}
	case intent.OffersOff:
		m.openOffers()
	default:
		return nil, false
	}
	return nil, true
}

// onFiles acts on what the selected thread made.
func (m *Model) onFiles(a intent.Action) (tea.Cmd, bool) {
	s := m.tree.Selected()
	if s == nil {
		return nil, false
	}
	switch a {
	case intent.Fork:
		m.openFork(dialog.Point{Text: "its newest turn"})
	case intent.ForkAt:
		m.views.now, m.screen.area, m.views.reading = viewTimeline, areaMain, false
		return tea.Batch(m.fill(), m.tell(thread.LevelInfo, "choose the turn, then "+m.keys.KeyOf(intent.ForkAt))), true
	case intent.Merge, intent.Finish:
		return m.openMerge(mergePlan{id: s.ID, finish: a == intent.Finish}), true
	case intent.Abandon:
		m.dialogs.Push(dialog.NewAbandon(s))
	default:
		return nil, false
	}
	return nil, true
}
