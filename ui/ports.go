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
	"orchestrator/ui/prompts"
	"orchestrator/ui/publish"
	"orchestrator/ui/resume"
	"orchestrator/ui/retention"
	"orchestrator/ui/rewind"
	"orchestrator/ui/search"
	"orchestrator/ui/servers"
	"orchestrator/ui/start"
	"orchestrator/ui/transfer"
	"orchestrator/ui/views"
	"orchestrator/ui/why"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
)

// Server is everything that the interface and its features need from the server. Threads are referred to by id, name or
// a unique prefix of the name.
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
	transfer.Server
	retention.Server
	servers.Server
	// Seen reports that the user has looked at a thread.
	Seen(ctx context.Context, ref string) error
}

// Pane is the live terminal of the selected thread. It paints its cells itself.
type Pane interface {
	// Show attaches to a thread's terminal; an empty id detaches.
	Show(thread.ID) tea.Cmd
	// Place sets its box, to which the terminal is resized.
	Place(layout.Box)
	// Suspend stops painting while something else is drawn there.
	Suspend(bool)
	// Focus sets whether keys go to it, so that it shows its cursor.
	Focus(bool)
	// Update handles keys, pastes and the mouse while it is focused, and always its own messages.
	Update(tea.Msg) tea.Cmd
}

// PaneModes is implemented by a Pane whose program can ask for more mouse and keyboard events. Optional.
type PaneModes interface {
	MouseMode() tea.MouseMode
	Keyboard() tea.KeyboardEnhancements
}

// PaneProblem is implemented by a Pane that can say why it has nothing to show. Optional.
type PaneProblem interface{ Problem() error }

// PaneBack is implemented by a Pane that can tell how many lines it is scrolled back. Optional.
type PaneBack interface{ Back() int }

// PaneStill is implemented by a Pane that can draw its content into the chrome, for when something covers it. Optional.
type PaneStill interface {
	Still(*layout.Canvas, layout.Box, lipgloss.Style)
}

// CopiedText is a message of a Pane that has copied text to the clipboard.
type CopiedText interface{ CopiedText() string }
