package policy

import (
	"fmt"
	"math"

	"orchestrator/thread"
)

// fewestRemaining is how many requests are expected at least, however long a conversation has been.
const fewestRemaining = 5

// Batch is a set of results that may be masked together, and what that means. The cost of a batch and its gain are in
// tokens at the price of input that goes past the cache.
type Batch struct {
	IDs []ID
	// Frees is how many tokens leave the context (D), and Rewrites how many are written to the cache again because they
	// stand behind the first of them (S); 0 if nothing is cached.
	Frees, Rewrites int64
	// Cost is what the next request costs more, and Saves what each one after it costs less.
	Cost, Saves float64
	// BreakEven is after how many requests the batch has paid for itself (R*), and Expected how many are expected (R).
	BreakEven, Expected float64
}

// Net returns what the batch saves if as many requests follow as are expected.
func (b Batch) Net() float64 { return b.Saves*b.Expected - b.Cost }

// Pays reports whether the batch is expected to pay for itself.
func (b Batch) Pays() bool { return b.Frees > 0 && b.BreakEven <= b.Expected }

// Forecast says for people what masking a batch now would mean. usd is the price of a token of input that goes past the
// cache, 0 if it is unknown.
func (b Batch) Forecast(usd float64) string {
	frees := "masking now frees " + thread.Tokens(b.Frees)
	switch {
	case b.Frees <= 0:
		return "nothing to mask"
	case b.Cost <= 0:
		return frees + " and costs nothing"
	case math.IsInf(b.BreakEven, 0):
		return frees + " and never pays back"
	}
	cost := "of " + thread.Tokens(b.Rewrites) + " tokens"
	if usd > 0 {
		cost = fmt.Sprintf("of $%.2f", b.Cost*usd)
	}
	requests := "requests"
	back := int64(math.Ceil(b.BreakEven))
	if back == 1 {
		requests = "request"
	}
	return fmt.Sprintf("%s, costs one cache write %s, pays back in %d %s", frees, cost, back, requests)
}

// remaining returns how many requests a conversation is expected to have left.
func (s Settings) remaining(c Conversation) float64 {
	left := s.Remaining
	if s.HalfLife > 0 {
		left *= s.HalfLife / (s.HalfLife + float64(max(0, c.Request)))
	}
	return max(fewestRemaining, left)
}

// batchSize returns how many tokens a batch has to free. In small batches more is rewritten than freed; in large ones
// too much is read again until the next. In between lies the size that costs least: the square root of 2·((w−r)/r)·g·K.
// The cost is flat around it, so that half of it costs hardly more, and the context is smaller.
func (s Settings) batchSize(c Conversation) int64 {
	p := c.Prices
	cheapest := math.Sqrt(2 * (p.Write - p.Read) / p.Read * c.Growth * float64(s.KeptTokens))
	if !(cheapest < mostBatch) { // prices or growth that say nothing make no number
		return s.MinBatch
	}
	return max(s.MinBatch, int64(cheapest/2))
}

// mostBatch bounds the size of a batch, whatever the growth.
const mostBatch = 1e9

// whole returns the batch of all these results, which are in order.
func (s Settings) whole(c Conversation, indexes []int) Batch {
	b := Batch{Expected: s.remaining(c)}
	if len(indexes) == 0 {
		return b
	}
	seen := make(map[ID]bool, len(indexes))
	for _, i := range indexes {
		r := c.Results[i]
		if !seen[r.ID] {
			seen[r.ID] = true
			b.IDs = append(b.IDs, r.ID)
		}
		b.Frees += r.Tokens - s.StubTokens
	}
	if !c.cold() {
		b.Rewrites = max(0, c.Cached()-c.Results[indexes[0]].Before-b.Frees)
	}
	b.price(c.Prices)
	return b
}

func (b *Batch) price(p Prices) {
	b.Cost = max(0, p.Write-p.Read) * float64(b.Rewrites)
	b.Saves = p.Read * float64(b.Frees)
	switch {
	case b.Cost == 0:
		b.BreakEven = 0
	case b.Saves <= 0:
		b.BreakEven = math.Inf(1)
	default:
		b.BreakEven = b.Cost / b.Saves
	}
}

// best returns the batch that ends with the last of these results and is expected to save most. A small result far in
// front is not worth the rewriting of all that stands behind it: it waits for a lost cache.
func (s Settings) best(c Conversation, indexes []int) Batch {
	best := s.whole(c, indexes)
	if c.cold() {
		return best
	}
	// From the last to the first, the sums grow by one result each.
	from := 0
	var at Batch
	at.Expected = best.Expected
	net := best.Net()
	for k := len(indexes) - 1; k > 0; k-- {
		r := c.Results[indexes[k]]
		at.Frees += r.Tokens - s.StubTokens
		at.Rewrites = max(0, c.Cached()-r.Before-at.Frees)
		at.price(c.Prices)
		if at.Net() > net {
			from, net = k, at.Net()
		}
	}
	if from > 0 && !c.shared(indexes, from) {
		best = s.whole(c, indexes[from:])
	}
	return best
}

// shared reports whether a result before a batch has the id of one in it, so that both would be masked.
func (c Conversation) shared(indexes []int, from int) bool {
	ids := make(map[ID]bool, from)
	for _, i := range indexes[:from] {
		ids[c.Results[i].ID] = true
	}
	for _, i := range indexes[from:] {
		if ids[c.Results[i].ID] {
			return true
		}
	}
	return false
}
