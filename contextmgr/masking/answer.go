package masking

import (
	"encoding/json"
	"fmt"

	"orchestrator/contextmgr/wire"
	"orchestrator/thread"
)

// ended returns what is done when the exchange is over: its counts are learned, and what is new is counted.
func (r *request) ended(m measurement, main bool) func(*thread.Exchange) {
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
			r.writer.Keep(r.outgoing, r.scanner)
		}
		r.keep(r.learned(m, e))
	}
}

// learned takes over what a main request was counted, and returns what is to be kept of it: nothing inside of a turn.
func (r *request) learned(m measurement, e *thread.Exchange) *stored {
	c := r.conversation
	c.Lock()
	defer c.Unlock()
	c.latest.picture = r.picture(m)
	u := e.Usage
	input := u.Input + u.CacheRead + u.CacheWrite
	if e.Status >= 300 || input <= 0 {
		c.owed += m.cost // the next request writes the cache
		return nil
	}
	if r.masks() {
		m.cost += c.owed
		e.SavedUSD = r.saved(m) - c.summaries.Bill()
		c.owed = 0
	}
	r.learn(m, input)
	c.count = count{input, m.estimate, len(r.scan.Items), u.Context(), m.number.last}
	c.window.exceeded = r.window() > 0 && input > r.window()
	c.cache.answered(u)
	if e.EndsTurn && r.masks() {
		r.writer.TurnEnded(c.summaries, r.sent(m), c.latest.decision.Ask)
	}
	if !e.EndsTurn {
		return nil
	}
	return r.stored()
}

// stored returns what is to be kept of the last main request. The conversation's lock is held.
func (r *request) stored() *stored {
	c, last := r.conversation, r.conversation.latest
	return &stored{
		At: r.cfg.Now(), Model: r.scan.Request.Model, Window: c.window.tokens, Masked: last.measured.masked,
		Tokens: c.count.context(last.measured.estimate), Counted: c.count, picture: last.picture,
	}
}

// keep keeps what fills the context, if there is something to keep.
func (r *request) keep(s *stored) {
	if s == nil || r.cfg.Pictures == nil {
		return
	}
	text, err := json.Marshal(s)
	if err == nil {
		err = r.cfg.Pictures.Keep(r.conversation.id, text)
	}
	if err != nil {
		r.cfg.Log.Warn("keep what fills the context", "thread", string(r.conversation.id), "err", err)
	}
}

// saved returns what the masks of a request saved in USD, less what masking more than in the request before cost.
func (r *request) saved(m measurement) float64 {
	usd := r.cfg.inputPrice(r.scan.Request.Model)
	return usd * (r.prices().Read*float64(m.masked)*r.conversation.count.ratio() - m.cost)
}

// queue has the contents counted that are not yet.
func (r *request) queue() {
	defer func() {
		if p := recover(); p != nil {
			r.cfg.Log.Error("counting tool results panicked", "type", fmt.Sprintf("%T", p))
		}
	}()
	for _, content := range r.scan.Contents {
		if _, ok := r.meter.known(content); !ok {
			raw := content.Of(r.outgoing.Call.Body)
			r.cfg.Counts.Queue(r.meter.encoding, content.Sum, content.Text(raw))
		}
	}
}

// learn compares by how much the provider counted more than after the answer before with what was added since: results of
// tools, and what the agent or the person wrote.
func (r *request) learn(m measurement, input int64) {
	c := r.conversation
	if !c.count.precedes(m.number.last) {
		return
	}
	parts := map[string]int64{}
	rest := 0
	for i, span := range r.scan.Items {
		if m.number.of[i] == m.number.last && !r.scan.ByModel(i) {
			rest += span.End - span.Start
		}
	}
	for _, rep := range m.repeats {
		if rep.with != nil && m.number.of[rep.item] == m.number.last {
			rest -= rep.End - rep.Start - len(rep.with)
		}
	}
	for i, content := range r.scan.Contents {
		res := m.results[i]
		if res.Request != m.number.last || content.Form == wire.FormInput {
			continue
		}
		n, ok := r.meter.known(content)
		if !ok || content.Other > 0 || res.Masked {
			return // nothing can be learned
		}
		parts[content.Tool] += n
		rest -= content.End - content.Start
	}
	parts[""] += r.cfg.Counts.Estimate(max(0, rest))
	r.cfg.Calibration.Observe(r.scan.Request.Model, input-c.count.answered, parts)
}
