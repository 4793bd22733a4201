package host

import (
	"orchestrator/thread"
	"orchestrator/ui/intent"

	tea "charm.land/bubbletea/v2"
)

// Reply is the message at the end of a feature's effect: a function to run in Update.
type Reply func() tea.Cmd

// Do is a dialog result that is a function to run.
type Do func() tea.Cmd

// DialogResult marks it as a dialog.Result.
func (Do) DialogResult() {}

// Stay is a dialog result that is a function to run while the dialog stays open.
type Stay func() tea.Cmd

// DialogResult marks it as a dialog.Result.
func (Stay) DialogResult() {}

// Stays marks it as a dialog.Step.
func (Stay) Stays() {}

// registry maps actions to functions.
type registry struct {
	actions map[intent.Action]func() tea.Cmd
	threads map[intent.Action]func(*thread.Status) tea.Cmd
	marked  map[intent.Action]func([]*thread.Status) tea.Cmd
}

func newRegistry() registry {
	return registry{
		actions: map[intent.Action]func() tea.Cmd{},
		threads: map[intent.Action]func(*thread.Status) tea.Cmd{},
		marked:  map[intent.Action]func([]*thread.Status) tea.Cmd{},
	}
}

// On registers what an action does.
func (r *registry) On(a intent.Action, do func() tea.Cmd) { r.actions[a] = do }

// OnThread registers what an action does with the selected thread. Without one it does nothing.
func (r *registry) OnThread(a intent.Action, do func(*thread.Status) tea.Cmd) { r.threads[a] = do }

// OnMarked registers what an action does with the threads that are marked in the list, while some are.
func (r *registry) OnMarked(a intent.Action, do func([]*thread.Status) tea.Cmd) { r.marked[a] = do }

// ForMarked reports whether an action does something with marked threads.
func (r *registry) ForMarked(a intent.Action) bool { return r.marked[a] != nil }
