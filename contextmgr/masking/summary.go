package masking

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"orchestrator/contextmgr/masks"
	"orchestrator/contextmgr/policy"
	"orchestrator/contextmgr/summary"
	"orchestrator/contextmgr/wire"
	"orchestrator/thread"
	"orchestrator/thread/pattern"
)

// standing is a summary that stands in place of items of a request; it has no items if there is none.
type standing struct {
	from, to int // items, to excluded
	wire.Span
	sum masks.Summary
}

// has reports whether an item is replaced.
func (s standing) has(item int) bool { return item >= s.from && item < s.to }

// standing returns the newest summary that stands for items of the request. One whose items are not there any more,
// because the agent went back or compacted them, or because a person did, does not stand.
func (r *request) standing() standing {
	from := r.answered()
	if from < 0 || !r.masks() {
		return standing{}
	}
	for _, sum := range slices.Backward(r.conversation.set.Summaries()) {
		// What follows must not be an answer or a result that belongs to what is replaced: it begins a turn.
		to := from + sum.Items
		if !sum.Dropped && r.matches(sum, from) && r.begins(to) {
			return standing{from, to, wire.Span{Start: r.scan.Items[from].Start, End: r.scan.Items[to-1].End}, sum}
		}
	}
	return standing{}
}

// matches reports whether the items that a summary stands for are there, and something behind them.
func (r *request) matches(sum masks.Summary, from int) bool {
	last := from + sum.Items - 1
	return sum.Items > 0 && last >= from && last < len(r.scan.Items)-1 &&
		r.hash(last) == sum.Last && r.hash(from) == sum.First
}

// dropped reports whether a person wants items sent that a summary stood for. Then no other is made of them.
func (r *request) dropped(from int) bool {
	return slices.ContainsFunc(r.conversation.set.Summaries(), func(sum masks.Summary) bool {
		return sum.Dropped && r.matches(sum, from)
	})
}

// answered returns the first item that the model wrote, -1 if there is none or items cannot be replaced.
func (r *request) answered() int {
	if r.scan.List == (wire.Span{}) || len(r.scan.Items) != len(r.scan.Request.Items) {
		return -1
	}
	for i := range r.scan.Items {
		if r.scan.ByModel(i) {
			return i
		}
	}
	return -1
}

// begins reports whether an item begins a turn.
func (r *request) begins(item int) bool {
	return len(r.scanner.Turns(r.scan.Request.Items[item:item+1])) > 0
}

// marks matches what agents move from item to item for the provider's cache. Quotes in texts are escaped.
var marks = pattern.Lazy(`"cache_control"\s*:\s*\{[^{}]*\}`)

// hash returns the hash of an item without its marks for the cache. Commas do not count: a mark has one before or
// behind it.
func (r *request) hash(item int) masks.Hash {
	raw := r.scan.Request.Items[item].Raw
	if strings.Contains(string(raw), `"cache_control"`) {
		raw = marks().ReplaceAll(raw, nil)
	}
	return sha256.Sum256([]byte(strings.ReplaceAll(string(raw), ",", "")))
}

const (
	keptShare   = 20    // of the window in percent: the newest turns that are not replaced
	mostSummary = 4_000 // tokens
)

// summarise stores a summary of the older turns, for the requests that follow, if the context asks for one and that is
// expected to pay. It is called at the end of a turn, with the conversation's lock held.
func (r *request) summarise(m measured) {
	defer func() {
		if p := recover(); p != nil {
			r.cfg.Log.Error("summarising panicked", "thread", string(r.conversation.id), "type", fmt.Sprintf("%T", p))
		}
	}()
	switch r.conversation.decision.Ask {
	case policy.AskSummarise, policy.AskWarn, policy.AskFork:
	default:
		return
	}
	from := r.answered()
	to := r.cut(from)
	if from < 0 || to <= max(from, m.standing.to) || r.dropped(from) {
		return
	}
	if err := r.extract(m, from, to); err != nil {
		r.cfg.Log.Error("store a summary", "thread", string(r.conversation.id), "err", err)
		r.tell("unsummarised", "the older turns of this thread are not replaced by a summary: "+err.Error())
	}
}

// cut returns where the newest turns begin that are kept: as many as have room, and one at least. It returns -1 if
// there is no place to cut.
func (r *request) cut(from int) int {
	best := -1
	if from < 0 {
		return best
	}
	room := r.conversation.window * keptShare / 100
	body := r.outgoing.Call.Body
	for _, at := range slices.Backward(r.scanner.Turns(r.scan.Request.Items)) {
		kept := r.tokens(body[r.scan.Items[at].Start:r.scan.List.End])
		if at <= from || best >= 0 && kept > room {
			break
		}
		best = at
	}
	return best
}

// sent returns the tokens of items as they are sent.
func (r *request) sent(m measured, from, to int) (tokens int64) {
	at := r.scan.Items[from].Start
	skip := func(span wire.Span, instead int64) {
		tokens += r.tokens(r.outgoing.Call.Body[at:span.Start]) + instead
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
	return tokens + r.tokens(r.outgoing.Call.Body[at:r.scan.Items[to-1].End])
}

// extract stores an extract of items, if it pays.
func (r *request) extract(m measured, from, to int) error {
	c := r.conversation
	sum := masks.Summary{First: r.hash(from), Last: r.hash(to - 1), Items: to - from, At: r.cfg.Now()}
	sum.ID = name(sum)
	if slices.ContainsFunc(c.set.Summaries(), func(s masks.Summary) bool { return s.ID == sum.ID }) {
		return nil // it is stored
	}
	entries := r.scanner.Entries(r.scan.Request.Items[from:to])
	count := func(s string) int { return int(r.tokens([]byte(s))) }
	text := summary.Extract(entries, mostSummary, count)
	if text == "" {
		return nil
	}
	sum.Replaced = r.sent(m, from, to)
	note := summary.Note{Replaced: sum.Replaced, Text: text}
	sum.Tokens = r.tokens([]byte(summary.Text(note))) + r.settings.StubTokens
	if b := r.gain(m, sum, from); !b.Pays() {
		return nil
	}
	whole := masks.New{
		Mask:    masks.Mask{ID: wholeOf(sum.ID), Tokens: sum.Replaced, At: sum.At, Reason: "summary", Request: m.requests},
		Content: []byte(summary.Readable(entries)),
		Text: func(file string, _ thread.Token) string {
			note.File = file
			return summary.Text(note)
		},
	}
	if err := c.set.Add([]masks.New{whole}); err != nil {
		return err
	}
	stored, ok := c.set.Mask(whole.ID)
	if !ok {
		return fmt.Errorf("what it replaces is not stored: %w", thread.ErrNotFound)
	}
	sum.Text = stored.Stub
	if err := c.set.AddSummary(sum); err != nil {
		return err
	}
	delete(c.told, "unsummarised")
	r.outgoing.Notice(thread.LevelInfo, fmt.Sprintf("%d older messages, %s tokens, are replaced by an extract of %s tokens",
		sum.Items, thread.Tokens(sum.Replaced), thread.Tokens(sum.Tokens)))
	return nil
}

// gain returns what a summary means, as for a batch of masks.
func (r *request) gain(m measured, sum masks.Summary, from int) policy.Batch {
	b := policy.Batch{Frees: sum.Replaced - sum.Tokens, Expected: r.settings.Remaining}
	if h := r.settings.HalfLife; h > 0 {
		b.Expected *= h / (h + float64(m.requests))
	}
	before := r.tokens(r.outgoing.Call.Body[:r.scan.Items[from].Start])
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

// wholeOf returns the id under which all that a summary replaces is kept.
func wholeOf(id string) policy.ID { return policy.ID("summary-" + id) }

// dropSummary has all be sent again that a summary stands for.
func (c *conversation) dropSummary(id string) error {
	sum, err := c.summary(id)
	if err != nil {
		return err
	}
	sum.Dropped = true
	return c.set.SetSummary(sum)
}

// editSummary changes the text of a summary.
func (c *conversation) editSummary(id, text string, tokens func(int) int64) error {
	sum, err := c.summary(id)
	if err != nil {
		return err
	}
	if strings.TrimSpace(text) == "" {
		return thread.Hint(fmt.Errorf("a summary without a text: %w", thread.ErrInvalid), "drop it to have all sent again")
	}
	sum.Source = "a person"
	whole, _ := c.set.Mask(wholeOf(sum.ID))
	sum.Text = summary.Text(summary.Note{Source: sum.Source, Replaced: sum.Replaced, File: whole.File, Text: text})
	sum.Tokens = tokens(len(sum.Text))
	return c.set.SetSummary(sum)
}

// summary returns a summary by its id.
func (c *conversation) summary(id string) (masks.Summary, error) {
	for _, sum := range c.set.Summaries() {
		if sum.ID == id {
			return sum, nil
		}
	}
	return masks.Summary{}, fmt.Errorf("summary %.20q: %w", id, thread.ErrNotFound)
}

// summaries returns them for people, oldest first.
func (c *conversation) summaries() []thread.ContextSummary {
	var out []thread.ContextSummary
	for _, s := range c.set.Summaries() {
		out = append(out, thread.ContextSummary{
			ID: s.ID, Items: s.Items, Tokens: s.Tokens, Replaced: s.Replaced, Text: s.Text, Source: s.Source, At: s.At,
			Dropped: s.Dropped,
		})
	}
	return out
}
