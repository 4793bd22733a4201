package gateway

import (
	"sync"

	"orchestrator/thread"
)

// purse counts what threads have cost.
type purse struct {
	before func() map[thread.ID]float64 // what they had cost before this gateway
	load   sync.Once

	mu    sync.Mutex // a leaf
	by    map[thread.ID]float64
	total float64
}

// open reads what was spent before. Until then nothing was spent through this gateway.
func (p *purse) open() {
	p.load.Do(func() {
		var by map[thread.ID]float64
		if p.before != nil {
			by = p.before()
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.by == nil {
			p.by = map[thread.ID]float64{}
		}
		for id, usd := range by {
			p.by[id] += usd
			p.total += usd
		}
	})
}

// add counts what an answer cost.
func (p *purse) add(id thread.ID, usd float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.by == nil {
		p.by = map[thread.ID]float64{}
	}
	p.by[id] += usd
	p.total += usd
}

func (p *purse) spent(id thread.ID) (own, total float64) {
	p.open()
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.by[id], p.total
}
