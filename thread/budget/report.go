package budget

import (
	"cmp"
	"slices"

	"orchestrator/thread"
)

// Change asks for another budget of a scope: "project", "group:NAME", "session:NAME", the name of an
// execution or of a thread.
type Change struct {
	Scope string `json:"scope"`
	// USD and Tokens replace what is set; what is nil stays. Clear takes the scope's own budget away first: what is
	// configured holds again.
	USD    *float64 `json:"usd,omitempty"`
	Tokens *int64   `json:"tokens,omitempty"`
	Clear  bool     `json:"clear,omitempty"`
}

// Next returns the budget after the change.
func (c Change) Next(was thread.Budget) (thread.Budget, error) {
	if c.Clear {
		was = thread.Budget{}
	} else if c.USD == nil && c.Tokens == nil {
		return was, thread.Hint(thread.Kindf(thread.ErrInvalid, "a budget of nothing"), "say how much: --usd N or --tokens N")
	}
	if c.USD != nil {
		was.USD = c.USD
	}
	if c.Tokens != nil {
		was.Tokens = c.Tokens
	}
	return was, Check(was)
}

// Report is what budgets there are, and what is spent of them.
type Report struct {
	// Accounts are the project, work sessions and groups, the threads with a limit, and the open executions with one.
	Accounts []Account `json:"accounts"`
}

// Compare orders accounts: the project, work sessions, groups, threads, executions, each by name.
func (a Account) Compare(b Account) int {
	kinds := []Kind{Project, Session, Group, Thread, Execution}
	return cmp.Or(cmp.Compare(slices.Index(kinds, a.Scope.Kind), slices.Index(kinds, b.Scope.Kind)), cmp.Compare(a.Name, b.Name))
}
