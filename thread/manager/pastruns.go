package manager

import (
	"fmt"
	"sync"
	"sync/atomic"

	"orchestrator/thread"
	"orchestrator/thread/budget"
	exec "orchestrator/thread/work"
)

// pastRuns knows what executions and terminals of earlier servers have used for what has no sum of its own: groups, work
// sessions, and those who asked for them. It reads them all, when it is first asked. Who has paid is who would pay now, so
// that a limit is as far used up after a restart as before it.
type pastRuns struct {
	cfg   *Config
	work  *work
	pay   *payers
	books *budget.Books
	// recovered is set once what earlier servers left open has its usage.
	recovered atomic.Bool

	mu   sync.Mutex
	sums map[budget.Scope]budget.Spent // nil until they are known
}

// of returns what was used for a scope.
func (m *pastRuns) of(s budget.Scope) (budget.Spent, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.sums == nil && m.cfg.Runs.Store != nil && !m.recovered.Load() {
		return budget.Spent{}, thread.Kindf(thread.ErrUnreachable, "what became of the runs of the last server is being found out")
	}
	if m.sums == nil {
		sums, err := m.read()
		if err != nil {
			return budget.Spent{}, fmt.Errorf("read what executions have spent: %w", err)
		}
		m.sums = sums
	}
	return m.sums[s], nil
}

// spentBy returns what executions have used as what was spent.
func spentBy(u thread.Usage) budget.Spent {
	s := budget.Spent{Amount: budget.Amount{Tokens: u.Context(), USD: u.CostUSD}, Unknown: u.Unknown}
	if !u.Priced && s.Tokens > 0 && s.Unknown == 0 {
		s.Unknown = 1
	}
	return s
}

// earlier returns what an execution had used when its first request of this server came; what it has used since is counted.
func (m *pastRuns) earlier(x exec.Execution) budget.Spent {
	if s, known := m.books.Opened(budget.Scope{Kind: budget.Execution, ID: string(x.ID)}); known {
		return s
	}
	return spentBy(x.Usage)
}

// read sums up what executions and terminals have used. What only a part is known of is an error: a part would be too little.
func (m *pastRuns) read() (map[budget.Scope]budget.Spent, error) {
	used, all, own, err := m.runs()
	if err != nil {
		return nil, err
	}
	places, err := m.pay.places()
	if err != nil {
		return nil, err
	}
	kin := lineage{
		execution: func(id exec.ID) (exec.Execution, error) { return all[id], nil },
		place: func(id thread.ID) (group, session string, err error) {
			return places[id].Group, places[id].Session, nil
		},
		by: m.pay.known().By,
	}
	sums := map[budget.Scope]budget.Spent{}
	add := func(x exec.Execution, spent budget.Spent) error {
		itself := budget.Scope{Kind: budget.Execution, ID: string(x.ID)}
		its := budget.Scope{Kind: budget.Thread, ID: string(x.Thread)}
		return kin.each(x, func(s budget.Scope, _ exec.Execution) error {
			if s != itself && s != its { // those have sums
				sums[s] = sums[s].Plus(spent)
			}
			return nil
		})
	}
	for _, x := range used {
		if err := add(x, m.earlier(x)); err != nil {
			return nil, err
		}
	}
	for id := range places {
		spent, err := m.inTerminals(id, own[id])
		if err == nil {
			err = add(exec.Execution{Thread: id}, spent)
		}
		if err != nil {
			return nil, err
		}
	}
	return sums, nil
}

// runs returns the executions that somebody else pays for too and that have used something, all that those were asked for by,
// and what the executions of each thread have used.
func (m *pastRuns) runs() (used []exec.Execution, all map[exec.ID]exec.Execution, own map[thread.ID]budget.Spent, err error) {
	all, own = map[exec.ID]exec.Execution{}, map[thread.ID]budget.Spent{}
	if m.cfg.Runs.Store == nil {
		return nil, all, own, nil
	}
	const page = 1000
	asked := map[exec.ID]bool{} // an execution is older than what its agent asks for
	for q := (exec.Query{Limit: page}); ; {
		list, err := m.cfg.Runs.Store.Executions(m.work.ctx, q)
		if err != nil {
			return nil, nil, nil, err
		}
		for _, x := range list {
			q.Before = x.ID
			if x.Within != "" {
				asked[x.Within] = true
			}
			if x.By != "" || asked[x.ID] {
				all[x.ID] = x // also one that has used nothing yet: others above it may have asked
			}
			if x.Usage == (thread.Usage{}) {
				continue
			}
			own[x.Thread] = own[x.Thread].Plus(m.earlier(x))
			if x.By != "" || x.Group != "" || x.Session != "" {
				used = append(used, x)
			}
		}
		if len(list) < page {
			return used, all, own, nil
		}
	}
}

// inTerminals returns what a thread had spent before this server beyond its executions: in terminals, and beside its
// conversation.
func (m *pastRuns) inTerminals(id thread.ID, executions budget.Spent) (budget.Spent, error) {
	s := budget.Scope{Kind: budget.Thread, ID: string(id)}
	spent, known := m.books.Opened(s)
	if !known && m.cfg.Budget.Spent != nil {
		var err error
		if spent, err = m.cfg.Budget.Spent(s); err != nil {
			return budget.Spent{}, err
		}
	}
	return spent.Beyond(executions), nil
}
