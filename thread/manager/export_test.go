package manager

import "orchestrator/thread/budget"

// SpentBy returns what a scope has spent.
func (m *Manager) SpentBy(s budget.Scope) (budget.Spent, error) {
	a, err := m.Budgets.books.Account(budget.Payer{Scope: s})
	return a.Spent, err
}

// Held returns of how many threads something is in memory, at the place that has most of them.
func (m *Manager) Held() int {
	m.Offers.mu.Lock()
	defer m.Offers.mu.Unlock()
	m.registry.index.mu.Lock()
	defer m.registry.index.mu.Unlock()
	return max(len(m.registry.byID), len(m.registry.index.live), len(m.registry.index.order), len(m.Offers.signals), len(m.Offers.going))
}
