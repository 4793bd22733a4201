package wave

import (
	"context"
	"errors"

	"orchestrator/thread"
	"orchestrator/thread/plan"
)

// PartStatus is how the round of an agent stands, as that is told: of others it learns what it reads, and nothing else.
type PartStatus struct {
	Task    string         `json:"task_id"`
	Title   string         `json:"title"`
	Agent   string         `json:"agent_name"`
	Round   int            `json:"round"`
	State   plan.NodeState `json:"state"`
	Over    bool           `json:"over,omitempty"` // nothing that it does counts any more
	Reads   []PartReads    `json:"reads,omitempty"`
	Version int            `json:"handed_over_version,omitempty"`
}

// PartReads is an agent that it reads.
type PartReads struct {
	Agent   string          `json:"agent_name"`
	State   plan.NodeState  `json:"state"`
	Version int             `json:"version,omitempty"` // that it was given
	Newer   int             `json:"newer_version,omitempty"`
	Type    plan.OutputType `json:"output_type,omitempty"`
	Bytes   int64           `json:"bytes,omitempty"`
	Summary string          `json:"summary,omitempty"`
}

// Part returns how the round of an agent stands.
func (w *Waves) Part(ctx context.Context, of thread.Part) (PartStatus, error) {
	t, err := w.cfg.Store.Task(ctx, of.Task)
	if err != nil {
		return PartStatus{}, err
	}
	n, err := w.cfg.Store.Node(ctx, of.Task, of.Agent)
	if err != nil {
		return PartStatus{}, err
	}
	s := PartStatus{Task: t.Name, Title: t.Title, Agent: n.Agent, Round: of.Round, State: n.State, Over: n.Round != of.Round || !n.AtWork(), Version: n.Version}
	for _, name := range n.Reads {
		up, err := w.cfg.Store.Node(ctx, of.Task, name)
		if err != nil {
			return s, err
		}
		r := PartReads{Agent: name, State: up.State, Version: n.Given[name]}
		if up.Version != r.Version {
			r.Newer = up.Version
		}
		if r.Version > 0 {
			h, err := w.cfg.Store.HandOver(ctx, of.Task, name, r.Version)
			if err != nil && !errors.Is(err, thread.ErrNotFound) {
				return s, err
			}
			r.Type, r.Bytes, r.Summary = h.Type, h.Bytes, h.Summary
		}
		s.Reads = append(s.Reads, r)
	}
	return s, nil
}
