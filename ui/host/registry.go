package host

import (
	"reflect"

	"orchestrator/thread"
	"orchestrator/ui/dialog"
	"orchestrator/ui/intent"

	tea "charm.land/bubbletea/v2"
)

// Reply is the message that a feature's effect ends in: what it does when it comes back into Update.
type Reply func() tea.Cmd

// Do is the result of a choice that says itself what it leads to.
type Do func() tea.Cmd

// DialogResult marks it.
func (Do) DialogResult() {}

// registry is who answers which action and which result of a dialog.
type registry struct {
	actions map[intent.Action]func() tea.Cmd
	threads map[intent.Action]func(*thread.Status) tea.Cmd
	results map[reflect.Type]func(dialog.Result) tea.Cmd
}

func newRegistry() registry {
	return registry{
		actions: map[intent.Action]func() tea.Cmd{},
		threads: map[intent.Action]func(*thread.Status) tea.Cmd{},
		results: map[reflect.Type]func(dialog.Result) tea.Cmd{},
	}
}

// On registers what an action does.
func (r *registry) On(a intent.Action, do func() tea.Cmd) { r.actions[a] = do }

// OnThread registers what an action does with the selected thread; without one it does nothing.
func (r *registry) OnThread(a intent.Action, do func(*thread.Status) tea.Cmd) { r.threads[a] = do }

// OnResult registers what the result of a dialog leads to.
func OnResult[T dialog.Result](h *Host, do func(T) tea.Cmd) {
	h.results[reflect.TypeFor[T]()] = func(r dialog.Result) tea.Cmd { return do(r.(T)) }
}

// Act does what is registered for an action.
func (h *Host) Act(a intent.Action) tea.Cmd {
	if do := h.actions[a]; do != nil {
		return do()
	}
	if do, s := h.threads[a], h.Threads.Selected(); do != nil && s != nil {
		return do(s)
	}
	return nil
}

// Result does what a dialog ended in.
func (h *Host) Result(r dialog.Result) tea.Cmd {
	if do, ok := r.(Do); ok {
		return do()
	}
	if do := h.results[reflect.TypeOf(r)]; do != nil {
		return do(r)
	}
	return nil
}
