package masking

import (
	"encoding/json"
	"fmt"

	"orchestrator/contextmgr/wire"
	"orchestrator/thread"
)

// ended returns what is done when the exchange is over: its counts are learned, and what is new is counted.
func (r *request) ended(m measured, main bool) func(*thread.Exchange) {
	queued := make(chan struct{})
	go func() { // beside the request; most are counted when the answer has come
		defer close(queued)
		r.queue()
	}()
	return func(e *thread.Exchange) {
		<-queued
		if !main {
			return
		}
		if e.EndsTurn && r.masks() {
			r.between.keep(r.outgoing, r.scanner)
		}
		if kept, ok := r.learned(m, e); ok {
			r.keepLast(kept)
		}
	}
}

// learned takes over what a main request was counted, and returns what is to be kept of it at the end of a turn.
func (r *request) learned(m measured, e *thread.Exchange) (kept last, ok bool) {
	c := r.conversation
	c.mu.Lock()
	defer c.mu.Unlock()
	c.picture = r.picture(m)
	u := e.Usage
	input := u.Input + u.CacheRead + u.CacheWrite
	if e.Status >= 300 || input <= 0 {
		c.owed += m.cost // the next request writes the cache
		return last{}, false
	}
	if r.masks() {
		m.cost += c.owed
		e.SavedUSD = r.saved(m) - c.spent
		c.owed, c.spent = 0, 0
	}
	r.learn(m, input)
	c.counted, c.answered, c.asking = counted{input, m.estimate, len(r.scan.Items)}, u.Context(), m.requests
	c.larger = r.window() > 0 && input > r.window()
	switch {
	case u.CacheWriteHour > 0:
		c.ttl = longLife
	case u.CacheWrite > 0:
		c.ttl = shortLife
	}
	if e.EndsTurn && r.masks() {
		r.turnEnded(m)
	}
	if !e.EndsTurn {
		return last{}, false
	}
	return r.last(), true
}

// last returns what is to be kept of the last main request. The conversation's lock is held.
func (r *request) last() last {
	c, p := r.conversation, r.conversation.picture
	l := last{
		At: r.cfg.Now(), Model: r.scan.Request.Model, Window: c.window, Tokens: c.context(c.last.estimate), Masked: c.last.masked,
		Counted: c.counted,
		System:  p.system, Messages: p.messages, Tools: p.tools, ToolsN: p.toolsN, Offered: p.offered, Items: p.items,
	}
	for _, e := range p.entries {
		l.Entries = append(l.Entries, lastEntry{e.result, e.size, e.error, e.images})
	}
	return l
}

// keepLast keeps what fills the context.
func (r *request) keepLast(l last) {
	if r.cfg.Pictures == nil {
		return
	}
	text, err := json.Marshal(l)
	if err == nil {
		err = r.cfg.Pictures.Keep(r.conversation.id, text)
	}
	if err != nil {
		r.cfg.Log.Warn("keep what fills the context", "thread", string(r.conversation.id), "err", err)
	}
}

// saved returns what the masks of a request saved in USD, less what masking more than in the request before cost.
func (r *request) saved(m measured) float64 {
	usd := r.cfg.inputPrice(r.scan.Request.Model)
	prices := r.prices()
	return usd * (prices.Read*float64(m.masked)*r.conversation.ratio() - m.cost)
}

// queue has the contents counted that are not yet.
func (r *request) queue() {
	defer func() {
		if p := recover(); p != nil {
			r.cfg.Log.Error("counting tool results panicked", "type", fmt.Sprintf("%T", p))
		}
	}()
	for _, content := range r.scan.Contents {
		if _, ok := r.cfg.Counts.Known(r.encoding, content.Sum); !ok {
			raw := content.Of(r.outgoing.Call.Body)
			r.cfg.Counts.Queue(r.encoding, content.Sum, content.Text(raw))
		}
	}
}

// learn compares by how much the provider counted more than after the answer before with what was added since: results of
// tools, and what the agent or the person wrote.
func (r *request) learn(m measured, input int64) {
	c := r.conversation
	if c.answered == 0 || m.requests == 0 || m.requests != c.asking+1 {
		return
	}
	parts := map[string]int64{}
	rest := 0
	for i, span := range r.scan.Items {
		if m.number.of[i] == m.requests && !r.scan.ByModel(i) {
			rest += span.End - span.Start
		}
	}
	for i, content := range r.scan.Contents {
		res := m.results[i]
		if res.Request != m.requests || content.Form == wire.FormInput {
			continue
		}
		n, ok := r.cfg.Counts.Known(r.encoding, content.Sum)
		if !ok || content.Other > 0 || res.Masked {
			return // nothing can be learned
		}
		parts[content.Tool] += n
		rest -= content.End - content.Start
	}
	parts[""] += r.cfg.Counts.Estimate(max(0, rest))
	r.cfg.Calibration.Observe(r.scan.Request.Model, input-c.answered, parts)
}
