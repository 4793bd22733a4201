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

// suggestions offers forks by the rules of package suggest. It observes answers and is not part of recording them.
type suggestions struct {
	*registry
	forks *forks
	life  *lifecycle

	// What follows is guarded by core.mu.

	mode    thread.OfferMode
	open    []thread.Offer             // unanswered, oldest first
	signals map[thread.ID]*forkSignals // each is used by the steps of its thread's queue
}

// offersKey is the setting that stores that a person turned offers off.
const offersKey = "offers"

// The limits on offers.
const (
	maxOffers   = 100 // unanswered
	offerPause  = 5   // turns between two offers of one rule in one thread
	subjectPast = 50  // turns that a thread's subject is read from
)

// forkSignals is what is known of a thread to notice when a fork would help. It is used by the steps of the thread's
// queue.
type forkSignals struct {
	loaded   bool
	subject  suggest.Subject
	prompt   string // of the running turn, not part of the subject yet
	answer   string
	failures int // similar tool failures in a row
	failure  string
	offered  map[suggest.Rule]int // turn of the last offer by rule
}

// offerMode returns what happens to suggestions.
func (m *suggestions) offerMode() thread.OfferMode {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.mode == "" {
		return thread.OffersSuggest
	}
	return m.mode
}

// observe looks at a response and offers a fork if the rules say so. A fork begins where the turn began, except that
// one for a full context includes the turn.
func (m *suggestions) observe(ctx context.Context, l *liveThread, a recording.Response) {
	if m.offerMode() == thread.OffersOff {
		return
	}
	sig := m.signalsOf(l.id)
	sig.load(ctx, l, a.Began)
	failedBefore := sig.failures
	sig.results(m.past.Entries(a.News))
	in := suggest.Input{Subject: sig.subject}
	if a.First {
		if sig.prompt != "" {
			sig.subject.Add(secret.Redact(sig.prompt), sig.answer)
			in.Subject = sig.subject
		}
		sig.prompt, sig.answer = plaintext.Cut(a.Prompt, thread.MaxExcerpt), "" // an offered fork needs it unredacted
		in.Prompt = secret.Redact(sig.prompt)
	}
	sig.answer = plaintext.Cut(sig.answer+" "+thread.Excerpt(a.Text), 4*thread.MaxExcerpt)
	if sig.failures > failedBefore {
		in.Failures, in.Failure = sig.failures, sig.failure
	}
	if a.EndsTurn { // a person cannot act on it in the middle of a turn
		in.Share = a.Gauge.Share()
	}
	s, ok := suggest.Consider(in)
	at := a.Began
	if s.Rule == suggest.RuleBand {
		at = a.Head
	}
	if !ok || at == "" || leaves(s.Rule) && at == l.thread().ForkPoint {
		return // a fork's first prompt is what it was created for
	}
	if last, was := sig.offered[s.Rule]; was && a.Turn-last < offerPause {
		return
	}
	if sig.offered == nil {
		sig.offered = make(map[suggest.Rule]int)
	}
	sig.offered[s.Rule] = a.Turn
	o := thread.Offer{ID: thread.NewID[string](), Thread: l.id, At: at, Label: s.Label, Rule: string(s.Rule), Why: s.Why}
	if leaves(s.Rule) {
		o.Prompt = sig.prompt
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

// signalsOf returns the signals of a thread, created at its first answer; those of purged threads are removed then.
func (m *suggestions) signalsOf(id thread.ID) *forkSignals {
	m.mu.Lock()
	defer m.mu.Unlock()
	sig := m.signals[id]
	if sig == nil {
		maps.DeleteFunc(m.signals, func(id thread.ID, _ *forkSignals) bool { return m.byID[id] == nil })
		sig = &forkSignals{}
		m.signals[id] = sig
	}
	return sig
}

// continued reports whether a thread continues in a fork that began with a summary of it.
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

// continueFresh accepts the offer for a full context without a person. If that fails, it becomes an ordinary offer.
func (m *suggestions) continueFresh(o thread.Offer) {
	f, err := m.forks.Fork(m.ctx, offered(o))
	if err != nil {
		m.notice(o.Thread, thread.LevelWarn, "%s, but the fork failed: %v", o.Why, err)
		m.addOffer(o)
		return
	}
	m.notice(f.ID, thread.LevelInfo, "forked to %s: %s", f.DisplayName(), o.Why)
	if _, err := m.life.Switch(m.ctx, string(f.ID)); err != nil {
		m.cfg.Log.Warn("show a fork", "thread", string(f.ID), "err", err)
	}
}

// offered returns the fork request for an offer. If the context is full the fork gets only a summary.
func offered(o thread.Offer) thread.ForkRequest {
	return thread.ForkRequest{
		Thread: string(o.Thread), At: string(o.At), Label: o.Label, Prompt: o.Prompt,
		Fresh: o.Rule == string(suggest.RuleBand),
	}
}

// leaves reports whether a rule is about a prompt that leaves its thread's subject.
func leaves(r suggest.Rule) bool { return r == suggest.RuleApproach || r == suggest.RuleSubject }

// alike reports whether two failures are the same except for numbers.
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

// addOffer publishes an offer and keeps it until it is answered.
func (m *suggestions) addOffer(o thread.Offer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	open := append(m.open, o)
	m.keepOffers(open[max(0, len(open)-maxOffers):])
}

// keepOffers replaces the open offers and publishes the threads that gained or lost one. core.mu is held.
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

// AnswerOffer answers a fork offer: "take" forks, "dismiss" drops it, "off" turns offers off.
func (m *suggestions) AnswerOffer(ctx context.Context, offerID, answer string) (thread.Status, error) {
	o, ok := m.takeOffer(offerID)
	if !ok {
		return thread.Status{}, thread.Hint(fmt.Errorf("offer %s: %w", offerID, thread.ErrNotFound),
			"it was already answered")
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
		return thread.Status{}, thread.Hint(fmt.Errorf("answer %q: %w", answer, thread.ErrInvalid),
			"use take, dismiss or off")
	}
}

// newest returns a thread's newest open offer, nil if it has none. core.mu is held.
func (m *suggestions) newest(id thread.ID) *thread.Offer {
	for i := len(m.open) - 1; i >= 0; i-- {
		if m.open[i].Thread == id {
			found := m.open[i]
			return &found
		}
	}
	return nil
}

// takeOffer removes and returns an open offer.
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

// SetOffers changes what happens to fork suggestions, permanently.
func (m *suggestions) SetOffers(ctx context.Context, mode thread.OfferMode) error {
	switch mode {
	case thread.OffersSuggest, thread.OffersAuto, thread.OffersOff:
	default:
		return thread.Hint(fmt.Errorf("offers %q: %w", mode, thread.ErrInvalid), "use suggest, auto or off")
	}
	m.mu.Lock()
	m.mode = mode
	if mode == thread.OffersOff {
		m.keepOffers(nil)
	}
	m.mu.Unlock()
	if err := m.cfg.Store.SetSetting(ctx, offersKey, string(mode)); err != nil {
		return fmt.Errorf("store the offer mode: %w", err)
	}
	return nil
}

// loadOffers loads what a person chose in an earlier run.
func (m *suggestions) loadOffers(ctx context.Context) {
	mode, err := m.cfg.Store.Setting(ctx, offersKey)
	if err != nil || mode == "" {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.mode = thread.OfferMode(mode)
}

// autoFork sends a prompt to a new fork if offers are automatic and the rules say that it leaves the thread's subject;
// nil if it belongs to the thread. The agent already has prompts that were typed in the terminal: for those only an
// offer is possible.
func (m *suggestions) autoFork(ctx context.Context, l *run, prompt string) (*run, error) {
	if m.offerMode() != thread.OffersAuto {
		return nil, nil
	}
	var s suggest.Offer
	ok := false
	err := l.do(ctx, func(ctx context.Context) error {
		sig := m.signalsOf(l.id)
		sig.load(ctx, &l.liveThread, l.recorder.Head(ctx))
		subject := sig.subject.Clone()
		if sig.prompt != "" { // the newest turn's prompt is not part of it yet
			subject.Add(secret.Redact(sig.prompt), sig.answer)
		}
		s, ok = suggest.Consider(suggest.Input{Prompt: thread.Excerpt(prompt), Subject: subject})
		return nil
	})
	if err != nil || !ok || !leaves(s.Rule) {
		return nil, err
	}
	f, err := m.forks.Fork(ctx, thread.ForkRequest{Thread: string(l.id), Label: s.Label, Prompt: prompt})
	if err != nil {
		return nil, fmt.Errorf("fork automatically: %w", err)
	}
	m.notice(f.ID, thread.LevelInfo, "forked %s as %s: %s", l.thread().DisplayName(), f.DisplayName(), s.Why)
	_, err = m.life.Switch(ctx, string(f.ID))
	return m.run(f.ID), err
}

// load reads the thread's subject from the stored turns.
func (sig *forkSignals) load(ctx context.Context, l *liveThread, head thread.CheckpointID) {
	if sig.loaded {
		return
	}
	sig.loaded = true
	if head == "" {
		return
	}
	list, err := l.cfg.Store.Lineage(ctx, head, thread.Page{Turns: true, Limit: subjectPast})
	if err != nil {
		l.cfg.Log.Warn("read the subject of a thread", "thread", string(l.id), "err", err)
		return
	}
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].Kind == thread.KindTurn {
			sig.subject.Add(list[i].Prompt, list[i].Answer)
		}
	}
}

// results counts similar tool failures.
func (sig *forkSignals) results(entries []thread.Entry) {
	for _, e := range entries {
		switch e.Kind {
		case thread.EntryCall:
			sig.subject.AddText(plaintext.Cut(e.Text, 500)) // file names say what a thread is about
		case thread.EntryResult:
			text := plaintext.OneLine(e.Text, 200)
			switch {
			case !e.Error:
				sig.failures, sig.failure = 0, ""
			case alike(text, sig.failure):
				sig.failures++
			default:
				sig.failures, sig.failure = 1, text
			}
		default:
		}
	}
}
