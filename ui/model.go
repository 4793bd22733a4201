package ui

import (
	"time"

	"orchestrator/thread"
	"orchestrator/ui/agents"
	"orchestrator/ui/connection"
	"orchestrator/ui/consent"
	"orchestrator/ui/dialog"
	"orchestrator/ui/eventlog"
	"orchestrator/ui/field"
	"orchestrator/ui/follow"
	"orchestrator/ui/frame"
	"orchestrator/ui/headline"
	"orchestrator/ui/host"
	"orchestrator/ui/inbox"
	"orchestrator/ui/intent"
	"orchestrator/ui/keyhelp"
	"orchestrator/ui/layout"
	"orchestrator/ui/money"
	"orchestrator/ui/offer"
	"orchestrator/ui/palette"
	"orchestrator/ui/peek"
	"orchestrator/ui/prompts"
	"orchestrator/ui/question"
	"orchestrator/ui/resume"
	"orchestrator/ui/said"
	"orchestrator/ui/scrolling"
	"orchestrator/ui/search"
	"orchestrator/ui/servers"
	"orchestrator/ui/several"
	"orchestrator/ui/start"
	"orchestrator/ui/theme"
	"orchestrator/ui/trail"
	"orchestrator/ui/tree"
	"orchestrator/ui/typing"
	"orchestrator/ui/views"
	"orchestrator/ui/wave"
	"orchestrator/ui/work"

	tea "charm.land/bubbletea/v2"
)

// Model is the root of the interface, the only tea.Model in it.
type Model struct {
	cfg  Config
	keys *intent.Table
	th   *theme.Theme
	host *host.Host

	tree          *tree.Tree    // the host's
	dialogs       *dialog.Stack // the host's
	screen        screen
	statusInput   *statusInput
	typing        typing.Guard
	follow        follow.Follower
	pane          paneState
	scrolling     *scrolling.Feature
	branch        headline.Branch
	consent       *consent.Feature
	said          *said.Feature
	windowFocused bool // the window is focused; true until the terminal says otherwise
	focusKnown    bool // the terminal has said whether it is

	// The features that the root calls; the others only register actions.
	conn      *connection.Feature
	views     *views.Feature
	offers    *offer.Feature
	questions *question.Feature
	inbox     *inbox.Feature
	events    *eventlog.Feature
	money     *money.Feature
	work      *work.Feature
	waves     *wave.Feature
	palette   *palette.Feature
	prompts   *prompts.Feature
	peek      *peek.Feature
	trail     *trail.Feature
	search    *search.Feature
	several   *several.Feature
	servers   *servers.Feature
	agents    *agents.Feature
	start     *start.Feature
	resumes   *resume.Feature
}

// paneState is what the pane was told, and what it asked for when it last changed.
type paneState struct {
	seen    bool // its terminal is shown
	focus   bool
	suspend bool
	hidden  bool // something covers all terminals
	lent    int  // rows at its bottom that a question has
	request paneRequest
}

// paneRequest is what the pane needs the chrome to do for it.
type paneRequest struct {
	mouse    tea.MouseMode
	keyboard tea.KeyboardEnhancements
	problem  string
	title    string // that the program has set
	progress string
	back     int
	aside    string // what the title bars of the other terminals say of them
}

// area is the part of the screen that is focused.
type area int

const (
	areaTree area = iota
	areaMain
)

// statusInput is the text being typed in the status line.
type statusInput struct {
	field field.Field
	what  intent.Action // Filter, Search or SearchBack
	was   string
}

// The minimum size of the screen, in cells.
const minWidth, minHeight = 60, 20

// screen is the canvas, and what decides whether to redraw it.
type screen struct {
	w, h   int
	area   area
	noSide bool // the user has hidden the side bar
	split  frame.Split
	drag   frame.Drag
	away   bool      // the shell has the terminal
	left   time.Time // when the person last left for the list by a key

	hints   []keyhelp.Spot // as drawn
	canvas  layout.Canvas
	view    tea.View
	stale   bool // something on it has changed
	soon    bool // a frame is scheduled
	ticking bool // a tick is scheduled, the one with the number ticks, for tickAt
	ticks   int
	tickAt  time.Time
	drawn   time.Time
}

func (s *screen) resize(w, h int) {
	s.w, s.h = w, h
	s.stale = true
}

func (s *screen) tooSmall() bool { return s.w < minWidth || s.h < minHeight }

// drawSoon schedules a redraw, at a limited rate, because events can arrive by the hundred.
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

// counts reports whether to show the time in a state.
func counts(s thread.State) bool {
	return s == thread.StateWorking || s == thread.StateStarting
}

// Messages of the root's timers. Those that can be late carry what they were set for.
type (
	// settledMsg means that the selection has settled.
	settledMsg struct{ gen int }
	// lookedMsg means that the user has looked at a thread for a while.
	lookedMsg struct {
		gen int
		id  thread.ID
	}
	// heldMsg means that a letter has waited for text to follow.
	heldMsg struct {
		id int
		do func() tea.Cmd
	}
	// frameMsg redraws after events; secondMsg updates what changes by itself.
	frameMsg  struct{}
	secondMsg struct{ tick int }
)
