package masking

import (
	"orchestrator/thread"
)

// ended returns what is done when the exchange is over: its counts are learned, and what is new is counted.
func (r *request) ended(m measured, main bool) func(*thread.Exchange) {
	return func(e *thread.Exchange) {
		r.queue()
		if !main {
			return
		}
		c := r.conversation
		c.mu.Lock()
		defer c.mu.Unlock()
		if r.masks() {
			e.Masked = m.masked
			e.SavedUSD = r.saved(m)
		}
		c.picture = r.picture(m)
		u := e.Usage
		input := u.Input + u.CacheRead + u.CacheWrite
		if e.Status >= 300 || input <= 0 {
			return
		}
		r.learn(m, input)
		c.counted, c.estimated = input, m.estimate
		switch {
		case u.CacheWriteHour > 0:
			c.ttl = longLife
		case u.CacheWrite > 0:
			c.ttl = shortLife
		}
	}
}

// saved returns what the masks of a request saved in USD, less what masking more than in the request before cost.
func (r *request) saved(m measured) float64 {
	usd := r.cfg.inputPrice(r.scan.Request.Model)
	prices := r.prices()
	return usd * (prices.Read*float64(m.masked) - m.cost)
}

// queue has the contents counted that are not yet.
func (r *request) queue() {
	for _, content := range r.scan.Contents {
		if _, ok := r.cfg.Counts.Known(content.Sum); !ok {
			raw := content.Of(r.outgoing.Call.Body)
			r.cfg.Counts.Queue(content.Sum, content.Text(raw))
		}
	}
}

// learn compares how much the provider counted more than for the request before with what was added to it.
func (r *request) learn(m measured, input int64) {
	c := r.conversation
	if c.counted == 0 || m.requests == 0 {
		return
	}
	parts := map[string]int64{}
	for i, content := range r.scan.Contents {
		res := m.results[i]
		if res.Request != m.requests || res.Masked {
			continue
		}
		n, ok := r.cfg.Counts.Known(content.Sum)
		if !ok || content.Other > 0 {
			return // not counted yet: nothing can be learned
		}
		parts[content.Tool] += n
	}
	growth := input - c.counted
	known := int64(0)
	for _, n := range parts {
		known += n
	}
	if rest := m.estimate - c.estimated - known; rest > 0 {
		parts[""] += rest
	}
	r.cfg.Calibration.Observe(r.scan.Request.Model, growth, parts)
}
