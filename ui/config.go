package ui

import (
	"context"
	"time"

	"orchestrator/thread"
	"orchestrator/ui/connection"

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
	Restart func(ctx context.Context, cols, rows int) (connection.Restarted, error)

	// Clock tells the time; nil is the real one.
	Clock func() time.Time
	// After makes the command that ends in a message after a while; nil is Bubble Tea's.
	After func(time.Duration, tea.Msg) tea.Cmd
}
