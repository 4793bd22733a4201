package masking

import (
	"math"

	"orchestrator/thread"
)

// Report says what fills a thread's context.
func (m *Masker) Report(id thread.ID) (thread.ContextReport, error) {
	c, err := m.conversation(id, false)
	if err != nil {
		return thread.ContextReport{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	settings := m.cfg.Settings(id, c.login)
	r := thread.ContextReport{Thread: id, Model: c.model, Window: c.window, Rereads: c.rereads}
	r.Mode, r.Why = c.mode(settings)
	r.Summaries = c.summaries()
	if p := c.offer; p != nil && p.gain.Frees > 0 {
		r.Offer = &thread.SummaryOffer{
			Turns: p.turns, Replaced: p.sum.Replaced, Frees: p.gain.Frees, CostUSD: p.usd, Priced: p.priced,
		}
	}
	if c.scan == nil {
		c.settings = settings
		return c.reportBefore(r), nil
	}
	r.Tokens, r.Masked = c.context(c.last.estimate), c.last.masked
	r.Margin = c.margin(m.cfg.Calibration, c.model)
	r.Forecast, r.Reason = c.next.Batch.Forecast(m.cfg.inputPrice(c.model)), string(c.next.Reason)
	if r.Reason == r.Forecast {
		r.Reason = ""
	}
	r.Parts = c.picture.parts()
	fit(r.Parts, r.Tokens)
	why := c.settings.Unmasked(c.judged)
	for _, e := range c.picture.entries {
		res := c.shown(e)
		res.Why = c.yet(why, res)
		r.Results = append(r.Results, res)
	}
	return r, nil
}

// reportBefore completes the report on a thread that has sent no request since the server started: with what filled the
// context before, if that is known.
func (c *conversation) reportBefore(r thread.ContextReport) thread.ContextReport {
	if c.before == nil {
		r.Reason = "no request since the server started"
		return r
	}
	r.Model, r.Window, r.Tokens, r.Masked = c.before.Model, c.before.Window, c.before.Tokens, c.before.Masked
	r.Reason = "from before the restart, " + c.before.At.Local().Format("Jan 2 15:04") + ": the next request tells how it is now"
	r.Parts = c.picture.parts()
	fit(r.Parts, r.Tokens)
	for _, e := range c.picture.entries {
		r.Results = append(r.Results, c.shown(e))
	}
	return r
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
