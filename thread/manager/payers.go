package manager

import (
	"errors"
	"slices"

	"orchestrator/thread"
	"orchestrator/thread/budget"
	exec "orchestrator/thread/work"
)

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

// of returns what pays for an execution: itself, its group, its work session, its thread, and likewise whoever has asked for it, and
// the project. The error is why they are not all known.
func (m *payers) of(x exec.Execution) ([]budget.Payer, error) {
	limits := m.known()
	var all []budget.Payer
	add := func(s budget.Scope, name string, limit thread.Budget) {
		if !slices.ContainsFunc(all, func(p budget.Payer) bool { return p.Scope == s }) {
			all = append(all, budget.Payer{Scope: s, Name: name, Limit: limit})
		}
	}
	for range deepest {
		if x.ID != "" {
			add(budget.Scope{Kind: budget.Execution, ID: string(x.ID)}, x.Name, x.Budget)
		}
		if x.ID == "" {
			x.Group, x.Session = m.placeOf(x.Thread)
		}
		if x.Group != "" {
			s := budget.Scope{Kind: budget.Group, ID: x.Group}
			add(s, budget.GroupPrefix+x.Group, limits.Of(s))
		}
		if x.Session != "" {
			p, err := m.sessions.payer(m.work.ctx, x.Session)
			if err != nil {
				return nil, err
			}
			if !slices.ContainsFunc(all, func(q budget.Payer) bool { return q.Scope == p.Scope }) {
				all = append(all, p)
			}
		}
		if x.Thread == "" {
			break
		}
		p := m.thread(limits, x.Thread)
		add(p.Scope, p.Name, p.Limit)
		by := x.By
		if x.ID == "" {
			by = limits.By[x.Thread]
		}
		var err error
		if x, err = m.execution(x.Within); err != nil {
			return nil, err
		}
		x.Thread = by
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

// placeOf returns the group and the work session of a thread that works in a terminal, "" if it has none.
func (m *payers) placeOf(id thread.ID) (group, session string) {
	if l := m.registry.index.other(id); l != nil {
		o := l.thread().Once
		return o.Group, o.Session
	}
	return "", ""
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
