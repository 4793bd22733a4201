package daemon

import (
	"context"
	"errors"
	"slices"

	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/budget"
	"orchestrator/thread/grant"
	"orchestrator/thread/work"
)

const (
	// mostExecutions and mostEvents are returned if a request names no limit.
	mostExecutions = 100
	mostEvents     = 500
	// mostPages is how many pages of executions are read to find those that an agent may see.
	mostPages = 50
)

// registerRuns adds the operations on runs and their executions.
func (s *Server) registerRuns(r *routes) {
	answer(r, api.StartRun, nil, func(ctx context.Context, q thread.NewRequest) (thread.Status, error) {
		q.Once.On = true
		if err := mayStartRun(callerOf(ctx), q); err != nil {
			return thread.Status{}, err
		}
		return s.newThread(ctx, q)
	})
	answer(r, api.ForkRun, aThread(func(q *thread.ForkRequest) *string { return &q.Thread }),
		func(ctx context.Context, q thread.ForkRequest) (thread.Status, error) {
			q.Once.On = true
			flags := thread.Flags{Args: q.Args, Program: q.Program}
			if err := mayStartRun(callerOf(ctx), thread.NewRequest{Prompt: q.Prompt, Flags: flags}); err != nil {
				return thread.Status{}, err
			}
			return s.fork(ctx, q)
		})
	answer(r, api.Executions, nil, s.executions)
	answer(r, api.Execution, itsExecution(), func(ctx context.Context, q api.ExecutionRef) (work.Execution, error) {
		return s.execution(ctx, q.Execution)
	})
	answer(r, api.ExecutionEvents, anExecution(func(q *api.ExecutionEventsRequest) *string { return &q.Execution }),
		func(ctx context.Context, q api.ExecutionEventsRequest) ([]work.Event, error) {
			x, err := s.execution(ctx, q.Execution)
			if err != nil {
				return nil, err
			}
			return s.Executions.Events(ctx, x.ID, q.After, within(q.Limit, mostEvents))
		})
	stream(r, api.FollowExecution, itsExecution(), func(ctx context.Context, q api.ExecutionRef) (<-chan thread.Event, error) {
		x, err := s.aRun(ctx, q.Execution)
		if err != nil {
			return nil, err
		}
		return s.Executions.Follow(ctx, x.ID)
	})
	answer(r, api.CancelExecution, anExecution(func(q *api.CancelRequest) *string { return &q.Execution }),
		func(ctx context.Context, q api.CancelRequest) (work.Execution, error) {
			x, err := s.aRun(ctx, q.Execution)
			if err != nil {
				return x, err
			}
			reason := q.Reason
			if c := callerOf(ctx); reason == "" && c.Agent {
				reason = "cancelled by the agent of " + c.Name
			}
			return s.Executions.Cancel(ctx, x.ID, reason)
		})
	answer(r, api.SendExecution, anExecution(func(q *api.SendRequest) *string { return &q.Execution }),
		func(ctx context.Context, q api.SendRequest) (thread.Prompt, error) {
			x, err := s.aRun(ctx, q.Execution)
			if err != nil {
				return thread.Prompt{}, err
			}
			return s.ask(ctx, api.AskRequest{Thread: string(x.Thread), Text: q.Text}, func(thread.Status) error { return nil })
		})
	answer(r, api.ResumeExecution, itsExecution(), func(ctx context.Context, q api.ExecutionRef) (work.Execution, error) {
		x, err := s.aRun(ctx, q.Execution)
		if err != nil {
			return x, err
		}
		return s.Executions.Resume(ctx, x.ID)
	})
	answer(r, api.Budgets, nil, func(ctx context.Context, _ api.None) (budget.Report, error) { return s.Manager.Budgets.List(ctx) })
	answer(r, api.SetBudget, nil, s.Manager.Budgets.Set)
	answer(r, api.RetryExecution, nil, func(ctx context.Context, q api.ExecutionRef) (work.Execution, error) {
		x, err := s.aRun(ctx, q.Execution)
		if err != nil {
			return x, err
		}
		return s.Executions.Retry(ctx, x.ID)
	})
	answer(r, api.FallBackExecution, nil, func(ctx context.Context, q api.ExecutionRef) (work.Execution, error) {
		x, err := s.aRun(ctx, q.Execution)
		if err != nil {
			return x, err
		}
		return s.Executions.FallBack(ctx, x.ID)
	})
	answer(r, api.Queue, nil, func(ctx context.Context, _ api.None) (work.QueueReport, error) { return s.Executions.Queue(ctx) })
	answer(r, api.SetQueue, nil, func(ctx context.Context, q work.QueueChange) (work.QueueReport, error) {
		return s.Executions.SetQueue(ctx, q)
	})
}

// itsExecution is the subject of a request that consists of an execution's name.
func itsExecution() subject[api.ExecutionRef] {
	return anExecution(func(q *api.ExecutionRef) *string { return &q.Execution })
}

// within returns a limit of a request, or what it is without one.
func within(limit, most int) int {
	if limit <= 0 {
		return most
	}
	return min(limit, 10*most)
}

// execution implements finder. The error for an unknown name has those that are near it.
func (s *Server) execution(ctx context.Context, ref string) (work.Execution, error) {
	x, err := s.Executions.Execution(ctx, ref)
	if !errors.Is(err, thread.ErrNotFound) {
		return x, err
	}
	var names []string
	if list, err := s.executions(ctx, api.ExecutionsRequest{}); err == nil {
		for _, x := range list {
			names = append(names, x.Name)
		}
	}
	return x, work.Unknown(ref, names)
}

// aRun finds an execution that is a run: others are not this program's to follow, to end or to begin again.
func (s *Server) aRun(ctx context.Context, ref string) (work.Execution, error) {
	x, err := s.execution(ctx, ref)
	if err == nil {
		err = x.CheckRun()
	}
	return x, err
}

// executions returns those that the caller may see.
func (s *Server) executions(ctx context.Context, q api.ExecutionsRequest) ([]work.Execution, error) {
	c, all := callerOf(ctx), []work.Execution{}
	query := work.Query{States: q.States, Before: q.Before, Limit: within(q.Limit, mostExecutions)}
	if q.Thread != "" {
		st, err := s.Manager.Threads.Status(ctx, q.Thread)
		if err != nil {
			return nil, err
		}
		query.Thread = st.ID
	}
	if q.All {
		return s.Record.Executions.List(ctx, authorOf(ctx), query)
	}
	for range mostPages {
		list, err := s.Executions.List(ctx, query)
		if err != nil {
			return nil, err
		}
		last := len(list) < query.Limit
		if len(list) > 0 {
			query.Before = list[len(list)-1].ID
		}
		all = append(all, c.Executions(slices.Clone(list))...)
		if last || c.Has(grant.Read) || len(all) >= query.Limit {
			break
		}
	}
	return all[:min(len(all), query.Limit)], nil
}
