package host

import (
	"orchestrator/thread"
	"orchestrator/ui/intent"

	tea "charm.land/bubbletea/v2"
)

// Reply is the message that a feature's effect ends in: what it does when it comes back into Update.
type Reply func() tea.Cmd

// Do is the result of a dialog that says itself what it leads to.
type Do func() tea.Cmd

// DialogResult marks it.
func (Do) DialogResult() {}

// registry is who answers which action.
type registry struct {
	actions map[intent.Action]func() tea.Cmd
	threads map[intent.Action]func(*thread.Status) tea.Cmd
}

func newRegistry() registry {
	return registry{
		actions: map[intent.Action]func() tea.Cmd{},
		threads: map[intent.Action]func(*thread.Status) tea.Cmd{},
	}
}

// On registers what an action does.
func (r *registry) On(a intent.Action, do func() tea.Cmd) { r.actions[a] = do }

// OnThread registers what an action does with the selected thread; without one it does nothing.
func (r *registry) OnThread(a intent.Action, do func(*thread.Status) tea.Cmd) { r.threads[a] = do }
