// Package memory is a store of tasks of plans for tests: it lives as long as the process, and fulfils the whole contract of
// plan.Store except durability. The product never uses it.
package memory

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/plan"
	"orchestrator/thread/work"
)

// Store implements plan.Store.
type Store struct {
	now func() time.Time

	mu      sync.Mutex // guards everything below
	tasks   []*task    // oldest first
	names   map[string]*task
	numbers int64 // the last name that was given
	armed   map[string]plan.Armed
	handed  []*plan.HandOver // oldest first
}

type task struct {
	t      plan.Task
	nodes  []*plan.Node // by Number
	named  map[string]*plan.Node
	events []plan.Event
}

var _ plan.Store = (*Store)(nil)

// New returns an empty store; now is its clock, time.Now if nil.
func New(now func() time.Time) *Store {
	if now == nil {
		now = time.Now
	}
	return &Store{now: now, names: map[string]*task{}, armed: map[string]plan.Armed{}}
}

// AddTask stores a task with its nodes.
func (s *Store) AddTask(_ context.Context, t plan.Task, nodes []plan.Node) (plan.Task, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.ID != "" && s.names[t.ID] != nil {
		return s.names[t.ID].t, nil
	}
	t, nodes, first, err := plan.AddedTask(t, nodes, s.now())
	if err != nil {
		return plan.Task{}, err
	}
	for t.Name == "" {
		s.numbers++
		if name := work.NumberedAs(plan.Prefix, s.numbers); s.names[name] == nil {
			t.Name = name
		}
	}
	if s.names[t.Name] != nil {
		return plan.Task{}, fmt.Errorf("task %q: %w", t.Name, thread.ErrNameTaken)
	}
	k := &task{t: t}
	s.tasks = append(s.tasks, k)
	s.names[t.Name], s.names[t.ID] = k, k
	k.put(nodes)
	k.note(first)
	return t, nil
}

// put gives a task its nodes.
func (k *task) put(nodes []plan.Node) {
	k.nodes, k.named = nil, make(map[string]*plan.Node, len(nodes))
	for i := range nodes {
		n := nodes[i]
		n.Task = k.t.Name
		k.nodes, k.named[n.Agent] = append(k.nodes, &n), &n
	}
}

func (k *task) note(events ...plan.Event) {
	for _, e := range events {
		e.Seq = int64(len(k.events)) + 1
		k.events = append(k.events, e)
	}
}

// task finds one. The caller holds mu.
func (s *Store) task(ref string) (*task, error) {
	if k := s.names[ref]; k != nil {
		return k, nil
	}
	return nil, fmt.Errorf("task %q: %w", ref, thread.ErrNotFound)
}

// node finds one. The caller holds mu.
func (s *Store) node(ref, agent string) (*task, *plan.Node, error) {
	k, err := s.task(ref)
	if err != nil {
		return nil, nil, err
	}
	if n := k.named[agent]; n != nil {
		return k, n, nil
	}
	return nil, nil, fmt.Errorf("agent %q of %s: %w", agent, k.t.Name, thread.ErrNotFound)
}

// BeginTask puts a plan at work on a task.
func (s *Store) BeginTask(_ context.Context, name string, change func(*plan.Task) error, nodes []plan.Node) (plan.Task, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k, err := s.task(name)
	if err != nil {
		return plan.Task{}, err
	}
	return s.begin(k, change, nodes)
}

// begin is BeginTask for a caller that holds mu.
func (s *Store) begin(k *task, change func(*plan.Task) error, nodes []plan.Node) (plan.Task, error) {
	t, nodes, events, err := plan.BegunTask(k.t, change, nodes, s.now())
	if err != nil {
		return plan.Task{}, err
	}
	k.t = t
	k.put(nodes)
	k.note(events...)
	return t, nil
}

// TakeTask begins the first of the pending tasks of an armed plan.
func (s *Store) TakeTask(
	_ context.Context, planName, server string, at time.Time, nodes func(plan.Task) ([]plan.Node, error),
) (plan.Task, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.armed[planName]
	if !a.On {
		return plan.Task{}, false, nil
	}
	busy := 0
	var first *task
	for _, k := range s.tasks {
		if k.t.PlanName != planName {
			continue
		}
		if k.t.Status == plan.InProgress {
			busy++
		}
		if k.t.Status == plan.Pending && (first == nil || k.t.Order < first.t.Order) {
			first = k
		}
	}
	if first == nil || busy >= a.AtOnce {
		return plan.Task{}, false, nil
	}
	take := plan.TakenBy(a, server, at)
	t := first.t
	if err := take(&t); err != nil {
		return plan.Task{}, false, err
	}
	all, err := nodes(t)
	if err != nil {
		return first.t, false, err
	}
	t, err = s.begin(first, take, all)
	return t, err == nil, err
}

// ChangeTask changes a task in one step.
func (s *Store) ChangeTask(_ context.Context, name string, fence int64, change func(*plan.Task) error) (plan.Task, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k, err := s.task(name)
	if err != nil {
		return plan.Task{}, err
	}
	if !plan.Holds(fence, k.t.Fence) {
		k.note(plan.Fenced("", fence, k.t.Fence, s.now()))
		return plan.Task{}, work.ErrFence
	}
	return s.change(k, false, change)
}

// Supersede changes a task in one step and raises its fence.
func (s *Store) Supersede(_ context.Context, name string, change func(*plan.Task) error) (plan.Task, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k, err := s.task(name)
	if err != nil {
		return plan.Task{}, err
	}
	return s.change(k, true, change)
}

func (s *Store) change(k *task, take bool, change func(*plan.Task) error) (plan.Task, error) {
	t, events, err := plan.ChangedTask(k.t, take, change, s.now())
	if err != nil {
		return plan.Task{}, err
	}
	k.t = t
	k.note(events...)
	return t, nil
}

// Task finds one by name or id.
func (s *Store) Task(_ context.Context, ref string) (plan.Task, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k, err := s.task(ref)
	if err != nil {
		return plan.Task{}, err
	}
	return k.t, nil
}

// Tasks lists some.
func (s *Store) Tasks(_ context.Context, q plan.TaskQuery) ([]plan.Task, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	end := len(s.tasks)
	if q.Before != "" {
		k, err := s.task(q.Before)
		if err != nil {
			return nil, err
		}
		end = slices.Index(s.tasks, k)
	}
	out := []plan.Task{}
	for _, k := range s.tasks[:end] {
		if q.Selects(k.t) {
			t := k.t
			if !q.Documents {
				t.Plan = nil
			}
			out = append(out, t)
		}
	}
	if q.Oldest {
		slices.SortStableFunc(out, func(a, b plan.Task) int { return cmp.Compare(a.Order, b.Order) })
	} else {
		slices.Reverse(out)
	}
	return out[:min(len(out), q.Size())], nil
}

// Node returns one.
func (s *Store) Node(_ context.Context, ref, agent string) (plan.Node, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, n, err := s.node(ref, agent)
	if err != nil {
		return plan.Node{}, err
	}
	return *n, nil
}

// Nodes returns all of a task.
func (s *Store) Nodes(_ context.Context, ref string) ([]plan.Node, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k, err := s.task(ref)
	if err != nil {
		return nil, err
	}
	out := make([]plan.Node, len(k.nodes))
	for i, n := range k.nodes {
		out[i] = *n
	}
	return out, nil
}

// ChangeNodes changes some nodes of a task in one step.
func (s *Store) ChangeNodes(
	_ context.Context, ref string, fences map[string]int64, change func(*plan.Node) error,
) ([]plan.Node, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k, err := s.task(ref)
	if err != nil {
		return nil, err
	}
	var fenced []plan.Event
	for _, name := range slices.Sorted(maps.Keys(fences)) {
		_, n, err := s.node(ref, name)
		if err != nil {
			return nil, err
		}
		if !plan.Holds(fences[name], n.Fence) {
			fenced = append(fenced, plan.Fenced(name, fences[name], n.Fence, s.now()))
		}
	}
	if len(fenced) > 0 {
		k.note(fenced...)
		return nil, work.ErrFence
	}
	out, events := []plan.Node{}, []plan.Event{}
	for _, name := range slices.Sorted(maps.Keys(fences)) {
		n, told, err := plan.ChangedNode(*k.named[name], change, s.now())
		if err != nil {
			return nil, err
		}
		out, events = append(out, n), append(events, told...)
	}
	for _, n := range out {
		*k.named[n.Agent] = n
	}
	k.note(events...)
	return out, nil
}

// Note adds events to a task.
func (s *Store) Note(_ context.Context, ref string, events ...plan.Event) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	k, err := s.task(ref)
	if err != nil {
		return err
	}
	noted, err := plan.Noted(events, s.now())
	if err != nil {
		return err
	}
	k.note(noted...)
	return nil
}

// Events returns events that follow on after, oldest first.
func (s *Store) Events(_ context.Context, ref string, after int64, limit int) ([]plan.Event, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k, err := s.task(ref)
	if err != nil {
		return nil, err
	}
	from := min(max(after, 0), int64(len(k.events)))
	out := slices.Clone(k.events[from:])
	return out[:min(len(out), work.EventLimit(limit))], nil
}

// Arm stores a plan as armed, or not.
func (s *Store) Arm(_ context.Context, a plan.Armed) error {
	a, err := plan.KeptArmed(a, s.now())
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.armed[a.Name] = a
	return nil
}

// Armed returns the plans that were armed once, by name.
func (s *Store) Armed(context.Context) ([]plan.Armed, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.SortedFunc(maps.Values(s.armed), func(a, b plan.Armed) int { return strings.Compare(a.Name, b.Name) }), nil
}

// PurgeTasks removes final tasks that ended before a time.
func (s *Store) PurgeTasks(_ context.Context, before time.Time, limit int) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	gone := []string{}
	s.tasks = slices.DeleteFunc(s.tasks, func(k *task) bool {
		if !k.t.Status.Final() || !k.t.Ended.Before(before) || len(gone) >= limit {
			return false
		}
		gone = append(gone, k.t.Name)
		delete(s.names, k.t.Name)
		delete(s.names, k.t.ID)
		return true
	})
	s.handed = slices.DeleteFunc(s.handed, func(h *plan.HandOver) bool { return slices.Contains(gone, h.Task) })
	return gone, nil
}
