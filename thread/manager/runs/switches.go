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
	Accounts     map[string]int `json:"accounts,omitempty"`
}

// Change returns the switches with a change.
func (s Switches) Change(c work.QueueChange) (Switches, error) {
	switch {
	case c.Pause && c.Resume:
		return s, thread.Kindf(thread.ErrInvalid, "either pause or resume the queue")
	case c.Limit < 0 || c.Limit > 1000:
		return s, thread.Kindf(thread.ErrInvalid, "a limit of %d runs: it must be from 1 to 1000", c.Limit)
	case c.Account != "" && (c.Agent != "" || c.Pause || c.Resume || c.Limit == 0):
		return s, thread.Hint(thread.Kindf(thread.ErrInvalid, "the account %s can only be limited", thread.Excerpt(c.Account)),
			"pause the queue of an agent, or of all")
	case c.Account != "":
		s.Accounts = with(s.Accounts, map[string]int{c.Account: c.Limit})
		return s, nil
	}
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
		s.Agents = with(s.Agents, map[string]int{c.Agent: c.Limit})
	}
	return s, nil
}

// Queue returns the queue with these switches over the configured limits.
func (s Switches) Queue(configured work.Limits, held map[thread.ID]string) work.Queue {
	l := configured
	if s.All > 0 {
		l.All = s.All
	}
	l.Agents, l.Accounts = with(configured.Agents, s.Agents), with(configured.Accounts, s.Accounts)
	return work.Queue{Limits: l, Paused: s.Paused, PausedAgents: s.PausedAgents, Held: held}
}

// with returns limits with others over them; neither changes.
func with(limits, over map[string]int) map[string]int {
	all := maps.Clone(limits)
	if all == nil {
		all = map[string]int{}
	}
	maps.Copy(all, over)
	return all
}
