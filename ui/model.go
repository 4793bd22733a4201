package ui

import (
	"context"
	"time"

	"orchestrator/thread"
	"orchestrator/ui/detail"
	"orchestrator/ui/dialog"
	"orchestrator/ui/diff"
	"orchestrator/ui/field"
	"orchestrator/ui/intent"
	"orchestrator/ui/markdown"
	"orchestrator/ui/mcp"
	"orchestrator/ui/theme"
	"orchestrator/ui/timeline"
	"orchestrator/ui/tree"
	"orchestrator/ui/turn"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
)

// Config is what the interface is made of.
type Config struct {
	Server Server
	// Pane is the live terminal; without one the main pane tells about the thread only.
	Pane Pane

	Project string // the project's folder
	Git     bool   // forks can have worktrees
	Version string
	// Agent is what the new-thread dialog begins with.
	Agent string
	// Open is a thread to show at the start with its agent in focus.
	Open thread.ID
	// Problems are what the server found at its start; they are told first.
	Problems []string

	// Theme is "dark", "light", or "auto" to ask the terminal.
	Theme string
	// Profile is the colours to use; true colour where it is not known.
	Profile colorprofile.Profile
	// Keys are a person's own: for an action's name, its keys.
	Keys map[string][]string
	// Notify says how to tell of a thread that waits while the window is not focused:
	// "bell", "osc9", "osc777".
	Notify []string
	// NoMouse leaves the mouse to the terminal.
	NoMouse bool
	// Editor is the command that opens a file, the file appended; empty when there is none.
	Editor []string

	// Revive starts a server where none runs any more; nil leaves that to the person.
	Revive func(context.Context) error

	// Outdated is the version of the server where that is of another build than this program: the person is asked
	// whether to restart it.
	Outdated string
	// Restart has this program serve instead of what does, and resumes the agents; nil leaves that to the person.
	Restart func(ctx context.Context, cols, rows int) (Restarted, error)

	// Clock tells the time; nil is the real one.
	Clock func() time.Time
	// After makes the command that ends in a message after a while; nil is Bubble Tea's.
	After func(time.Duration, tea.Msg) tea.Cmd
}

// Model is the root of the interface, the only tea.Model in it.
type Model struct {
	cfg  Config
	keys *intent.Table
	th   *theme.Theme
	// ctx ends with the program; the commands' calls hang from it.
	ctx  context.Context
	stop context.CancelFunc

	tree    *tree.Tree
	mcp     mcp.Panel
	agents  []thread.AgentInfo
	dialogs dialog.Stack
	views   views
	live    live
	screen  screen
	news    news
	conn    connection
	undo    []undoStep
	typing  *typing
	hands   hands
	asked   asked
}

// area is the part of the screen that has the keys.
type area int

const (
	areaTree area = iota
	areaMain
)

// view is what the main pane shows.
type view int

const (
	viewTerminal view = iota
	viewTimeline
	viewContext
	viewDiff
	viewCount
)

func (v view) String() string {
	return [...]string{"terminal", "timeline", "context", "diff"}[v]
}

// views is what the main pane can show and which of it does.
type views struct {
	now      view
	reading  bool // a turn is open over the timeline
	timeline *timeline.Model
	turn     *turn.Model
	diff     *diff.Model
	detail   *detail.Model
	find     int // generation of the last search
}

// live is what is known of the pane and the selection it follows.
type live struct {
	selected thread.ID // the selection that was acted upon
	gen      int       // counts selections; what is late for one is dropped
	settled  bool      // the selection rests
	seen     bool      // its terminal is on show
	shown    thread.ID // what the pane was told to show
	run      thread.ExecutionID
	focus    bool           // what the pane was told
	suspend  bool           // what the pane was told
	wish     thread.ID      // to be focused as soon as it runs
	wants    wants          // what the pane asked for when it last changed
	finder   *dialog.Picker // the search that is open
	servers  *dialog.Text   // the MCP servers, while or after they are on show
}

// connection is how the event stream stands.
type connection struct {
	events <-chan thread.Event
	seq    int64
	listed bool
	late   bool // the first list has not come within a moment
	lost   bool
	tries  int         // since it was lost
	asking *dialog.Ask // whether to start a server
	gen    int
	// outdated is the version of a server of another build; restarting is set while it gives way, restarted when the
	// new one runs and is not heard yet.
	outdated   string
	offering   *dialog.Ask // whether to restart it
	restarting bool
	restarted  *restartedMsg
}

// typing is a line being typed in the status line.
type typing struct {
	field field.Field
	what  intent.Action // Filter or Search
	was   string
}

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
	m := &Model{cfg: cfg, tree: tree.New(cfg.Project)}
	var err error
	if m.keys, err = intent.NewTable(cfg.Keys); err != nil {
		m.news.log = append(m.news.log, notice{level: thread.LevelError, text: err.Error(), at: cfg.Clock()})
	}
	for _, p := range cfg.Problems {
		m.news.log = append(m.news.log, notice{level: thread.LevelWarn, text: p, at: cfg.Clock()})
	}
	m.ctx, m.stop = context.WithCancel(context.Background())
	profile := cfg.Profile
	if profile == colorprofile.Unknown {
		profile = colorprofile.TrueColor
	}
	m.th = theme.New(profile, cfg.Theme != "light")
	m.views = views{timeline: timeline.New(m.name), turn: turn.New(markdown.New()), diff: diff.New(), detail: detail.New()}
	m.news.answered = map[string]bool{}
	m.asked.now = map[thread.PromptID]thread.PromptState{}
	m.news.focused = true
	m.screen.stale = true
	m.live.wish = cfg.Open
	m.conn.outdated = cfg.Outdated
	return m
}

// name returns a thread's name.
func (m *Model) name(id thread.ID) string {
	if s := m.tree.Thread(id); s != nil {
		return s.DisplayName()
	}
	return string(id)
}

// Init begins to listen.
func (m *Model) Init() tea.Cmd {
	cmds := []tea.Cmd{m.subscribe(), m.loadAgents(), m.loadMCP(), m.cfg.After(moment, lateMsg{})}
	if m.cfg.Theme != "dark" && m.cfg.Theme != "light" {
		cmds = append(cmds, tea.RequestBackgroundColor)
	}
	if len(m.news.log) > 0 {
		m.news.show(m.news.log[0])
		cmds = append(cmds, m.cfg.After(noticeTime, noticeOverMsg{m.news.gen}))
	}
	return tea.Batch(cmds...)
}

// Close ends what the interface has under way.
func (m *Model) Close() { m.stop() }
