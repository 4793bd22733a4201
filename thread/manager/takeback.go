package manager

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"orchestrator/thread"
	"orchestrator/thread/manager/past"
	"orchestrator/thread/manager/recording"
	"orchestrator/thread/plaintext"
)

// takeBacks offers to give back what a thread's base leaves out, once its agent asks for a tool that is gone or a prompt
// of the person speaks of what it is for; and gives it back. It never holds a prompt back, nor changes one.
type takeBacks struct {
	cfg   *Config
	past  past.Reader
	work  *work
	forks *Forks
	// set gives a thread another profile.
	set func(context.Context, thread.BaseRequest) (thread.BaseChange, error)
	// offer keeps an offer until it is answered, unless one for the same lever is open.
	offer func(thread.Offer)
	// offers returns whether anything is offered at all.
	offers func() thread.OfferMode

	mu   sync.Mutex // guards mode
	mode thread.OfferMode
}

// baseOffersKey is the setting that stores that a person turned offers of this kind off.
const baseOffersKey = "base-offers"

// The bounds on what is read of an answer to a call: those of missing tools are short.
const maxMissing = 4 << 10

// observe looks for calls of tools that are left out.
func (m *takeBacks) observe(l *liveThread, a recording.Response) {
	t := l.thread()
	slimmer, ok := m.cfg.slimmer(t.Agent)
	if !ok || len(t.Base.Left) == 0 {
		return
	}
	var missing []string
	add := func(names []string, of string) {
		for _, name := range names {
			if of == "" || of == name { // another tool's output may quote it
				missing = append(missing, name)
			}
		}
	}
	for _, e := range m.past.Entries(a.News) {
		if e.Kind == thread.EntryResult && len(e.Text) <= maxMissing {
			add(slimmer.Missing(e.Text), e.Tool)
		}
	}
	add(slimmer.Missing(plaintext.Cut(a.Text, maxMissing)), "")
	if len(missing) == 0 {
		return
	}
	m.offerFor(l, t, true, slimmer, func(levers thread.Levers) (thread.Lever, string, string) {
		for _, name := range missing {
			if lever, ok := levers.LeavingOut(t.Base.Left, name); ok && m.wants(t, lever.Name) {
				return lever, name, "its agent asked for it"
			}
		}
		return thread.Lever{}, "", ""
	})
}

// prompted looks for words of a prompt of the person that ask for what is left out.
func (m *takeBacks) prompted(l *liveThread, text string) {
	t := l.thread()
	slimmer, ok := m.cfg.slimmer(t.Agent)
	if !ok || len(t.Base.Left) == 0 {
		return
	}
	m.offerFor(l, t, false, slimmer, func(levers thread.Levers) (thread.Lever, string, string) {
		asked, words := levers.AskedFor(t.Base.Left, text)
		for i, lever := range asked {
			if m.wants(t, lever.Name) {
				return lever, cmp.Or(firstTool(lever), lever.Name), fmt.Sprintf("the prompt speaks of %q", words[i])
			}
		}
		return thread.Lever{}, "", ""
	})
}

// firstTool returns the name of a tool that goes with a lever, "" if none is named.
func firstTool(l thread.Lever) string {
	i := slices.IndexFunc(l.Tools, func(tool string) bool { return thread.PlainTool(tool) })
	if i < 0 {
		return ""
	}
	return l.Tools[i]
}

// wants reports whether a lever may be offered back: nobody declined it, and it is not to come already.
func (m *takeBacks) wants(t thread.Thread, lever string) bool {
	profile, keep := t.Base.ToCome()
	return profile != thread.BaseFull && !slices.Contains(keep, lever) && !slices.Contains(t.Declined, lever)
}

// offerFor offers what find finds among an agent's levers. It does not block: the agent's program may have to be asked
// for its version.
func (m *takeBacks) offerFor(
	l *liveThread, t thread.Thread, byAgent bool, slimmer thread.Slimmer, find func(thread.Levers) (lever thread.Lever, needs, why string),
) {
	if m.off() || !m.work.begin() {
		return
	}
	go func() {
		defer m.work.done()
		levers, err := slimmer.Levers(m.work.closing, thread.WorldSpec{Dir: t.Dir, Env: l.environs.env(t), Flags: t.Launch, Model: t.Model})
		if err != nil {
			m.cfg.Log.Warn("find what an agent leaves out", "thread", string(t.ID), "err", err)
			return
		}
		lever, needs, why := find(levers)
		if needs == "" || m.off() || !m.wants(l.thread(), lever.Name) { // a person may have answered meanwhile
			return
		}
		why += fmt.Sprintf("; its base leaves out %s: %s", lever.Name, lever.Lost)
		if n := l.thread().Gauge.Tokens; n > 0 {
			why += fmt.Sprintf("; with it up to %s tokens are written to the provider's cache again, which costs", thread.Tokens(n))
		}
		m.offer(thread.Offer{
			ID: thread.NewID[string](), Thread: t.ID, Rule: thread.OfferBase, Lever: lever.Name, Needs: plaintext.OneLine(needs, 80), Why: why, ByAgent: byAgent,
		})
	}()
}

// off reports whether nothing is offered back, or nothing is offered at all.
func (m *takeBacks) off() bool {
	m.mu.Lock()
	mode := m.mode
	m.mu.Unlock()
	return mode == thread.OffersOff || m.offers() == thread.OffersOff
}

// answer answers an offer: "take" gives it back and restarts the agent once it waits, "fork" gives it to a fork,
// "dismiss" has it not offered again in that thread, "off" in none.
func (m *takeBacks) answer(ctx context.Context, l *run, o thread.Offer, answer string) (thread.Status, error) {
	var err error
	switch answer {
	case "take":
		t := l.live.thread()
		profile, keep := t.Base.With(o.Lever)
		if _, err = m.set(ctx, thread.BaseRequest{Thread: string(t.ID), Profile: profile, Keep: keep}); err == nil {
			restartSoon(l, "it has "+o.Needs+" again")
		}
	case "fork":
		t := l.live.thread()
		profile, keep := t.Base.With(o.Lever)
		return m.forks.Fork(ctx, thread.ForkRequest{Thread: string(t.ID), Label: o.Needs, Base: profile, Keep: keep})
	case "dismiss":
		err = l.live.do(ctx, func(ctx context.Context) error {
			return l.live.update(ctx, func(t *thread.Thread) error {
				t.Declined = slices.Compact(slices.Sorted(slices.Values(append(t.Declined, o.Lever))))
				return nil
			})
		})
	case "off":
		err = m.setMode(ctx, thread.OffersOff)
	default:
		err = thread.Hint(fmt.Errorf("answer %q: %w", answer, thread.ErrInvalid), "use take, fork, dismiss or off")
	}
	return l.live.current(), err
}

// setMode changes whether levers are offered back, permanently.
func (m *takeBacks) setMode(ctx context.Context, mode thread.OfferMode) error {
	m.mu.Lock()
	m.mode = mode
	m.mu.Unlock()
	if err := m.cfg.Store.SetSetting(ctx, baseOffersKey, string(mode)); err != nil {
		return fmt.Errorf("store the offer mode: %w", err)
	}
	return nil
}

// load loads what a person chose in an earlier run.
func (m *takeBacks) load(ctx context.Context) {
	if mode, err := m.cfg.Store.Setting(ctx, baseOffersKey); err == nil {
		m.mu.Lock()
		m.mode = thread.OfferMode(mode)
		m.mu.Unlock()
	}
}
