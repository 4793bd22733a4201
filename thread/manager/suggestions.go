package manager

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/manager/recording"
	"orchestrator/thread/plaintext"
	"orchestrator/thread/secret"
	"orchestrator/thread/suggest"
)

// suggestions offers forks where the rules of package suggest say so. It hears of answers and is no part of recording
// them.
type suggestions struct {
	*registry
	forks *forks
	life  *lifecycle

	// What follows is guarded by core.mu.

	mode   thread.OfferMode
	open   []thread.Offer        // not answered yet, oldest first
	musing map[thread.ID]*musing // each belongs to the steps of its thread's queue
}

// offersKey is the setting that remembers that a person switched offers off.
const offersKey = "offers"

// The bounds of what is kept about offers.
const (
	maxOffers   = 100 // that nobody answered
	offerPause  = 5   // turns between two offers of one rule in one thread
	subjectPast = 50  // turns that a thread's subject is read from
)

// musing is what is kept of a thread to notice when a fork would help. It belongs to the steps of the
// thread's queue.
type musing struct {
	loaded   bool
	subject  suggest.Subject
	prompt   string // of the running turn, not part of the subject yet
	answer   string
	failures int // tool results that failed alike, in a row
	failure  string
	offered  map[suggest.Rule]int // turn of the last offer by rule
}

// offerMode returns what becomes of suggestions.
func (m *suggestions) offerMode() thread.OfferMode {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.mode == "" {
		return thread.OffersSuggest
	}
	return m.mode
}

// hear takes note of a response and offers a fork where the rules say so. A fork begins where the turn began, but where
// the context is full it takes the turn along.
func (m *suggestions) hear(ctx context.Context, l *line, a recording.Response) {
	if m.offerMode() == thread.OffersOff {
		return
	}
	u := m.musingOf(l.id)
	u.load(ctx, l, a.Began)
	failedBefore := u.failures
	u.results(m.past.Entries(a.News))
	in := suggest.Input{Subject: u.subject}
	if a.First {
		if u.prompt != "" {
			u.subject.Add(secret.Redact(u.prompt), u.answer)
			in.Subject = u.subject
		}
		u.prompt, u.answer = plaintext.Cut(a.Prompt, thread.MaxExcerpt), "" // a fork that is offered needs it as it is
		in.Prompt = secret.Redact(u.prompt)
	}
	u.answer = plaintext.Cut(u.answer+" "+thread.Excerpt(a.Text), 4*thread.MaxExcerpt)
	if u.failures > failedBefore {
		in.Failures, in.Failure = u.failures, u.failure
	}
	if a.EndsTurn { // mid-turn a person cannot act on it
		in.Share = a.Gauge.Share()
	}
	s, ok := suggest.Consider(in)
	at := a.Began
	if s.Rule == suggest.RuleBand {
		at = a.Head
	}
	if !ok || at == "" || leaves(s.Rule) && at == l.thread().ForkPoint {
		return // a fork's first prompt is what it was made for
	}
	if last, was := u.offered[s.Rule]; was && a.Turn-last < offerPause {
		return
	}
	if u.offered == nil {
		u.offered = make(map[suggest.Rule]int)
	}
	u.offered[s.Rule] = a.Turn
	o := thread.Offer{ID: thread.NewID[string](), Thread: l.id, At: at, Label: s.Label, Rule: string(s.Rule), Why: s.Why}
	if leaves(s.Rule) {
		o.Prompt = u.prompt
	}
	if s.Rule == suggest.RuleBand && m.offerMode() == thread.OffersAuto && !m.continued(l.id) && m.begin() {
		go func() { // a fork waits for steps of this thread
			defer m.done()
			m.continueFresh(o)
		}()
		return
	}
	m.addOffer(o)
}

// musingOf returns what is kept of a thread, made at its first answer; what is kept of purged ones goes then.
func (m *suggestions) musingOf(id thread.ID) *musing {
	m.mu.Lock()
	defer m.mu.Unlock()
	u := m.musing[id]
	if u == nil {
		maps.DeleteFunc(m.musing, func(id thread.ID, _ *musing) bool { return m.byID[id] == nil })
		u = &musing{}
		m.musing[id] = u
	}
	return u
}

// continued reports whether a thread goes on in another one that began with a summary of it.
func (m *suggestions) continued(id thread.ID) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, l := range m.byID {
		if l.t.Parent == id && l.t.Handoff != nil && l.t.Handoff.Fresh {
			return true
		}
	}
	return false
}

// continueFresh takes an offer of a thread whose context is full, without a person. Where that cannot be, it is an
// offer like others.
func (m *suggestions) continueFresh(o thread.Offer) {
	f, err := m.forks.Fork(m.ctx, offered(o))
	if err != nil {
		m.notice(o.Thread, thread.LevelWarn, "%s, but it could not be made: %v", o.Why, err)
		m.addOffer(o)
		return
	}
	m.notice(f.ID, thread.LevelInfo, "%s is the fork: %s", f.DisplayName(), o.Why)
	if _, err := m.life.Switch(m.ctx, string(f.ID)); err != nil {
		m.cfg.Log.Warn("show a fork", "thread", string(f.ID), "err", err)
	}
}

// offered is the fork that an offer is about. Of a thread whose context is full it takes a summary only.
func offered(o thread.Offer) thread.ForkRequest {
	return thread.ForkRequest{
		Thread: string(o.Thread), At: string(o.At), Label: o.Label, Prompt: o.Prompt, Fresh: o.Rule == string(suggest.RuleBand),
	}
}

// leaves reports whether a rule is about a prompt that leaves its thread.
func leaves(r suggest.Rule) bool { return r == suggest.RuleApproach || r == suggest.RuleSubject }

// alike reports whether two failures say the same but for their numbers.
func alike(a, b string) bool {
	bare := func(s string) string {
		return strings.Map(func(r rune) rune {
			if r >= '0' && r <= '9' {
				return -1
			}
			return r
		}, s)
	}
	return bare(a) == bare(b)
}

// addOffer tells the clients of an offer and keeps it until it is answered.
func (m *suggestions) addOffer(o thread.Offer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	open := append(m.open, o)
	m.keepOffers(open[max(0, len(open)-maxOffers):])
}

// keepOffers replaces the open offers and shows the threads that gained or lost one. core.mu is held.
func (m *suggestions) keepOffers(open []thread.Offer) {
	changed := map[thread.ID]bool{}
	for _, o := range slices.Concat(m.open, open) {
		changed[o.Thread] = true
	}
	m.open = open
	for id := range changed {
		if l := m.byID[id]; l != nil {
			l.offer = m.newest(id)
			l.show()
		}
	}
}

// AnswerOffer answers a fork suggestion: "take" forks, "dismiss" forgets it, "off" makes no more.
func (m *suggestions) AnswerOffer(ctx context.Context, offerID, answer string) (thread.Status, error) {
	o, ok := m.takeOffer(offerID)
	if !ok {
		return thread.Status{}, thread.Hint(fmt.Errorf("offer %s: %w", offerID, thread.ErrNotFound), "it was answered already")
	}
	l := m.run(o.Thread)
	if l == nil {
		return thread.Status{}, fmt.Errorf("offer for thread %s: %w", o.Thread, thread.ErrNotFound)
	}
	switch answer {
	case "take":
		return m.forks.Fork(ctx, offered(o))
	case "dismiss":
		return l.current(), nil
	case "off":
		err := m.SetOffers(ctx, thread.OffersOff)
		return l.current(), err
	default:
		m.addOffer(o) // not answered
		return thread.Status{}, thread.Hint(fmt.Errorf("answer %q: %w", answer, thread.ErrInvalid), "take, dismiss or off")
	}
}

// newest returns a thread's newest open offer, nil when it has none. core.mu is held.
func (m *suggestions) newest(id thread.ID) *thread.Offer {
	for i := len(m.open) - 1; i >= 0; i-- {
		if m.open[i].Thread == id {
			found := m.open[i]
			return &found
		}
	}
	return nil
}

// takeOffer returns an open offer and forgets it.
func (m *suggestions) takeOffer(id string) (thread.Offer, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, o := range m.open {
		if o.ID == id {
			m.keepOffers(slices.Concat(m.open[:i], m.open[i+1:]))
			return o, true
		}
	}
	return thread.Offer{}, false
}

// SetOffers changes what becomes of fork suggestions, for good.
func (m *suggestions) SetOffers(ctx context.Context, mode thread.OfferMode) error {
	switch mode {
	case thread.OffersSuggest, thread.OffersAuto, thread.OffersOff:
	default:
		return thread.Hint(fmt.Errorf("offers %q: %w", mode, thread.ErrInvalid), "suggest, auto or off")
	}
	m.mu.Lock()
	m.mode = mode
	if mode == thread.OffersOff {
		m.keepOffers(nil)
	}
	m.mu.Unlock()
	if err := m.cfg.Store.SetSetting(ctx, offersKey, string(mode)); err != nil {
		return fmt.Errorf("remember the mode of offers: %w", err)
	}
	return nil
}

// loadOffers takes over what a person chose in an earlier run.
func (m *suggestions) loadOffers(ctx context.Context) {
	mode, err := m.cfg.Store.Setting(ctx, offersKey)
	if err != nil || mode == "" {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.mode = thread.OfferMode(mode)
}

// autoFork sends a prompt into a fork of its own when offers are automatic and the rules say that it
// leaves the thread; nil when it belongs to the thread. Prompts typed in the terminal are with the
// agent already: for those an offer is all that can be made.
func (m *suggestions) autoFork(ctx context.Context, l *run, prompt string) (*run, error) {
	if m.offerMode() != thread.OffersAuto {
		return nil, nil
	}
	var s suggest.Offer
	ok := false
	err := l.do(ctx, func(ctx context.Context) error {
		u := m.musingOf(l.id)
		u.load(ctx, &l.line, l.recorder.Head(ctx))
		subject := u.subject.Clone()
		if u.prompt != "" { // the newest turn's own is not part of it yet
			subject.Add(secret.Redact(u.prompt), u.answer)
		}
		s, ok = suggest.Consider(suggest.Input{Prompt: thread.Excerpt(prompt), Subject: subject})
		return nil
	})
	if err != nil || !ok || !leaves(s.Rule) {
		return nil, err
	}
	f, err := m.forks.Fork(ctx, thread.ForkRequest{Thread: string(l.id), Label: s.Label, Prompt: prompt})
	if err != nil {
		return nil, fmt.Errorf("fork by itself: %w", err)
	}
	m.notice(f.ID, thread.LevelInfo, "forked %s as %s: %s", l.thread().DisplayName(), f.DisplayName(), s.Why)
	_, err = m.life.Switch(ctx, string(f.ID))
	return m.run(f.ID), err
}

// load reads what the thread was about from the turns that are stored.
func (u *musing) load(ctx context.Context, l *line, head thread.CheckpointID) {
	if u.loaded {
		return
	}
	u.loaded = true
	if head == "" {
		return
	}
	list, err := l.cfg.Store.Lineage(ctx, head, thread.Page{Turns: true, Limit: subjectPast})
	if err != nil {
		l.cfg.Log.Warn("read what a thread is about", "thread", string(l.id), "err", err)
		return
	}
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].Kind == thread.KindTurn {
			u.subject.Add(list[i].Prompt, list[i].Answer)
		}
	}
}

// results counts tool results that fail alike.
func (u *musing) results(entries []thread.Entry) {
	for _, e := range entries {
		switch e.Kind {
		case thread.EntryCall:
			u.subject.Hear(plaintext.Cut(e.Text, 500)) // names of files say what a thread is about
		case thread.EntryResult:
			text := plaintext.OneLine(e.Text, 200)
			switch {
			case !e.Error:
				u.failures, u.failure = 0, ""
			case alike(text, u.failure):
				u.failures++
			default:
				u.failures, u.failure = 1, text
			}
		default:
		}
	}
}
