package manager

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"orchestrator/thread"
	"orchestrator/thread/manager/recording"
	"orchestrator/thread/plaintext"
)

// Bases has the use cases of what agents leave out of what they send before a word is said.
type Bases struct {
	cfg      *Config
	work     *work
	notices  *notices
	registry *registry
	offers   *Offers
	checker  *baseChecker

	offering sync.Mutex // held while slim is offered, so that it is once
}

// Profiles returns the names of all profiles: those of every agent, then the person's own.
func (m *Bases) Profiles() []string { return m.cfg.Base.Names() }

// Usable returns levers with why those are kept that did not work with their version, and what they did instead.
func (m *Bases) Usable(ctx context.Context, l thread.Levers) (thread.Levers, []thread.BaseWarning) {
	f := m.checker.of(ctx, l)
	return f.Without(l), f.Warnings(l)
}

// Own returns the profiles of the person's configuration.
func (m *Bases) Own() map[string]thread.OwnBase { return m.cfg.Base.Profiles }

// Set gives a thread another profile. One whose agent was never started takes it; for the others it waits for the next
// start, rewind or fork, because the agent's requests begin with other bytes then, which no cache has. Setting the
// profile that a thread has takes back what was to come.
func (m *Bases) Set(ctx context.Context, r thread.BaseRequest) (thread.BaseChange, error) {
	l, err := m.registry.find(r.Thread)
	if err != nil {
		return thread.BaseChange{}, err
	}
	if r.Forget {
		return m.forget(ctx, l.live)
	}
	var change thread.BaseChange
	err = l.live.do(ctx, func(ctx context.Context) error {
		if change, err = l.setBase(ctx, r); err == nil {
			m.offers.dropGiven(l.live.thread())
		}
		if err != nil {
			return fmt.Errorf("base of %s: %w", l.live.thread().Name, err)
		}
		return nil
	})
	return change, err
}

// forget forgets what did not work with the version of a thread's agent.
func (m *Bases) forget(ctx context.Context, live *liveThread) (thread.BaseChange, error) {
	t := live.thread()
	change := thread.BaseChange{Name: t.DisplayName(), Base: t.Base, Forgot: t.Agent}
	slimmer, ok := m.cfg.slimmer(t.Agent)
	if !ok {
		return change, nil
	}
	l, err := slimmer.Levers(ctx, thread.WorldSpec{Dir: t.Dir, Env: live.environs.env(t), Flags: t.Launch, Model: t.Model})
	if err != nil {
		return change, err
	}
	change.Forgot = l.Agent + " " + l.Version
	if change.Again, err = m.checker.forget(ctx, l); err != nil {
		return change, fmt.Errorf("forget what did not work with %s: %w", change.Forgot, err)
	}
	return change, nil
}

// setBase is the step of Set.
func (l *run) setBase(ctx context.Context, r thread.BaseRequest) (thread.BaseChange, error) {
	t := l.live.thread()
	if r.Profile == thread.BaseDefault {
		return thread.BaseChange{}, thread.Hint(thread.Kindf(thread.ErrInvalid, "no profile is named"), "name one, such as slim")
	}
	if err := l.cfg.checkBase(t.Agent, r.Profile); err != nil {
		return thread.BaseChange{}, err
	}
	if err := thread.CheckBaseLevers(r.Keep); err != nil {
		return thread.BaseChange{}, err
	}
	keep := slices.Compact(slices.Sorted(slices.Values(r.Keep)))
	change := thread.BaseChange{Name: t.DisplayName(), Base: t.Base}
	if _, ok := l.cfg.slimmer(t.Agent); !ok {
		return change, nil // it leaves nothing out, as asked
	}
	b := t.Base.Clone()
	_, own := l.cfg.Base.Profiles[r.Profile]
	switch has := b.Profile == r.Profile && slices.Equal(b.Keep, keep); {
	case !b.Chosen && !begunEarlier(t):
		b = thread.Base{Profile: r.Profile, Keep: keep, Why: thread.BaseByHand}
	case !b.Chosen && r.Profile == thread.BaseFull, b.Chosen && has && !own: // one's own may mean something else by now
		b.Next, b.NextKeep = "", nil
	default:
		b.Next, b.NextKeep = r.Profile, keep
	}
	if err := l.live.update(ctx, func(t *thread.Thread) error { t.Base = b; return nil }); err != nil {
		return thread.BaseChange{}, err
	}
	change.Base, change.Waits = b, b.Next != ""
	if !change.Waits {
		l.live.mu.Lock()
		l.live.restart = "" // that it waited for is taken back
		l.live.mu.Unlock()
	}
	if change.Waits {
		change.Tokens = t.Gauge.Tokens
	}
	return change, nil
}

// worthOffering is how many tokens a smaller base must save for people to be told of it.
const worthOffering = 1000

// offeredKey is the setting that notes that slim was offered for an agent in this project.
func offeredKey(agent string) string { return "base-offered-" + agent }

// observe offers slim once for an agent and project, after the first answer of a thread that the person opened by hand
// without choosing a profile.
func (m *Bases) observe(l *liveThread, a recording.Response) {
	t := l.thread()
	whole := a.Usage.Context()
	slimmer, ok := m.cfg.slimmer(t.Agent)
	if !ok || a.Turn != 1 || !a.First || t.Parent != "" || !t.Base.Unchosen() || t.Base.Next != "" || whole <= 0 ||
		m.offers.Mode() == thread.OffersOff || !m.work.begin() {
		return
	}
	go func() { // it counts all that the person said, and may ask the agent's program for its version
		defer m.work.done()
		sends := whole - int64(m.cfg.Tokens(a.Prompt))
		if sends <= 0 {
			return
		}
		if err := m.offer(m.work.closing, t, slimmer, l.environs.env(t), sends); err != nil {
			m.cfg.Log.Warn("offer a smaller base", "thread", string(t.ID), "err", err)
		}
	}()
}

// offer is observe for an agent that sends so many tokens before a word is said.
func (m *Bases) offer(ctx context.Context, t thread.Thread, slimmer thread.Slimmer, env []string, sends int64) error {
	m.offering.Lock()
	defer m.offering.Unlock()
	if said, err := m.cfg.Store.Setting(ctx, offeredKey(t.Agent)); err != nil || said != "" {
		return err
	}
	levers, err := slimmer.Levers(ctx, thread.WorldSpec{Dir: t.Dir, Env: env, Flags: t.Launch, Model: t.Model})
	if err != nil {
		return err
	}
	left, _, err := thread.ChooseBase(m.checker.without(ctx, levers), thread.BaseSlim, m.cfg.Base.Profiles, nil)
	if err != nil {
		return err
	}
	var saves int64
	for _, lever := range levers.Named(left) {
		saves += int64(lever.Saves)
	}
	if saves < worthOffering || saves >= sends {
		return nil
	}
	if err := m.cfg.Store.SetSetting(ctx, offeredKey(t.Agent), "yes"); err != nil {
		return err
	}
	m.notices.tell(t.ID, thread.Notice{
		Level: thread.LevelInfo, Kind: thread.HappenedContext,
		Text: fmt.Sprintf("%s sends about %s tokens before a word is said; with base slim it would send about %s. Use `orchestrator context base %s --set slim` "+
			"from its next start on, or set profile = \"slim\" in [context.base] of your configuration; `orchestrator help bases` says what is lost",
			t.Agent, thread.Tokens(sends), thread.Tokens(sends-saves), t.Name),
	})
	return nil
}

// compacted tells once that another profile, for which a thread waits, costs least now: the conversation, which must be
// written to the cache again with it, was just made short.
func (l *run) compacted() {
	t := l.live.thread()
	l.live.mu.Lock()
	told := l.live.baseTold == t.Base.Next
	l.live.baseTold = t.Base.Next
	l.live.mu.Unlock()
	if t.Base.Next == "" || told {
		return
	}
	l.notices.tell(t.ID, thread.Notice{
		Level: thread.LevelInfo, Kind: thread.HappenedContext,
		Text: fmt.Sprintf("%s was compacted: changing to base %s costs least now, because less of the conversation is written to the cache "+
			"again. Use `orchestrator stop %s`, then `orchestrator resume %s`", t.DisplayName(), plaintext.OneLine(t.Base.Next, thread.MaxBaseName), t.Name, t.Name),
	})
}
