package ui

import (
	"context"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/plan"
	"orchestrator/ui/alert"
	"orchestrator/ui/connection"
	"orchestrator/ui/glyph"
	"orchestrator/ui/host"
	"orchestrator/ui/layout"
	"orchestrator/ui/start"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
)

// Config configures the interface.
type Config struct {
	Server host.Server
	// First is what was asked of the server before there was a screen; nil for nothing.
	First *connection.First
	// Pane is the live terminal; without one the main pane only describes the thread.
	Pane Pane

	Project string // the project's folder
	// Folder is the one in the project that new threads work in unless the person says another; Project when empty.
	Folder string
	Git    bool // forks can have worktrees
	// Branch returns the branch that the project is on, "" for none; nil if nobody knows. It may read files.
	Branch  func() string
	Version string
	// Agent is preselected in the dialog for a new thread.
	Agent string
	// Plan reads a plan by its name, as the person has accepted it; nil if only those that are armed are known.
	Plan func(name string) (plan.Plan, error)
	// Habits are how the person starts threads; nil if that is not known.
	Habits start.Habits
	// Open is a thread to open at the start, with its agent focused.
	Open thread.ID
	// Problems are warnings from the server's start; they are shown first.
	Problems []string

	// Theme is "dark" or "light"; all others ask the terminal which it is: "auto", "contrast", "terminal".
	Theme string
	// Glyphs are those that the terminal can show.
	Glyphs glyph.Set
	// Turn is told where marks of what works turn on the screen, which it draws from then on; nil if nobody does.
	Turn func([]layout.Point)
	// Profile is the colour profile; true colour if unknown.
	Profile colorprofile.Profile
	// Keys are the user's key bindings: the keys of each action, by the action's name.
	Keys map[string][]string
	// Alert is how to call the person, and on what.
	Alert alert.Config
	// NoMouse leaves the mouse to the terminal.
	NoMouse bool
	// Editor is the editor's command, to which the file is appended; empty if there is none.
	Editor []string
	// Pager is the command with which a file is read if there is no editor.
	Pager []string
	// Browse opens a page in the person's browser; nil if there is none.
	Browse func(context.Context, string) error
	// Private is a folder of this user alone.
	Private string

	// StartServer starts a server if none is running any more; nil leaves that to the user.
	StartServer func(context.Context) error

	// Outdated is the version of the server if it runs another build than this program. The user is then asked whether to
	// restart it.
	Outdated string
	// Restart replaces the server with this program and resumes its agents; nil leaves that to the user.
	Restart func(ctx context.Context, cols, rows int) (connection.Restarted, error)

	// Clock returns the time; nil is the real one.
	Clock func() time.Time
	// After returns a command that sends a message after a delay; nil is Bubble Tea's.
	After func(time.Duration, tea.Msg) tea.Cmd
}
