package ui

import (
	"time"

	"orchestrator/thread"
	"orchestrator/ui/agents"
	"orchestrator/ui/connection"
	"orchestrator/ui/editor"
	"orchestrator/ui/field"
	"orchestrator/ui/fork"
	"orchestrator/ui/grants"
	"orchestrator/ui/help"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"
	"orchestrator/ui/lifecycle"
	"orchestrator/ui/merge"
	"orchestrator/ui/messages"
	"orchestrator/ui/offer"
	"orchestrator/ui/palette"
	"orchestrator/ui/portable"
	"orchestrator/ui/prompts"
	"orchestrator/ui/publish"
	"orchestrator/ui/resume"
	"orchestrator/ui/retention"
	"orchestrator/ui/rewind"
	"orchestrator/ui/search"
	"orchestrator/ui/servers"
	"orchestrator/ui/start"
	"orchestrator/ui/theme"
	"orchestrator/ui/tree"
	"orchestrator/ui/undo"
	"orchestrator/ui/views"
	"orchestrator/ui/why"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
)

// New makes the interface. What is wrong with the configured keys is told as a notice: the
// keyboard works without them.
func New(cfg Config) *Model {
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	if cfg.After == nil {
		cfg.After = func(d time.Duration, msg tea.Msg) tea.Cmd {
			return tea.Tick(d, func(time.Time) tea.Msg { return msg })
		}
	}
	m := &Model{cfg: cfg, tree: tree.New(cfg.Project), looks: true}
	m.screen.stale = true
	var err error
	m.keys, err = intent.NewTable(cfg.Keys)
	m.host = host.New(m, m.keys, cfg.Clock, cfg.After)
	m.host.Threads, m.dialogs = m.tree, m.host.Dialogs
	if err != nil {
		m.host.Notices.Note(host.Notice{Level: thread.LevelError, Text: err.Error(), At: cfg.Clock()})
	}
	for _, p := range cfg.Problems {
		m.host.Notices.Note(host.Notice{Level: thread.LevelWarn, Text: p, At: cfg.Clock()})
	}
	profile := cfg.Profile
	if profile == colorprofile.Unknown {
		profile = colorprofile.TrueColor
	}
	m.th = theme.New(profile, cfg.Theme != "light")
	m.follow.Wish(cfg.Open)
	m.registerActions()
	m.addFeatures()
	m.connect()
	return m
}

// addFeatures adds what answers the actions, and tells each feature what it needs of another.
func (m *Model) addFeatures() {
	h, srv := m.host, m.cfg.Server
	m.agents = agents.New(h, srv, func() tea.Cmd { return m.start.Demo() })
	m.start = start.New(h, srv, start.Config{Project: m.cfg.Project, Git: m.cfg.Git, Agent: m.cfg.Agent, Agents: m.agents.Known})
	m.offers = offer.New(h, srv)
	m.resumes = resume.New(h, srv)
	m.prompts = prompts.New(h, srv)
	m.servers = servers.New(h, srv)
	m.search = search.New(h, srv, m.visit)
	life := lifecycle.New(h, srv)
	forks := fork.New(h, srv, fork.Config{Git: m.cfg.Git, Agents: m.agents.Known, Offer: m.offers.Current})
	rewinds := rewind.New(h, srv, func(id thread.ID) tea.Cmd { return m.views.Rewound(id) })
	edit := editor.New(h, editor.Config{Command: m.cfg.Editor,
		Leave: func() { m.suspendPane(true) }, Return: func() { m.suspendPane(false) },
		After: func() tea.Cmd { return m.views.Reload() }})
	m.views = views.New(h, srv, views.Actions{Fork: forks.Open, Rewind: rewinds.Open, Edit: edit.Open})
	merge.Register(h, srv, life.Archive)
	undo.Register(h)
	help.Register(h, m.cfg.Version, m.scopes)
	palette.Register(h, palette.Config{Scopes: m.scopes, Do: func(a intent.Action) tea.Cmd { return m.do(a) },
		Visit: func(id thread.ID) tea.Cmd { return m.visit(thread.Hit{Thread: id}) }})
	messages.Register(h)
	grants.Register(h, srv)
	why.Register(h, srv, m.offers.Current)
	publish.Register(h, srv)
	portable.Register(h, srv, m.cfg.Project)
	retention.Register(h, srv)
}

// connect says what the connection to the server leads to.
func (m *Model) connect() {
	m.conn = connection.New(m.host, m.cfg.Server, connection.Config{
		Version: m.cfg.Version, Outdated: m.cfg.Outdated, Revive: m.cfg.Revive, Restart: m.cfg.Restart,
		Event:       m.apply,
		Soon:        func() tea.Cmd { return m.screen.drawSoon(m.cfg) },
		Back:        m.follow.Forget,
		Interrupted: func() { m.resumes.Offer() },
		First: func() {
			if open := m.follow.Wished(); open != "" {
				m.tree.Select(open)
			}
			if m.cfg.Open == "" {
				m.resumes.Offer()
			}
			m.agents.Listed()
		},
	})
}

// registerActions adds the actions on the screen as a whole.
func (m *Model) registerActions() {
	do := func(a intent.Action, do func()) {
		m.host.On(a, func() tea.Cmd {
			do()
			return nil
		})
	}
	m.host.On(intent.Quit, m.leave)
	m.host.On(intent.NextView, func() tea.Cmd { return m.show((m.views.Now() + 1) % views.Count) })
	m.host.On(intent.PrevView, func() tea.Cmd { return m.show((m.views.Now() + views.Count - 1) % views.Count) })
	m.host.On(intent.Redraw, m.redraw)
	m.host.On(intent.NextWait, func() tea.Cmd {
		if m.tree.NextWaiting() {
			return nil
		}
		return m.host.Tell(thread.LevelInfo, "No thread needs you")
	})
	m.host.On(intent.Suspend, func() tea.Cmd {
		m.screen.away = true
		return tea.Suspend
	})
	m.host.OnThread(intent.ForkAt, func(*thread.Status) tea.Cmd { return m.choosePoint() })
	do(intent.Leave, func() { m.screen.area = areaTree })
	do(intent.Sidebar, func() { m.screen.noSide = !m.screen.noSide })
	do(intent.Archived, func() { m.tree.ShowArchive(!m.tree.Archive()) })
	do(intent.Filter, func() {
		m.screen.area = areaTree
		m.line = &line{what: intent.Filter, field: field.New(m.tree.Filtered()), was: m.tree.Filtered()}
	})
}

// Init begins to listen.
func (m *Model) Init() tea.Cmd {
	cmds := []tea.Cmd{m.conn.Open(), m.agents.Load(), m.servers.Load()}
	if m.cfg.Theme != "dark" && m.cfg.Theme != "light" {
		cmds = append(cmds, tea.RequestBackgroundColor)
	}
	if told := m.host.Notices.All(); len(told) > 0 {
		cmds = append(cmds, m.host.ShowNotice(told[0]))
	}
	return tea.Batch(cmds...)
}

// Close ends what the interface has under way.
func (m *Model) Close() { m.host.Close() }
