package manager

import (
	"fmt"
	"sync"
	"sync/atomic"

	"orchestrator/thread"
	"orchestrator/thread/budget"
	exec "orchestrator/thread/work"
)

// pastRuns knows what the executions of earlier servers have used for what has no sum of its own: groups, and those who
// asked for them. It reads them all, when it is first asked.
type pastRuns struct {
	cfg   *Config
	work  *work
	books *budget.Books
	// recovered is set once what earlier servers left open has its usage.
	recovered atomic.Bool

	mu   sync.Mutex
	sums map[budget.Scope]budget.Spent // nil until they are known
}

// deepest bounds how many agents that asked for each other are looked at.
const deepest = 32

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

// read sums up what executions have used.
func (m *pastRuns) read() (map[budget.Scope]budget.Spent, error) {
	sums := map[budget.Scope]budget.Spent{}
	if m.cfg.Runs.Store == nil {
		return sums, nil
	}
	const page = 1000
	all := map[exec.ID]exec.Execution{} // those that somebody's agent asked for, or that asked
	q := exec.Query{Limit: page}
	var asked []exec.Execution
	for {
		list, err := m.cfg.Runs.Store.Executions(m.work.ctx, q)
		if err != nil {
			return nil, err // a part would be too little
		}
		for _, x := range list {
			q.Before = x.ID
			if x.By != "" {
				all[x.ID] = x // also one that has used nothing yet: others above it may have asked
			}
			if x.Usage == (thread.Usage{}) {
				continue
			}
			if x.Group != "" {
				s := budget.Scope{Kind: budget.Group, ID: x.Group}
				sums[s] = sums[s].Plus(m.earlier(x))
			}
			if x.Session != "" {
				s := budget.OfSession(x.Session)
				sums[s] = sums[s].Plus(m.earlier(x))
			}
			if x.By != "" {
				asked = append(asked, x)
			}
		}
		if len(list) < page {
			break
		}
	}
	for _, x := range asked {
		spent, seen := m.earlier(x), map[budget.Scope]bool{{Kind: budget.Thread, ID: string(x.Thread)}: true}
		for range deepest {
			within := x.Within
			for _, s := range []budget.Scope{{Kind: budget.Thread, ID: string(x.By)}, {Kind: budget.Execution, ID: string(within)}} {
				if s.ID != "" && !seen[s] {
					seen[s] = true
					sums[s] = sums[s].Plus(spent)
				}
			}
			if x = all[within]; x.By == "" {
				break
			}
		}
	}
	return sums, nil
}
