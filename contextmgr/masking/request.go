package masking

import (
	"bytes"
	"path/filepath"
	"slices"

	"orchestrator/contextmgr/gateway"
	"orchestrator/contextmgr/models"
	"orchestrator/contextmgr/policy"
	"orchestrator/contextmgr/wire"
	"orchestrator/thread"
)

// request is a request while it is rewritten. The conversation's lock is held.
type request struct {
	cfg          Config
	between      between
	conversation *conversation
	outgoing     gateway.Outgoing
	scanner      wire.Scanner
	settings     policy.Settings
	scan         *wire.Scan
	encoding     string // by which the model's tokens are counted
}

// between does what is to be done between turns.
type between interface {
	// keep keeps a request that ended a turn.
	keep(o gateway.Outgoing, scanner wire.Scanner)
	// start has a summary written.
	start(c *conversation, by thread.SummaryAuthor)
}

// masks reports whether masks are applied.
func (r *request) masks() bool {
	return r.settings.Mode == policy.ModeSafe || r.settings.Mode == policy.ModeLean
}

func (r *request) window() int64 {
	q := r.scan.Request
	return r.outgoing.Window(q.Model, q.LongWindow, r.conversation.counted.Input)
}

// tell tells people something once.
func (r *request) tell(what, text string) {
	if !r.conversation.told[what] {
		r.conversation.told[what] = true
		r.outgoing.Notice(thread.LevelWarn, text)
	}
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
	if r.conversation.ttl == longLife {
		write = of(models.Tokens{CacheWrite: n, CacheWriteHr: n})
	}
	return policy.Prices{Read: of(models.Tokens{CacheRead: n}) / input, Write: write / input}
}

// imageTokens is about what a picture counts.
const imageTokens = 1600

// measure measures a request with the masks that are in force.
func (r *request) measure() measured {
	scan, body := r.scan, r.outgoing.Call.Body
	number := numbers(scan)
	m := measured{number: number, requests: number.last, turn: number.turn}
	if r.masks() {
		m.standing = items{scan, r.scanner}.standing(r.conversation.set.Summaries())
	}
	m.results = make([]policy.Result, len(scan.Contents))
	m.uses = make([]policy.Use, len(scan.Contents))
	m.sizes = make([]int64, len(scan.Contents))
	seen := make(map[key]int)
	list := r.list()
	at, estimate := list.Start, r.ahead()
	summarised := func(before int) { // counts the summary that stands before a place
		if s := m.standing; s.to > s.from && at <= s.Start && s.Start < before {
			estimate += r.tokens(body[at:s.Start]) + s.sum.Tokens
			m.masked += max(0, s.sum.Replaced-s.sum.Tokens)
			at = s.End
		}
	}
	for i, content := range scan.Contents {
		summarised(content.Start)
		if m.standing.has(content.Item) {
			m.results[i], m.uses[i] = r.result(i, content, number.of[content.Item], seen)
			m.results[i].Before, m.results[i].Masked = estimate, true
			continue
		}
		estimate += r.tokens(body[at:content.Start])
		at = content.End
		res, use := r.result(i, content, number.of[content.Item], seen)
		res.Before = estimate
		m.results[i], m.uses[i], m.sizes[i] = res, use, res.Tokens
		if res.Masked {
			m.sizes[i] = min(res.Tokens, r.settings.StubTokens)
			m.masked += res.Tokens - m.sizes[i]
		}
		estimate += m.sizes[i]
	}
	summarised(list.End)
	m.estimate = estimate + r.tokens(body[at:list.End])
	return m
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
	return r.tokens(body[:list.Start]) + r.tokens(body[list.End:])
}

// before estimates what providers cache before an item that begins at a place in the body.
func (r *request) before(start int) int64 {
	return r.ahead() + r.tokens(r.outgoing.Call.Body[r.list().Start:start])
}

// content returns what never changes about a content, the nth of the request. It is kept for the next request, in which
// it mostly is at the same place.
func (r *request) content(nth int, c wire.Content, seen map[key]int) content {
	k := keyOf(c, seen)
	conv := r.conversation
	if nth < len(conv.order) && conv.order[nth].key == k {
		return conv.order[nth].content
	}
	conv.order = conv.order[:min(nth, len(conv.order))]
	found, ok := conv.contents[k]
	if !ok {
		if conv.contents == nil || len(conv.contents) > 4*len(r.scan.Contents)+1000 { // most are of what is not sent any more
			conv.contents = map[key]content{}
		}
		found = content{k.id(), policy.Describe(c.Tool, c.Input), r.retrieves(c)}
		conv.contents[k] = found
	}
	if nth == len(conv.order) {
		conv.order = append(conv.order, described{k, found})
	}
	return found
}

// result measures one content.
func (r *request) result(nth int, c wire.Content, request int, seen map[key]int) (policy.Result, policy.Use) {
	known := r.content(nth, c, seen)
	use := known.use
	res := policy.Result{
		ID: known.id, Tool: c.Tool, Kind: use.Kind, Request: request, Error: c.Error, Reads: use.Reads,
		Writes: use.Writes, Tokens: r.count(c),
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
	if _, masked := r.conversation.set.Mask(res.ID); masked && !r.conversation.set.Pinned(res.ID) {
		res.Masked = true
	}
	switch {
	case r.cfg.Keep != nil && r.cfg.Keep(c.Tool):
		res.Kind = policy.KindNamed
	case r.conversation.whole[res.ID] || r.conversation.set.Pinned(res.ID):
		res.Kind = policy.KindKept
	}
	return res, use
}

// retrieves reports whether a content is what was masked and read again.
func (r *request) retrieves(c wire.Content) bool {
	all := filepath.Dir(filepath.Dir(r.conversation.set.Dir())) // also those of the threads that it was forked from
	return bytes.Contains(c.Input, []byte(all+"/")) || bytes.Contains(c.Input, []byte("retrieve max:"))
}

// read sets what was read of the request.
func (r *request) read(scan *wire.Scan) {
	r.scan, r.encoding = scan, r.cfg.Models.Encoding(scan.Request.Model)
}

// count returns the tokens of a content as the provider counts them.
func (r *request) count(c wire.Content) int64 {
	n, ok := r.cfg.Counts.Known(r.encoding, c.Sum)
	if !ok {
		size := c.End - c.Start
		if c.Other > 0 {
			size = min(size, mostText)
		}
		n = r.cfg.Counts.Estimate(size)
	}
	factor, _, _ := r.cfg.Calibration.Factor(r.scan.Request.Model, c.Tool)
	return int64(float64(n) * factor)
}

// mostText is the size beyond which a content with pictures is no text.
const mostText = 16 << 10

// tokens estimates the tokens of what is no content: messages, the system prompt, tools.
func (r *request) tokens(raw []byte) int64 {
	size, pictures := len(raw), int64(0)
	if size > mostPlain {
		bytesOf, n := pictured(raw)
		size, pictures = size-bytesOf, int64(n)
	}
	factor, _, _ := r.cfg.Calibration.Factor(r.scan.Request.Model, "")
	return int64(float64(r.cfg.Counts.Estimate(size))*factor) + imageTokens*pictures
}

// picture describes a request for people. It is made beside the stream: tools are read again for it.
func (r *request) picture(m measured) picture {
	p := picture{tools: map[string]int64{}, toolsN: map[string]int{}, items: len(r.scan.Items)}
	factor, _, _ := r.cfg.Calibration.Factor(r.scan.Request.Model, "")
	of := func(bytes int) int64 { return int64(float64(r.cfg.Counts.Estimate(bytes)) * factor) }
	contents := int64(0)
	for i, c := range r.scan.Contents {
		p.entries = append(p.entries, entry{result: m.results[i], size: m.sizes[i], error: c.Error, images: c.Other > 0})
		contents += m.sizes[i]
	}
	p.system = of(len(r.scan.Request.System))
	if last := r.conversation.picture; last.tools != nil && slices.Equal(last.offered, r.scan.Request.Tools) {
		p.tools, p.toolsN, p.offered = last.tools, last.toolsN, last.offered // replaced, never changed
	} else {
		p.offered = r.scan.Request.Tools
		for _, tool := range toolsOf(r.outgoing.Call.Body) {
			p.tools[tool.server()] += of(len(tool.raw))
			p.toolsN[tool.server()]++
		}
	}
	var tools int64
	for _, n := range p.tools {
		tools += n
	}
	p.messages = max(0, m.estimate-contents-p.system-tools)
	return p
}
