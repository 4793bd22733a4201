package bundle

import (
	"orchestrator/thread"
	"orchestrator/thread/work"
)

// The parts of a budget at which a person is warned.
const (
	WarnAt     = 0.75
	CriticalAt = 0.90
)

// Level says how much of a budget is used.
type Level string

// The levels.
const (
	LevelOK       Level = "ok"
	LevelWarning  Level = "warning"
	LevelCritical Level = "critical"
	LevelOver     Level = "over"
)

// LevelOf returns how much of a budget is used: a warning begins at warn, which is below 1.
func LevelOf(used, budget int64, warn float64) Level {
	part := 1.0
	if budget > 0 {
		part = float64(used) / float64(budget)
	}
	switch {
	case used > budget:
		return LevelOver
	case part >= max(CriticalAt, warn):
		return LevelCritical
	case part >= warn:
		return LevelWarning
	}
	return LevelOK
}

// Budget is what of a budget of context is used, over several agents.
type Budget struct {
	Session string  `json:"session_id,omitempty"`
	Phase   int     `json:"phase,omitempty"` // in which it was looked at
	Budget  int64   `json:"budget"`
	Warn    float64 `json:"warn_threshold"`
	// Given is what executions were given, Planned what bundles have that no execution was given.
	Given     int64        `json:"given_tokens"`
	Planned   int64        `json:"planned_tokens"`
	Used      int64        `json:"used_tokens"` // of both
	Remaining int64        `json:"budget_remaining"`
	Part      float64      `json:"used_part"`
	Level     Level        `json:"level"`
	Parts     []BudgetPart `json:"parts"`
}

// BudgetPart is what an execution or a bundle uses.
type BudgetPart struct {
	Execution string `json:"execution_id,omitempty"`
	Bundle    string `json:"bundle_id,omitempty"`
	AgentType string `json:"agent_type"`
	Tokens    int64  `json:"token_count"`
	// Over is set if it does not fit into what its own model has room for, Claimed if its count is what somebody says.
	Over    bool `json:"over,omitempty"`
	Claimed bool `json:"claimed,omitempty"`
}

// Sum sums up a budget.
func (b Budget) Sum() (Budget, error) {
	switch {
	case b.Budget == 0:
		b.Budget = UsualBudget
	case b.Budget < 0 || b.Budget > mostTokens:
		return b, thread.Kindf(thread.ErrInvalid, "budget %d: a number of tokens, such as 200000", b.Budget)
	}
	switch {
	case b.Warn == 0:
		b.Warn = WarnAt
	case !(b.Warn > 0 && b.Warn < 1):
		return b, thread.Kindf(thread.ErrInvalid, "warning at %g: a part of the budget below 1, such as 0.75", b.Warn)
	}
	if b.Phase < 0 || b.Phase > int(work.PhaseConfirm) {
		return b, thread.Kindf(thread.ErrInvalid, "phase %d: 1 to 5", b.Phase)
	}
	b.Given, b.Planned = 0, 0
	for _, p := range b.Parts {
		if p.Execution != "" {
			b.Given += p.Tokens
		} else {
			b.Planned += p.Tokens
		}
	}
	if b.Parts == nil {
		b.Parts = []BudgetPart{}
	}
	b.Used = b.Given + b.Planned
	b.Remaining = b.Budget - b.Used
	b.Part = float64(b.Used) / float64(b.Budget)
	b.Level = LevelOf(b.Used, b.Budget, b.Warn)
	return b, nil
}
