package masking

import (
	"net/http"

	"orchestrator/contextmgr/gateway"
	"orchestrator/contextmgr/wire"
)

// rewrite returns what is sent.
func (r *request) rewrite() gateway.Rewritten {
	c, scan := r.conversation, r.scan
	main := scan.Request.Purpose == wire.PurposeMain
	if main {
		c.begin(scan.Request, len(scan.Items))
	}
	m := r.measure()
	if main {
		r.once(&m)
		c.rereads.look(m)
		r.decide(&m)
		r.stands(&m)
		c.scan, c.latest.measured, c.before = scan.Memory(), m, nil
		if why := r.full(); why != "" {
			r.refuse(m, why)
			return gateway.Rewritten{Refusal: why, Status: http.StatusBadRequest} // agents show its text and do not ask again
		}
	}
	out := gateway.Rewritten{Request: &scan.Request, Ended: r.ended(m, main)}
	if r.masks() && !r.compacts(m) {
		if out.Body = r.body(m); main {
			out.Masked = m.masked
		}
	}
	out.Size = m.estimate + int64(float64(m.estimate)*aloneMargin)
	if main {
		out.Context, out.Margin = c.count.context(m.estimate), c.margin(scan.Request.Model)
		out.Size = out.Context + int64(float64(out.Context)*out.Margin)
		c.cache.sent(scan.Request, r.cfg.Now())
	}
	return out
}

// compacts reports whether the agent itself summarises its conversation, and all of it fits: then it gets all.
func (r *request) compacts(m measurement) bool {
	if r.scan.Request.Purpose != wire.PurposeCompaction {
		return false
	}
	window := r.window()
	return window > 0 && (r.conversation.count.context(m.estimate)+m.masked)*100 < window*compactShare
}

// compactShare is the share of the window in percent that a request for a summary may have, so that there is room for
// the summary.
const compactShare = 90

// stands counts what a summary costs that was not in the request before: what follows it is written to the cache again.
func (r *request) stands(m *measurement) {
	c := r.conversation
	if !c.summaries.Stand(m.place) || c.scan == nil || c.cache.lost(r.scan.Request) || c.cache.expired(r.cfg.Now()) {
		return
	}
	p := r.prices()
	m.cost = max(m.cost, max(0, p.Write-p.Read)*float64(max(0, m.estimate-r.before(m.place.Start))))
}
