package workrow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/failpoint"
	"orchestrator/thread/work"
)

// Tx is a transaction that changes executions. What it has read nobody else changes before it ends.
type Tx interface {
	// Find reads the row of an execution; false if there is none.
	Find(id work.ID) (Row, bool, error)
	// Number returns the project's next number, which is never given again.
	Number() (int64, error)
	// Insert adds an execution and returns its place in the order of creation; false if its name or its id
	// is taken.
	Insert(r Row) (n int64, free bool, err error)
	// Update replaces the state and the document of a row.
	Update(r Row) error
	// Last returns the number of the newest event of a row, 0 if there is none.
	Last(n int64) (int64, error)
	// Note adds events to a row.
	Note(n int64, events []EventRow) error
}

// Select selects rows, newest first.
type Select struct {
	Thread thread.ID  // "" for all
	State  work.State // "" for all
	Before int64      // only those whose N is smaller
	Limit  int
}

// DB is a database of executions.
type DB interface {
	// Write runs a change in one transaction, which is durable when it returns nil. The change may run again after an error
	// of the database; its own errors are returned unchanged. Need is about how many bytes it writes.
	Write(ctx context.Context, need int64, change func(Tx) error) error
	// Find reads one by id or name; false if there is none.
	Find(ctx context.Context, ref string) (Row, bool, error)
	Select(ctx context.Context, s Select) ([]Row, error)
	// Open returns those that are not final, oldest first.
	Open(ctx context.Context) ([]Row, error)
	// Events returns events of a row that follow on after, oldest first.
	Events(ctx context.Context, n, after int64, limit int) ([]EventRow, error)
	// Purge removes the final executions of threads with their events.
	Purge(ctx context.Context, threads []thread.ID) (int, error)
}

// Store implements work.Store over a database.
type Store struct {
	db  DB
	now func() time.Time
}

var _ work.Store = (*Store)(nil)

// New returns a store over a database, with a clock; time.Now if nil.
func New(db DB, now func() time.Time) *Store {
	if now == nil {
		now = time.Now
	}
	return &Store{db: db, now: now}
}

// rowSize is about what a row takes with its places in the indexes.
const rowSize = 4096

// Add stores a new execution.
func (s *Store) Add(ctx context.Context, x work.Execution) (work.Execution, error) {
	added, first, refused := work.Added(x, s.now())
	var out work.Execution
	err := s.db.Write(ctx, rowSize, func(tx Tx) error {
		if old, there, err := tx.Find(x.ID); err != nil || there {
			if err == nil {
				out, err = old.Execution()
			}
			return err
		}
		if refused != nil {
			return refused
		}
		out = added
		if out.Name == "" {
			n, err := tx.Number()
			if err != nil {
				return err
			}
			out.Name = work.Numbered(n)
		}
		r, err := Pack(0, out)
		if err != nil {
			return err
		}
		n, free, err := tx.Insert(r)
		if err == nil && !free {
			// Its name is taken, or it was added at the same time.
			if _, out, err = find(tx, x.ID); errors.Is(err, thread.ErrNotFound) {
				err = thread.Hint(fmt.Errorf("run %q: %w", r.Name, thread.ErrNameTaken), "choose another name")
			}
			return err
		}
		if err != nil {
			return err
		}
		failpoint.Hit("work.add.row")
		return note(tx, n, first)
	})
	if err != nil {
		return work.Execution{}, err
	}
	return out, nil
}

// Claim gives a queued execution to a server.
func (s *Store) Claim(ctx context.Context, id work.ID, server string, at time.Time) (work.Execution, error) {
	return s.write(ctx, id, rowSize, func(x work.Execution) (work.Execution, []work.Event, error) {
		x, e, err := work.Claimed(x, server, at)
		return x, []work.Event{e}, err
	})
}

// Change changes an execution in one step.
func (s *Store) Change(
	ctx context.Context, id work.ID, fence int64, change func(*work.Execution) error, events ...work.Event,
) (work.Execution, error) {
	return s.write(ctx, id, size(events), func(x work.Execution) (work.Execution, []work.Event, error) {
		if x.Fence != fence {
			return x, nil, work.ErrFence
		}
		return work.Changed(x, false, change, events, s.now())
	})
}

// Supersede changes an execution in one step and raises its fence.
func (s *Store) Supersede(
	ctx context.Context, id work.ID, change func(*work.Execution) error, events ...work.Event,
) (work.Execution, error) {
	return s.write(ctx, id, size(events), func(x work.Execution) (work.Execution, []work.Event, error) {
		return work.Changed(x, true, change, events, s.now())
	})
}

// write replaces an execution by what change makes of it, and adds its events, in one transaction.
func (s *Store) write(
	ctx context.Context, id work.ID, need int64, change func(work.Execution) (work.Execution, []work.Event, error),
) (work.Execution, error) {
	var out work.Execution
	err := s.db.Write(ctx, need, func(tx Tx) error {
		r, old, err := find(tx, id)
		if err != nil {
			return err
		}
		x, events, err := change(old)
		if err != nil {
			return err
		}
		if out = x; x != old {
			if r, err = Pack(r.N, x); err != nil {
				return err
			}
			if err := tx.Update(r); err != nil {
				return err
			}
		}
		failpoint.Hit("work.write.row")
		return note(tx, r.N, events...)
	})
	if err != nil {
		return work.Execution{}, err
	}
	return out, nil
}

// Append adds events.
func (s *Store) Append(ctx context.Context, id work.ID, fence int64, events ...work.Event) error {
	return s.db.Write(ctx, size(events), func(tx Tx) error {
		r, x, err := find(tx, id)
		if err != nil {
			return err
		}
		if x.Fence != fence {
			return work.ErrFence
		}
		return note(tx, r.N, work.Noted(x, events, s.now())...)
	})
}

// size is about what events take, with the row that changes with them.
func size(events []work.Event) int64 {
	n := int64(rowSize)
	for _, e := range events {
		n += int64(len(e.Text)) + 256
	}
	return n
}

// find reads an execution in a transaction.
func find(tx Tx, id work.ID) (Row, work.Execution, error) {
	r, there, err := tx.Find(id)
	if err != nil {
		return r, work.Execution{}, err
	}
	if !there {
		return r, work.Execution{}, missing(string(id))
	}
	x, err := r.Execution()
	return r, x, err
}

// note numbers events and adds them.
func note(tx Tx, n int64, events ...work.Event) error {
	if len(events) == 0 {
		return nil
	}
	last, err := tx.Last(n)
	if err != nil {
		return err
	}
	rows := make([]EventRow, len(events))
	for i, e := range events {
		if rows[i], err = PackEvent(last+int64(i)+1, e); err != nil {
			return err
		}
	}
	return tx.Note(n, rows)
}

func missing(ref string) error { return fmt.Errorf("run %q: %w", ref, thread.ErrNotFound) }

// Execution finds one by id or name.
func (s *Store) Execution(ctx context.Context, ref string) (work.Execution, error) {
	r, err := s.row(ctx, ref)
	if err != nil {
		return work.Execution{}, err
	}
	return r.Execution()
}

func (s *Store) row(ctx context.Context, ref string) (Row, error) {
	r, there, err := s.db.Find(ctx, ref)
	if err == nil && !there {
		err = missing(ref)
	}
	return r, err
}

// Executions lists some, newest first. It asks for each state by itself: an index has each in this order.
func (s *Store) Executions(ctx context.Context, q work.Query) ([]work.Execution, error) {
	one := Select{Thread: q.Thread, Before: 1<<63 - 1, Limit: q.Size()}
	if q.Before != "" {
		r, err := s.row(ctx, string(q.Before))
		if err != nil {
			return nil, err
		}
		one.Before = r.N
	}
	states := slices.Compact(slices.Sorted(slices.Values(q.States)))
	if len(states) == 0 {
		states = []work.State{""}
	}
	var rows []Row
	for _, one.State = range states {
		some, err := s.db.Select(ctx, one)
		if err != nil {
			return nil, err
		}
		rows = append(rows, some...)
	}
	slices.SortFunc(rows, func(a, b Row) int { return cmp.Compare(b.N, a.N) })
	out := make([]work.Execution, 0, min(len(rows), one.Limit))
	for _, r := range rows[:min(len(rows), one.Limit)] {
		x, err := r.Execution()
		if err != nil {
			x = work.Damaged(r.ID, r.Name, r.Thread)
		}
		out = append(out, x)
	}
	return out, nil
}

// Open returns those that are not final, oldest first.
func (s *Store) Open(ctx context.Context) ([]work.Execution, error) {
	rows, err := s.db.Open(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]work.Execution, 0, len(rows))
	for _, r := range rows {
		if x, err := r.Execution(); err == nil {
			out = append(out, x)
		}
	}
	return out, nil
}

// Events returns events that follow on after, oldest first.
func (s *Store) Events(ctx context.Context, id work.ID, after int64, limit int) ([]work.Event, error) {
	r, err := s.row(ctx, string(id))
	if err != nil {
		return nil, err
	}
	rows, err := s.db.Events(ctx, r.N, after, work.EventLimit(limit))
	if err != nil {
		return nil, err
	}
	out := make([]work.Event, len(rows))
	for i, r := range rows {
		out[i] = r.Event()
	}
	return out, nil
}

// Purge removes the final executions of threads.
func (s *Store) Purge(ctx context.Context, threads []thread.ID) (int, error) {
	return s.db.Purge(ctx, threads)
}
