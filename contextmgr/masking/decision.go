package masking

import (
	"slices"

	"orchestrator/contextmgr/masks"
	"orchestrator/contextmgr/policy"
	"orchestrator/contextmgr/wire"
	"orchestrator/thread"
)

// decide decides what else is masked, and stores that.
func (r *request) decide(m *measured) {
	c := r.conversation
	c.window = r.window()
	size := c.context(m.estimate)
	scale := 1.0 // of what the provider counts to what is estimated
	if m.estimate > 0 {
		scale = float64(size) / float64(m.estimate)
		for i := range m.results {
			m.results[i].Before = int64(float64(m.results[i].Before) * scale)
		}
	}
	now := r.cfg.Now()
	conv := policy.Conversation{
		Window: c.window, Context: size, New: c.added(m.estimate), Request: m.requests, TurnBegins: m.turn, Results: m.results,
		Growth: growth(*m, size), Prices: r.prices(), TTL: c.lifetime(),
		Cold:    c.changed(r.scan.Request),
		Rereads: c.rereads, MaskedResults: countMasked(m.results),
	}
	if !c.asked.IsZero() {
		conv.Idle = max(0, now.Sub(c.asked))
	}
	c.decision = policy.Decide(conv, r.settings)
	c.next, c.judged = c.decision, conv
	ruled := len(c.decision.Mask)
	if c.shorter && c.heldIn == 0 {
		c.heldIn = m.turn + 1
	}
	if c.shorter = c.shorter && m.turn < c.heldIn; c.shorter {
		c.decision.Mask = nil
	}
	if r.masks() {
		for _, res := range conv.Results {
			if c.wanted[res.ID] && !res.Masked {
				c.decision.Mask = append(c.decision.Mask, res.ID)
			}
		}
	}
	if len(c.decision.Mask) == 0 {
		return
	}
	batch, at := r.batch(m, c.decision, ruled)
	if len(batch) == 0 {
		c.wanted = nil
		return
	}
	if err := c.set.Add(batch); err != nil {
		r.cfg.Log.Error("store masks", "thread", string(c.id), "err", err)
		r.tell("unstored", "no more of this thread is masked until that can be stored: "+err.Error())
		return
	}
	delete(c.told, "unstored")
	c.wanted = nil
	rewritten := conv.Cached() - m.results[at[0]].Before // is written to the cache again, less what is masked
	for _, i := range at {
		res := &m.results[i]
		res.Masked = true
		freed := max(0, m.sizes[i]-r.settings.StubTokens)
		m.sizes[i] -= freed
		m.estimate -= freed
		m.masked += freed
		rewritten -= int64(float64(freed) * scale)
		if res.Reads != "" {
			c.maskedAt[part{res.Reads, m.uses[i].Part}] = m.requests
		}
	}
	if c.decision.Reason != policy.ReasonCold {
		m.cost = max(0, conv.Prices.Write-conv.Prices.Read) * float64(max(0, rewritten))
	}
	conv.Context = c.decision.Context
	c.next, c.judged = policy.Decide(conv, r.settings), conv
}

// growth returns how many tokens a request adds in the mean: what stands before the first result belongs to none.
func growth(m measured, size int64) float64 {
	if len(m.results) == 0 || m.requests == 0 {
		return 0
	}
	return float64(max(0, size-m.results[0].Before)) / float64(m.requests)
}

// batch returns the contents that a decision masks, once each, and the indexes of all of them. Those after the first few,
// which the policy chose, are masked because the person wants it.
func (r *request) batch(m *measured, d policy.Decision, ruled int) (batch []masks.New, at []int) {
	chosen := make(map[policy.ID]policy.Reason, len(d.Mask))
	for n, id := range d.Mask {
		switch {
		case n < ruled:
			chosen[id] = d.Reason
		case chosen[id] == "":
			chosen[id] = policy.ReasonPerson
		}
	}
	for i, content := range r.scan.Contents {
		res := m.results[i]
		if chosen[res.ID] == "" {
			continue
		}
		raw := content.Of(r.outgoing.Call.Body)
		text := content.Text(raw)
		tokens, count := res.Tokens, lines(text)
		stub := func(path string, token thread.Token) string {
			return policy.Stub(content.Tool, count, tokens, path, string(token))
		}
		whole := r.scanner.Replace(raw, content.Form, stub(r.conversation.set.Dir()+"/00000000.txt", "max:00000000"))
		if whole == nil || len(whole) >= len(raw) {
			if r.conversation.whole == nil {
				r.conversation.whole = map[policy.ID]bool{}
			}
			r.conversation.whole[res.ID] = true
			continue
		}
		batch = append(batch, masks.New{
			Mask: masks.Mask{
				ID: res.ID, Tool: content.Tool, Lines: count, Tokens: tokens, Input: content.Form == wire.FormInput,
				At: r.cfg.Now(), Reason: string(chosen[res.ID]), Request: m.requests,
			},
			Content: []byte(text), Text: stub,
		})
		at = append(at, i)
	}
	return batch, at
}

// reread counts results that were read again soon after they were masked.
func (r *request) reread(m measured) {
	c := r.conversation
	if c.maskedAt == nil {
		c.maskedAt = map[part]int{}
	}
	for i, res := range slices.Backward(m.results) {
		if res.Request < m.requests {
			break
		}
		again := part{res.Reads, m.uses[i].Part}
		at, ok := c.maskedAt[again]
		if ok && res.Reads != "" && m.requests-at <= soon && res.Kind != policy.KindInput || res.Kind == policy.KindRetrieval {
			c.rereads++
			delete(c.maskedAt, again)
		}
	}
}

// soon is within how many requests a masked result that is read again should not have been masked.
const soon = 15

func countMasked(results []policy.Result) int {
	n := 0
	for _, res := range results {
		if res.Masked && res.Kind == policy.KindOutput {
			n++
		}
	}
	return n
}
