package manager

// Held returns of how many threads something is in memory, at the place that has most of them.
func (m *Manager) Held() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return max(len(m.byID), len(m.live), len(m.order), len(m.signals), len(m.going))
}
