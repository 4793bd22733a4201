package masking

import (
	"slices"

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
	r.scan = scan
	main := scan.Request.Purpose == wire.PurposeMain
	if main {
		c.begin(scan.Request)
	}
	m := r.measure()
	if main {
		r.reread(m)
		r.decide(&m)
		r.stands(&m)
		c.scan, c.last = scan.Memory(), m
		if why := r.full(); why != "" {
			c.picture = r.picture(m)
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
		_, out.Margin, _ = r.cfg.Calibration.Factor(scan.Request.Model, "")
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

// splice returns the body with all masks, nil if there are none.
func (r *request) splice(m measured) []byte {
	c := r.conversation
	var with []wire.Replacement
	for i, content := range r.scan.Contents {
		if !m.results[i].Masked || m.standing.has(content.Item) {
			continue
		}
		id := m.results[i].ID
		stub, ok := c.stubs[id]
		if !ok {
			mask, _ := c.set.Mask(id)
			stub = r.scanner.Replace(content.Of(r.outgoing.Call.Body), content.Form, mask.Stub)
			if c.stubs == nil {
				c.stubs = map[policy.ID][]byte{}
			}
			c.stubs[id] = stub
		}
		if stub != nil {
			with = append(with, wire.Replacement{Span: content.Span, With: stub})
		}
	}
	if s := m.standing; s.to > s.from {
		with = append(with, wire.Replacement{Span: s.Span, With: r.scanner.PersonItem(s.sum.Text)})
		slices.SortFunc(with, func(a, b wire.Replacement) int { return a.Start - b.Start })
	}
	if len(with) == 0 {
		return nil
	}
	return wire.Splice(r.outgoing.Call.Body, with)
}
