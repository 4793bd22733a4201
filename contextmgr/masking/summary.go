package masking

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"orchestrator/contextmgr/masks"
	"orchestrator/contextmgr/policy"
	"orchestrator/contextmgr/summary"
	"orchestrator/contextmgr/wire"
	"orchestrator/thread"
)

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
	its := items{r.scan, r.scanner}
	from := its.answered()
	to := r.cut(from)
	if from < 0 || to <= max(from, m.standing.to) || its.dropped(r.conversation.set.Summaries(), from) {
		return
	}
	if err := r.extract(m, its, from, to); err != nil {
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
func (r *request) extract(m measured, its items, from, to int) error {
	c := r.conversation
	sum := masks.Summary{First: its.hash(from), Last: its.hash(to - 1), Items: to - from, At: r.cfg.Now()}
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
