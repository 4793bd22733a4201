package summaries

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"orchestrator/contextmgr/masks"
	"orchestrator/contextmgr/models"
	"orchestrator/contextmgr/policy"
	"orchestrator/contextmgr/summary"
	"orchestrator/contextmgr/wire"
	"orchestrator/thread"
)

const (
	keptShare   = 20    // of the window in percent: the newest turns that are not replaced
	mostSummary = 4_000 // tokens
)

// errNothing means that nothing can be summarised.
var errNothing = thread.Kindf(thread.ErrRefused, "there are no older turns to summarise")

// plan is a summary that can be written.
type plan struct {
	of       Sent          // the last request of the conversation
	sum      masks.Summary // without its text, and with the size that it is expected to have
	from, to int           // the items that it replaces, to excluded
	turns    int
	gain     policy.Batch
	usd      float64 // what having the model write it is expected to cost; 0 if that is not known
	priced   bool
}

// newPlan plans a summary of the older turns of a conversation that has these.
func newPlan(s Sent, all []masks.Summary) (plan, error) {
	its := items{s.Scan, s.Scanner}
	p := plan{of: s, from: its.answered()}
	if p.from >= 0 {
		p.to = s.cut(p.from)
	}
	if p.to <= max(p.from, s.Place.To) {
		return p, errNothing
	}
	if its.dropped(all, p.from) {
		return p, fmt.Errorf("a summary of them was dropped: %w", errNothing)
	}
	p.sum = masks.Summary{First: its.hash(p.from), Last: its.hash(p.to - 1), Items: p.to - p.from, At: s.At}
	p.sum.ID = name(p.sum)
	if slices.ContainsFunc(all, func(sum masks.Summary) bool { return sum.ID == p.sum.ID && sum.Text != "" }) {
		return p, fmt.Errorf("they already have a summary: %w", errNothing)
	}
	turns := s.Scanner.Turns(s.Scan.Request.Items)
	for p.turns < len(turns) && turns[p.turns] < p.to {
		p.turns++
	}
	p.sum.Replaced = s.size(p.from, p.to)
	p.sum.Tokens = min(mostSummary, p.sum.Replaced/4) + s.Settings.StubTokens
	if p.gain = s.gain(p.sum, p.from); p.gain.Frees <= 0 {
		return p, fmt.Errorf("a summary of them would be no shorter: %w", errNothing)
	}
	p.usd, p.priced = s.cost(p.sum.Tokens)
	return p, nil
}

// pays reports whether a summary is expected to pay for itself, with what having it written costs.
func (p plan) pays(price float64) bool {
	b := p.gain
	if price > 0 {
		b.Cost += p.usd / price
	}
	return b.Frees > 0 && b.Cost <= b.Saves*b.Expected
}

// cost returns what it costs to have the model write a summary.
func (s Sent) cost(tokens int64) (usd float64, priced bool) {
	const asked = 500 // tokens of what the model is asked for
	t := models.Tokens{Input: asked, CacheRead: s.Context, Output: tokens}
	if s.Cold {
		t.CacheRead, t.CacheWrite = 0, t.CacheRead
	}
	return s.Cost(t)
}

// cut returns where the newest turns begin that are kept: as many as have room, and one at least. It returns -1 if
// there is no place to cut.
func (s Sent) cut(from int) int {
	best, room := -1, s.Window*keptShare/100
	for _, at := range slices.Backward(s.Scanner.Turns(s.Scan.Request.Items)) {
		kept := s.Tokens(s.Call.Body[s.Scan.Items[at].Start:s.Scan.List.End])
		if at <= from || best >= 0 && kept > room {
			break
		}
		best = at
	}
	return best
}

// size returns the tokens of items as they are sent.
func (s Sent) size(from, to int) (tokens int64) {
	at := s.Scan.Items[from].Start
	skip := func(span wire.Span, instead int64) {
		tokens += s.Tokens(s.Call.Body[at:span.Start]) + instead
		at = span.End
	}
	if p := s.Place; p.Stands() && p.From == from && p.To <= to {
		skip(p.Span, p.Summary.Tokens)
	}
	for i, c := range s.Scan.Contents {
		if c.Item >= from && c.Item < to && c.Start >= at {
			skip(c.Span, s.Sizes[i])
		}
	}
	return tokens + s.Tokens(s.Call.Body[at:s.Scan.Items[to-1].End])
}

// gain returns what a summary means, as for a batch of masks.
func (s Sent) gain(sum masks.Summary, from int) policy.Batch {
	b := policy.Batch{Frees: sum.Replaced - sum.Tokens, Expected: s.Settings.Remaining}
	if h := s.Settings.HalfLife; h > 0 {
		b.Expected *= h / (h + float64(s.Number))
	}
	b.Rewrites = max(0, s.Estimate-s.Before(s.Scan.Items[from].Start)-sum.Replaced+sum.Tokens)
	b.Cost, b.Saves = max(0, s.Prices.Write-s.Prices.Read)*float64(b.Rewrites), s.Prices.Read*float64(b.Frees)
	return b
}

// draft returns what the author of a summary gets.
func (p plan) draft(also string) summary.Draft {
	s, sent := p.of, p.of.Body()
	if sent == nil {
		sent = s.Call.Body
	}
	at := s.Scan.List.End + len(sent) - len(s.Call.Body) // everything that is spliced stands before
	d := summary.Draft{
		Thread: s.Thread, Model: s.Scan.Request.Model, Tokens: int(p.sum.Tokens), Also: also,
		Request: func(prompt string) []byte {
			item := s.Scanner.PersonItem(prompt)
			out := make([]byte, 0, len(sent)+len(item)+1)
			out = append(append(out, sent[:at]...), ',')
			return append(append(out, item...), sent[at:]...)
		},
	}
	for _, e := range s.Scanner.Entries(s.Scan.Request.Items[p.to : p.to+1]) {
		if e.Kind == thread.EntryPrompt && d.Until == "" {
			d.Until = e.Text
		}
	}
	return d
}

// name returns the id of a summary: that of what it replaces.
func name(sum masks.Summary) string {
	h := sha256.New()
	h.Write(sum.First[:])
	h.Write(sum.Last[:])
	fmt.Fprint(h, sum.Items)
	return hex.EncodeToString(h.Sum(nil)[:8])
}
