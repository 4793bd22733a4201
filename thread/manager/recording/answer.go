package recording

import (
	"context"
	"slices"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/manager/activity"
	"orchestrator/thread/plaintext"
)

// Answer records a main response that came through the gateway. requests is how many main requests had begun when it
// ended; held is the memory that it takes.
func (r *Recorder) Answer(ctx context.Context, e thread.Exchange, requests int, held *Held) {
	r.answer(ctx, arrival{Exchange: e, requests: requests, held: held})
}

// answer records a main response: one checkpoint, and at the end of a turn also the turn's checkpoint with the files.
// The thread is released when all of that is durable.
func (r *Recorder) answer(ctx context.Context, e arrival) {
	r.Load(ctx)
	keep := 0
	if !e.direct {
		keep = r.kept(e.Items, 0)
	}
	words := append(slices.Clone(r.spoken[:keep]), r.words(e.Items[keep:])...)
	newTurn, fresh := r.begins(e.Exchange, r.spoke(e, words))
	if newTurn {
		r.abandon(ctx)
		keep = r.takeOver(ctx, e, keep, words, fresh)
		if !r.loaded { // the store refused something for good: what it has counts
			r.Load(ctx)
			keep = r.kept(e.Items, 0)
			words = r.words(e.Items)
		}
		r.turn++
		r.asked, r.told = nil, false
	}
	r.Adopt(ctx, e.Session)
	var asked []thread.Prompt
	if newTurn || len(fresh) > 0 {
		asked = r.answering(e.Prompt, fresh)
	}
	r.place(e, words, asked, newTurn)
	before := r.head
	var news []thread.Item
	if e.direct && len(e.Items) == 0 {
		if e.Answer == nil {
			news = thread.PlainItems(e.Exchange, newTurn)
		} else {
			news = []thread.Item{*e.Answer}
		}
	}
	c, delta := r.response(e.Exchange, keep, news, e.direct)
	delta.Prompts = asked
	ends := e.EndsTurn && !e.Interrupted
	switch {
	case e.direct:
		delta.Transcript = r.note(e.chunks)
	case !ends: // at the end of a turn, wait until the agent has written the answer down; see endTurn
		delta.Transcript = r.note(r.peek(ctx, "", time.Time{}))
	}
	cost := r.sideCost()
	c.Gauge.CostUSD = r.gauge.CostUSD + cost + e.Usage.CostUSD
	c.Gauge.SavedUSD = r.gauge.SavedUSD + e.SavedUSD
	r.gauge = c.Gauge
	if newTurn {
		r.began = before
	}
	if ends {
		c.Note = thread.NoteTurnEnded
	}
	source := thread.SourceGateway
	if e.direct {
		source = thread.SourceTranscript
	}
	// It keeps the exchange itself no longer.
	says := &Answered{Evidence: activity.Outcome(e.Exchange, source), Requests: e.requests, EndsTurn: ends}
	if ends {
		r.commit(ctx, put{c: c, delta: delta, cost: cost, held: e.held, prompts: asked})
		r.endTurn(ctx, c, e, says)
	} else {
		r.commit(ctx, put{c: c, delta: delta, cost: cost, held: e.held, prompts: asked, answered: says})
	}
	// endTurn has closed it; if the agent continues without another prompt, it has not ended.
	r.phase = phaseAfter(e.EndsTurn, e.Interrupted, e.Unread)
	r.reports.Recorded(ctx, Response{
		Exchange: e.Exchange, News: delta.Items, First: newTurn, Turn: r.turn, Began: r.began, Head: r.head, Gauge: r.gauge,
	})
}

// place notes what the turn was asked and where in the conversation it begins.
func (r *Recorder) place(e arrival, words []uint64, asked []thread.Prompt, newTurn bool) {
	r.said = plaintext.Cut(e.Prompt, 2*thread.MaxExcerpt)
	switch {
	case newTurn && len(asked) == 1:
		r.prompt = thread.Excerpt(asked[0].Text)
	case newTurn:
		r.prompt = thread.Excerpt(e.Prompt)
	}
	switch {
	case e.direct || len(e.Items) == 0:
		if newTurn {
			r.first = len(r.hashes) + 1
		}
	case newTurn:
		r.first = r.begin(e.Items, words, asked)
		if r.first == 0 {
			r.first = min(len(r.hashes), len(e.Items)) + 1
		}
	default:
		r.first = r.moved(e.Items, words)
	}
}

// response returns the checkpoint of a main response and what it adds to the conversation: the new items of the request
// and its answer, or news if there is no request. keep is how many of the request's items are already stored.
func (r *Recorder) response(
	e thread.Exchange, keep int, news []thread.Item, direct bool,
) (thread.Checkpoint, thread.Delta) {
	items := news
	if news != nil {
		keep = len(r.hashes)
	} else {
		items = e.Items[keep:]
		if e.Answer != nil {
			items = append(slices.Clip(items), *e.Answer)
		}
		n := r.kept(items, keep) // the answer may be stored already
		items, keep = items[n:], keep+n
	}
	r.hashes = append(r.hashes[:keep], r.hash(items)...)
	r.spoken = append(r.spoken[:keep], r.words(items)...)
	c := thread.Checkpoint{
		ID: thread.NewID[thread.CheckpointID](), Thread: r.id, Parent: r.head, Turn: r.turn, Kind: thread.KindResponse,
		Created: r.now(), Prompt: r.prompt, Answer: thread.Excerpt(e.Text), Model: e.Model, Stop: e.Stop,
		Usage: e.Usage, Gauge: r.gaugeOf(e, direct), Interrupted: e.Interrupted, Session: r.session,
		Items: len(r.hashes), First: r.first, MCP: r.cfg.MCPs(r.id), Base: r.live.Thread().Base.Recorded(),
	}
	r.head, r.phase = c.ID, phaseAfter(e.EndsTurn, e.Interrupted, e.Unread)
	return c, thread.Delta{Keep: keep, Items: items}
}

// gaugeOf returns how full the context is after a response; direct is set if only the transcript tells of it.
func (r *Recorder) gaugeOf(e thread.Exchange, direct bool) thread.Gauge {
	g := thread.Gauge{
		Tokens: e.Usage.Context(), Window: e.Window, Model: e.Model, Source: "gateway", Masked: e.Masked, Base: e.Base,
	}
	if direct {
		g.Source = "transcript"
	}
	if g.Tokens == 0 && r.gauge.Tokens > 0 { // cut off before the provider reported the count
		g.Tokens, g.Estimated = r.gauge.Tokens, true
	}
	if g.Window == 0 && (g.Model == r.gauge.Model || g.Model == "") {
		g.Window = r.gauge.Window
	}
	return g
}

// sideCost returns the cost of side requests that no checkpoint includes yet.
func (r *Recorder) sideCost() float64 {
	cost := r.live.SideCost()
	for _, p := range r.pending {
		cost -= p.cost // included in that checkpoint
	}
	return cost
}
