package ui

import (
	"context"

	"orchestrator/thread"
	"orchestrator/ui/agents"
	"orchestrator/ui/connection"
	"orchestrator/ui/fork"
	"orchestrator/ui/grants"
	"orchestrator/ui/layout"
	"orchestrator/ui/lifecycle"
	"orchestrator/ui/merge"
	"orchestrator/ui/offer"
	"orchestrator/ui/portable"
	"orchestrator/ui/prompts"
	"orchestrator/ui/publish"
	"orchestrator/ui/resume"
	"orchestrator/ui/retention"
	"orchestrator/ui/rewind"
	"orchestrator/ui/search"
	"orchestrator/ui/servers"
	"orchestrator/ui/start"
	"orchestrator/ui/views"
	"orchestrator/ui/why"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
)

// Server is all that the interface needs of the server: what its features need. A thread is named by its id, its name
// or a prefix of it that is unique.
type Server interface {
	connection.Server
	start.Server
	agents.Server
	fork.Server
	resume.Server
	prompts.Server
	offer.Server
	lifecycle.Server
	grants.Server
	views.Server
	rewind.Server
	merge.Server
	search.Server
	why.Server
	publish.Server
	portable.Server
	retention.Server
	servers.Server
	// Seen says that the person has looked at a thread.
	Seen(ctx context.Context, ref string) error
}

// Pane is the live terminal of the thread on show. It paints its cells itself.
type Pane interface {
	// Show attaches to a thread's terminal; an empty id lets go.
	Show(thread.ID) tea.Cmd
	// Place says where it stands; the terminal is sized to it.
	Place(layout.Box)
	// Suspend stops painting while something else stands there.
	Suspend(bool)
	// Focus says whether keys go to it, so that it shows its cursor.
	Focus(bool)
	// Update takes keys, pastes and the mouse while it has the focus, and its own messages always.
	Update(tea.Msg) tea.Cmd
}

// PaneModes is a Pane whose program asks for more of the mouse and the keyboard. Optional for a Pane.
type PaneModes interface {
	MouseMode() tea.MouseMode
	Keyboard() tea.KeyboardEnhancements
}

// PaneProblem is a Pane that says why it has nothing to show, nil when it has. Optional for a Pane.
type PaneProblem interface{ Problem() error }

// PaneBack is a Pane that tells how many lines its history is scrolled back. Optional for a Pane.
type PaneBack interface{ Back() int }

// PaneStill is a Pane that can draw what it shows into the chrome, for where something stands over it.
// Optional for a Pane.
type PaneStill interface {
	Still(*layout.Canvas, layout.Box, lipgloss.Style)
}

// CopiedText is a message of a Pane: text went to the clipboard.
type CopiedText interface{ CopiedText() string }
