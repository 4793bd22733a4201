package ui

import (
	"orchestrator/thread"
	"orchestrator/ui/clipboard"
	"orchestrator/ui/follow"
	"orchestrator/ui/layout"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
)

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

// PaneFree is implemented by a Pane that can leave empty rows at its bottom to something else. Optional.
type PaneFree interface {
	// Free returns how many there are, and Lend leaves some of them.
	Free() int
	Lend(rows int)
}

// PaneStill is implemented by a Pane that can draw its content into the chrome, for when something covers it. Optional.
type PaneStill interface {
	Still(*layout.Canvas, layout.Box, lipgloss.Style)
}

// PaneGroup is implemented by a Pane that can show other terminals beside the selected one. Optional.
type PaneGroup interface {
	// Beside tells which, and whether something covers them. Arrange follows that, and what Show and Place have said.
	Beside(others []follow.Watched, hidden bool)
	Arrange() tea.Cmd
	// StillOf is Still for one of them.
	StillOf(thread.ID, *layout.Canvas, layout.Box, lipgloss.Style)
	// Aside returns how many lines one of them is scrolled back, and why there is nothing to show of it.
	Aside(thread.ID) (back int, problem error)
}

// PaneReports is implemented by a Pane that knows what its program reports besides its screen. Optional.
type PaneReports interface {
	Title() string
	Progress() (percent int, ok bool)
}

// Wants is a message of a Pane whose program wants to put a text on the clipboard.
type Wants interface{ Wants() (thread.ID, string) }

// Copied is a message of a Pane that has copied text to the clipboard.
type Copied interface{ Copied() clipboard.Copied }
