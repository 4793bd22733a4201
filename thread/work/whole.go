package work

import (
	"context"
	"fmt"
	"time"

	"orchestrator/thread/plaintext"
)

// Whole is a work session, a bundle or an execution with all that hangs on it, as it is taken from one store to another.
// One of the three is set.
type Whole struct {
	Session *Session `json:"session,omitempty"`
	Tasks   []Task   `json:"tasks,omitempty"`

	Bundle *KeptBundle       `json:"bundle,omitempty"`
	Pieces map[string][]byte `json:"pieces,omitempty"` // the content that the store has, by its hash

	Execution   *Execution   `json:"execution,omitempty"`
	Events      []Event      `json:"events,omitempty"`
	Allocations []Allocation `json:"allocations,omitempty"`
	Outputs     []Output     `json:"outputs,omitempty"`
}

// Keeper is what a store of the record can do as a whole, beside Record: it is filled from another, freed of what is old,
// and measured.
type Keeper interface {
	Record

	// Load stores what was taken from another store as it was: names, ids, states, times, numbers of events and versions stay,
	// and numbers of outputs and allocations as far as they are free here. All of it is one transaction. An execution whose
	// id or name is taken, a work session whose name is taken and a bundle whose id or hash is taken is left out; the result
	// has their places in the list. Numbers that names have here are not given again.
	Load(ctx context.Context, all []Whole) (taken []int, err error)
	// Expire removes executions of all kinds that ended before a time, with their events, allocations and outputs; work
	// sessions that ended before it of which no execution is left, with their tasks; and bundles and pieces made before it
	// that no execution, work session or bundle names; and tasks of plans that ended before it, with all
	// that is theirs. It does so in small transactions. With dry set it only counts.
	Expire(ctx context.Context, before time.Time, dry bool) (Expired, error)
	// Measure counts what is stored.
	Measure(ctx context.Context) (Measure, error)
}

// Expired is what was removed for its age.
type Expired struct {
	Executions int   `json:"executions"`
	Sessions   int   `json:"sessions"`
	Bundles    int   `json:"bundles"`
	Tasks      int   `json:"tasks,omitempty"` // of plans
	Bytes      int64 `json:"bytes"`           // about
}

// Measure is how much a store of the record holds.
type Measure struct {
	Executions int   `json:"executions"`
	Events     int   `json:"events"`
	Sessions   int   `json:"sessions"`
	Outputs    int   `json:"outputs"`
	Bundles    int   `json:"bundles"`
	Tasks      int   `json:"tasks"`        // of plans
	Handed     int   `json:"deliverables"` // versions that those handed over
	Bytes      int64 `json:"bytes"`        // on the disk, with the log
	// Log is how large the write-ahead log is: it grows while a reader keeps a transaction open. 0 if there is none.
	Log int64 `json:"log,omitempty"`
	// Readers are transactions that have been open for more than a minute, as far as the database tells.
	Readers int `json:"readers,omitempty"`
	// Damaged counts rows that are known not to be readable.
	Damaged int `json:"damaged,omitempty"`
	// Checked is when all of it was read the last time, zero if that is not known.
	Checked time.Time `json:"checked,omitzero"`
}

// Broken reports whether an execution stands for one whose row cannot be read, as Damaged returns it.
func (x Execution) Broken() bool { return x == Damaged(x.ID, x.Name, x.Thread) }

// Name returns what a row is called, which is unique in a store.
func (w Whole) Name() string {
	switch {
	case w.Execution != nil:
		return w.Execution.Name
	case w.Bundle != nil:
		return w.Bundle.Bundle.ID
	case w.Session != nil:
		return w.Session.Name
	default:
		return ""
	}
}

// SetName gives a row another name.
func (w *Whole) SetName(name string) {
	switch {
	case w.Execution != nil:
		x := *w.Execution
		x.Name = name
		w.Execution = &x
	case w.Bundle != nil:
		b := *w.Bundle
		b.Bundle.ID = name
		w.Bundle = &b
	case w.Session != nil:
		s := *w.Session
		s.Name = name
		w.Session = &s
		for i := range w.Tasks {
			w.Tasks[i].Session = name
		}
	}
}

// Another returns the n-th name beside one that is taken.
func Another(name string, n int) string {
	tail := fmt.Sprintf("-%d", n)
	return plaintext.Cut(name, nameEnd-len(tail)) + tail
}

// Rename has a row follow work sessions and bundles whose names are others where it comes to.
func (w *Whole) Rename(sessions, bundles map[string]string) {
	follow := func(names map[string]string, name *string) {
		if other := names[*name]; other != "" {
			*name = other
		}
	}
	if w.Execution != nil {
		follow(sessions, &w.Execution.Session)
		follow(bundles, &w.Execution.Bundle)
	}
	for i := range w.Allocations {
		follow(bundles, &w.Allocations[i].Bundle)
	}
	if w.Bundle != nil {
		follow(sessions, &w.Bundle.Session)
	}
}

// Same reports whether two work sessions are one, as it was at two times.
func (s Session) Same(other Session) bool {
	return s.Name == other.Name && s.Created.Equal(other.Created) && s.Scope == other.Scope && s.Host == other.Host && s.User == other.User
}

// Settle has an execution wait for nothing that is elsewhere: what ran there is lost here, and what waited is cancelled.
// What was written down by hand stays open, as whoever wrote it can still complete it.
func (w *Whole) Settle(now time.Time) {
	x := w.Execution
	if x == nil {
		return
	}
	x.Server = ""
	if x.Kind != KindHand {
		w.End(now)
	}
}

// End has an execution wait for nothing, of whatever kind it is.
func (w *Whole) End(now time.Time) {
	x := w.Execution
	if x == nil || x.State.Final() {
		return
	}
	x.State, x.Question, x.Lost = map[bool]State{true: Cancelled, false: Lost}[x.State == Queued], nil, PolicyAsk
	x.Reason, x.Ended = "it was open when it was taken along", utc(now)
	w.Events = append(w.Events, Event{
		Seq: int64(len(w.Events)) + 1, At: x.Ended, Attempt: x.Attempt, State: x.State, Text: x.Reason,
	})
}
