package masking

import (
	"orchestrator/contextmgr/gateway"
	"orchestrator/contextmgr/policy"
	"orchestrator/contextmgr/wire"
)

// rewrite returns what is sent.
func (r *request) rewrite() gateway.Rewritten {
	c := r.conversation
	if r.settings.Mode == policy.ModeOff {
		return gateway.Rewritten{}
	}
	scan, err := r.scanner.Scan(r.outgoing.Call, c.scan)
	if err != nil {
		r.tell("unreadable", "a request of this thread cannot be read and was sent as it came; nothing in it is masked")
		return gateway.Rewritten{}
	}
	r.read(scan)
	main := scan.Request.Purpose == wire.PurposeMain
	if main {
		c.begin(scan.Request)
		c.recall(scan.Request.Model, len(scan.Items))
	}
	m := r.measure()
	if main {
		r.reread(m)
		r.decide(&m)
		r.stands(&m)
		c.scan, c.last, c.before = scan.Memory(), m, nil
		if why := r.full(); why != "" {
			r.refuse(m, why)
			return gateway.Rewritten{Refusal: why, Status: refusedStatus}
		}
	}
	out := gateway.Rewritten{Request: &scan.Request, Ended: r.ended(m, main)}
	if r.masks() && !r.compacts(m) {
		if out.Body = r.splice(m); main {
			out.Masked = m.masked
		}
	}
	if main {
		out.Context = c.context(m.estimate)
		out.Margin = c.margin(r.cfg.Calibration, scan.Request.Model)
	}
	if main {
		c.asked, c.model, c.tools = r.cfg.Now(), scan.Request.Model, len(scan.Request.Tools)
	}
	return out
}

// compacts reports whether the agent itself summarises its conversation, and all of it fits: then it gets all.
func (r *request) compacts(m measured) bool {
	if r.scan.Request.Purpose != wire.PurposeCompaction {
		return false
	}
	window := r.window()
	return window > 0 && (r.conversation.context(m.estimate)+m.masked)*100 < window*compactShare
}

// compactShare is the share of the window in percent that a request for a summary may have, so that there is room for
// the summary.
const compactShare = 90

// stands counts what a summary costs that was not in the request before: what follows it is written to the cache again.
func (r *request) stands(m *measured) {
	c, s := r.conversation, m.standing
	text := ""
	if s.to > s.from {
		text = s.sum.Text
	}
	cold := c.changed(r.scan.Request) || r.cfg.Now().Sub(c.asked) > c.lifetime()
	if c.scan != nil && text != c.stood && text != "" && !cold {
		p := r.prices()
		before := r.before(s.Start)
		m.cost = max(m.cost, max(0, p.Write-p.Read)*float64(max(0, m.estimate-before)))
	}
	c.stood = text
}
