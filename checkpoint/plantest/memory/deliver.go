package memory

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"orchestrator/thread"
	"orchestrator/thread/plan"
	"orchestrator/thread/work"
)

// Deliver stores another version of what a node hands over.
func (s *Store) Deliver(
	_ context.Context, h plan.HandOver, fence int64, change func(*plan.Node) error,
) (plan.HandOver, []plan.Node, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k, n, err := s.node(h.Task, h.Agent)
	if err != nil {
		return plan.HandOver{}, nil, err
	}
	if !plan.Holds(fence, n.Fence) {
		k.note(plan.Fenced(n.Agent, fence, n.Fence, s.now()))
		return plan.HandOver{}, nil, work.ErrFence
	}
	old := s.version(k.t.Name, n.Agent, 0)
	h, same := plan.Delivered(h, *n, old, s.now())
	if same != nil && !errors.Is(same, plan.ErrSame) {
		return plan.HandOver{}, nil, same
	}
	changed, events, err := plan.ChangedNode(*n, func(n *plan.Node) error {
		n.Version = h.Version
		if change == nil {
			return nil
		}
		return change(n)
	}, s.now())
	if err != nil {
		return plan.HandOver{}, nil, err
	}
	*n = changed
	k.note(events...)
	out := []plan.Node{changed}
	if same != nil {
		return h, out, same
	}
	if old != nil {
		old.Current = false
	}
	s.handed = append(s.handed, &h)
	for _, c := range k.nodes {
		if !slices.Contains(c.Reads, n.Agent) {
			continue
		}
		if stale, told, is := plan.StaleBy(*c, n.Agent, h.Version, s.now()); is {
			*c = stale
			k.note(told...)
			out = append(out, stale)
		}
	}
	return h, out, nil
}

// version finds a version, the current one for 0; nil if there is none. The caller holds mu.
func (s *Store) version(task, agent string, version int) *plan.HandOver {
	for _, h := range slices.Backward(s.handed) {
		if h.Task == task && h.Agent == agent && (h.Version == version || version == 0 && h.Current) {
			return h
		}
	}
	return nil
}

// HandOver returns one version.
func (s *Store) HandOver(_ context.Context, ref, agent string, version int) (plan.HandOver, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k, _, err := s.node(ref, agent)
	if err != nil {
		return plan.HandOver{}, err
	}
	if h := s.version(k.t.Name, agent, version); h != nil {
		return *h, nil
	}
	return plan.HandOver{}, missing(k.t.Name, agent, version)
}

func missing(task, agent string, version int) error {
	if version == 0 {
		return fmt.Errorf("%s of %s has handed nothing over: %w", agent, task, thread.ErrNotFound)
	}
	return fmt.Errorf("version %d of what %s of %s hands over: %w", version, agent, task, thread.ErrNotFound)
}

// HandOvers lists some, newest first.
func (s *Store) HandOvers(_ context.Context, q plan.HandOverQuery) ([]plan.HandOver, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if q.Task != "" {
		k, err := s.task(q.Task)
		if err != nil {
			return nil, err
		}
		q.Task = k.t.Name
	}
	end := len(s.handed)
	if q.Before != "" {
		if end = slices.IndexFunc(s.handed, func(h *plan.HandOver) bool { return h.ID == q.Before }); end < 0 {
			return nil, fmt.Errorf("deliverable %q: %w", q.Before, thread.ErrNotFound)
		}
	}
	out := []plan.HandOver{}
	for _, h := range slices.Backward(s.handed[:end]) {
		if q.Selects(*h) && len(out) < q.Size() {
			out = append(out, q.Fit(*h))
		}
	}
	return out, nil
}

// Opens returns the versions that have a token, newest first.
func (s *Store) Opens(_ context.Context, token thread.Token) ([]plan.HandOver, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := []plan.HandOver{}
	for _, h := range slices.Backward(s.handed) {
		if token != "" && slices.Contains(h.Tokens(), token) {
			out = append(out, *h)
		}
	}
	return out, nil
}

// SetToken notes the token of a version's data.
func (s *Store) SetToken(_ context.Context, ref, agent string, version int, token thread.Token) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	k, _, err := s.node(ref, agent)
	if err != nil {
		return err
	}
	h := s.version(k.t.Name, agent, version)
	if h == nil {
		return missing(k.t.Name, agent, version)
	}
	h.Token = token
	return nil
}
