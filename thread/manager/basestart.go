package manager

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"orchestrator/thread"
	"orchestrator/thread/failpoint"
)

// begunEarlier reports whether a thread was begun before there were profiles: since then each has one from the moment it
// is made, also a fork that was rewound before its agent was ever started.
func begunEarlier(t thread.Thread) bool {
	started := t.Session != "" || t.Interrupted || t.Exit != (thread.Exit{}) || t.Head != t.ForkPoint
	return !t.Base.Chosen && t.Base.Profile == thread.BaseDefault && started
}

// slimmer returns the agent if its base can be made smaller.
func (c *Config) slimmer(agent string) (thread.Slimmer, bool) {
	a, err := c.Agents.Agent(agent)
	if err != nil {
		return nil, false
	}
	s, ok := a.(thread.Slimmer)
	return s, ok
}

// checkBase rejects a profile that a thread's agent cannot have. One that leaves nothing out every agent can.
func (c *Config) checkBase(agent, profile string) error {
	if profile == thread.BaseDefault {
		return nil
	}
	if err := c.Base.CheckProfile(profile); err != nil {
		return err
	}
	if _, ok := c.slimmer(agent); !ok && profile != thread.BaseFull {
		return thread.Hint(thread.Kindf(thread.ErrUnsupported, "base %q: nothing can be left out of %s", profile, agent),
			"use full, or another agent")
	}
	return nil
}

// planBase returns the base that a new thread begins with; the zero one if its agent leaves nothing out.
func (c *Config) planBase(w thread.BaseWish) (thread.Base, error) {
	if err := c.checkBase(w.Agent, w.Profile); err != nil {
		return thread.Base{}, err
	}
	if _, ok := c.slimmer(w.Agent); !ok {
		return thread.Base{}, nil
	}
	return c.Base.Plan(w), nil
}

// baseAt returns what a thread's agent left out at one of its own checkpoints, or now at its newest one and at those that
// it was forked with; with what is set for its next start.
func (c *Config) baseAt(p thread.Thread, at thread.Checkpoint) thread.Base {
	b := p.Base.Clone()
	if _, ok := c.slimmer(p.Agent); !ok {
		return thread.Base{}
	}
	earlier := at.ID != "" && at.ID != p.Head && at.Thread == p.ID
	switch {
	case earlier && at.Base.Chosen:
		b = at.Base.Clone()
	case earlier && at.Base.Profile != thread.BaseDefault: // imported: it is settled here
		b = at.Base.Clone()
	case earlier, begunEarlier(p):
		b = thread.BegunBase()
	}
	b.Next, b.NextKeep = p.Base.Next, slices.Clone(p.Base.NextKeep)
	return b
}

// worldSpec returns where an agent is about to be started.
func worldSpec(t thread.Thread, spec thread.LaunchSpec) thread.WorldSpec {
	return thread.WorldSpec{
		Dir: spec.Dir, Origin: spec.Origin, Env: spec.Env, Flags: spec.Flags, Model: spec.Model,
		Once:   spec.Once.On,
		Closed: spec.MCP != nil && spec.MCP.Distrust[t.Agent],
	}
}

// base settles what the agent leaves out, at its first start or where the person has set another profile since, and
// stores it: no process is started before that. From then on it is the same at each start, whatever became of the
// configuration, the CLI and its levers.
func (l *run) base(ctx context.Context, agent thread.Agent, spec thread.LaunchSpec, aside string) ([]string, error) {
	t := l.live.thread()
	slimmer, ok := agent.(thread.Slimmer)
	if !ok || t.Base.Chosen && t.Base.Next == "" {
		return t.Base.Left, nil
	}
	b := t.Base.Clone()
	switch {
	case begunEarlier(t):
		b = thread.BegunBase()
		b.Next, b.NextKeep = t.Base.Next, t.Base.NextKeep
	case !b.Chosen && b.Profile == thread.BaseDefault: // made by an earlier build, and never started
		b = l.cfg.Base.Plan(thread.BaseWish{Agent: t.Agent})
	}
	was := b
	if b.Next != "" {
		b = thread.Base{Profile: b.Next, Keep: b.NextKeep, Why: thread.BaseByHand}
	}
	if !b.Chosen {
		var err error
		if b, err = l.settle(ctx, slimmer, was, b, worldSpec(t, spec)); err != nil {
			return nil, err
		}
	}
	if b.Unchecked = ""; aside != "" && len(b.Left) > 0 {
		b.Unchecked = aside
	}
	if err := l.live.update(ctx, func(t *thread.Thread) error { t.Base = b; return nil }); err != nil {
		return nil, fmt.Errorf("store what the agent leaves out: %w", err)
	}
	failpoint.Hit("thread.base.stored")
	return b.Left, nil
}

// settle finds out what a profile means for the agent as it is here. Where that cannot be found out, a thread for which
// the person did not ask for it leaves nothing out, and one that runs already goes on with what it has.
func (l *run) settle(
	ctx context.Context, slimmer thread.Slimmer, was, b thread.Base, where thread.WorldSpec,
) (thread.Base, error) {
	t := l.live.thread()
	if b.Profile == thread.BaseFull {
		return b.Full(b.Why), nil
	}
	levers, err := slimmer.Levers(ctx, where)
	levers = l.checker.without(ctx, levers)
	settled, kept := b, map[string]string(nil)
	if err == nil {
		settled, kept, err = b.Settled(levers, l.cfg.Base.Profiles, l.wanted(levers, t))
	}
	switch {
	case err == nil:
		l.kept(settled, kept)
		return settled, nil
	case was.Chosen: // a change that cannot be made
		l.notices.post(t.ID, thread.LevelWarn, "%s goes on with base %s, not %s: %v", t.DisplayName(), was.Profile, b.Profile, err)
		if errors.Is(err, thread.ErrInvalid) {
			was.Next, was.NextKeep = "", nil // its profile is gone
		}
		return was, nil
	case b.ByHand():
		return b, fmt.Errorf("base %s: %w", b.Profile, err)
	default:
		l.notices.post(t.ID, thread.LevelWarn, "%s is started with base full, not %s: %v", t.DisplayName(), b.Profile, err)
		return b.Full(fmt.Sprintf("%s could not be had: %v", b.Profile, err)), nil
	}
}

// kept tells which parts of a profile stay although somebody relies on it: the person chose it by hand, or the agent
// can change files or run commands with them.
func (l *run) kept(b thread.Base, kept map[string]string) {
	names := slices.Sorted(maps.Keys(kept))
	if len(kept) == 0 || !b.ByHand() && !acts(names) {
		return
	}
	t := l.live.thread()
	l.notices.post(t.ID, levelOf(names), "%s: base %s does not leave out everything it should. Its agent keeps %s",
		t.DisplayName(), b.Profile, thread.Reasons(kept))
}

// acts reports whether an agent can change files or run commands with one of some levers.
func acts(names []string) bool {
	return slices.Contains(names, thread.LeverEditing) || slices.Contains(names, thread.LeverShell)
}

func levelOf(names []string) thread.Level {
	if acts(names) {
		return thread.LevelWarn
	}
	return thread.LevelInfo
}

// wanted names what the thread's task needs: what its label and its waiting prompts speak of. What its arguments say of
// tools, the agent's levers have.
func (l *run) wanted(levers thread.Levers, t thread.Thread) []string {
	texts := []string{t.Label}
	l.typist.outbox.mu.Lock()
	for _, p := range l.typist.outbox.Filter(func(p thread.Prompt) bool { return !p.State.Over() }) {
		texts = append(texts, p.Text)
	}
	l.typist.outbox.mu.Unlock()
	names := map[string]bool{}
	for _, text := range texts {
		for _, name := range levers.Wanted(text) {
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// unused stores which of the levers that were chosen this start cannot leave out, and tells it if that was otherwise at the
// last one.
func (l *run) unused(ctx context.Context, launch thread.Launch) error {
	t := l.live.thread()
	now := slices.Sorted(maps.Keys(launch.Unused))
	if slices.Equal(now, t.Base.Unused) {
		return nil
	}
	if err := l.live.update(ctx, func(t *thread.Thread) error { t.Base.Unused = now; return nil }); err != nil {
		return fmt.Errorf("store what the agent does not leave out: %w", err)
	}
	if len(now) == 0 {
		l.notices.post(t.ID, thread.LevelInfo, "%s: base %s leaves out everything it should again", t.DisplayName(), t.Base.Profile)
		return nil
	}
	l.notices.post(t.ID, thread.LevelWarn, "%s: base %s does not leave out %s", t.DisplayName(), t.Base.Profile, thread.Reasons(launch.Unused))
	return nil
}
