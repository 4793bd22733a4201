package replay

import (
	"context"
	"time"

	"orchestrator/contextmgr/policy"
)

// Cache is how a provider keeps and prices the prefixes of requests. Prices are relative to input that goes past it.
type Cache struct {
	Name   string
	TTL    time.Duration
	Prices policy.Prices
}

// Caches returns the two caches that agents ask for: for five minutes and for an hour.
func Caches() []Cache {
	return []Cache{
		{"5m", 5 * time.Minute, policy.Prices{Read: 0.1, Write: 1.25}},
		{"1h", time.Hour, policy.Prices{Read: 0.1, Write: 2}},
	}
}

// Policy describes what is masked in a replay.
type Policy struct {
	Name string
	// Settings decide it, with a mode.
	Settings policy.Settings
	// Last is how many of the newest results stay at each request if there is no mode: all others are masked. With 0
	// nothing is.
	Last int
}

// Policies returns what is compared: what the agent itself sent, the modes, and the simple rule that keeps the last
// ten.
func Policies() []Policy {
	return []Policy{
		{Name: "raw"},
		{Name: "observe", Settings: policy.Defaults(policy.ModeObserve)},
		{Name: "safe", Settings: policy.Defaults(policy.ModeSafe)},
		{Name: "lean", Settings: policy.Defaults(policy.ModeLean)},
		{Name: "sliding", Settings: policy.Settings{StubTokens: policy.Defaults(policy.ModeLean).StubTokens}, Last: 10},
	}
}

// Front is how many tokens more stand before all items than when a session was recorded, fewer if it is negative: in what
// the agent itself would have sent, and in what is sent in the replay.
type Front struct{ Raw, Sent int64 }

// soon is within how many requests a masked file that is read again counts as a re-read.
const soon = 15

// run is a segment that is sent again, request by request.
type run struct {
	policy   Policy
	cache    Cache
	front    Front
	window   int64
	segment  Segment
	tally    Tally
	results  []policy.Result // of all items so far; Before is computed for each request
	position []int           // of each result in the items
	tokens   []int64         // of each item as it would be sent
	maskedAt map[read]int    // what was read and is masked, since when
	rereads  int
	masked   int
	sent     int64 // how large the request before was
}

// read is a part of a file that was read.
type read struct{ file, part string }

// Simulate sends a segment again with a policy and tells what became of it, with so many tokens more or less before its
// items. The window is that of the model. It ends early with the context.
func Simulate(ctx context.Context, seg Segment, p Policy, c Cache, f Front, window int64) (Tally, error) {
	r := &run{policy: p, cache: c, front: f, window: window, segment: seg, maskedAt: make(map[read]int)}
	r.tally.Segments = 1
	var rawSent int64
	for n, req := range seg.Requests {
		if err := ctx.Err(); err != nil {
			return Tally{}, err
		}
		base := r.take(n, req)
		first := r.decide(n, req, base)
		raw, size := max(0, req.Context+f.Raw), req.Context+f.Sent
		for i, it := range seg.items[:req.items] {
			size -= it.result.Tokens - r.tokens[i]
		}
		size = max(0, size) // a context may have shrunk a little, again and again
		rawRead, read := rawSent, min(r.sent, first)
		if r.lost(n) || c.TTL > 0 && req.Pause > c.TTL {
			rawRead, read = 0, 0
		}
		rawSent, r.sent = raw, size
		r.count(raw, size)
		r.tally.RawCost += c.cost(raw, rawRead)
		r.tally.Cost += c.cost(size, read)
		r.hits(req)
	}
	return r.tally, nil
}

// lost reports whether nothing of a request can be in the cache, whatever the pause.
func (r *run) lost(n int) bool {
	return n == 0 || r.segment.Requests[n].model != r.segment.Requests[n-1].model
}

// cost returns what a request costs of which so many tokens are read from the cache.
func (c Cache) cost(size, read int64) float64 {
	read = min(read, size)
	return c.Prices.Read*float64(read) + c.Prices.Write*float64(size-read)
}

// take takes the items that a request has first, and returns how many tokens stand before all items.
func (r *run) take(n int, req Request) int64 {
	for i := len(r.tokens); i < req.items; i++ {
		it := r.segment.items[i]
		r.tokens = append(r.tokens, it.result.Tokens)
		if it.work {
			r.results = append(r.results, it.result)
			r.position = append(r.position, i)
		}
		again := read{it.result.Reads, it.part}
		if at, ok := r.maskedAt[again]; ok && n-at <= soon {
			r.rereads++
		}
		delete(r.maskedAt, again)
	}
	base := req.Context + r.front.Sent
	for _, it := range r.segment.items[:req.items] {
		base -= it.result.Tokens
	}
	return max(0, base)
}

// decide masks what the policy says, and returns how many tokens stand before the first new mask.
func (r *run) decide(n int, req Request, base int64) int64 {
	before := base
	at := 0
	for i, tokens := range r.tokens {
		if at < len(r.position) && r.position[at] == i {
			r.results[at].Before = before
			at++
		}
		before += tokens
	}
	masks := make(map[policy.ID]bool)
	switch {
	case r.policy.Settings.Mode != "":
		d := policy.Decide(r.conversation(n, req, before), r.policy.Settings)
		for _, id := range d.Mask {
			masks[id] = true
		}
		r.tally.asked(d.Ask)
	case r.policy.Last > 0:
		r.slide(masks)
	}
	first := before
	for i := range r.results {
		res := &r.results[i]
		if res.Masked || !masks[res.ID] {
			continue
		}
		res.Masked = true
		r.tokens[r.position[i]] = r.policy.Settings.StubTokens
		first = min(first, res.Before)
		if res.Kind == policy.KindOutput {
			r.masked++
			if res.Reads != "" {
				r.maskedAt[read{res.Reads, r.segment.items[r.position[i]].part}] = n
			}
		}
	}
	if len(masks) > 0 {
		r.tally.Masks++
	}
	return first
}

// slide masks every result but the newest ones.
func (r *run) slide(masks map[policy.ID]bool) {
	kept := 0
	for i := len(r.results) - 1; i >= 0; i-- {
		res := r.results[i]
		if res.Kind == policy.KindInput {
			continue
		}
		if kept++; kept > r.policy.Last && !res.Masked && res.Tokens > r.policy.Settings.StubTokens {
			masks[res.ID] = true
		}
	}
}

func (r *run) conversation(n int, req Request, size int64) policy.Conversation {
	growth := 0.0
	if n > 0 {
		growth = float64(req.Context-r.segment.Requests[0].Context) / float64(n)
	}
	return policy.Conversation{
		Window: r.window, Context: size, New: size - r.sent, Request: n, TurnBegins: req.turn, Growth: growth, Results: r.results,
		Prices: r.cache.Prices, Idle: req.Pause, TTL: r.cache.TTL, Cold: r.lost(n),
		Rereads: r.rereads, MaskedResults: r.masked,
	}
}

// count adds a request to the tally, as large as the agent itself would have sent it and as it is sent.
func (r *run) count(raw, size int64) {
	t := &r.tally
	t.Requests++
	t.RawContext += raw
	t.Context += size
	start := r.segment.Requests[0].Context
	t.RawHistory += max(0, raw-start-r.front.Raw)
	t.History += max(0, size-start-r.front.Sent)
	if r.window > 0 {
		t.Windowed++
		if raw*100 < r.window*smallShare {
			t.RawSmall++
		}
		if size*100 < r.window*smallShare {
			t.Small++
		}
	}
}

// smallShare is the share of the window in percent below which a context is small.
const smallShare = 60

// hits counts the changes of files, and those whose last read was masked when the model wrote them.
func (r *run) hits(req Request) {
	for _, e := range req.edits {
		r.tally.Edits++
		if e.read < 0 {
			continue
		}
		r.tally.EditsRead++
		if tokens := r.segment.items[e.read].result.Tokens; r.tokens[e.read] < tokens {
			r.tally.EditsHit++
		}
	}
}
