package masking

import (
	"bytes"
	"path/filepath"
	"slices"

	"orchestrator/contextmgr/gateway"
	"orchestrator/contextmgr/masks"
	"orchestrator/contextmgr/models"
	"orchestrator/contextmgr/policy"
	"orchestrator/contextmgr/summaries"
	"orchestrator/contextmgr/wire"
)

// request is a request while it is rewritten. The conversation's lock is held.
type request struct {
	cfg          *Config
	writer       *summaries.Writer
	conversation *conversation
	outgoing     gateway.Outgoing
	scanner      wire.Scanner
	scan         *wire.Scan
	settings     policy.Settings
	meter        meter
}

// newRequest returns a request of a conversation that has been read.
func newRequest(w *summaries.Writer, c *conversation, o gateway.Outgoing, scanner wire.Scanner, scan *wire.Scan) *request {
	return &request{
		cfg: c.cfg, writer: w, conversation: c, outgoing: o, scanner: scanner, scan: scan, settings: c.settings,
		meter: meter{c.cfg.Counts, c.cfg.Calibration, scan.Request.Model, c.cfg.Models.Encoding(scan.Request.Model)},
	}
}

// masks reports whether masks are applied.
func (r *request) masks() bool {
	return r.settings.Mode == policy.ModeSafe || r.settings.Mode == policy.ModeLean
}

func (r *request) window() int64 {
	q := r.scan.Request
	return r.outgoing.Window(q.Model, q.LongWindow, r.conversation.count.Input)
}

// prices returns the prices of the cache relative to input that goes past it.
func (r *request) prices() policy.Prices {
	const n = 1000
	of := func(t models.Tokens) float64 {
		usd, _ := r.cfg.Models.Cost(r.scan.Request.Model, t)
		return usd
	}
	input := of(models.Tokens{Input: n})
	if input <= 0 {
		return policy.Prices{Read: 0.1, Write: 1.25} // those of most providers
	}
	write := of(models.Tokens{CacheWrite: n})
	if r.conversation.cache.ttl == longLife {
		write = of(models.Tokens{CacheWrite: n, CacheWriteHr: n})
	}
	return policy.Prices{Read: of(models.Tokens{CacheRead: n}) / input, Write: write / input}
}

// list returns where the list of items is, the whole body if it has none.
func (r *request) list() wire.Span {
	if r.scan.List == (wire.Span{}) {
		return wire.Span{End: len(r.outgoing.Call.Body)}
	}
	return r.scan.List
}

// ahead estimates what providers cache before the items: tools and the system prompt, wherever in the body they are.
// Claude Code, Codex and OpenCode write them behind the items.
func (r *request) ahead() int64 {
	body, list := r.outgoing.Call.Body, r.list()
	return r.meter.rest(body[:list.Start]) + r.meter.rest(body[list.End:])
}

// before estimates what providers cache before an item that begins at a place in the body.
func (r *request) before(start int) int64 {
	return r.ahead() + r.meter.rest(r.outgoing.Call.Body[r.list().Start:start])
}

// measure measures a request with the masks that are in force.
func (r *request) measure() measurement {
	scan, body := r.scan, r.outgoing.Call.Body
	m := measurement{number: numbers(scan)}
	if r.masks() {
		m.place = summaries.Find(scan, r.scanner, r.conversation.masks.Summaries())
	}
	m.results = make([]policy.Result, len(scan.Contents))
	m.uses = make([]policy.Use, len(scan.Contents))
	m.sizes = make([]int64, len(scan.Contents))
	seen := make(map[key]int)
	list := r.list()
	at, estimate := list.Start, r.ahead()
	summarised := func(before int) { // counts the summary that stands before a place
		if p := m.place; p.Stands() && at <= p.Start && p.Start < before {
			estimate += r.meter.rest(body[at:p.Start]) + p.Summary.Tokens
			m.masked += max(0, p.Summary.Replaced-p.Summary.Tokens)
			at = p.End
		}
	}
	for i, content := range scan.Contents {
		summarised(content.Start)
		m.results[i], m.uses[i] = r.result(i, content, m.number.of[content.Item], seen)
		res := &m.results[i]
		if m.place.Has(content.Item) {
			res.Before, res.Masked = estimate, true
			continue
		}
		estimate += r.meter.rest(body[at:content.Start])
		at = content.End
		res.Before, m.sizes[i] = estimate, res.Tokens
		if res.Masked {
			m.sizes[i] = min(res.Tokens, r.settings.StubTokens)
			m.masked += res.Tokens - m.sizes[i]
		}
		estimate += m.sizes[i]
	}
	summarised(list.End)
	m.estimate = estimate + r.meter.rest(body[at:list.End])
	m.repeats = r.repeats(&m)
	for _, rep := range m.repeats {
		m.leaveOut(rep, scan.Contents)
	}
	return m
}

// content returns what never changes about a content, the nth of the request.
func (r *request) content(nth int, c wire.Content, seen map[key]int) content {
	k := keyOf(c, seen)
	return r.conversation.contents.get(nth, len(r.scan.Contents), k, func() content {
		return content{k.id(), policy.Describe(c.Tool, c.Input), r.retrieves(c)}
	})
}

// result measures one content.
func (r *request) result(nth int, c wire.Content, request int, seen map[key]int) (policy.Result, policy.Use) {
	known := r.content(nth, c, seen)
	use := known.use
	res := policy.Result{
		ID: known.id, Tool: c.Tool, Kind: use.Kind, Request: request, Error: c.Error, Reads: use.Reads,
		Writes: use.Writes, Tokens: r.meter.content(c),
	}
	switch {
	case c.Form == wire.FormInput && use.Kind == policy.KindOutput:
		res.Kind = policy.KindInput
		res.Reads = ""
	case c.Tool == "": // nobody asked for it
		res.Kind = policy.KindServer
	case c.Other > 0:
		res.Kind = policy.KindImage
		res.Tokens += imageTokens * int64(c.Other)
	case known.retrieval:
		res.Kind = policy.KindRetrieval
	}
	_, masked := r.conversation.masks.Mask(res.ID)
	pinned := r.conversation.masks.Pinned(res.ID)
	res.Masked = masked && !pinned
	switch {
	case r.cfg.Keep != nil && r.cfg.Keep(c.Tool):
		res.Kind = policy.KindNamed
	case r.conversation.longer[res.ID] || pinned:
		res.Kind = policy.KindKept
	}
	return res, use
}

// retrieves reports whether a content is what was masked and read again.
func (r *request) retrieves(c wire.Content) bool {
	all := filepath.Dir(filepath.Dir(r.conversation.masks.Dir())) // also those of the threads that it was forked from
	return bytes.Contains(c.Input, []byte(all+"/")) || bytes.Contains(c.Input, []byte("retrieve max:"))
}

// picture describes a request for people. It is made beside the stream: tools are read again for it.
func (r *request) picture(m measurement) picture {
	p := picture{Tools: map[string]int64{}, ToolsN: map[string]int{}, Items: len(r.scan.Items)}
	contents := int64(0)
	for i, c := range r.scan.Contents {
		p.Entries = append(p.Entries, entry{Result: m.results[i], Size: m.sizes[i], Error: c.Error, Images: c.Other > 0})
		contents += m.sizes[i]
	}
	for _, rep := range m.repeats {
		if rep.known {
			p.Entries = append(p.Entries, rep.entry(m.number.of[rep.item]))
			contents += rep.size
		}
	}
	p.System = r.meter.text(len(r.scan.Request.System))
	if last := r.conversation.latest.picture; last.Tools != nil && slices.Equal(last.Offered, r.scan.Request.Tools) {
		p.Tools, p.ToolsN, p.Offered = last.Tools, last.ToolsN, last.Offered // replaced, never changed
	} else {
		p.Offered = r.scan.Request.Tools
		for _, tool := range wire.Tools(wire.ToolList(r.outgoing.Call.Body)) {
			p.Tools[tool.Server()] += r.meter.text(len(tool.Raw))
			p.ToolsN[tool.Server()]++
		}
	}
	var tools int64
	for _, n := range p.Tools {
		tools += n
	}
	p.Messages = max(0, m.estimate-contents-p.System-tools)
	return p
}

// repeats returns the files of instructions that a request has a second time. Each has an id of its own that says which
// copy it is of, so that the same bytes are sent for it as long as what is in front of it is the same. The copy in front
// is the only file with its path there, is sent whole, and is in no summary.
func (r *request) repeats(m *measurement) []repeat {
	c, body := r.conversation, r.outgoing.Call.Body
	scanner, ok := r.scanner.(wire.Instructor)
	if !ok || !r.masks() || r.scan.List == (wire.Span{}) {
		return nil
	}
	var whole []wire.Instructions
	var all []repeat
	for _, f := range scanner.Instructions(r.scan.Request.Items) {
		if m.place.Has(f.Item) {
			continue
		}
		start := r.scan.Items[f.Item].Start
		at := wire.Span{Start: start + f.Start, End: start + f.End}
		i := -1
		if f.Again {
			i = copyOf(f, whole, func(path string) int {
				return bytes.Count(body[r.list().Start:at.Start], scanner.Heading(path))
			})
		}
		if i < 0 {
			whole = append(whole, f)
			continue
		}
		rep := repeat{Span: at, item: f.Item, file: f, first: whole[i].Path, id: idOf(f, whole[i].Path), tokens: r.meter.text(at.End - at.Start)}
		rep.size = rep.tokens
		if mask, ok := c.masks.Mask(rep.id); ok {
			r.refer(&rep, mask)
		}
		all = append(all, rep)
	}
	return all
}

// refer has a reference sent in place of a file, unless the person wants the file.
func (r *request) refer(rep *repeat, mask masks.Mask) {
	rep.known = true
	if r.conversation.masks.Pinned(rep.id) {
		return
	}
	quoted := wire.Quote(mask.Stub)
	rep.with = quoted[1 : len(quoted)-1]
	rep.size = r.meter.text(len(rep.with))
}

// body returns the body with all masks and the summary, nil if there are none.
func (r *request) body(m measurement) []byte {
	if !r.masks() {
		return nil
	}
	c := r.conversation
	var with []wire.Replacement
	for i, content := range r.scan.Contents {
		if !m.results[i].Masked || m.place.Has(content.Item) {
			continue
		}
		id := m.results[i].ID
		stub, ok := c.stubs[id]
		if !ok {
			mask, _ := c.masks.Mask(id)
			stub = r.scanner.Replace(content.Of(r.outgoing.Call.Body), content.Form, mask.Stub)
			c.stubs[id] = stub
		}
		if stub != nil {
			with = append(with, wire.Replacement{Span: content.Span, With: stub})
		}
	}
	if p := m.place; p.Stands() {
		with = append(with, wire.Replacement{Span: p.Span, With: r.scanner.PersonItem(p.Summary.Text)})
	}
	for _, rep := range m.repeats {
		if rep.with != nil {
			with = append(with, wire.Replacement{Span: rep.Span, With: rep.with})
		}
	}
	if len(with) == 0 {
		return nil
	}
	slices.SortFunc(with, func(a, b wire.Replacement) int { return a.Start - b.Start })
	return wire.Splice(r.outgoing.Call.Body, with)
}

// Sent implements summaries.Conversation.
func (c *conversation) Sent(o gateway.Outgoing, scanner wire.Scanner, scan *wire.Scan) summaries.Sent {
	r := newRequest(nil, c, o, scanner, scan)
	r.settings = c.inForce()
	return r.sent(r.measure())
}

// sent returns a request as summaries are made of it.
func (r *request) sent(m measurement) summaries.Sent {
	c, now := r.conversation, r.cfg.Now()
	return summaries.Sent{
		Outgoing: r.outgoing, Scanner: r.scanner, Scan: r.scan, At: now, Number: m.number.last, Settings: r.settings,
		Place: m.place, Sizes: m.sizes, Estimate: m.estimate, Context: c.count.context(m.estimate), Window: c.window.tokens,
		Cold: c.cache.expired(now), Prices: r.prices(), InputUSD: r.cfg.inputPrice(c.cache.model),
		Cost:   func(t models.Tokens) (float64, bool) { return r.cfg.Models.Cost(r.scan.Request.Model, t) },
		Tokens: r.meter.rest, Before: r.before, Body: func() []byte { return r.body(m) },
	}
}
