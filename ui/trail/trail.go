// Package trail remembers the places that the person looked at, and goes back and forward among them, as a browser does.
//
// A place is a thread, its view and the turn that is read. One that was left at once, as while the cursor moves through
// the list, is not remembered. Threads that are gone are passed over.
package trail

import (
	"slices"
	"time"

	"orchestrator/thread"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"

	tea "charm.land/bubbletea/v2"
)

const (
	// most is how many places are remembered.
	most = 50
	// stay is how long one must be looked at to be remembered.
	stay = time.Second
)

// Place is what was looked at.
type Place struct {
	Thread thread.ID
	View   int // of the pane
	// Turn is the turn that is read, with its number; "" for none.
	Turn thread.CheckpointID
	N    int
}

// Feature goes back and forward.
type Feature struct {
	*host.Host
	visit  func(Place) tea.Cmd
	places []Place // the oldest first
	at     int     // the one that is looked at
	since  time.Time
}

// New adds the feature to a host; visit shows a place.
func New(h *host.Host, visit func(Place) tea.Cmd) *Feature {
	f := &Feature{Host: h, visit: visit}
	h.Actions.On(intent.Back, func() tea.Cmd { return f.travel(-1) })
	h.Actions.On(intent.Forward, func() tea.Cmd { return f.travel(1) })
	return f
}

// See records what is looked at.
func (f *Feature) See(p Place) {
	now := f.Clock()
	if len(f.places) > 0 && f.places[f.at] == p {
		return
	}
	if len(f.places) > 0 && now.Sub(f.since) < stay { // only passed
		f.places, f.at = slices.Delete(f.places, f.at, f.at+1), f.at-1
	}
	f.since = now
	if f.at >= 0 && f.at < len(f.places) && f.places[f.at] == p { // it was only left for a moment
		return
	}
	f.places = append(f.places[:min(f.at+1, len(f.places))], p)
	f.places = f.places[max(len(f.places)-most, 0):]
	f.at = len(f.places) - 1
}

// travel goes n places on.
func (f *Feature) travel(n int) tea.Cmd {
	for at := f.at + n; at >= 0 && at < len(f.places); at += n {
		if f.Threads.Thread(f.places[at].Thread) != nil {
			f.at, f.since = at, time.Time{} // it is remembered, however short the stay
			return f.visit(f.places[at])
		}
	}
	if n < 0 {
		return f.Notify(thread.LevelInfo, "No place was looked at before this one")
	}
	return f.Notify(thread.LevelInfo, "No place to go forward to")
}
