// Package eventlog shows what happened in all threads, newest first, with what this screen alone has told: one list. Words
// that are typed filter it, and enter goes to the thread of a row.
package eventlog

import (
	"context"

	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"

	tea "charm.land/bubbletea/v2"
)

// Feature shows the event log.
type Feature struct {
	*host.Host
	visit func(thread.ID) tea.Cmd
	log   log
	panel *panel // open or closed; nil before
}

// New adds the feature to a host. visit shows a thread.
func New(h *host.Host, visit func(thread.ID) tea.Cmd) *Feature {
	f := &Feature{Host: h, visit: visit, log: log{notices: &h.Notices, clock: h.Clock}}
	h.Actions.On(intent.Events, f.show)
	return f
}

func (f *Feature) show() tea.Cmd {
	f.panel = newPanel(&f.log, f.visit)
	f.Dialogs.Push(f.panel)
	return host.Call(f.Host, host.Quick, func(ctx context.Context) (thread.HappeningList, error) {
		return api.EventLog.Do(ctx, f.Server, thread.HappeningQuery{Limit: most})
	}, func(list thread.HappeningList, err error) tea.Cmd {
		if f.log.err = ""; err != nil {
			f.log.err = err.Error() // what is known already stays
		} else {
			f.log.list, f.log.asked = list.Happenings, true
		}
		f.changed()
		return nil
	})
}

// Add adds what has just happened.
func (f *Feature) Add(h thread.Happening) {
	if f.log.add(h) {
		f.changed()
	}
}

// changed has the open list take over what happened, when it is drawn next: many things may happen before.
func (f *Feature) changed() {
	if f.panel != nil && f.Dialogs.Has(f.panel) {
		f.panel.stale = true
	}
}
