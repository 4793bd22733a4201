package work

import (
	"context"
	"time"
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
	// that no execution, work session or bundle names. It does so in small transactions. With dry set it only counts.
	Expire(ctx context.Context, before time.Time, dry bool) (Expired, error)
	// Measure counts what is stored.
	Measure(ctx context.Context) (Measure, error)
}

// Expired is what was removed for its age.
type Expired struct {
	Executions int   `json:"executions"`
	Sessions   int   `json:"sessions"`
	Bundles    int   `json:"bundles"`
	Bytes      int64 `json:"bytes"` // about
}

// Measure is how much a store of the record holds.
type Measure struct {
	Executions int   `json:"executions"`
	Events     int   `json:"events"`
	Sessions   int   `json:"sessions"`
	Outputs    int   `json:"outputs"`
	Bundles    int   `json:"bundles"`
	Bytes      int64 `json:"bytes"` // on the disk, with the log
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
