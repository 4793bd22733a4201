package manager

import (
	"errors"
	"slices"

	"orchestrator/thread"
	"orchestrator/thread/budget"
	exec "orchestrator/thread/work"
)

// deepest bounds how many agents that asked for each other are looked at.
const deepest = 32

// payers knows what pays for what.
type payers struct {
	cfg      *Config
	work     *work
	registry *registry
	open     *openRuns
	known    func() budget.Limits
	sessions *workSessions
}

// now returns what pays for a thread's requests now, the narrowest first.
func (m *payers) now(id thread.ID) ([]budget.Payer, error) {
	x, _ := m.open.holding(id)
	x.Thread = id
	return m.of(x)
}

// lineage is who pays for what besides the project. It is one rule for what is spent now and for what was spent before.
type lineage struct {
	// execution returns one by its id, the zero one if there is none, and place the group and the work session of a thread.
	execution func(exec.ID) (exec.Execution, error)
	place     func(thread.ID) (group, session string, err error)
	// by are the threads whose agents have started others.
	by map[thread.ID]thread.ID
}

// each calls pay with each scope that pays for an execution, once, the narrowest first: itself, its group, its work session,
// its thread, and likewise whoever has asked for it. One without an id stands for what a thread does in a terminal.
func (m lineage) each(x exec.Execution, pay func(budget.Scope, exec.Execution) error) (err error) {
	seen := map[budget.Scope]bool{{Kind: budget.Execution}: true, {Kind: budget.Group}: true, budget.OfSession(""): true}
	for range deepest {
		by := x.By
		if x.ID == "" {
			if x.Group, x.Session, err = m.place(x.Thread); err != nil {
				return err
			}
			by = m.by[x.Thread]
		}
		for _, s := range []budget.Scope{
			{Kind: budget.Execution, ID: string(x.ID)}, {Kind: budget.Group, ID: x.Group}, budget.OfSession(x.Session),
			{Kind: budget.Thread, ID: string(x.Thread)},
		} {
			if seen[s] || s.Kind == budget.Thread && s.ID == "" {
				continue
			}
			seen[s] = true
			if err := pay(s, x); err != nil {
				return err
			}
		}
		if x.Thread == "" {
			break
		}
		if x, err = m.execution(x.Within); err != nil {
			return err
		}
		x.Thread = by
	}
	return nil
}

// of returns what pays for an execution, and the project. The error is why they are not all known.
func (m *payers) of(x exec.Execution) ([]budget.Payer, error) {
	limits := m.known()
	var all []budget.Payer
	kin := lineage{execution: m.execution, place: m.placeOf, by: limits.By}
	err := kin.each(x, func(s budget.Scope, x exec.Execution) error {
		p := budget.Payer{Scope: s, Name: x.Name, Limit: x.Budget}
		var err error
		switch s.Kind {
		case budget.Group:
			p.Name, p.Limit = budget.GroupPrefix+s.ID, limits.Of(s)
		case budget.Session:
			p, err = m.sessions.payer(m.work.ctx, s.ID)
		case budget.Thread:
			p = m.thread(limits, x.Thread)
		default:
		}
		all = append(all, p)
		return err
	})
	if err != nil {
		return nil, err
	}
	return append(all, m.project(limits)), nil
}

// execution returns one by its id, also if it has ended; the zero one for none, or one that is gone.
func (m *payers) execution(id exec.ID) (exec.Execution, error) {
	if id == "" {
		return exec.Execution{}, nil
	}
	x, known := m.open.of(id)
	if known || m.cfg.Runs.Store == nil {
		return x, nil
	}
	x, err := m.cfg.Runs.Store.Execution(m.work.ctx, string(id))
	if errors.Is(err, thread.ErrNotFound) {
		return exec.Execution{}, nil
	}
	return x, err
}

// placeOf returns the group and the work session of a thread, also of one at rest; "" if it has none.
func (m *payers) placeOf(id thread.ID) (group, session string, err error) {
	if l := m.registry.index.other(id); l != nil {
		o := l.thread().Once
		return o.Group, o.Session, nil
	}
	t, _, err := m.registry.index.shelf.thread(id)
	return t.Once.Group, t.Once.Session, err
}

// places returns those of all threads that have a group or a work session, or were started by another one's agent.
func (m *payers) places() (map[thread.ID]thread.Once, error) {
	by, all := m.known().By, map[thread.ID]thread.Once{}
	has := func(t *thread.Thread) bool { return t.Once.Group != "" || t.Once.Session != "" || by[t.ID] != "" }
	rest, err := m.registry.index.shelf.where(has)
	if err != nil {
		return nil, err
	}
	for _, t := range rest {
		all[t.ID] = t.Once
	}
	for _, l := range m.registry.index.all() {
		if t := l.thread(); has(&t) {
			all[t.ID] = t.Once
		}
	}
	return all, nil
}

// thread returns a thread as a payer.
func (m *payers) thread(limits budget.Limits, id thread.ID) budget.Payer {
	p := budget.Payer{Scope: budget.Scope{Kind: budget.Thread, ID: string(id)}, Name: string(id)}
	if p.Limit = limits.Of(p.Scope); !p.Limit.Set() {
		p.Limit = m.cfg.Budget.Thread
	}
	if l := m.registry.index.other(id); l != nil {
		p.Name = l.thread().Name
	}
	return p
}

// project returns the project as a payer.
func (m *payers) project(limits budget.Limits) budget.Payer {
	p := budget.Payer{Scope: budget.All(), Name: "project", Limit: limits.Project}
	if !p.Limit.Set() {
		p.Limit = m.cfg.Budget.Project
	}
	return p
}

// limited returns the first limit that holds for an execution, false if none does.
func (m *payers) limited(x exec.Execution) (budget.Payer, bool, error) {
	payers, err := m.of(x)
	i := slices.IndexFunc(payers, func(p budget.Payer) bool { return p.Limit.Set() })
	if i < 0 {
		return budget.Payer{}, false, err
	}
	return payers[i], true, nil
}

// uncounted says that a limit cannot be kept for what does not use the gateway.
func uncounted(p budget.Payer) error {
	return thread.Hint(thread.Kindf(thread.ErrUnsupported, "%s has a budget, and without the gateway nobody would count what is spent", p.Name),
		"start it without --no-gateway, or take the budget away with `orchestrator budget clear "+p.Name+"`")
}

// around reports whether a thread's requests go around the gateway.
func (m *payers) around(id thread.ID) bool {
	l := m.registry.index.other(id)
	return l != nil && l.thread().Launch.NoGateway
}
