package masking

import (
	"cmp"
	"math"

	"orchestrator/contextmgr/policy"
	"orchestrator/thread"
)

// NotFilled is the text of a report on a thread whose context is not known yet.
const NotFilled = "filled by the next prompt"

// Report returns what fills a thread's context.
func (m *Masker) Report(id thread.ID) (thread.ContextReport, error) {
	c, err := m.conversation(id, false)
	if err != nil {
		return thread.ContextReport{}, err
	}
	c.Lock()
	defer c.Unlock()
	r := thread.ContextReport{Thread: id, Model: c.cache.model, Window: c.window.tokens, Rereads: c.rereads.count}
	r.Mode, r.Why = c.mode()
	r.Summaries, r.Offer = c.summaries.List(), c.summaries.Offer()
	var why map[policy.ID]string
	switch before := c.before; {
	case c.scan != nil:
		r.Tokens, r.Masked = c.count.context(c.latest.measured.estimate), c.latest.measured.masked
		r.Margin = c.margin(c.cache.model)
		r.Forecast, r.Reason = c.latest.next.Batch.Forecast(m.cfg.inputPrice(c.cache.model)), string(c.latest.next.Reason)
		r.SentUSD = m.cfg.inputPrice(c.cache.model) * c.latest.judged.Prices.Write
		why = c.settings.Unmasked(c.latest.judged)
	case before != nil:
		c.settings = c.inForce()
		r.Model, r.Window, r.Tokens, r.Masked = before.Model, before.Window, before.Tokens, before.Masked
		r.Reason = "from before the restart, " + before.At.Local().Format("Jan 2 15:04") + ": the next request brings it up to date"
	default:
		c.settings = c.inForce()
		r.Reason = NotFilled
		return r, nil
	}
	r.Parts = c.latest.picture.parts()
	fit(r.Parts, r.Tokens)
	for _, e := range c.latest.picture.Entries {
		res := c.shown(e)
		res.Why = c.yet(why, res)
		r.Results = append(r.Results, res)
	}
	if c.scan != nil && r.Reason == string(policy.ReasonNothing) {
		r.Forecast, r.Reason = thread.NothingToMask(r.Results), ""
	}
	return r, nil
}

// fit scales parts, which are estimated one by one, to what the whole has: a provider counts otherwise than we do.
func fit(parts []thread.ContextPart, whole int64) {
	var sum int64
	for _, p := range parts {
		sum += p.Tokens
	}
	if sum == 0 {
		return
	}
	for i := range parts {
		parts[i].Tokens = int64(math.Round(float64(parts[i].Tokens) * float64(whole) / float64(sum)))
	}
}

// yet returns why what is not masked is not masked yet, "" if nothing keeps it.
func (c *conversation) yet(why map[policy.ID]string, res thread.ContextResult) string {
	held, may := why[policy.ID(res.ID)]
	switch {
	case res.Masked || res.Kept != "" || !may:
		return res.Why
	case held != "":
		return held
	case c.wanted[policy.ID(res.ID)]:
		return "masked with the next request"
	default:
		return c.latest.next.Reason.Says()
	}
}

// shown describes a content for people.
func (c *conversation) shown(e entry) thread.ContextResult {
	res := e.Result
	out := thread.ContextResult{
		ID: string(res.ID), Tool: res.Tool, File: cmp.Or(res.Reads, res.Writes), Input: res.Kind == policy.KindInput,
		Tokens: res.Tokens, Turn: res.Request, Pinned: c.masks.Pinned(res.ID),
	}
	if mask, ok := c.masks.Mask(res.ID); ok && !out.Pinned {
		out.Masked, out.Token, out.Path = true, mask.Token, mask.File
		out.Why, out.MaskedIn = policy.Reason(mask.Reason).Says(), mask.Request
	}
	switch {
	case out.Masked:
	case out.Pinned:
		out.Kept = "pinned"
	case res.Error:
		out.Kept = "error"
	case c.settings.Kept(res) != "":
		out.Kept = c.settings.Kept(res)
	case res.Tokens < c.settings.MinResult:
		out.Kept = "small"
	case c.longer[res.ID]:
		out.Kept = "would not get shorter"
	case res.Kind != policy.KindOutput && res.Kind != policy.KindInput:
		out.Kept = string(res.Kind)
	}
	return out
}
