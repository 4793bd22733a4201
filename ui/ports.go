package ui

import (
	"context"

	"orchestrator/thread"
	"orchestrator/ui/layout"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
)

// A thread is named by its id, its name or a prefix of it that is unique.

// Feed tells what is there and what happens.
type Feed interface {
	List(context.Context) ([]thread.Status, error)
	// Events sends what happens from the call on; it is closed with the context.
	Events(context.Context) (<-chan thread.Event, error)
	Why(ctx context.Context, ref string) (thread.StateReport, error)
	Seen(ctx context.Context, ref string) error
}

// Runner starts and stops agents.
type Runner interface {
	New(context.Context, thread.NewRequest) (thread.Status, error)
	Fork(context.Context, thread.ForkRequest) (thread.Status, error)
	Resume(ctx context.Context, ref string, cols, rows int) (thread.Status, error)
	ResumeAll(ctx context.Context, cols, rows int) ([]thread.Status, error)
	StopAgent(ctx context.Context, ref string) error
}

// Asker passes on what the person asks agents. A prompt is stored before it is typed.
type Asker interface {
	Ask(ctx context.Context, ref, text string) (thread.Prompt, error)
	// Prompts returns the newest of a thread, oldest first.
	Prompts(ctx context.Context, ref string, open bool) ([]thread.Prompt, error)
	EditPrompt(ctx context.Context, id thread.PromptID, text string) (thread.Prompt, error)
	CancelPrompt(ctx context.Context, id thread.PromptID) (thread.Prompt, error)
	AskAgain(ctx context.Context, id thread.PromptID) (thread.Prompt, error)
}

// Offerer takes what the person thinks of forks that are offered.
type Offerer interface {
	AnswerOffer(ctx context.Context, offerID, answer string) (thread.Status, error)
	SetOffers(context.Context, thread.OfferMode) error
}

// Keeper keeps threads in order.
type Keeper interface {
	Rename(ctx context.Context, ref, name string) (thread.Status, error)
	Pin(ctx context.Context, ref string, on bool) error
	Archive(ctx context.Context, ref string) error
	Unarchive(ctx context.Context, ref string) error
	Abandon(ctx context.Context, ref, reason string) error
}

// Granter says what a thread's agent may do with other threads.
type Granter interface {
	Grant(ctx context.Context, ref string, add, remove []thread.Grant) error
}

// Bin deletes threads and brings them back.
type Bin interface {
	Delete(ctx context.Context, ref string) error
	Undelete(ctx context.Context, ref string) error
}

// History reads what was, and sets threads back to it.
type History interface {
	Timeline(ctx context.Context, ref string, p thread.Page) ([]thread.Checkpoint, error)
	Turn(ctx context.Context, ref, at string) ([]thread.Entry, error)
	Diff(context.Context, thread.DiffRequest) ([]thread.FileDiff, error)
	Rewind(context.Context, thread.RewindRequest) (thread.RewindReport, error)
	Find(ctx context.Context, query string, limit int) ([]thread.Hit, error)
}

// Merger brings a fork's work into its parent.
type Merger interface {
	Merge(context.Context, thread.MergeRequest) (thread.MergeReport, error)
	MergeContinue(ctx context.Context, ref string) (thread.MergeReport, error)
	MergeAbort(ctx context.Context, ref string) error
}

// Porter takes threads out of the project, and into it.
type Porter interface {
	Push(context.Context, thread.PushRequest) (thread.PushReport, error)
	Export(context.Context, thread.PortRequest) (thread.Status, error)
	Import(context.Context, thread.PortRequest) (thread.Status, error)
	Collect(context.Context, thread.CollectRequest) (thread.Collected, error)
}

// Catalogue tells what there is to use.
type Catalogue interface {
	Agents(context.Context) ([]thread.AgentInfo, error)
	MCP(context.Context) ([]thread.MCPServer, error)
}

// Server is all that the interface needs of the server.
type Server interface {
	Feed
	Runner
	Asker
	Offerer
	Keeper
	Granter
	Bin
	History
	Merger
	Porter
	Catalogue
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
