package ui

import (
	"cmp"
	"time"

	"orchestrator/thread"
	"orchestrator/ui/agents"
	"orchestrator/ui/connection"
	"orchestrator/ui/consent"
	"orchestrator/ui/editor"
	"orchestrator/ui/eventlog"
	"orchestrator/ui/field"
	"orchestrator/ui/fork"
	"orchestrator/ui/frame"
	"orchestrator/ui/grants"
	"orchestrator/ui/headline"
	"orchestrator/ui/help"
	"orchestrator/ui/host"
	"orchestrator/ui/inbox"
	"orchestrator/ui/intent"
	"orchestrator/ui/lifecycle"
	"orchestrator/ui/menu"
	"orchestrator/ui/merge"
	"orchestrator/ui/money"
	"orchestrator/ui/offer"
	"orchestrator/ui/palette"
	"orchestrator/ui/peek"
	"orchestrator/ui/prompts"
	"orchestrator/ui/publish"
	"orchestrator/ui/question"
	"orchestrator/ui/resume"
	"orchestrator/ui/retention"
	"orchestrator/ui/rewind"
	"orchestrator/ui/runs"
	"orchestrator/ui/said"
	"orchestrator/ui/scrolling"
	"orchestrator/ui/search"
	"orchestrator/ui/servers"
	"orchestrator/ui/several"
	"orchestrator/ui/start"
	todo "orchestrator/ui/tasks"
	"orchestrator/ui/theme"
	"orchestrator/ui/trail"
	"orchestrator/ui/transfer"
	"orchestrator/ui/tree"
	"orchestrator/ui/undo"
	"orchestrator/ui/views"
	"orchestrator/ui/wave"
	"orchestrator/ui/why"
	"orchestrator/ui/work"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
)

// New returns the interface. It reports invalid key bindings as notices, and works without them.
func New(cfg Config) *Model {
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	if cfg.After == nil {
		cfg.After = func(d time.Duration, msg tea.Msg) tea.Cmd {
			return tea.Tick(d, func(time.Time) tea.Msg { return msg })
		}
	}
	m := &Model{cfg: cfg, tree: tree.New(cfg.Project), windowFocused: true, branch: headline.NewBranch(cfg.Branch)}
	m.screen.stale, m.screen.canvas.Glyphs, m.cfg.Alert.Glyphs = true, cfg.Glyphs, cfg.Glyphs
	var err error
	m.keys, err = intent.NewTable(cfg.Keys)
	m.host = host.New(m, cfg.Server, m.keys, cfg.Clock, cfg.After)
	m.host.Threads, m.dialogs = m.tree, m.host.Dialogs
	if err != nil {
		m.host.Notices.Add(host.Notice{Level: thread.LevelError, Text: err.Error(), At: cfg.Clock()})
	}
	for _, p := range cfg.Problems {
		m.host.Notices.Add(host.Notice{Level: thread.LevelWarn, Text: p, At: cfg.Clock()})
	}
	profile := cfg.Profile
	if profile == colorprofile.Unknown {
		profile = colorprofile.TrueColor
	}
	m.th = theme.NewIn(theme.SchemeOf(cfg.Theme), profile, cfg.Theme != "light")
	m.follow.FocusWhenRunning(cfg.Open)
	m.registerActions()
	m.addFeatures()
	m.connect()
	return m
}

// addFeatures adds all features, and passes each one what it needs of another.
func (m *Model) addFeatures() {
	h := m.host
	m.agents = agents.New(h, agents.Config{
		Demo: func() tea.Cmd { return m.start.Demo() }, New: func() tea.Cmd { return m.start.Open() },
	})
	m.start = start.New(h, start.Config{
		Folder: cmp.Or(m.cfg.Folder, m.cfg.Project), Git: m.cfg.Git, Agent: m.cfg.Agent, Agents: m.agents.Known, Habits: m.cfg.Habits,
	})
	m.offers = offer.New(h)
	m.questions = question.New(h, func() bool { // the newest of the selected thread's terminal is on the screen
		s := m.tree.Selected()
		return m.paneSeen() && s != nil && m.follow.Shown() == s.ID && m.pane.request.back == 0 && !m.scrolling.On()
	})
	m.inbox = inbox.New(h, inbox.Config{
		Visit:   func(id thread.ID) tea.Cmd { return m.visit(thread.Hit{Thread: id}) },
		Review:  func(s thread.MCPServer) tea.Cmd { return m.servers.Review(s) },
		Asked:   func() []thread.NodeQuestion { return m.waves.Asked() },
		Respond: func(q thread.NodeQuestion, yes, whole bool) tea.Cmd { return m.waves.Respond(q, yes, whole) },
		Graph:   func(q thread.NodeQuestion) tea.Cmd { return m.waves.Open(q.Task, q.Agent) },
	})
	m.events = eventlog.New(h, func(id thread.ID) tea.Cmd { return m.visit(thread.Hit{Thread: id}) })
	m.money = money.New(h, func(id thread.ID) tea.Cmd { return m.visit(thread.Hit{Thread: id}) })
	m.resumes = resume.New(h)
	m.prompts = prompts.New(h)
	m.servers = servers.New(h)
	m.several = several.New(h, several.Config{
		Size:    func() (int, int) { return m.screen.w, m.screen.h },
		Changed: func(l frame.Layout) { m.screen.split.Share(l.Parts() > 1) },
		Seen:    func() bool { return !m.place().Pane.Empty() },
		Aside: func(id thread.ID) (int, error) {
			if p, ok := m.cfg.Pane.(PaneGroup); ok {
				return p.Aside(id)
			}
			return 0, nil
		},
	})
	m.search = search.New(h, m.visit)
	life := lifecycle.New(h)
	runs.Register(h)
	forks := fork.New(h, fork.Config{Git: m.cfg.Git, Agents: m.agents.Known, Offer: m.offers.Fork, Back: m.offers.Back})
	rewinds := rewind.New(h, func(id thread.ID) tea.Cmd { return m.views.Rewound(id) })
	edit := editor.New(h, editor.Config{Command: m.cfg.Editor, Pager: m.cfg.Pager,
		Leave: func() { m.suspendPane(true) }, Return: func() { m.suspendPane(false) },
		After: func() tea.Cmd { return m.views.Reload() }})
	m.work = work.New(h, work.Config{
		Visit:  func(id thread.ID) tea.Cmd { return m.visit(thread.Hit{Thread: id}) },
		Budget: m.money.Budget, Money: m.money.BySession, Root: m.cfg.Project, Edit: edit.Open,
		Tasks: func() tea.Cmd { return m.waves.Show() },
	})
	waits := todo.New(h, todo.Config{Agent: m.cfg.Agent, Git: m.cfg.Git, Plan: m.cfg.Plan,
		Look: func(task string) tea.Cmd { return m.waves.Touched([]string{task}) }})
	m.waves = wave.New(h, wave.Config{
		Acts:  wave.Acts{Add: waits.Add, Split: waits.Split, Edit: waits.Edit, Start: waits.Start, StartAll: waits.StartAll},
		Visit: func(id thread.ID) tea.Cmd { return m.visit(thread.Hit{Thread: id}) },
		Work:  m.work.Show,
		Asked: func() { m.inbox.Changed() },
		Seen:  func() bool { return !m.dialogs.Open() && !m.place().Pane.Empty() },
	})
	h.Actions.On(intent.Work, func() tea.Cmd {
		if m.waves.First() {
			return m.waves.Show()
		}
		m.waves.Worked()
		return m.work.Show()
	})
	m.said = said.Register(h, said.Config{Folder: m.cfg.Private, Open: edit.Read})
	m.consent = consent.Register(h, m.said.Copy)
	m.views = views.New(h, views.Actions{Fork: forks.Open, Rewind: rewinds.Open, Edit: edit.Open,
		Prompts: m.prompts.Open, Copy: m.said.Copy})
	m.peek = peek.New(h, peek.Config{Answer: m.said.Newest, Enter: func() tea.Cmd { return m.enter() }})
	m.trail = trail.New(h, func(p trail.Place) tea.Cmd {
		if p.Turn != "" {
			return m.visit(thread.Hit{Thread: p.Thread, Checkpoint: p.Turn, Turn: p.N})
		}
		m.tree.Select(p.Thread)
		return m.show(views.View(p.View))
	})
	reader, _ := m.cfg.Pane.(scrolling.Pane)
	m.scrolling = scrolling.New(h, scrolling.Config{Pane: reader, Attached: m.follow.Shown, Copy: m.said.Copy, Browse: m.cfg.Browse,
		Entered: func() { m.views.Show(views.Terminal); m.screen.area = areaMain },
		Left:    func() { m.screen.area = areaTree }})
	merge.Register(h, life.Archive)
	undo.Register(h)
	help.Register(h, m.cfg.Version, m.scopes)
	menu.Register(h, menu.Config{Scopes: m.scopes, Do: func(a intent.Action) tea.Cmd { return m.do(a) }})
	m.palette = palette.New(h, palette.Config{Scopes: m.scopes, Do: func(a intent.Action) tea.Cmd { return m.do(a) },
		Visit: m.visit, Terminal: func() tea.Cmd { return m.show(views.Terminal) }, Tasks: m.waves.Tasks,
		Task: func(name string) tea.Cmd { return m.waves.Open(name, "") }})
	grants.Register(h)
	why.Register(h, m.offers.Fork)
	publish.Register(h)
	transfer.Register(h, m.cfg.Project)
	retention.Register(h)
}

// connect configures the connection to the server.
func (m *Model) connect() {
	m.conn = connection.New(m.host, connection.Config{
		First: m.cfg.First, Version: m.cfg.Version, Outdated: m.cfg.Outdated,
		StartServer: m.cfg.StartServer, Restart: m.cfg.Restart,
		Event: m.apply,
		Soon:  func() tea.Cmd { return m.screen.drawSoon(m.cfg) },
		Back: func() {
			m.follow.Reattach()
			m.servers.Changed("")
			m.money.Again()
			m.work.Again()
			m.waves.Again()
		},
		Interrupted: func() { m.resumes.Offer() },
		Listed: func() {
			m.waves.Again()
			if open := m.follow.PendingFocus(); open != "" {
				m.tree.Select(open)
			}
			if m.cfg.Open == "" {
				m.resumes.Offer()
			}
			m.agents.Listed()
		},
	})
}

// registerActions registers the actions on the screen as a whole.
func (m *Model) registerActions() {
	do := func(a intent.Action, do func()) {
		m.host.Actions.On(a, func() tea.Cmd {
			do()
			return nil
		})
	}
	m.host.Actions.On(intent.Quit, m.leave)
	m.host.Actions.On(intent.NextView, func() tea.Cmd { return m.show((m.views.Now() + 1) % views.Count) })
	m.host.Actions.On(intent.PrevView, func() tea.Cmd { return m.show((m.views.Now() + views.Count - 1) % views.Count) })
	m.host.Actions.On(intent.Turns, func() tea.Cmd { return m.show(views.Timeline) })
	m.host.Actions.On(intent.Contents, func() tea.Cmd { return m.show(views.Context) })
	m.host.Actions.OnThread(intent.ShowDiff, func(s *thread.Status) tea.Cmd {
		return tea.Batch(m.show(views.Diff), m.views.LastDiff(s))
	})
	m.host.Actions.On(intent.Redraw, m.redraw)
	m.host.Actions.On(intent.NextWait, func() tea.Cmd {
		if !m.tree.NextWaiting() {
			return m.host.Notify(thread.LevelInfo, "No thread needs you")
		}
		m.screen.area = areaTree // from inside an agent: it is answered from the list
		return nil
	})
	m.host.Actions.On(intent.LastSeen, m.back)
	m.host.Actions.On(intent.Suspend, func() tea.Cmd {
		m.screen.away = true
		return tea.Suspend
	})
	m.host.Actions.OnThread(intent.ForkAt, func(*thread.Status) tea.Cmd { return m.choosePoint() })
	do(intent.Leave, func() { m.screen.area = areaTree })
	do(intent.Wider, func() { m.screen.split.Widen(m.screen.w, 1) })
	do(intent.Narrower, func() { m.screen.split.Widen(m.screen.w, -1) })
	do(intent.Sidebar, func() { m.screen.noSide = !m.screen.noSide })
	m.host.Actions.On(intent.Archived, func() tea.Cmd { return archive(m) })
	do(intent.Filter, func() {
		m.several.Unzoom()
		m.screen.area = areaTree
		m.statusInput = &statusInput{what: intent.Filter, field: field.New(m.tree.Filtered()), was: m.tree.Filtered()}
	})
}

// Init starts listening.
func (m *Model) Init() tea.Cmd {
	cmds := []tea.Cmd{m.conn.Open(), m.agents.Load(), m.servers.Follow(), m.said.Sweep()}
	if m.cfg.Theme != "dark" && m.cfg.Theme != "light" {
		cmds = append(cmds, tea.RequestBackgroundColor)
	}
	if told := m.host.Notices.All(); len(told) > 0 {
		cmds = append(cmds, m.host.ShowNotice(told[0]))
	}
	return tea.Batch(cmds...)
}

// Close cancels running calls.
func (m *Model) Close() { m.host.Close() }
