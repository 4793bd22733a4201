package masking

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
var errNothing = fmt.Errorf("there are no older turns to summarise: %w", thread.ErrRefused)

// plan plans a summary of the older turns.
func (r *request) plan(m measurement) (planned, error) {
	c := r.conversation
	its := items{r.scan, r.scanner}
	p := planned{from: its.answered()}
	p.to = r.cut(p.from)
	if p.from < 0 || p.to <= max(p.from, m.standing.to) {
		return p, errNothing
	}
	if its.dropped(c.masks.Summaries(), p.from) {
		return p, fmt.Errorf("a summary of them was dropped: %w", errNothing)
	}
	p.sum = masks.Summary{First: its.hash(p.from), Last: its.hash(p.to - 1), Items: p.to - p.from, At: r.cfg.Now()}
	p.sum.ID = name(p.sum)
	if slices.ContainsFunc(c.masks.Summaries(), func(s masks.Summary) bool { return s.ID == p.sum.ID && s.Text != "" }) {
		return p, fmt.Errorf("they have a summary: %w", errNothing)
	}
	for _, at := range r.scanner.Turns(r.scan.Request.Items) {
		if at < p.to {
			p.turns++
		}
	}
	p.sum.Replaced = r.sent(m, p.from, p.to)
	p.sum.Tokens = min(mostSummary, p.sum.Replaced/4) + r.settings.StubTokens
	if p.gain = r.gain(m, p.sum, p.from); p.gain.Frees <= 0 {
		return p, fmt.Errorf("a summary of them would be no shorter: %w", errNothing)
	}
	p.usd, p.priced = r.cost(m, p.sum.Tokens)
	return p, nil
}

// cost returns what it costs to have the model write a summary.
func (r *request) cost(m measurement, tokens int64) (usd float64, priced bool) {
	c := r.conversation
	const asked = 500 // tokens of what the model is asked for
	t := models.Tokens{Input: asked, CacheRead: c.count.context(m.estimate), Output: tokens}
	if c.cache.expired(r.cfg.Now()) {
		t.CacheRead, t.CacheWrite = 0, t.CacheRead
	}
	return r.cfg.Models.Cost(r.scan.Request.Model, t)
}

// cut returns where the newest turns begin that are kept: as many as have room, and one at least. It returns -1 if
// there is no place to cut.
func (r *request) cut(from int) int {
	best := -1
	if from < 0 {
		return best
	}
	room := r.conversation.window.tokens * keptShare / 100
	body := r.outgoing.Call.Body
	for _, at := range slices.Backward(r.scanner.Turns(r.scan.Request.Items)) {
		kept := r.meter.rest(body[r.scan.Items[at].Start:r.scan.List.End])
		if at <= from || best >= 0 && kept > room {
			break
		}
		best = at
	}
	return best
}

// sent returns the tokens of items as they are sent.
func (r *request) sent(m measurement, from, to int) (tokens int64) {
	at := r.scan.Items[from].Start
	skip := func(span wire.Span, instead int64) {
		tokens += r.meter.rest(r.outgoing.Call.Body[at:span.Start]) + instead
		at = span.End
	}
	if s := m.standing; s.to > s.from && s.from == from && s.to <= to {
		skip(s.Span, s.sum.Tokens)
	}
	for i, c := range r.scan.Contents {
		if c.Item >= from && c.Item < to && c.Start >= at {
			skip(c.Span, m.sizes[i])
		}
	}
	return tokens + r.meter.rest(r.outgoing.Call.Body[at:r.scan.Items[to-1].End])
}

// draft returns what the author of a summary gets.
func (r *request) draft(m measurement, p planned, also string) summary.Draft {
	body := r.outgoing.Call.Body
	sent := body
	if r.masks() {
		if spliced := r.splice(m); spliced != nil {
			sent = spliced
		}
	}
	at := r.scan.List.End + len(sent) - len(body) // everything that is spliced stands before
	d := summary.Draft{
		Thread: r.conversation.id, Model: r.scan.Request.Model, Tokens: int(p.sum.Tokens), Also: also,
		Request: func(prompt string) []byte {
			item := r.scanner.PersonItem(prompt)
			out := make([]byte, 0, len(sent)+len(item)+1)
			out = append(append(out, sent[:at]...), ',')
			return append(append(out, item...), sent[at:]...)
		},
	}
	for _, e := range r.scanner.Entries(r.scan.Request.Items[p.to : p.to+1]) {
		if e.Kind == thread.EntryPrompt && d.Until == "" {
			d.Until = e.Text
		}
	}
	return d
}

// store stores a summary, with all that it replaces.
func (r *request) store(p planned, replaced string, w summary.Written) (masks.Summary, error) {
	c, sum := r.conversation, p.sum
	sum.Source = w.Source
	note := summary.Note{Source: w.Source, Replaced: sum.Replaced, Text: w.Text}
	sum.Tokens = r.meter.rest([]byte(summary.Text(note))) + r.settings.StubTokens
	whole := masks.New{
		Mask:    masks.Mask{ID: wholeOf(sum.ID), Tokens: sum.Replaced, At: sum.At, Reason: "summary", Request: c.count.request},
		Content: []byte(replaced),
		Text: func(file string, _ thread.Token) string {
			note.File = file
			return summary.Text(note)
		},
	}
	if err := c.masks.Add([]masks.New{whole}); err != nil {
		return sum, err
	}
	stored, ok := c.masks.Mask(whole.ID)
	if !ok {
		return sum, fmt.Errorf("what it replaces is not stored: %w", thread.ErrNotFound)
	}
	note.File = stored.File
	sum.Text = summary.Text(note)
	return sum, c.masks.AddSummary(sum)
}

// gain returns what a summary means, as for a batch of masks.
func (r *request) gain(m measurement, sum masks.Summary, from int) policy.Batch {
	b := policy.Batch{Frees: sum.Replaced - sum.Tokens, Expected: r.settings.Remaining}
	if h := r.settings.HalfLife; h > 0 {
		b.Expected *= h / (h + float64(m.number.last))
	}
	before := r.before(r.scan.Items[from].Start)
	b.Rewrites = max(0, m.estimate-before-sum.Replaced+sum.Tokens)
	p := r.prices()
	b.Cost, b.Saves = max(0, p.Write-p.Read)*float64(b.Rewrites), p.Read*float64(b.Frees)
	if b.Saves > 0 {
		b.BreakEven = b.Cost / b.Saves
	}
	return b
}

// name returns the id of a summary: that of what it replaces.
func name(sum masks.Summary) string {
	h := sha256.New()
	h.Write(sum.First[:])
	h.Write(sum.Last[:])
	fmt.Fprint(h, sum.Items)
	const digits = 8
	return hex.EncodeToString(h.Sum(nil)[:digits])
}
