package workrow

import (
	"time"

	"orchestrator/thread/plan"
)

// Statements are the statements that read, by what they are for: a database's tests look at how it runs them.
func (s *Plans) Statements() map[string]string {
	first := func(query string, _ []any) string { return query }
	hand := func(q plan.HandOverQuery) string { return first(handed(s.d.handedBy(q, 1, 1), 10, 1)) }
	return map[string]string{
		"by name":    first(s.d.byTask("task-001", "")),
		"by id":      first(s.d.byTask(plan.NewID(), "")),
		"list":       first(s.d.tasks(plan.TaskQuery{}, "", 1)),
		"of status":  first(s.d.tasks(plan.TaskQuery{}, plan.InProgress, 1)),
		"of plan":    first(s.d.tasks(plan.TaskQuery{Plan: "p"}, plan.Complete, 1)),
		"waiting":    first(s.d.tasks(plan.TaskQuery{Plan: "p", Oldest: true}, plan.Pending, maxN)),
		"of session": first(s.d.tasks(plan.TaskQuery{Session: "s", Plan: "p"}, plan.Complete, 1)),
		"of author":  first(s.d.tasks(plan.TaskQuery{By: "t"}, "", 1)),
		"take":       first(s.d.waiting("p")),
		"busy":       first(s.d.atWork("p")),
		"ended":      first(s.d.ended(time.Unix(1, 0), 1)),
		"plan":       onePlan,
		"events":     somePlanEvents,
		"last event": lastPlanEvent,
		"node":       oneNode,
		"nodes":      allNodes,
		"readers":    readers,
		"version":    first(versionOf(1, "a", 1)),
		"current":    first(versionOf(1, "a", 0)),
		"handed":     hand(plan.HandOverQuery{}),
		"of agent":   hand(plan.HandOverQuery{Task: "t", Agent: "a"}),
		"opens":      first(handed(s.d.opens("t"), 0, 1)),
		"armed":      first(s.d.allArmed()),
	}
}
