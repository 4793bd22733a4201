package masking

import (
	"orchestrator/contextmgr/masks"
	"orchestrator/contextmgr/policy"
)

// planned is a summary that can be written.
type planned struct {
	sum      masks.Summary // without its text, and with the size that it is expected to have
	from, to int           // the items that it replaces, to excluded
	turns    int
	gain     policy.Batch
	usd      float64 // what having the model write it is expected to cost; 0 if that is not known
	priced   bool
}

// pays reports whether a summary is expected to pay for itself, with what having it written costs.
func (p planned) pays(price float64) bool {
	b := p.gain
	if price > 0 {
		b.Cost += p.usd / price
	}
	return b.Frees > 0 && b.Cost <= b.Saves*b.Expected
}
