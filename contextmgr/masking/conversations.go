package masking

import (
	"slices"
	"sync"

	"orchestrator/contextmgr/policy"
	"orchestrator/contextmgr/summaries"
	"orchestrator/thread"
)

// mostResting is how many conversations are kept in memory of threads whose agents do not run.
const mostResting = 16

// conversations has the conversations of threads that run, and of some that do not.
type conversations struct {
	cfg *Config

	mu      sync.Mutex // guards the rest; a conversation's lock is never taken while it is held
	of      map[thread.ID]*conversation
	resting []thread.ID // those of threads whose agents do not run, the longest unused first
}

// get returns a thread's conversation, a new one if there is none; asks is set for a request of its agent.
func (m *conversations) get(id thread.ID, asks bool) *conversation {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.of[id]
	rests := c == nil || slices.Contains(m.resting, id)
	if c == nil {
		c = &conversation{
			id: id, cfg: m.cfg, wanted: map[policy.ID]bool{}, longer: map[policy.ID]bool{}, stubs: map[policy.ID][]byte{},
			rereads: rereads{masked: map[part]int{}}, told: map[string]bool{},
		}
		c.summaries = summaries.New(id, c)
		m.of[id] = c
	}
	if rests {
		m.mark(id, !asks)
	}
	return c
}

// mark makes a conversation the one that was used last of those that rest, or one that does not rest. mu is held.
func (m *conversations) mark(id thread.ID, rests bool) {
	m.resting = slices.DeleteFunc(m.resting, func(other thread.ID) bool { return other == id })
	if rests {
		m.resting = append(m.resting, id)
	}
}

// rest notes that a thread's agent has ended: what is known about it stays until it is one of too many.
func (m *conversations) rest(id thread.ID) {
	m.mu.Lock()
	if m.of[id] != nil {
		m.mark(id, true)
	}
	m.mu.Unlock()
	m.trim()
}

// forget forgets a thread.
func (m *conversations) forget(id thread.ID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.of, id)
	m.mark(id, false)
}

// trim forgets the conversations that rest and are too many, but for those that something is still to be done for.
func (m *conversations) trim() {
	m.mu.Lock()
	var over []*conversation
	for _, id := range m.over() {
		over = append(over, m.of[id])
	}
	m.mu.Unlock()
	for _, c := range over {
		if c.awaits() {
			continue
		}
		m.mu.Lock()
		if m.of[c.id] == c && slices.Contains(m.over(), c.id) {
			delete(m.of, c.id)
			m.mark(c.id, false)
		}
		m.mu.Unlock()
	}
}

// over are the conversations that rest and are too many. mu is held.
func (m *conversations) over() []thread.ID { return m.resting[:max(0, len(m.resting)-mostResting)] }

// awaits reports whether something is to be done for a conversation that is not stored.
func (c *conversation) awaits() bool {
	c.Lock()
	defer c.Unlock()
	return len(c.wanted) > 0 || c.summaries.Pending()
}
