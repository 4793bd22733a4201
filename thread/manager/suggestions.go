package manager

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"orchestrator/thread"
	"orchestrator/thread/manager/offers"
	"orchestrator/thread/manager/outbox"
	"orchestrator/thread/manager/recording"
	"orchestrator/thread/suggest"
)

// suggestions offers forks by the rules of package suggest. It observes answers and is not part of recording them.
type suggestions struct {
	*registry
	forks *forks
	life  *lifecycle

	// What follows is guarded by core.mu.

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

// OfferMode returns what happens to suggestions.
func (m *suggestions) OfferMode() thread.OfferMode {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.mode == "" {
		return thread.OffersSuggest
	}
	return m.mode
}

// observe looks at a response and offers a fork if the rules say so.
func (m *suggestions) observe(ctx context.Context, l *liveThread, a recording.Response) {
	if m.OfferMode() == thread.OffersOff {
		return
	}
	if a.EndsTurn {
		m.drop(func(o thread.Offer) bool { return o.Thread == l.id && offers.Past(o, a.Gauge) })
	}
	o, ok := m.signalsOf(l.id).Observe(ctx, a, l.thread().ForkPoint)
	if !ok {
		return
	}
	if offers.Full(o) && !m.runsLines(l.thread().Agent) && m.OfferMode() == thread.OffersAuto && !m.continued(l.id) && m.begin() {
		go func() { // a fork waits for steps of this thread
			defer m.done()
			m.continueFresh(o)
		}()
		return
	}
	m.addOffer(o)
}

// signalsOf returns the signals of a thread, created at its first answer; those of purged threads are removed then.
func (m *suggestions) signalsOf(id thread.ID) *offers.Signals {
	m.mu.Lock()
	defer m.mu.Unlock()
	sig := m.signals[id]
	if sig == nil {
		maps.DeleteFunc(m.signals, func(id thread.ID, _ *offers.Signals) bool { return m.byID[id] == nil })
		sig = offers.NewSignals(id, m.past)
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
	moved := m.move(o)
	f, err := m.forks.Fork(m.ctx, offers.Request(o))
	if err != nil {
		m.notice(o.Thread, thread.LevelWarn, "%s, but the fork failed: %v", o.Why, err)
		m.addOffer(o)
		moved("", fmt.Sprintf("%s, but the fork failed: %v", o.Why, err))
		return
	}
	moved(f.ID, "it goes on in "+f.Name)
	m.notice(f.ID, thread.LevelInfo, "forked to %s: %s", f.DisplayName(), o.Why)
	if _, err := m.life.Switch(m.ctx, string(f.ID)); err != nil {
		m.cfg.Log.Warn("show a fork", "thread", string(f.ID), "err", err)
	}
}

// move records that the prompt of an offer goes on in a fork that is being made. What it returns records how that ended:
// in the fork, or, without one, refused for a reason.
func (m *suggestions) move(o thread.Offer) (ended func(fork thread.ID, why string)) {
	l := m.run(o.Thread)
	if l == nil || o.Prompt == "" {
		return func(thread.ID, string) {}
	}
	l.outbox.mu.Lock()
	defer l.outbox.mu.Unlock()
	found := l.outbox.Claim(o.Prompt, false)
	if len(found) == 0 {
		found = l.outbox.ClaimPast(o.Prompt) // judged already
	}
	for _, p := range found {
		l.put(m.ctx, l.after(p, outbox.Moved, "it goes on in a fork that is being made")) //nolint:errcheck // logged; the outbox has it
	}
	return func(fork thread.ID, why string) {
		l.outbox.mu.Lock()
		defer l.outbox.mu.Unlock()
		for _, p := range found {
			p, known := l.outbox.Prompt(p.ID)
			switch {
			case !known:
				continue
			case fork == "":
				p = l.after(p, outbox.Refused, why)
			default:
				p = l.after(p, outbox.Moved, why)
				p.Fork = fork
			}
			l.put(m.ctx, p) //nolint:errcheck // logged; the outbox has it
		}
		l.typeNext()
	}
}

// Outgrown tells that a thread's request was not sent because its context is full. If offers are automatic, its prompt
// goes on in a fork that begins with a summary; Outgrown reports whether it does.
func (m *suggestions) Outgrown(id thread.ID, prompt string) bool {
	l := m.run(id)
	if m.OfferMode() != thread.OffersAuto || m.continued(id) || l == nil || m.runsLines(l.thread().Agent) {
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
	if !m.begin() {
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.going, id)
		return false
	}
	found, _ := suggest.Consider(suggest.Input{Prompt: thread.Excerpt(prompt), Share: full})
	go func() {
		defer m.done()
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
func (m *suggestions) addOffer(o thread.Offer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	open := append(m.open, o)
	m.keepOffers(open[max(0, len(open)-maxOffers):])
}

// drop takes back open offers.
func (m *suggestions) drop(which func(thread.Offer) bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if slices.ContainsFunc(m.open, which) {
		m.keepOffers(slices.DeleteFunc(slices.Clone(m.open), which))
	}
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
	if o.Server != "" {
		return l.current(), m.answerServer(ctx, o, answer)
	}
	switch answer {
	case "take":
		r := offers.Request(o)
		if err := m.consented(l.thread().Agent, thread.Prompt{From: thread.FromFirst, Text: r.Prompt}); err != nil {
			r.Prompt = ""
			m.notice(l.id, thread.LevelWarn, "%s: the prompt of the fork was not typed: %v", l.thread().DisplayName(), err)
		}
		return m.forks.Fork(ctx, r)
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

// SuggestMCP offers to switch on an MCP server for a thread, unless a person turned such offers off or one is open.
func (m *suggestions) SuggestMCP(id thread.ID, server, why string) {
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
func (m *suggestions) answerServer(ctx context.Context, o thread.Offer, answer string) error {
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
	} else {
		m.servers = mode // whoever wants offers again wants those of servers too
	}
	m.mu.Unlock()
	for _, key := range []string{offersKey, serverOffersKey} {
		if err := m.cfg.Store.SetSetting(ctx, key, string(mode)); err != nil {
			return fmt.Errorf("store the offer mode: %w", err)
		}
	}
	return nil
}

// loadOffers loads what a person chose in an earlier run.
func (m *suggestions) loadOffers(ctx context.Context) {
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
func (m *suggestions) autoFork(ctx context.Context, l *run, prompt string) (*run, error) {
	if m.OfferMode() != thread.OffersAuto || m.runsLines(l.thread().Agent) {
		return nil, nil
	}
	var s suggest.Offer
	ok := false
	err := l.do(ctx, func(ctx context.Context) error {
		s, ok = m.signalsOf(l.id).Leaves(ctx, l.recorder.Head(ctx), prompt)
		return nil
	})
	if err != nil || !ok {
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
