package masking

import (
	"orchestrator/contextmgr/masks"
	"orchestrator/contextmgr/policy"
	"orchestrator/contextmgr/wire"
	"orchestrator/thread"
)

// decide decides what else is masked, and stores that.
func (r *request) decide(m *measurement) {
	c := r.conversation
	c.window.tokens = r.window()
	size := c.count.context(m.estimate)
	scale := 1.0 // of what the provider counts to what is estimated
	if m.estimate > 0 {
		scale = float64(size) / float64(m.estimate)
		for i := range m.results {
			m.results[i].Before = int64(float64(m.results[i].Before) * scale)
		}
	}
	conv := policy.Conversation{
		Window: c.window.tokens, Context: size, New: c.count.added(m.estimate), Results: m.results,
		Request: m.number.last, TurnBegins: m.number.turn, Growth: growth(*m, size),
		Prices: r.prices(), TTL: c.cache.lifetime(), Idle: c.cache.idle(r.cfg.Now()), Cold: c.cache.lost(r.scan.Request),
		Rereads: c.rereads.count,
	}
	for _, res := range conv.Results {
		if res.Masked && res.Kind == policy.KindOutput {
			conv.MaskedResults++
		}
	}
	d := policy.Decide(conv, r.settings)
	c.latest.decision, c.latest.next, c.latest.judged = d, d, conv
	chosen := make(map[policy.ID]policy.Reason, len(d.Mask))
	if !c.pause.holds(m.number.turn) {
		for _, id := range d.Mask {
			chosen[id] = d.Reason
		}
	}
	for _, res := range conv.Results {
		if r.masks() && c.wanted[res.ID] && !res.Masked && chosen[res.ID] == "" {
			chosen[res.ID] = policy.ReasonPerson
		}
	}
	if len(chosen) == 0 {
		return
	}
	batch, at := r.batch(m, chosen)
	if len(batch) == 0 {
		clear(c.wanted)
		return
	}
	if err := c.masks.Add(batch); err != nil {
		r.cfg.Log.Error("store masks", "thread", string(c.id), "err", err)
		c.warn(r.outgoing, "unstored", "no more of this thread is masked until that can be stored: "+err.Error())
		return
	}
	delete(c.told, "unstored")
	clear(c.wanted)
	rewritten := conv.Cached() - m.results[at[0]].Before // is written to the cache again, less what is masked
	for _, i := range at {
		res := &m.results[i]
		res.Masked = true
		freed := max(0, m.sizes[i]-r.settings.StubTokens)
		m.sizes[i] -= freed
		m.estimate -= freed
		m.masked += freed
		rewritten -= int64(float64(freed) * scale)
		c.rereads.mask(part{res.Reads, m.uses[i].Part}, m.number.last)
	}
	if d.Reason != policy.ReasonCold {
		m.cost = max(0, conv.Prices.Write-conv.Prices.Read) * float64(max(0, rewritten))
	}
	conv.Context = d.Context
	c.latest.next, c.latest.judged = policy.Decide(conv, r.settings), conv
}

// growth returns how many tokens a request adds on average: what stands before the first result belongs to none.
func growth(m measurement, size int64) float64 {
	if len(m.results) == 0 || m.number.last == 0 {
		return 0
	}
	return float64(max(0, size-m.results[0].Before)) / float64(m.number.last)
}

// batch returns the contents that are chosen to be masked, once each, and the indexes of all of them.
func (r *request) batch(m *measurement, chosen map[policy.ID]policy.Reason) (batch []masks.New, at []int) {
	for i, content := range r.scan.Contents {
		res := m.results[i]
		if chosen[res.ID] == "" {
			continue
		}
		raw := content.Of(r.outgoing.Call.Body)
		text := content.Text(raw)
		tokens, count := res.Tokens, lines(text)
		stub := func(path string, token thread.Token) string {
			return Stub(content.Tool, count, tokens, path, string(token))
		}
		whole := r.scanner.Replace(raw, content.Form, stub(r.conversation.masks.Dir()+"/00000000.txt", "max:00000000"))
		if whole == nil || len(whole) >= len(raw) {
			r.conversation.longer[res.ID] = true
			continue
		}
		batch = append(batch, masks.New{
			Mask: masks.Mask{
				ID: res.ID, Tool: content.Tool, Lines: count, Tokens: tokens, Input: content.Form == wire.FormInput,
				At: r.cfg.Now(), Reason: string(chosen[res.ID]), Request: m.number.last,
			},
			Content: []byte(text), Text: stub,
		})
		at = append(at, i)
	}
	return batch, at
}
