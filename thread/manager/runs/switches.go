package runs

import (
	"maps"
	"slices"

	"orchestrator/thread"
	"orchestrator/thread/work"
)

// Switches are what the person has decided about the queue beyond the configuration. They hold over restarts.
type Switches struct {
	Paused       bool           `json:"paused,omitempty"`
	PausedAgents []string       `json:"pausedAgents,omitempty"`
	All          int            `json:"all,omitempty"`    // 0 for what is configured
	Agents       map[string]int `json:"agents,omitempty"` // those that differ from what is configured
}

// Change returns the switches with a change.
func (s Switches) Change(c work.QueueChange) (Switches, error) {
	switch {
	case c.Pause && c.Resume:
		return s, thread.Kindf(thread.ErrInvalid, "either pause or resume the queue")
	case c.Limit < 0 || c.Limit > 1000:
		return s, thread.Kindf(thread.ErrInvalid, "a limit of %d runs: it must be from 1 to 1000", c.Limit)
	}
	s.Agents = maps.Clone(s.Agents)
	if c.Agent == "" {
		s.Paused = (s.Paused || c.Pause) && !c.Resume
		if c.Resume {
			s.PausedAgents = nil
		}
		if c.Limit > 0 {
			s.All = c.Limit
		}
		return s, nil
	}
	at := slices.Index(s.PausedAgents, c.Agent)
	s.PausedAgents = slices.Clone(s.PausedAgents)
	switch {
	case c.Pause && at < 0:
		s.PausedAgents = append(s.PausedAgents, c.Agent)
	case c.Resume && at >= 0:
		s.PausedAgents = slices.Delete(s.PausedAgents, at, at+1)
	}
	if c.Limit > 0 {
		if s.Agents == nil {
			s.Agents = map[string]int{}
		}
		s.Agents[c.Agent] = c.Limit
	}
	return s, nil
}

// Queue returns the queue with these switches over the configured limits.
func (s Switches) Queue(configured work.Limits, held map[thread.ID]string) work.Queue {
	l := configured
	if s.All > 0 {
		l.All = s.All
	}
	l.Agents = maps.Clone(configured.Agents)
	for agent, n := range s.Agents {
		if l.Agents == nil {
			l.Agents = map[string]int{}
		}
		l.Agents[agent] = n
	}
	return work.Queue{Limits: l, Paused: s.Paused, PausedAgents: s.PausedAgents, Held: held}
}
