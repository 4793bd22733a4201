package gateway

import (
	"sync"

	"orchestrator/thread"
)

// spending counts what threads have cost.
type spending struct {
	before func() map[thread.ID]float64 // returns what they had cost before this gateway
	load   sync.Once

	mu    sync.Mutex // a leaf
	by    map[thread.ID]float64
	total float64
}

// open reads what was spent before. Nothing has been spent through this gateway until then.
func (s *spending) open() {
	s.load.Do(func() {
		var by map[thread.ID]float64
		if s.before != nil {
			by = s.before()
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.by == nil {
			s.by = map[thread.ID]float64{}
		}
		for id, usd := range by {
			s.by[id] += usd
			s.total += usd
		}
	})
}

// add adds the cost of an answer.
func (s *spending) add(id thread.ID, usd float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.by == nil {
		s.by = map[thread.ID]float64{}
	}
	s.by[id] += usd
	s.total += usd
}

// forget forgets what a thread has cost by itself; the total has it.
func (s *spending) forget(id thread.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.by, id)
}

func (s *spending) spent(id thread.ID) (own, total float64) {
	s.open()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.by[id], s.total
}
