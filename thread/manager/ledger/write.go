package ledger

import (
	"cmp"
	"context"
	"errors"

	"orchestrator/thread"
	"orchestrator/thread/work"
)

// Store is what the ledger needs of the record.
type Store interface {
	Add(ctx context.Context, x work.Execution, events ...work.Event) (work.Execution, error)
	Change(ctx context.Context, id work.ID, fence int64, change func(*work.Execution) error, events ...work.Event) (work.Execution, error)
	Append(ctx context.Context, id work.ID, fence int64, events ...work.Event) error
	Execution(ctx context.Context, ref string) (work.Execution, error)
	Recorded(ctx context.Context, q work.RecordQuery) ([]work.Execution, error)
}

// item is a row as it is to be stored, with the texts that are not stored yet. Texts have no secrets.
type item struct {
	Row   work.Execution `json:"row"`
	New   bool           `json:"new,omitempty"`  // it may not be stored yet
	Note  bool           `json:"note,omitempty"` // only Notes are to be stored: the row is another's
	Given string         `json:"given,omitempty"`
	Said  string         `json:"said,omitempty"`
	Notes []string       `json:"notes,omitempty"`
	Tries int            `json:"tries,omitempty"` // how often the store has refused it for what it is
}

// size is about how much memory it takes.
func (i *item) size() int64 {
	n := len(i.Given) + len(i.Said) + len(i.Row.Answer) + len(i.Row.Scope) + 2000
	for _, s := range i.Notes {
		n += len(s)
	}
	return int64(n)
}

// over takes what a newer item of the same row has. The first prompt and the last message count.
func (i *item) over(newer item) {
	i.Note = i.Note && newer.Note
	if !newer.Note {
		i.Row = newer.Row
	}
	i.New = i.New || newer.New
	i.Given, i.Said = cmp.Or(i.Given, newer.Given), cmp.Or(newer.Said, i.Said)
	i.Notes = append(i.Notes, newer.Notes...)
}

// events are its texts as events.
func (i *item) events() (events []work.Event) {
	if i.Given != "" {
		events = append(events, work.Event{Kind: work.KindGiven, Text: i.Given})
	}
	if i.Said != "" {
		events = append(events, work.Event{Kind: work.KindSaid, Text: i.Said})
	}
	for _, s := range i.Notes {
		events = append(events, work.Event{Kind: "note", Text: s})
	}
	return events
}

// write stores an item, and returns the row as it is stored. It can be repeated, but for its events.
func write(ctx context.Context, store Store, i item) (work.Execution, error) {
	if i.Note {
		return i.Row, appendTo(ctx, store, i.Row.ID, i.events())
	}
	if i.New {
		x := i.Row
		x.State, x.Reason = work.Running, ""
		x.Ended = x.Started // the store leaves it out
		if _, err := store.Add(ctx, x); err != nil {
			return x, err
		}
	}
	fence := int64(0)
	for try := 0; ; try++ {
		x, err := store.Change(ctx, i.Row.ID, fence, func(x *work.Execution) error {
			apply(x, i.Row)
			return nil
		}, i.events()...)
		if !errors.Is(err, work.ErrFence) || try > 2 {
			return x, err
		}
		if x, err = store.Execution(ctx, string(i.Row.ID)); err != nil {
			return x, err
		}
		fence = x.Fence
	}
}

// appendTo adds events to a row of another's.
func appendTo(ctx context.Context, store Store, id work.ID, events []work.Event) error {
	for try := 0; ; try++ {
		x, err := store.Execution(ctx, string(id))
		if err != nil {
			return err
		}
		if err = store.Append(ctx, id, x.Fence, events...); !errors.Is(err, work.ErrFence) || try > 2 {
			return err
		}
	}
}

// apply writes what is known now into a stored row. A state that may not follow leaves the stored one.
func apply(x *work.Execution, now work.Execution) {
	if work.Follows(x.State, now.State) {
		x.State, x.Reason = now.State, now.Reason
	}
	if x.State.Final() && !now.Ended.IsZero() {
		x.Ended = now.Ended
	}
	x.Answer, x.Model = cmp.Or(now.Answer, x.Answer), cmp.Or(now.Model, x.Model)
	x.Type, x.Scope = cmp.Or(now.Type, x.Type), cmp.Or(now.Scope, x.Scope)
	x.Base, x.Result, x.Parent = cmp.Or(x.Base, now.Base), cmp.Or(now.Result, x.Result), cmp.Or(now.Parent, x.Parent)
	x.Claimed = now.Claimed
	if now.Usage != (thread.Usage{}) {
		x.Usage = now.Usage
	}
}
