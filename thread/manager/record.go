package manager

import (
	"context"
	"errors"
	"hash/maphash"
	"math/bits"
	"slices"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/manager/activity"
	"orchestrator/thread/plaintext"
)

// The waits between tries while the store refuses.
const (
	firstRetry = 100 * time.Millisecond
	lastRetry  = 2 * time.Second
)

// record is what a line knows of its newest checkpoint, so that an answer is stored without reading
// anything back. It belongs to the line's steps.
type record struct {
	loaded   bool
	seed     maphash.Seed
	head     thread.CheckpointID // the newest one made, durable or not
	hashes   []uint64            // of the conversation's items at head
	session  string
	turn     int                 // that head belongs to
	ended    bool                // the turn ended with head
	cut      bool                // head's answer was cut off
	left     bool                // the turn was closed because its agent was interrupted
	began    thread.CheckpointID // that the running turn stands on
	prompt   string              // that the turn is named by
	said     string              // what its newest request held of the person's words
	told     bool                // a hook has told of it
	asked    []thread.PromptID   // that the turn answers
	spoken   []bool              // which of the conversation's items hold words of the person
	snapshot *thread.Snapshot
	looked   time.Time // when snapshot was begun by a turn's end
	gauge    thread.Gauge
	files    transcript

	musing musing

	pending []put // made and not durable yet, oldest first
	wait    time.Duration
	waiting bool // a retry is on its way
	damaged bool // the spool holds more of the thread than could be read
}

// put is a checkpoint on its way into the store.
type put struct {
	c     thread.Checkpoint
	delta thread.Delta
	cost  float64 // of side requests, in the gauge's cost
	held  *held   // what it takes of memory
	// prompts are those that are stored with it.
	prompts []thread.Prompt
	small   bool // nothing else is held with it
	// stored runs once it is durable.
	stored func()
	// spooled is set once the spool has it, at a place of its own; delta is empty then.
	spooled bool
	at      int64
	graft   *grafted // nil for one whose past is stored
}

// load reads what the store knows of the thread's head, once.
func (r *record) load(ctx context.Context, l *line) {
	if r.loaded {
		return
	}
	r.loaded = true
	r.seed = maphash.MakeSeed()
	t := l.thread()
	r.head, r.turn, r.ended, r.gauge = t.Head, t.Turn, true, t.Gauge
	if r.session == "" {
		r.session = t.Session
	}
	if t.Head == "" {
		r.restack(l, nil)
		return
	}
	c, err := l.m.cfg.Store.Checkpoint(ctx, t.Head)
	if err != nil {
		l.m.notice(l.id, thread.LevelError, "the newest checkpoint of %s cannot be read: %v", t.DisplayName(), err)
		return
	}
	r.turn, r.ended, r.prompt, r.said = c.Turn, c.Whole(), thread.Excerpt(c.Prompt), c.Prompt
	r.cut = !r.ended // the process that would have gone on is no more
	r.asked = l.askedIn(c)
	items, err := l.m.cfg.Store.Conversation(ctx, t.Head)
	if err != nil {
		// The next answer brings the whole conversation again: nothing is lost but space.
		l.m.notice(l.id, thread.LevelError, "the stored conversation of %s is damaged: %v", t.DisplayName(), err)
	}
	r.hashes, r.spoken = r.hash(items), l.m.spoken(items)
	if r.snapshot, err = l.m.snapshotAt(ctx, t.Head); err != nil {
		l.m.cfg.Log.Warn("read the newest snapshot", "thread", string(l.id), "err", err)
	}
	r.restack(l, items)
}

// settle brings the thread to a state in which nothing of its past is missing: what waits is stored
// and a turn that a crash cut between its answer and its checkpoint gets it. It reads the
// conversation only where that is needed: a start with many interrupted threads must stay quick.
func (r *record) settle(ctx context.Context, l *line) {
	r.flush(ctx, l)
	head := r.head
	if !r.loaded {
		head = l.thread().Head
	}
	if head == "" || len(r.pending) > 0 {
		return
	}
	c, err := l.m.cfg.Store.Checkpoint(ctx, head)
	if err == nil && c.Kind == thread.KindResponse && c.Note == thread.NoteTurnEnded {
		r.load(ctx, l)
		r.endTurn(ctx, l, c, arrival{Exchange: thread.Exchange{Text: c.Answer}}, nil)
	}
}

// hash returns the keys by which items are compared.
func (r *record) hash(items []thread.Item) []uint64 {
	hs := make([]uint64, len(items))
	for i, it := range items {
		hs[i] = r.key(it)
	}
	return hs
}

// key is no content address: it lives in memory for one run and must be quick over a whole conversation at
// every answer.
func (r *record) key(it thread.Item) uint64 {
	return maphash.Bytes(r.seed, it.Raw) ^ bits.RotateLeft64(maphash.String(r.seed, it.Wire), 1)
}

// kept returns how many of the items stand already, the first of them at from.
func (r *record) kept(items []thread.Item, from int) int {
	n := min(len(items), len(r.hashes)-from)
	for i, it := range items[:n] {
		if r.key(it) != r.hashes[from+i] {
			return i
		}
	}
	return n
}

// arrival is a main response that is to be recorded.
type arrival struct {
	thread.Exchange
	requests int   // main requests begun when it ended
	held     *held // nil where nobody counts it
	// direct is set for one that was read from the transcript; chunks are what was read.
	direct bool
	chunks []thread.Chunk
	// past is set for the end of a turn that another one has followed: its files and transcript are no more to be seen.
	past bool
	why  string    // the turn did not end by itself, for people
	read time.Time // when that was
}

// came is when a response ended, or was read where it is known by its transcript's clock alone.
func (e arrival) came() time.Time {
	if e.direct {
		return e.read
	}
	return e.Ended
}

// answer records a main response: one checkpoint, then, at the end of a turn, the turn's with the
// files. The thread is let go when all of that is durable.
func (r *record) answer(ctx context.Context, l *line, e arrival) {
	r.load(ctx, l)
	keep := 0
	if !e.direct {
		keep = r.kept(e.Items, 0)
	}
	newTurn, fresh := l.begins(r, e.Exchange, r.spoke(l, e, keep))
	r.left = false
	if newTurn {
		r.abandon(ctx, l)
		r.turn++
		r.asked, r.told = nil, false
	}
	r.adopt(ctx, l, e.Session)
	var asked []thread.Prompt
	if newTurn || len(fresh) > 0 {
		asked = l.answering(r, e.Prompt, fresh)
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
	c, delta := r.response(l, e.Exchange, keep, news)
	delta.Prompts = asked
	ends := e.EndsTurn && !e.Interrupted
	switch {
	case e.direct:
		delta.Transcript = r.files.note(l, e.chunks)
	case !ends: // the end of a turn waits for the agent to write the answer down; see endTurn
		delta.Transcript = r.files.note(l, r.files.peek(ctx, l, r.session, "", time.Time{}))
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
	report, requests := activity.Outcome(e.Exchange, source), e.requests // the exchange itself is held no longer than it must
	stored := func() {
		if ends {
			l.markUnseen(ctx)
		}
		// The report first: were the answer let go before, an older state would flash up.
		l.reportUnless(requests, report)
		l.stored(1)
	}
	if ends {
		r.put(ctx, l, put{c: c, delta: delta, cost: cost, held: e.held, prompts: asked})
		r.endTurn(ctx, l, c, e, stored)
	} else {
		r.put(ctx, l, put{c: c, delta: delta, cost: cost, held: e.held, prompts: asked, stored: stored})
	}
	r.left = e.Unread // should its agent go on without another prompt, it has not ended
	r.muse(ctx, l, e.Exchange, delta.Items, newTurn)
}

// response makes the checkpoint of a main response and what it adds to the conversation: what the
// request and its answer hold beyond what stands already, or the news where there is no request. keep is how many of
// the request's items stand.
func (r *record) response(l *line, e thread.Exchange, keep int, news []thread.Item) (thread.Checkpoint, thread.Delta) {
	items := news
	if news != nil {
		keep = len(r.hashes)
	} else {
		items = e.Items[keep:]
		if e.Answer != nil {
			items = append(slices.Clip(items), *e.Answer)
		}
		n := r.kept(items, keep) // the answer may stand already too
		items, keep = items[n:], keep+n
	}
	r.hashes = append(r.hashes[:keep], r.hash(items)...)
	r.spoken = append(r.spoken[:keep], l.m.spoken(items)...)
	c := thread.Checkpoint{
		ID: thread.NewID[thread.CheckpointID](), Thread: l.id, Parent: r.head, Turn: r.turn, Kind: thread.KindResponse,
		Created: l.m.now(), Prompt: r.prompt, Answer: thread.Excerpt(e.Text), Model: e.Model, Stop: e.Stop,
		Usage: e.Usage, Gauge: r.gaugeOf(l, e), Interrupted: e.Interrupted, Session: r.session,
		Items: len(r.hashes), MCP: l.m.mcps(l.id),
	}
	r.head, r.ended, r.cut = c.ID, e.EndsTurn && !e.Interrupted, e.Interrupted
	return c, thread.Delta{Keep: keep, Items: items}
}

// gaugeOf returns how full the context is after a response.
func (r *record) gaugeOf(l *line, e thread.Exchange) thread.Gauge {
	g := thread.Gauge{Tokens: e.Usage.Context(), Window: e.Window, Model: e.Model, Source: "gateway"}
	l.m.mu.Lock()
	if l.direct {
		g.Source = "transcript"
	}
	l.m.mu.Unlock()
	if g.Tokens == 0 && r.gauge.Tokens > 0 { // cut off before the provider counted
		g.Tokens, g.Estimated = r.gauge.Tokens, true
	}
	if g.Window == 0 && (g.Model == r.gauge.Model || g.Model == "") {
		g.Window = r.gauge.Window
	}
	return g
}

// put queues a checkpoint behind those that wait and tries to store them all.
func (r *record) put(ctx context.Context, l *line, p put) {
	r.pending = append(r.pending, p)
	if len(r.pending) == 1 || !r.waiting {
		r.flush(ctx, l)
	} else {
		r.spool(l)
	}
	for i := range r.pending {
		r.pending[i].shrink()
	}
}

// flush stores what is pending, in order. What the store refuses is tried again until it works or
// the thread is gone; it is never dropped silently.
func (r *record) flush(ctx context.Context, l *line) {
	for len(r.pending) > 0 {
		p := r.pending[0]
		delta, err := r.deltaOf(l, p)
		if err != nil {
			r.giveUp(l, p, err)
			return
		}
		c, err := l.m.cfg.Store.PutCheckpoint(ctx, p.c, delta)
		if errors.Is(err, thread.ErrNotFound) && l.isGone() {
			for _, p := range r.pending {
				p.held.end()
			}
			r.pending = nil
			r.unspool(l)
			return
		}
		if errors.Is(err, thread.ErrNotFound) {
			if !r.graft(ctx, l) {
				r.giveUp(l, p, err)
			}
			continue
		}
		if errors.Is(err, thread.ErrInvalid) {
			r.pending[0].delta = delta
			r.lighten(l, err)
			continue
		}
		if err != nil {
			r.refused(l, p, err)
			return
		}
		r.pending[0] = put{} // what it holds is free for others
		r.pending = r.pending[1:]
		p.held.end()
		if len(r.pending) == 0 {
			r.unspool(l)
		}
		r.accepted(ctx, l, p, c)
	}
}

// lighten makes the oldest pending checkpoint one that the store may take after it was refused for
// good, for instance as too large: first without the transcript, which is read again later, and then
// not at all. What it leaves out comes with the next answer, which brings the whole conversation.
func (r *record) lighten(l *line, cause error) {
	p := &r.pending[0]
	if len(p.delta.Transcript) > 0 {
		l.m.notice(l.id, thread.LevelError, "%s: the transcript of turn %d cannot be stored: %v", l.thread().DisplayName(), p.c.Turn, cause)
		p.delta.Transcript, p.spooled = nil, false
		r.files = transcript{}
		return
	}
	r.giveUp(l, *p, cause)
}

// giveUp ends the storing of what is pending: it can never be. The next answer brings the conversation again.
func (r *record) giveUp(l *line, p put, cause error) {
	l.m.notice(l.id, thread.LevelError, "%s: the answer of turn %d cannot be stored: %v", l.thread().DisplayName(), p.c.Turn, cause)
	spooled := slices.ContainsFunc(r.pending, func(p put) bool { return p.spooled })
	if spooled || r.damaged {
		r.putAside(l)
	}
	for _, p := range r.pending {
		p.held.end()
		l.promptsLost(p.prompts)
		if p.stored != nil {
			p.stored()
		}
	}
	*r = record{waiting: r.waiting}
	l.setUnsaved(0)
}

// refused notes that the store does not take a checkpoint and plans the next try.
func (r *record) refused(l *line, p put, err error) {
	m := l.m
	m.mu.Lock()
	first := l.trouble == ""
	l.trouble = err.Error()
	m.show(l)
	m.mu.Unlock()
	r.spool(l)
	if first {
		m.notice(l.id, thread.LevelError, "%s: the answer of turn %d is not stored yet: %v. The agent goes on, and storing is tried again until it works",
			l.thread().DisplayName(), p.c.Turn, err)
	}
	r.wait = min(max(2*r.wait, firstRetry), lastRetry)
	if r.waiting {
		return
	}
	r.waiting = true
	l.later(r.wait, func() {
		r.waiting = false
		r.flush(m.ctx, l)
	})
}

// accepted tells what is durable now.
func (r *record) accepted(ctx context.Context, l *line, p put, c thread.Checkpoint) {
	m := l.m
	m.mu.Lock()
	again := l.trouble != "" && len(r.pending) == 0
	if again {
		l.trouble = ""
	}
	l.sideCost -= p.cost
	m.mu.Unlock()
	r.wait = 0
	if err := l.reread(ctx); err != nil {
		m.cfg.Log.Error("read the thread after a checkpoint", "thread", string(l.id), "err", err)
	}
	m.bus.Publish(thread.Event{At: m.now(), Kind: thread.EventCheckpoint, ThreadID: l.id, Checkpoint: &c})
	l.promptsStored(p.prompts)
	if again {
		m.notice(l.id, thread.LevelInfo, "%s: all answers are stored again", l.thread().DisplayName())
	}
	if p.stored != nil {
		p.stored()
	}
}

// stored lets go of answers that were held back until they are durable.
func (l *line) stored(n int) {
	l.m.mu.Lock()
	all := l.requests.Store(n)
	l.m.show(l)
	l.m.mu.Unlock()
	if all {
		l.poke()
	}
}

// takeSideCost returns the cost of side requests that is in no checkpoint yet.
func (l *line) takeSideCost() float64 {
	l.m.mu.Lock()
	defer l.m.mu.Unlock()
	cost := l.sideCost
	for _, p := range l.rec.pending {
		cost -= p.cost // it waits with that checkpoint already
	}
	return cost
}

// markUnseen notes that there is an answer that nobody has looked at.
func (l *line) markUnseen(ctx context.Context) {
	if !l.thread().Seen {
		return
	}
	if err := l.update(ctx, func(t *thread.Thread) error { t.Seen = false; return nil }); err != nil {
		l.m.mu.Lock()
		l.t.Seen = false
		l.m.mu.Unlock()
	}
}
