package ui

import (
	"time"

	"orchestrator/thread"
	"orchestrator/ui/agents"
	"orchestrator/ui/connection"
	"orchestrator/ui/dialog"
	"orchestrator/ui/field"
	"orchestrator/ui/follow"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"
	"orchestrator/ui/layout"
	"orchestrator/ui/offer"
	"orchestrator/ui/prompts"
	"orchestrator/ui/resume"
	"orchestrator/ui/search"
	"orchestrator/ui/servers"
	"orchestrator/ui/start"
	"orchestrator/ui/theme"
	"orchestrator/ui/tree"
	"orchestrator/ui/typing"
	"orchestrator/ui/views"

	tea "charm.land/bubbletea/v2"
)

// Model is the root of the interface, the only tea.Model in it.
type Model struct {
	cfg  Config
	keys *intent.Table
	th   *theme.Theme
	host *host.Host

	tree    *tree.Tree    // of the host
	dialogs *dialog.Stack // of the host
	screen  screen
	line    *line
	typing  typing.Guard
	follow  follow.Follower
	told    told
	looks   bool // the window has the focus; true until the terminal says otherwise

	// The features that the root asks something; the others only answer actions.
	conn    *connection.Feature
	views   *views.Feature
	offers  *offer.Feature
	prompts *prompts.Feature
	search  *search.Feature
	servers *servers.Feature
	agents  *agents.Feature
	start   *start.Feature
	resumes *resume.Feature
}

// told is what the pane was told, and what it asked for when it last changed.
type told struct {
	seen    bool // its terminal is on show
	focus   bool
	suspend bool
	wants   wants
}

// wants is what the pane has the chrome do for it.
type wants struct {
	mouse    tea.MouseMode
	keyboard tea.KeyboardEnhancements
	problem  string
	back     int
}

// area is the part of the screen that has the keys.
type area int

const (
	areaTree area = iota
	areaMain
)

// line is what is being typed in the status line.
type line struct {
	field field.Field
	what  intent.Action // Filter or Search
	was   string
}

// The smallest screen that shows anything, in cells.
const minWidth, minHeight = 60, 20

// screen is the canvas with what decides whether it is redrawn.
type screen struct {
	w, h   int
	area   area
	noSide bool // the side bar is folded by hand
	away   bool // the terminal is the shell's

	canvas  layout.Canvas
	view    tea.View
	stale   bool // something on it changed
	soon    bool // a frame is set
	ticking bool // a second is set
	drawn   time.Time
}

func (s *screen) resize(w, h int) {
	s.w, s.h = w, h
	s.stale = true
}

func (s *screen) tooSmall() bool { return s.w < minWidth || s.h < minHeight }

// drawSoon has the screen drawn, at most so often: events come by the hundred.
func (s *screen) drawSoon(cfg Config) tea.Cmd {
	const apart = 33 * time.Millisecond
	if s.stale || s.soon {
		return nil
	}
	wait := min(apart-cfg.Clock().Sub(s.drawn), apart)
	if wait <= 0 {
		s.stale = true
		return nil
	}
	s.soon = true
	return cfg.After(wait, frameMsg{})
}

// counts reports whether the time in a state is shown.
func counts(s thread.State) bool {
	return s == thread.StateWorking || s == thread.StateStarting
}

// The messages that timers of the root end in. Those that can come late carry what they were set for.
type (
	// settledMsg says that the selection rests.
	settledMsg struct{ gen int }
	// lookedMsg says that a person has looked at a thread for a while.
	lookedMsg struct {
		gen int
		id  thread.ID
	}
	// partingMsg says that no text followed a letter that quits.
	partingMsg struct{ parting int }
	// frameMsg draws what events changed; secondMsg lets the clock on screen go on.
	frameMsg  struct{}
	secondMsg struct{}
)
