package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"orchestrator/cmd/orchestrator/agents"
	"orchestrator/contextmgr/base"
	"orchestrator/thread"
	"orchestrator/thread/manager"
)

// bases tells what agents send before a word is said.
type bases struct {
	manager *manager.Manager
	agents  agents.All
	watcher *base.Watcher
	env     []string

	mu    sync.Mutex // guards known
	known map[whereabouts]levers
}

// whereabouts is where an agent can be started, and levers are what it could leave out there, or why that is not known.
type whereabouts struct{ agent, dir, model, flags string }

type levers struct {
	thread.Levers
	err error
	at  time.Time
}

// parts tells the texts of a thread's request apart.
func (b *bases) parts(id thread.ID, texts []thread.BaseText) []thread.BaseText {
	s, err := b.manager.Threads.Status(context.Background(), string(id))
	if err != nil {
		return texts
	}
	if slimmer, ok := b.slimmer(s.Agent); ok {
		return slimmer.BaseParts(texts)
	}
	return texts
}

func (b *bases) slimmer(agent string) (thread.Slimmer, bool) {
	one, err := b.agents.Agent(agent)
	if err != nil {
		return nil, false
	}
	slimmer, ok := one.(thread.Slimmer)
	return slimmer, ok
}

// leversLimit is how long a report on a context waits for the names of what could be left out.
const leversLimit = 2 * time.Second

// leversFresh is how long what an agent can leave out is not asked for again.
const leversFresh = time.Minute

// levers returns what an agent could leave out that runs somewhere.
func (b *bases) levers(ctx context.Context, agent string, spec thread.WorldSpec) (thread.Levers, error) {
	slimmer, ok := b.slimmer(agent)
	if !ok {
		return thread.Levers{}, nil
	}
	flags, err := json.Marshal(spec.Flags)
	if err != nil {
		return thread.Levers{}, fmt.Errorf("read the flags of %s: %w", agent, err)
	}
	at := whereabouts{agent, spec.Dir, spec.Model, string(flags)}
	b.mu.Lock()
	l, ok := b.known[at]
	b.mu.Unlock()
	if ok && time.Since(l.at) < leversFresh {
		return l.Levers, l.err
	}
	l.Levers, l.err = slimmer.Levers(ctx, spec)
	l.at = time.Now()
	if ctx.Err() != nil {
		return l.Levers, l.err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.known) > 100 { // of folders that are gone
		clear(b.known)
	}
	b.known[at] = l
	return l.Levers, l.err
}

// spec describes where a thread's agent runs.
func (b *bases) spec(s thread.Status) thread.WorldSpec {
	return thread.WorldSpec{Dir: s.Dir, Env: b.env, Flags: s.Launch, Model: s.Model}
}

// fill adds what is known of a thread's base to a report on its context.
func (b *bases) fill(ctx context.Context, s thread.Status, r *thread.ContextReport) {
	f, err := b.watcher.First(s.ID)
	if err != nil || f == nil {
		return
	}
	r.Base, r.BaseParts = f.Corrected()
	ctx, cancel := context.WithTimeout(ctx, leversLimit)
	defer cancel()
	if l, err := b.levers(ctx, s.Agent, b.spec(s)); err == nil {
		for i := range r.BaseParts {
			r.BaseParts[i].Lever = l.LeftOutBy(r.BaseParts[i])
		}
	}
}

// Why a report has no first request.
const (
	noneSeen = "no request seen yet: start one"
	noneOf   = "no request seen yet: its next prompt shows it"
	noneEver = "its requests do not come through the gateway"
)

// report tells what a thread's agent sends before a word is said: of a thread, of the newest one of an agent, or of the
// newest one at all.
func (b *bases) report(ctx context.Context, q thread.BaseQuery) (thread.BaseReport, error) {
	if q.Thread != "" {
		s, err := b.manager.Threads.Status(ctx, q.Thread)
		if err != nil {
			return thread.BaseReport{}, err
		}
		f, err := b.watcher.First(s.ID)
		if err != nil {
			return thread.BaseReport{}, fmt.Errorf("base of %s: %w", s.Name, err)
		}
		r := b.of(s, f)
		switch {
		case f != nil:
		case s.Launch.NoGateway || s.Aside != "" || s.Around:
			r.Reason = noneEver
		default:
			r.Reason = noneOf
		}
		return r, b.judge(ctx, &r, b.spec(s))
	}
	if q.Agent != "" {
		if _, err := b.agents.Agent(q.Agent); err != nil {
			return thread.BaseReport{}, err
		}
	}
	list, err := b.manager.Threads.List(ctx)
	if err != nil {
		return thread.BaseReport{}, err
	}
	slices.SortFunc(list, func(a, b thread.Status) int { return b.Updated.Compare(a.Updated) })
	for _, s := range list {
		if q.Agent != "" && s.Agent != q.Agent {
			continue
		}
		if f, err := b.watcher.First(s.ID); err == nil && f != nil {
			r := b.of(s, f)
			return r, b.judge(ctx, &r, b.spec(s))
		}
	}
	r := thread.BaseReport{Agent: q.Agent, Reason: noneSeen}
	return r, b.judge(ctx, &r, thread.WorldSpec{Dir: q.Dir, Env: b.env})
}

// of returns what is known of a thread.
func (b *bases) of(s thread.Status, f *base.First) thread.BaseReport {
	r := thread.BaseReport{Thread: s.ID, Name: s.Name, Agent: s.Agent, Base: s.Base, Version: s.Base.Version, Model: s.Model}
	if f != nil {
		f.Fill(&r)
	}
	return r
}

// judge adds what could be left out, and what makes the base larger.
func (b *bases) judge(ctx context.Context, r *thread.BaseReport, spec thread.WorldSpec) error {
	l, err := b.levers(ctx, r.Agent, spec)
	if err != nil && errors.Is(err, context.Cause(ctx)) {
		return err
	}
	if err != nil { // its program is not there, for example: what was seen is known all the same
		r.Warnings = append(r.Warnings, thread.BaseWarning{What: "what could be left out is not known: " + err.Error()})
	}
	l, tried := b.manager.Bases.Usable(ctx, l)
	r.Warnings = append(r.Warnings, tried...)
	r.Judge(l, b.manager.Bases.Own())
	if slimmer, ok := b.slimmer(r.Agent); ok {
		r.Warnings = append(r.Warnings, slimmer.Surroundings(spec)...)
	}
	return nil
}
