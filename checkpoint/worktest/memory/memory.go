// Package memory is a store of executions for tests: it lives as long as the process, and fulfils the whole contract of
// work.Record except durability. The product never uses it.
package memory

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/work"
)

// Store implements work.Record.
type Store struct {
	now func() time.Time

	mu          sync.Mutex // guards everything below
	rows        map[work.ID]*row
	names       map[string]work.ID
	numbers     map[string]int64 // the last that were given, by prefix
	order       int64            // of creation
	sessions    []*work.Session  // oldest first, as all of these
	tasks       []work.Task
	outputs     []*output
	gone        int64 // how many outputs were removed
	allocations int64 // how many there were
	bundles     []*work.KeptBundle
	pieces      map[string][]byte
	written     map[thread.ID]*[2]int64 // rows and bytes of agents
}

type row struct {
	x      work.Execution
	order  int64
	events []work.Event
	pieces []work.Allocation
	bad    bool         // its record cannot be read
	lost   map[int]bool // nor can these of its events
}

var _ work.Record = (*Store)(nil)

// New returns an empty store; now is its clock, time.Now if nil.
func New(now func() time.Time) *Store {
	if now == nil {
		now = time.Now
	}
	return &Store{now: now, rows: map[work.ID]*row{}, names: map[string]work.ID{}, numbers: map[string]int64{},
		pieces: map[string][]byte{}, written: map[thread.ID]*[2]int64{}}
}

// Close does nothing; it exists so that all stores are closed alike.
func (s *Store) Close() error { return nil }

// Add stores a new execution.
func (s *Store) Add(_ context.Context, x work.Execution, events ...work.Event) (work.Execution, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.rows[x.ID]; r != nil {
		return r.read()
	}
	x, first, err := work.Added(x, s.now())
	if err != nil {
		return work.Execution{}, err
	}
	if err := s.joins(x); err != nil {
		return work.Execution{}, err
	}
	if x.Name == "" {
		x.Name = s.next(x.Kind.Prefix(), func(name string) bool { return s.names[name] != "" })
	}
	if s.names[x.Name] != "" {
		return work.Execution{}, fmt.Errorf("run %q: %w", x.Name, thread.ErrNameTaken)
	}
	s.order++
	r := &row{x: x, order: s.order, lost: map[int]bool{}}
	r.add(append([]work.Event{first}, work.Noted(x, events, s.now())...)...)
	s.rows[x.ID], s.names[x.Name] = r, x.ID
	if x.Kind == work.KindHand {
		s.wrote(x.By, 1, len(x.Scope))
		for _, e := range events {
			s.wrote(x.By, 0, len(e.Text))
		}
	}
	return r.x, nil
}

// Claim gives a queued execution to a server.
func (s *Store) Claim(_ context.Context, id work.ID, server string, at time.Time) (work.Execution, error) {
	return s.write(id, func(x work.Execution) (work.Execution, []work.Event, error) {
		x, e, err := work.Claimed(x, server, at)
		return x, []work.Event{e}, err
	})
}

// Change changes an execution in one step.
func (s *Store) Change(
	_ context.Context, id work.ID, fence int64, change func(*work.Execution) error, events ...work.Event,
) (work.Execution, error) {
	return s.write(id, s.changing(fence, change, events))
}

// changing is the change of Change.
func (s *Store) changing(
	fence int64, change func(*work.Execution) error, events []work.Event,
) func(work.Execution) (work.Execution, []work.Event, error) {
	return func(x work.Execution) (work.Execution, []work.Event, error) {
		if x.Fence != fence {
			return x, nil, work.ErrFence
		}
		return work.Changed(x, false, change, events, s.now())
	}
}

// Supersede changes an execution in one step and raises its fence.
func (s *Store) Supersede(
	_ context.Context, id work.ID, change func(*work.Execution) error, events ...work.Event,
) (work.Execution, error) {
	return s.write(id, func(x work.Execution) (work.Execution, []work.Event, error) {
		return work.Changed(x, true, change, events, s.now())
	})
}

// Append adds events.
func (s *Store) Append(_ context.Context, id work.ID, fence int64, events ...work.Event) error {
	_, err := s.write(id, func(x work.Execution) (work.Execution, []work.Event, error) {
		if x.Fence != fence {
			return x, nil, work.ErrFence
		}
		return x, work.Noted(x, events, s.now()), nil
	})
	return err
}

// write replaces an execution by what change makes of it, and adds its events.
func (s *Store) write(
	id work.ID, change func(work.Execution) (work.Execution, []work.Event, error),
) (work.Execution, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rewrite(id, change)
}

// rewrite is write for a caller that holds mu.
func (s *Store) rewrite(
	id work.ID, change func(work.Execution) (work.Execution, []work.Event, error),
) (work.Execution, error) {
	r, err := s.row(id)
	if err != nil {
		return work.Execution{}, err
	}
	old, err := r.read()
	if err != nil {
		return work.Execution{}, err
	}
	x, events, err := change(old)
	if err != nil {
		return work.Execution{}, err
	}
	if x.Session != old.Session {
		if err := s.joins(x); err != nil {
			return work.Execution{}, err
		}
	}
	r.x = x
	r.add(events...)
	for _, e := range events {
		if x.Kind == work.KindHand {
			s.wrote(x.By, 0, len(e.Text))
		}
	}
	return r.x, nil
}

// wrote counts what an agent has written down. The caller holds mu.
func (s *Store) wrote(by thread.ID, rows, bytes int) {
	if by == "" {
		return
	}
	if s.written[by] == nil {
		s.written[by] = new([2]int64)
	}
	s.written[by][0] += int64(rows)
	s.written[by][1] += int64(bytes)
}

// row returns the row of an execution. The caller holds mu.
func (s *Store) row(id work.ID) (*row, error) {
	if r := s.rows[id]; r != nil {
		return r, nil
	}
	return nil, fmt.Errorf("run %q: %w", string(id), thread.ErrNotFound)
}

// add numbers events and adds them.
func (r *row) add(events ...work.Event) {
	for _, e := range events {
		e.Seq = int64(len(r.events)) + 1
		r.events = append(r.events, e)
		r.x = r.x.Noting(e)
	}
}

func (r *row) read() (work.Execution, error) {
	if r.bad {
		return work.Execution{}, fmt.Errorf("run %s: %w", r.x.Name, thread.ErrDamaged)
	}
	return r.x, nil
}

// Execution finds one by id or name.
func (s *Store) Execution(_ context.Context, ref string) (work.Execution, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := work.ID(ref)
	if s.rows[id] == nil {
		id = s.names[ref]
	}
	r, err := s.row(id)
	if err != nil {
		return work.Execution{}, fmt.Errorf("run %q: %w", ref, thread.ErrNotFound)
	}
	return r.read()
}

// Executions lists some, newest first.
func (s *Store) Executions(_ context.Context, q work.Query) ([]work.Execution, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.order + 1
	if q.Before != "" {
		r, err := s.row(q.Before)
		if err != nil {
			return nil, err
		}
		before = r.order
	}
	out := []work.Execution{}
	for _, r := range s.sorted() {
		x, err := r.read()
		if err != nil {
			x = work.Damaged(r.x.ID, r.x.Name, r.x.Thread)
		}
		if r.x.Kind == work.KindRun && r.order < before && (q.Thread == "" || r.x.Thread == q.Thread) &&
			(len(q.States) == 0 || slices.Contains(q.States, r.x.State)) {
			out = append(out, x)
		}
	}
	slices.Reverse(out)
	return out[:min(len(out), q.Size())], nil
}

// Open returns those that are not final, oldest first.
func (s *Store) Open(context.Context) ([]work.Execution, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := []work.Execution{}
	for _, r := range s.sorted() {
		if x, err := r.read(); err == nil && x.Kind == work.KindRun && !x.State.Final() {
			out = append(out, x)
		}
	}
	return out, nil
}

// sorted returns all rows, oldest first. The caller holds mu.
func (s *Store) sorted() []*row {
	out := make([]*row, 0, len(s.rows))
	for _, r := range s.rows {
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b *row) int { return cmp.Compare(a.order, b.order) })
	return out
}

// Events returns events that follow on after, oldest first.
func (s *Store) Events(_ context.Context, id work.ID, after int64, limit int) ([]work.Event, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.row(id)
	if err != nil {
		return nil, err
	}
	out := []work.Event{}
	for i, e := range r.events {
		if e.Seq <= after || len(out) == work.EventLimit(limit) {
			continue
		}
		if r.lost[i] {
			e = work.DamagedEvent(e.Seq)
		}
		out = append(out, e)
	}
	return out, nil
}

// Purge removes the final executions of threads.
func (s *Store) Purge(_ context.Context, threads []thread.ID) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for id, r := range s.rows {
		if r.x.State.Final() && r.x.Kind != work.KindHand && slices.Contains(threads, r.x.Thread) {
			s.remove(id, r)
			n++
		}
	}
	return n, nil
}

// remove removes an execution with all that hangs on it; what is then the newest version of a file is current. The caller holds mu.
func (s *Store) remove(id work.ID, r *row) {
	before := s.outputs
	s.gone += int64(len(s.outputs))
	s.outputs = slices.DeleteFunc(slices.Clone(s.outputs), func(k *output) bool { return k.of == r })
	s.gone -= int64(len(s.outputs))
	for _, old := range before {
		if old.of != r || !old.o.Current || old.o.Path == "" {
			continue
		}
		for _, k := range slices.Backward(s.outputs) {
			if k.of.x.Line(k.o) == r.x.Line(old.o) && k.o.Type == old.o.Type && k.o.Path == old.o.Path {
				k.o.Current = true
				break
			}
		}
	}
	delete(s.rows, id)
	delete(s.names, r.x.Name)
}

// Spoil makes the record of an execution unreadable, or that of one of its events if seq is larger than 0.
func (s *Store) Spoil(id work.ID, seq int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if seq == 0 {
		s.rows[id].bad = true
	} else {
		s.rows[id].lost[int(seq)-1] = true
	}
}

// session returns a work session, nil if there is none. The caller holds mu.
func (s *Store) session(name string) *work.Session {
	for _, v := range s.sessions {
		if v.Name == name {
			return v
		}
	}
	return nil
}

// joins refuses an execution of a kind that joins its work session if there is none, or if it is final. The caller holds mu.
func (s *Store) joins(x work.Execution) error {
	if x.Session == "" || !x.Kind.Joins() {
		return nil
	}
	v := s.session(x.Session)
	if v == nil {
		return noSession(x.Session)
	}
	return v.Open()
}

func noSession(name string) error { return fmt.Errorf("work session %q: %w", name, thread.ErrNotFound) }

// output is an output with its execution.
type output struct {
	of *row
	o  work.Output
}

// next returns the next name with a prefix that nobody has taken. The caller holds mu.
func (s *Store) next(prefix string, taken func(string) bool) string {
	for {
		s.numbers[prefix]++
		if name := work.NumberedAs(prefix, s.numbers[prefix]); !taken(name) {
			return name
		}
	}
}
