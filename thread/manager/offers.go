package manager

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"orchestrator/thread"
	"orchestrator/thread/manager/offers"
	"orchestrator/thread/manager/outbox"
	"orchestrator/thread/manager/past"
	"orchestrator/thread/manager/recording"
	"orchestrator/thread/suggest"
)

// Offers offers forks by the rules of package suggest. It observes answers and is not part of recording them.
type Offers struct {
	cfg      *Config
	past     past.Reader
	work     *work
	notices  *notices
	registry *registry
	forks    *Forks
	life     *Lifecycle
	back     *takeBacks

	mu      sync.Mutex // guards what follows; taken before that of a thread
	mode    thread.OfferMode
	servers thread.OfferMode              // for offers of MCP servers
	open    []thread.Offer                // unanswered, oldest first
	signals map[thread.ID]*offers.Signals // each is used by the steps of its thread's queue
	going   map[thread.ID]bool            // goes on in a fork that is being made
}

// The settings that store that a person turned offers off.
const (
	offersKey       = "offers"
	serverOffersKey = "mcp-offers"
)

// maxOffers is how many unanswered offers are kept.
const maxOffers = 100

// Mode returns what happens to suggestions.
func (m *Offers) Mode() thread.OfferMode {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.mode == "" {
		return thread.OffersSuggest
	}
	return m.mode
}

// observe looks at a response and offers a fork if the rules say so.
func (m *Offers) observe(ctx context.Context, l *liveThread, a recording.Response) {
	m.dropGiven(l.thread())
	if m.Mode() == thread.OffersOff {
		return
	}
	m.back.observe(l, a)
	if a.EndsTurn {
		m.drop(func(o thread.Offer) bool { return o.Thread == l.id && offers.Past(o, a.Gauge) })
	}
	o, ok := m.signalsOf(l.id).Observe(ctx, a, l.thread().ForkPoint)
	if !ok {
		return
	}
	if offers.Full(o) && !m.cfg.runsLines(l.thread().Agent) && m.Mode() == thread.OffersAuto && !m.continued(l.id) && m.work.begin() {
		go func() { // a fork waits for steps of this thread
			defer m.work.done()
			m.continueFresh(o)
		}()
		return
	}
	m.addOffer(o)
}

// signalsOf returns the signals of a thread, created at its first answer; those of purged threads are removed then.
func (m *Offers) signalsOf(id thread.ID) *offers.Signals {
	m.mu.Lock()
	defer m.mu.Unlock()
	sig := m.signals[id]
	if sig == nil {
		maps.DeleteFunc(m.signals, func(id thread.ID, _ *offers.Signals) bool { return m.registry.loaded(id) == nil })
		sig = offers.NewSignals(id, m.past)
		m.signals[id] = sig
	}
	return sig
}

// continued reports whether a thread continues in a fork that began with a summary of it. If that cannot be told it does:
// no second fork is made without a person.
func (m *Offers) continued(id thread.ID) bool {
	fork := func(t *thread.Thread) bool { return t.Parent == id && t.Handoff != nil && t.Handoff.Fresh }
	if slices.ContainsFunc(m.registry.index.all(), func(l *liveThread) bool { return l.is(fork) }) {
		return true
	}
	resting, err := m.registry.index.atRest(fork)
	return err != nil || len(resting) > 0
}

// continueFresh accepts the offer for a full context without a person. If that fails, it becomes an ordinary offer.
func (m *Offers) continueFresh(o thread.Offer) {
	moved := m.move(o)
	f, err := m.forks.Fork(m.work.ctx, offers.Request(o))
	if err != nil {
		m.notices.post(o.Thread, thread.LevelWarn, "%s, but the fork failed: %v", o.Why, err)
		m.addOffer(o)
		moved("", fmt.Sprintf("%s, but the fork failed: %v", o.Why, err))
		return
	}
	moved(f.ID, "it goes on in "+f.Name)
	m.notices.post(f.ID, thread.LevelInfo, "forked to %s: %s", f.DisplayName(), o.Why)
	if _, err := m.life.Switch(m.work.ctx, string(f.ID)); err != nil {
		m.cfg.Log.Warn("show a fork", "thread", string(f.ID), "err", err)
	}
}

// move records that the prompt of an offer goes on in a fork that is being made. What it returns records how that ended:
// in the fork, or, without one, refused for a reason.
func (m *Offers) move(o thread.Offer) (ended func(fork thread.ID, why string)) {
	l := m.registry.run(o.Thread)
	if l == nil || o.Prompt == "" {
		return func(thread.ID, string) {}
	}
	l.typist.outbox.mu.Lock()
	defer l.typist.outbox.mu.Unlock()
	found := l.typist.outbox.Claim(o.Prompt, false)
	if len(found) == 0 {
		found = l.typist.outbox.ClaimPast(o.Prompt) // judged already
	}
	for _, p := range found {
		l.typist.put(m.work.ctx, l.typist.after(p, outbox.Moved, "it goes on in a fork that is being made")) //nolint:errcheck // logged; the outbox has it
	}
	return func(fork thread.ID, why string) {
		l.typist.outbox.mu.Lock()
		defer l.typist.outbox.mu.Unlock()
		for _, p := range found {
			p, known := l.typist.outbox.Prompt(p.ID)
			switch {
			case !known:
				continue
			case fork == "":
				p = l.typist.after(p, outbox.Refused, why)
			default:
				p = l.typist.after(p, outbox.Moved, why)
				p.Fork = fork
			}
			l.typist.put(m.work.ctx, p) //nolint:errcheck // logged; the outbox has it
		}
		l.typist.wake()
	}
}

// Outgrown tells that a thread's request was not sent because its context is full. If offers are automatic, its prompt
// goes on in a fork that begins with a summary; Outgrown reports whether it does.
func (m *Offers) Outgrown(id thread.ID, prompt string) bool {
	l := m.registry.run(id)
	if m.Mode() != thread.OffersAuto || m.continued(id) || l == nil || m.cfg.runsLines(l.live.thread().Agent) {
		return false
	}
	m.mu.Lock()
	if m.going == nil {
		m.going = map[thread.ID]bool{}
	}
	going := m.going[id]
	m.going[id] = true
	m.mu.Unlock()
	if going {
		return true
	}
	if !m.work.begin() {
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.going, id)
		return false
	}
	found, _ := suggest.Consider(suggest.Input{Prompt: thread.Excerpt(prompt), Share: full})
	go func() {
		defer m.work.done()
		m.continueFresh(thread.Offer{
			ID: thread.NewID[string](), Thread: id, Label: found.Label, Rule: string(found.Rule), Why: found.Why, Prompt: prompt,
		})
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.going, id)
	}()
	return true
}

// full is the share in percent of a full context.
const full = 100

// addOffer publishes an offer and keeps it until it is answered.
func (m *Offers) addOffer(o thread.Offer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	open := append(m.open, o)
	m.keepOffers(open[max(0, len(open)-maxOffers):])
}

// addBack is addOffer for a lever of a base, once for each.
func (m *Offers) addBack(o thread.Offer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	same := func(p thread.Offer) bool { return p.Thread == o.Thread && p.Lever == o.Lever }
	if !slices.ContainsFunc(m.open, same) {
		open := append(m.open, o)
		m.keepOffers(open[max(0, len(open)-maxOffers):])
	}
}

// drop takes back open offers.
func (m *Offers) drop(which func(thread.Offer) bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if slices.ContainsFunc(m.open, which) {
		m.keepOffers(slices.DeleteFunc(slices.Clone(m.open), which))
	}
}

// keepOffers replaces the open offers and publishes the threads that gained or lost one. mu is held.
func (m *Offers) keepOffers(open []thread.Offer) {
	changed := map[thread.ID]bool{}
	for _, o := range slices.Concat(m.open, open) {
		changed[o.Thread] = true
	}
	m.open = open
	for id := range changed {
		if l := m.registry.index.other(id); l != nil {
			l.mu.Lock()
			l.offer = m.newest(id)
			l.show()
			l.mu.Unlock()
		}
	}
}

// ForPerson reports whether an open offer is one that only the person may answer: what an agent leaves out it does not
// give itself back.
func (m *Offers) ForPerson(offerID string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.ContainsFunc(m.open, func(o thread.Offer) bool { return o.ID == offerID && o.Lever != "" })
}

// Answer answers a fork offer: "take" forks, "dismiss" drops it, "off" turns offers off.
func (m *Offers) Answer(ctx context.Context, offerID, answer string) (thread.Status, error) {
	o, ok := m.takeOffer(offerID)
	if !ok {
		return thread.Status{}, thread.Hint(fmt.Errorf("offer %s: %w", offerID, thread.ErrNotFound),
			"it was already answered")
	}
	l, err := m.registry.certain(ctx, o.Thread)
	if err != nil {
		m.addOffer(o) // not answered
		return thread.Status{}, err
	}
	if l == nil {
		return thread.Status{}, fmt.Errorf("offer for thread %s: %w", o.Thread, thread.ErrNotFound)
	}
	switch {
	case o.Server != "":
		return l.live.current(), m.answerServer(ctx, o, answer)
	case o.Lever != "":
		s, err := m.back.answer(ctx, l, o, answer)
		if err == nil && answer == "off" {
			m.drop(func(o thread.Offer) bool { return o.Lever != "" })
		}
		if err != nil {
			m.addOffer(o) // not answered
		}
		return s, err
	}
	switch answer {
	case "take":
		r := offers.Request(o)
		if err := m.cfg.consented(l.live.thread().Agent, thread.Prompt{From: thread.FromFirst, Text: r.Prompt}); err != nil {
			r.Prompt = ""
			m.notices.post(l.live.id, thread.LevelWarn, "%s: the prompt of the fork was not typed: %v", l.live.thread().DisplayName(), err)
		}
		return m.forks.Fork(ctx, r)
	case "dismiss":
		return l.live.current(), nil
	case "off":
		err := m.SetMode(ctx, thread.OffersOff)
		return l.live.current(), err
	default:
		m.addOffer(o) // not answered
		return thread.Status{}, thread.Hint(fmt.Errorf("answer %q: %w", answer, thread.ErrInvalid),
			"use take, dismiss or off")
	}
}

// SuggestMCP offers to switch on an MCP server for a thread, unless a person turned such offers off or one is open.
func (m *Offers) SuggestMCP(id thread.ID, server, why string) {
	m.mu.Lock()
	off := m.servers == thread.OffersOff || m.mode == thread.OffersOff
	open := m.newest(id) != nil
	m.mu.Unlock()
	if off || open {
		return
	}
	m.addOffer(thread.Offer{ID: thread.NewID[string](), Thread: id, Rule: "mcp", Why: why, Server: server})
}

// answerServer answers an offer to switch on an MCP server. "off" turns off offers of that kind only.
func (m *Offers) answerServer(ctx context.Context, o thread.Offer, answer string) error {
	switch answer {
	case "take":
		if m.cfg.MCP == nil {
			return fmt.Errorf("switch on %s: %w", o.Server, thread.ErrUnsupported)
		}
		return m.cfg.MCP.Take(ctx, o.Thread, o.Server, o.Why)
	case "dismiss":
		return nil
	case "off":
		m.mu.Lock()
		m.servers = thread.OffersOff
		m.mu.Unlock()
		if err := m.cfg.Store.SetSetting(ctx, serverOffersKey, string(thread.OffersOff)); err != nil {
			return fmt.Errorf("store the offer mode: %w", err)
		}
		return nil
	default:
		m.addOffer(o) // not answered
		return thread.Hint(fmt.Errorf("answer %q: %w", answer, thread.ErrInvalid), "use take, dismiss or off")
	}
}

// dropGiven drops the offers of what a thread's base no longer leaves out, or not from its next start on.
func (m *Offers) dropGiven(t thread.Thread) {
	m.drop(func(o thread.Offer) bool {
		return o.Thread == t.ID && o.Lever != "" && (!slices.Contains(t.Base.Left, o.Lever) || !m.back.wants(t, o.Lever))
	})
}

// newest returns the open offer that is shown for a thread, nil if it has none: first the newest of what its prompt needs,
// last one that its agent brought about, which could come at a moment when a person answers what stood there. mu is held.
func (m *Offers) newest(id thread.ID) (found *thread.Offer) {
	for _, o := range m.open {
		if o.Thread == id && (found == nil || urgency(o) >= urgency(*found)) {
			found = &o
		}
	}
	return found
}

func urgency(o thread.Offer) int {
	switch {
	case o.ByAgent:
		return 0
	case o.Lever == "":
		return 1
	default:
		return 2
	}
}

// takeOffer removes and returns an open offer.
func (m *Offers) takeOffer(id string) (thread.Offer, bool) {
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

// SetMode changes what happens to fork suggestions, permanently.
func (m *Offers) SetMode(ctx context.Context, mode thread.OfferMode) error {
	switch mode {
	case thread.OffersSuggest, thread.OffersAuto, thread.OffersOff:
	default:
		return thread.Hint(fmt.Errorf("offers %q: %w", mode, thread.ErrInvalid), "use suggest, auto or off")
	}
	m.mu.Lock()
	m.mode = mode
	if mode == thread.OffersOff {
		m.keepOffers(nil)
	} else {
		m.servers = mode // whoever wants offers again wants the others too
	}
	m.mu.Unlock()
	if err := m.back.setMode(ctx, mode); err != nil {
		return err
	}
	for _, key := range []string{offersKey, serverOffersKey} {
		if err := m.cfg.Store.SetSetting(ctx, key, string(mode)); err != nil {
			return fmt.Errorf("store the offer mode: %w", err)
		}
	}
	return nil
}

// loadOffers loads what a person chose in an earlier run.
func (m *Offers) loadOffers(ctx context.Context) {
	m.back.load(ctx)
	if mode, err := m.cfg.Store.Setting(ctx, serverOffersKey); err == nil {
		m.mu.Lock()
		m.servers = thread.OfferMode(mode)
		m.mu.Unlock()
	}
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
func (m *Offers) autoFork(ctx context.Context, l *run, prompt string) (*run, error) {
	if m.Mode() != thread.OffersAuto || m.cfg.runsLines(l.live.thread().Agent) {
		return nil, nil
	}
	var s suggest.Offer
	ok := false
	err := l.live.do(ctx, func(ctx context.Context) error {
		s, ok = m.signalsOf(l.live.id).Leaves(ctx, l.recorder.Head(ctx), prompt)
		return nil
	})
	if err != nil || !ok {
		return nil, err
	}
	f, err := m.forks.Fork(ctx, thread.ForkRequest{Thread: string(l.live.id), Label: s.Label, Prompt: prompt})
	if err != nil {
		return nil, fmt.Errorf("fork automatically: %w", err)
	}
	m.notices.post(f.ID, thread.LevelInfo, "forked %s as %s: %s", l.live.thread().DisplayName(), f.DisplayName(), s.Why)
	_, err = m.life.Switch(ctx, string(f.ID))
	return m.registry.run(f.ID), err
}
