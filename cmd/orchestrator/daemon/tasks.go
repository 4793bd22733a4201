package daemon

import (
	"context"

	"orchestrator/thread/api"
	"orchestrator/thread/grant"
	"orchestrator/thread/plan"
	"orchestrator/thread/record"
	"orchestrator/thread/wave"
)

// registerTasks adds the operations on tasks that wait, and on the plans that take them.
func (s *Server) registerTasks(r *routes) {
	recorded(r, api.AddTask, func(ctx context.Context, a record.Author, q wave.AddRequest) (plan.Task, error) {
		// Who may start no programs does not have them started by a plan that is armed either.
		if c := callerOf(ctx); c.Agent && !c.Has(grant.Start) {
			q.Proposed = true
		}
		return s.Tasks.Add(ctx, a, q)
	})
	recorded(r, api.Tasks, s.Tasks.List)
	recorded(r, api.EditTask, s.Tasks.Edit)
	recorded(r, api.StartTask, s.startTask)
	recorded(r, api.SplitTask, s.Splits.Split)
	recorded(r, api.ArmPlan, s.Standing.Arm)
	recorded(r, api.ArmedPlans, func(ctx context.Context, a record.Author, _ api.None) ([]wave.StandingPlan, error) {
		return s.Standing.Armed(ctx, a)
	})
}

// startTask begins a task that waits. A plan that comes with it is an agent's as much as one that it runs.
func (s *Server) startTask(ctx context.Context, a record.Author, q wave.RunRequest) (plan.Task, error) {
	if err := s.mayRunPlan(ctx, &q); err != nil {
		return plan.Task{}, err
	}
	return s.Tasks.Start(ctx, a, q)
}
