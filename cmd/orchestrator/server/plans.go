package server

import (
	"fmt"

	"orchestrator/checkpoint/workrow"
	"orchestrator/thread"
	"orchestrator/thread/plan"
	"orchestrator/thread/work"
)

// plansOf returns the store of the tasks of plans, which is the record's database.
func plansOf(record work.Record) plan.Store {
	if s, of := record.(interface{ Plans() *workrow.Plans }); of {
		return s.Plans()
	}
	return plan.Refusing(thread.Hint(fmt.Errorf("plans: %w", work.ErrNoRecord), "the notices say why the record of work cannot be used"))
}
