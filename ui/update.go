package ui

import (
	"context"
	"strings"
	"time"

	"orchestrator/thread"
	"orchestrator/ui/dialog"
	"orchestrator/ui/intent"
	"orchestrator/ui/theme"

	"github.com/charmbracelet/colorprofile"

	tea "charm.land/bubbletea/v2"
)

// Update takes a message. It is the one place that keys, the mouse, the window and what effects
// end in come through.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	cmd, known := m.input(msg)
	if !known {
		cmd, known = m.fromServer(msg)
	}
	if !known {
		cmd, known = m.fromClock(msg)
	}
	if !known {
		// Not ours: the pane's own messages come this way too. They change none of the chrome.
		return m, m.other(msg)
	}
	return m, tea.Batch(cmd, m.follow())
}

// other passes on what the pane sent itself.
func (m *Model) other(msg tea.Msg) tea.Cmd {
	if m.cfg.Pane == nil {
		return nil
	}
	cmd := m.cfg.Pane.Update(msg)
	if m.paneWants() != m.live.wants {
		m.live.wants = m.paneWants()
		m.screen.stale = true
	}
	if c, ok := msg.(CopiedText); ok {
		n := strings.Count(strings.TrimSuffix(c.CopiedText(), "\n"), "\n") + 1
		return tea.Batch(cmd, m.tell(thread.LevelInfo, dialog.Count(n, "line")+" copied"))
	}
	return cmd
}

// input takes what comes from the terminal.
func (m *Model) input(msg tea.Msg) (tea.Cmd, bool) {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		return m.key(msg), true
	case tea.KeyReleaseMsg:
		return m.toPane(msg), true
	case tea.PasteMsg:
		return m.paste(msg), true
	case tea.PasteStartMsg, tea.PasteEndMsg:
		return nil, true
	case tea.MouseMsg:
		return m.mouse(msg), true
	case tea.WindowSizeMsg:
		m.screen.resize(msg.Width, msg.Height)
	case tea.FocusMsg:
		m.news.focused = true
		return tea.Batch(m.toPane(msg), m.looking()), true
	case tea.BlurMsg:
		m.news.focused = false
		return m.toPane(msg), true
	case tea.BackgroundColorMsg:
		if m.cfg.Theme != "dark" && m.cfg.Theme != "light" {
			m.th = theme.New(m.th.Profile(), msg.IsDark())
		}
	case tea.ColorProfileMsg:
		if m.cfg.Profile == nil {
			m.th = theme.New(profileOf(msg.Profile), m.th.Dark())
		}
	default:
		return nil, false
	}
	m.screen.stale = true
	return nil, true
}

func profileOf(p colorprofile.Profile) theme.Profile {
	switch p {
	case colorprofile.TrueColor:
		return theme.TrueColor
	case colorprofile.ANSI256:
		return theme.ANSI256
	case colorprofile.ANSI:
		return theme.ANSI16
	default:
		return theme.NoColor
	}
}

// fromServer takes what calls and the event stream brought.
func (m *Model) fromServer(msg tea.Msg) (tea.Cmd, bool) {
	switch msg := msg.(type) {
	case subscribedMsg:
		return m.subscribed(msg), true
	case eventsMsg:
		return m.happened(msg), true
	case listedMsg:
		m.screen.stale = true
		return m.listed(msg), true
	}
	cmd, known := m.answered(msg)
	if !known {
		cmd, known = m.outcome(msg)
	}
	m.screen.stale = m.screen.stale || known
	return cmd, known
}

// answered takes what was asked for to be shown.
func (m *Model) answered(msg tea.Msg) (tea.Cmd, bool) {
	switch msg := msg.(type) {
	case agentsMsg:
		return m.agentsKnown(msg), true
	case mcpMsg:
		if msg.err != nil {
			return m.fail("MCP servers", msg.err), true
		}
		m.mcp.Set(msg.servers)
	case timelineMsg:
		m.views.timeline.Add(msg.id, msg.page, msg.err)
		return m.loadTimeline(), true
	case turnMsg:
		m.views.turn.Fill(msg.id, msg.at, msg.entries, msg.err)
	case diffMsg:
		m.views.diff.Fill(msg.id, msg.what, msg.files, msg.err)
	case whyMsg:
		msg.into.Set(m.why(msg))
	case foundMsg:
		if msg.gen == m.views.find {
			msg.into.SetItems(m.hits(msg))
		}
	default:
		return nil, false
	}
	return nil, true
}

// outcome takes how something that was asked for ended.
func (m *Model) outcome(msg tea.Msg) (tea.Cmd, bool) {
	switch msg := msg.(type) {
	case madeMsg:
		if msg.err != nil {
			m.live.wish = ""
			return m.fail(msg.what, msg.err), true
		}
		return m.made(msg), true
	case resumedMsg:
		if msg.err != nil {
			return m.fail("resume all", msg.err), true
		}
		for _, s := range msg.threads {
			m.tree.Put(s)
		}
		return m.tell(thread.LevelInfo, dialog.Count(len(msg.threads), "thread")+" resumed"), true
	case doneMsg:
		return m.done(msg), true
	case mergedMsg:
		return m.merged(msg), true
	case rewindPlanMsg:
		m.planned(msg)
		return nil, true
	case rewindMsg:
		return m.rewound(msg), true
	case editedMsg:
		m.suspendPane(false)
		m.live.suspend = false
		if msg.err != nil {
			return m.fail("editor", msg.err), true
		}
		return tea.Batch(m.reloadDiff(), func() tea.Msg { return tea.ClearScreen() }), true
	default:
		return nil, false
	}
}

// fromClock takes what was set for later.
func (m *Model) fromClock(msg tea.Msg) (tea.Cmd, bool) {
	switch msg := msg.(type) {
	case frameMsg:
		m.screen.soon = false
		m.screen.stale = true
	case secondMsg:
		m.screen.ticking = false
		m.screen.stale = true
	case noticeOverMsg:
		if msg.gen == m.news.gen {
			m.news.now = nil
			m.screen.stale = true
		}
	case retryMsg:
		if msg.gen == m.conn.gen {
			return m.subscribe(), true
		}
	case settledMsg:
		if msg.gen == m.live.gen {
			return m.settled(), true
		}
	case lookedMsg:
		return m.looked(msg), true
	default:
		return nil, false
	}
	return nil, true
}

func (m *Model) subscribed(msg subscribedMsg) tea.Cmd {
	if msg.gen != m.conn.gen {
		return nil
	}
	if msg.err != nil {
		return m.lost(msg.err)
	}
	m.conn.events, m.conn.seq = msg.events, 0
	return tea.Batch(m.next(), m.list())
}

// lost says once that the server is gone and tries again.
func (m *Model) lost(err error) tea.Cmd {
	var cmd tea.Cmd
	if !m.conn.lost && m.ctx.Err() == nil {
		m.conn.lost = true
		text := "the server does not answer; trying again"
		if err != nil {
			text = "server: " + err.Error() + "; trying again"
		}
		cmd = m.tell(thread.LevelError, text)
	}
	return tea.Batch(cmd, m.cfg.After(retry, retryMsg{m.conn.gen}))
}

// happened takes a batch of events.
func (m *Model) happened(msg eventsMsg) tea.Cmd {
	if msg.gen != m.conn.gen {
		return nil
	}
	var cmds []tea.Cmd
	gap := false
	for _, e := range msg.events {
		gap = gap || (m.conn.seq != 0 && e.Seq != m.conn.seq+1)
		m.conn.seq = e.Seq
		cmds = append(cmds, m.apply(e))
	}
	if gap {
		cmds = append(cmds, m.list())
	}
	if msg.over {
		cmds = append(cmds, m.lost(nil))
	} else {
		cmds = append(cmds, m.next())
	}
	return tea.Batch(append(cmds, m.screen.drawSoon(m.cfg))...)
}

// apply takes one event.
func (m *Model) apply(e thread.Event) tea.Cmd {
	switch e.Kind {
	case thread.EventThread:
		if e.Status == nil {
			return nil
		}
		before := m.tree.Thread(e.Status.ID)
		m.tree.Put(*e.Status)
		return tea.Batch(m.attention(before, e.Status), m.looking())
	case thread.EventRemoved:
		m.tree.Remove(e.ThreadID)
		delete(m.news.offers, e.ThreadID)
	case thread.EventCheckpoint:
		if e.Checkpoint != nil {
			return m.checkpoint(*e.Checkpoint)
		}
	case thread.EventNotice:
		if e.Notice != nil {
			return m.tell(e.Notice.Level, e.Notice.Text)
		}
	case thread.EventSwitch:
		m.switchTo(e.ThreadID)
	case thread.EventOffer:
		if e.Offer != nil {
			m.news.offers[e.Offer.Thread] = *e.Offer
		}
	}
	return nil
}

// checkpoint brings the views up to what was just stored.
func (m *Model) checkpoint(cp thread.Checkpoint) tea.Cmd {
	if cp.Kind == thread.KindRewind && m.views.timeline.Thread() == cp.Thread {
		m.views.timeline.Show(cp.Thread) // it has another past now
		if m.views.now == viewTimeline {
			return m.loadTimeline()
		}
		return nil
	}
	m.views.timeline.Push(cp)
	if cp.Kind == thread.KindTurn && m.views.now == viewDiff && m.views.diff.Thread() == cp.Thread && m.views.diff.Range().Turn == 0 {
		return m.reloadDiff()
	}
	return nil
}

// switchTo shows a thread, as when `switch` was asked for elsewhere.
func (m *Model) switchTo(id thread.ID) {
	if m.tree.Select(id) {
		m.views.now, m.views.reading = viewTerminal, false
		m.screen.stale = true
	}
}

// listed takes all threads. The first time it says what was left interrupted.
func (m *Model) listed(msg listedMsg) tea.Cmd {
	if msg.err != nil {
		return tea.Batch(m.fail("list threads", msg.err), m.cfg.After(retry, retryMsg{m.conn.gen}))
	}
	m.tree.Set(msg.threads)
	var cmd tea.Cmd
	if m.conn.lost {
		m.conn.lost = false
		cmd = m.tell(thread.LevelInfo, "the server is back")
	}
	if !m.conn.listed {
		m.conn.listed = true
		if m.live.wish != "" {
			m.tree.Select(m.live.wish)
		}
		m.showResumes(false)
		m.firstRun()
	}
	return cmd
}

// follow acts upon what the message changed: the selection, the pane, the clock on screen.
func (m *Model) follow() tea.Cmd {
	var cmds []tea.Cmd
	sel := m.tree.Selected()
	id := thread.ID("")
	if sel != nil {
		id = sel.ID
	}
	if id != m.live.selected {
		// What has the keys is shown at once, so that none goes to the agent before.
		first := m.live.selected == "" || m.live.wish == id
		m.live.selected, m.live.settled = id, false
		m.live.gen++
		m.screen.stale = true
		if first {
			cmds = append(cmds, m.settled())
		} else {
			cmds = append(cmds, m.cfg.After(settle, settledMsg{m.live.gen}))
		}
	}
	if m.live.wish != "" && sel != nil && sel.ID == m.live.wish && sel.Execution != nil && sel.State.State.Live() {
		m.live.wish = ""
		m.views.now, m.screen.area = viewTerminal, areaMain
		m.screen.stale = true
	}
	if !m.live.settled && m.screen.area == areaMain && m.views.now == viewTerminal {
		cmds = append(cmds, m.settled())
	}
	cmds = append(cmds, m.followPane(sel), m.screen.tick(m.cfg, sel))
	return tea.Batch(cmds...)
}

// settled acts upon a selection that rests.
func (m *Model) settled() tea.Cmd {
	m.live.settled = true
	m.screen.stale = true
	m.views.reading = false
	return tea.Batch(m.fill(), m.looking())
}

// fill loads what the view on show needs of the selected thread.
func (m *Model) fill() tea.Cmd {
	s := m.tree.Selected()
	if s == nil {
		m.views.timeline.Show("")
		return nil
	}
	switch m.views.now {
	case viewTimeline:
		if m.views.timeline.Thread() != s.ID {
			m.views.timeline.Show(s.ID)
		}
		return m.loadTimeline()
	case viewDiff:
		if m.views.diff.Thread() != s.ID {
			return m.loadDiff(s.ID, baseOf(s))
		}
		return m.reloadDiff()
	default:
		return nil
	}
}

// looking begins to count as having looked at the selected thread.
func (m *Model) looking() tea.Cmd {
	s := m.tree.Selected()
	if s == nil || s.Seen || s.State.State != thread.StateDone || !m.news.focused || !m.live.settled || !m.paneSeen() {
		return nil
	}
	return m.cfg.After(look, lookedMsg{m.live.gen, s.ID})
}

func (m *Model) looked(msg lookedMsg) tea.Cmd {
	s := m.tree.Selected()
	if msg.gen != m.live.gen || s == nil || s.ID != msg.id || !m.news.focused || !m.paneSeen() {
		return nil
	}
	return m.call(quick, func(ctx context.Context) tea.Msg {
		return doneMsg{err: m.cfg.Server.Seen(ctx, string(msg.id))}
	})
}

// key takes a key: to the agent when it has the focus, to the table otherwise.
func (m *Model) key(k tea.KeyPressMsg) tea.Cmd {
	in := m.keys.Lookup(m.scopes(), intent.Key{Name: k.String(), Text: k.Key().Text})
	if m.scopes()[0] == intent.Terminal && in != intent.Leave {
		return m.toPane(k)
	}
	if in == nil {
		return nil
	}
	m.screen.stale = true
	return m.do(in)
}

// toPane passes a message on to the agent where it has the focus.
func (m *Model) toPane(msg tea.Msg) tea.Cmd {
	if m.cfg.Pane == nil || !m.live.focus {
		return nil
	}
	return m.cfg.Pane.Update(msg)
}

func (m *Model) paste(p tea.PasteMsg) tea.Cmd {
	switch scope := m.scopes()[0]; scope {
	case intent.Terminal:
		return m.toPane(p)
	case intent.Form, intent.Field:
		m.screen.stale = true
		return m.do(intent.Type{Text: p.Content})
	default:
		return nil
	}
}

// scopes returns whose keys are asked, innermost first.
func (m *Model) scopes() []intent.Scope {
	switch {
	case m.dialogs.Open():
		return []intent.Scope{m.dialogs.Top().Scope(), intent.Global}
	case m.typing != nil:
		return []intent.Scope{intent.Field, intent.Global}
	case m.screen.area == areaMain && m.views.now == viewTerminal:
		return []intent.Scope{intent.Terminal}
	}
	var out []intent.Scope
	if m.offer() != nil {
		out = append(out, intent.Offer)
	}
	if m.screen.area == areaTree {
		return append(out, intent.Tree, intent.Global)
	}
	return append(out, m.viewScope(), intent.Global)
}

func (m *Model) viewScope() intent.Scope {
	switch m.views.now {
	case viewTimeline:
		if m.views.reading {
			return intent.Turn
		}
		return intent.Timeline
	case viewDiff:
		return intent.Diff
	default:
		return intent.Context
	}
}

// drawSoon has the screen drawn, at most so often: events come by the hundred.
func (s *screen) drawSoon(cfg Config) tea.Cmd {
	const apart = 33 * time.Millisecond
	if s.stale || s.soon {
		return nil
	}
	wait := apart - cfg.Clock().Sub(s.drawn)
	if wait <= 0 {
		s.stale = true
		return nil
	}
	s.soon = true
	return cfg.After(wait, frameMsg{})
}

// tick lets the clock on screen go on while it shows seconds; one tick is under way at most.
func (s *screen) tick(cfg Config, sel *thread.Status) tea.Cmd {
	if s.ticking || sel == nil || !counts(sel.State.State) {
		return nil
	}
	s.ticking = true
	return cfg.After(time.Second, secondMsg{})
}

// counts reports whether the time in a state is shown.
func counts(s thread.State) bool {
	return s == thread.StateWorking || s == thread.StateStarting
}
