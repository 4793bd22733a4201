package masking

import (
	"slices"

	"orchestrator/contextmgr/gateway"
	"orchestrator/thread"
)

// mostResting is how many conversations are kept in memory of threads whose agents do not run.
const mostResting = 16

var _ gateway.Keeper = (*Masker)(nil)

// find returns a thread's conversation, a new one if there is none.
func (m *Masker) find(id thread.ID, asks bool) *conversation {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.threads[id]
	rests := c == nil || slices.Contains(m.resting, id)
	if c == nil {
		c = &conversation{id: id, told: map[string]bool{}}
		m.threads[id] = c
	}
	if rests {
		m.rest(id, !asks)
	}
	return c
}

// rest makes a conversation the one that was used last of those that rest, or one that does not rest. mu is held.
func (m *Masker) rest(id thread.ID, rests bool) {
	m.resting = slices.DeleteFunc(m.resting, func(other thread.ID) bool { return other == id })
	if rests {
		m.resting = append(m.resting, id)
	}
}

// Rest implements gateway.Keeper: what is known about the thread stays until it is one of too many.
func (m *Masker) Rest(id thread.ID) {
	m.mu.Lock()
	if m.threads[id] != nil {
		m.rest(id, true)
	}
	m.mu.Unlock()
	m.trim()
}

// Forget implements gateway.Keeper.
func (m *Masker) Forget(id thread.ID) {
	m.mu.Lock()
	delete(m.threads, id)
	m.rest(id, false)
	m.mu.Unlock()
	m.kept.forget(id)
}

// trim forgets the conversations that rest and are too many, but for those that something is still to be done for.
func (m *Masker) trim() {
	m.mu.Lock()
	var over []*conversation
	for _, id := range m.resting[:max(0, len(m.resting)-mostResting)] {
		over = append(over, m.threads[id])
	}
	m.mu.Unlock()
	for _, c := range over {
		if c.awaits() {
			continue
		}
		m.mu.Lock()
		if m.threads[c.id] == c && slices.Contains(m.resting[:max(0, len(m.resting)-mostResting)], c.id) {
			delete(m.threads, c.id)
			m.rest(c.id, false)
		}
		m.mu.Unlock()
	}
}

// awaits reports whether something is to be done for a conversation that is not stored.
func (c *conversation) awaits() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.writing || len(c.wanted) > 0 || c.spent > 0
}
