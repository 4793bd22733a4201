package manager

import (
	"context"
	"slices"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/manager/activity"
	"orchestrator/thread/plaintext"
)

// answer records a main response: one checkpoint, and at the end of a turn also the turn's checkpoint with the files.
// The thread is released when all of that is durable.
func (l *recorder) answer(ctx context.Context, e arrival) {
	r := &l.rec
	l.load(ctx)
	keep := 0
	if !e.direct {
		keep = r.kept(e.Items, 0)
	}
	newTurn, fresh := l.begins(e.Exchange, l.spoke(e, keep))
	if newTurn {
		l.abandon(ctx)
		r.turn++
		r.asked, r.told = nil, false
	}
	l.adopt(ctx, e.Session)
	var asked []thread.Prompt
	if newTurn || len(fresh) > 0 {
		asked = l.answering(e.Prompt, fresh)
	}
	r.said = plaintext.Cut(e.Prompt, 2*thread.MaxExcerpt)
	switch {
	case newTurn && len(asked) == 1:
		r.prompt = thread.Excerpt(asked[0].Text)
	case newTurn:
		r.prompt = thread.Excerpt(e.Prompt)
	}
	before := r.head
	var news []thread.Item
	if e.direct && len(e.Items) == 0 {
		if e.Answer == nil {
			news = thread.PlainItems(e.Exchange, newTurn)
		} else {
			news = []thread.Item{*e.Answer}
		}
	}
	c, delta := l.response(e.Exchange, keep, news)
	delta.Prompts = asked
	ends := e.EndsTurn && !e.Interrupted
	switch {
	case e.direct:
		delta.Transcript = r.files.note(&l.liveThread, e.chunks)
	case !ends: // at the end of a turn, wait until the agent has written the answer down; see endTurn
		delta.Transcript = r.files.note(&l.liveThread, r.files.peek(ctx, &l.liveThread, r.session, "", time.Time{}))
	}
	cost := l.takeSideCost()
	c.Gauge.CostUSD = r.gauge.CostUSD + cost + e.Usage.CostUSD
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
	report, requests := activity.Outcome(e.Exchange, source), e.requests // keeps the exchange itself no longer
	stored := func() {
		if ends {
			l.markUnseen(ctx)
		}
		// Report first: releasing the answer first would briefly show an older state.
		l.reportUnless(requests, report)
		l.stored(1)
	}
	if ends {
		l.commit(ctx, put{c: c, delta: delta, cost: cost, held: e.held, prompts: asked})
		l.endTurn(ctx, c, e, stored)
	} else {
		l.commit(ctx, put{c: c, delta: delta, cost: cost, held: e.held, prompts: asked, stored: stored})
	}
	// endTurn has closed it; if the agent continues without another prompt, it has not ended.
	r.phase = phaseAfter(e.EndsTurn, e.Interrupted, e.Unread)
	if l.answered != nil {
		l.answered(ctx, l, answered{Exchange: e.Exchange, news: delta.Items, first: newTurn})
	}
}

// response returns the checkpoint of a main response and what it adds to the conversation: the new items of the request
// and its answer, or news if there is no request. keep is how many of the request's items are already stored.
func (l *recorder) response(e thread.Exchange, keep int, news []thread.Item) (thread.Checkpoint, thread.Delta) {
	r := &l.rec
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
	r.spoken = append(r.spoken[:keep], l.spoken(items)...)
	c := thread.Checkpoint{
		ID: thread.NewID[thread.CheckpointID](), Thread: l.id, Parent: r.head, Turn: r.turn, Kind: thread.KindResponse,
		Created: l.now(), Prompt: r.prompt, Answer: thread.Excerpt(e.Text), Model: e.Model, Stop: e.Stop,
		Usage: e.Usage, Gauge: l.gaugeOf(e), Interrupted: e.Interrupted, Session: r.session,
		Items: len(r.hashes), MCP: l.mcps(l.id),
	}
	r.head, r.phase = c.ID, phaseAfter(e.EndsTurn, e.Interrupted, e.Unread)
	return c, thread.Delta{Keep: keep, Items: items}
}

// gaugeOf returns how full the context is after a response.
func (l *recorder) gaugeOf(e thread.Exchange) thread.Gauge {
	r := &l.rec
	g := thread.Gauge{Tokens: e.Usage.Context(), Window: e.Window, Model: e.Model, Source: "gateway"}
	l.mu.Lock()
	if l.visibility.direct() {
		g.Source = "transcript"
	}
	l.mu.Unlock()
	if g.Tokens == 0 && r.gauge.Tokens > 0 { // cut off before the provider reported the count
		g.Tokens, g.Estimated = r.gauge.Tokens, true
	}
	if g.Window == 0 && (g.Model == r.gauge.Model || g.Model == "") {
		g.Window = r.gauge.Window
	}
	return g
}

// stored releases answers that were held back until they are durable.
func (l *recorder) stored(n int) {
	l.mu.Lock()
	all := l.requests.Store(n)
	l.show()
	l.mu.Unlock()
	if all {
		l.scheduleTyping()
	}
}

// takeSideCost returns the cost of side requests that no checkpoint includes yet.
func (l *recorder) takeSideCost() float64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	cost := l.sideCost
	for _, p := range l.rec.pending {
		cost -= p.cost // included in that checkpoint
	}
	return cost
}

// markUnseen marks the thread as having an answer that nobody has seen.
func (l *recorder) markUnseen(ctx context.Context) {
	if !l.thread().Seen {
		return
	}
	if err := l.update(ctx, func(t *thread.Thread) error { t.Seen = false; return nil }); err != nil {
		l.mu.Lock()
		l.t.Seen = false
		l.mu.Unlock()
	}
}

// pollStep is the step that reads the transcript of a thread without a gateway.
func (l *recorder) pollStep() {
	l.mu.Lock()
	l.polling = false
	l.mu.Unlock()
	l.poll(l.ctx)
	l.stored(1)
}

// poll records the responses that were added to the transcript.
func (l *recorder) poll(ctx context.Context) {
	r := &l.rec
	t := l.thread()
	agent, err := l.cfg.Agents.Agent(t.Agent)
	if err != nil {
		return
	}
	reader, ok := agent.(thread.UsageReader)
	if !ok {
		return
	}
	l.load(ctx)
	chunks := r.files.peek(ctx, &l.liveThread, r.session, "", time.Time{})
	if len(chunks) == 0 {
		return
	}
	exchanges, err := reader.ReadUsage(chunks)
	if err != nil {
		l.cfg.Log.Warn("read usage from the transcript", "thread", string(l.id), "err", err)
	}
	if !slices.ContainsFunc(exchanges, func(e thread.Exchange) bool { return e.Main }) {
		return // read again once there is an answer to store it with
	}
	read := time.Now()
	for _, e := range exchanges {
		l.complete(&e)
		l.mu.Lock()
		requests := l.requests.Begun()
		if e.Main {
			l.requests.Await()
		} else {
			l.sideCost += e.Usage.CostUSD
		}
		l.mu.Unlock()
		if e.Main {
			l.answer(ctx, arrival{Exchange: e, requests: requests, direct: true, chunks: chunks, read: read})
			chunks = nil // stored with the first
		}
	}
}

// complete fills in what the transcript lacks about a response: the model's window and the price.
func (l *recorder) complete(e *thread.Exchange) {
	known := l.cfg.Models
	if known == nil {
		return
	}
	if e.Window == 0 {
		l.mu.Lock()
		agents := l.windows
		l.mu.Unlock()
		e.Window = known.Window(e.Model, e.Usage.Context(), agents)
	}
	if !e.Usage.Priced {
		e.Usage.CostUSD, e.Usage.Priced = known.Cost(e.Model, e.Usage)
	}
}
