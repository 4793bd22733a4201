package daemon

import (
	"context"

	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/grant"
	"orchestrator/thread/plan"
	"orchestrator/thread/record"
	"orchestrator/thread/wave"
)

// registerWaves adds the operations on plans at work.
func (s *Server) registerWaves(r *routes) {
	recorded(r, api.RunWave, func(ctx context.Context, a record.Author, q wave.RunRequest) (wave.View, error) {
		if err := s.mayRunPlan(ctx, &q); err != nil {
			return wave.View{}, err
		}
		return s.Waves.Run(ctx, a, q)
	})
	recorded(r, api.WaveStatus, s.Waves.Status)
	recorded(r, api.Waves, s.Waves.List)
	recorded(r, api.CancelWave, s.Waves.Cancel)
	recorded(r, api.RetryWave, s.retryWave)
	recorded(r, api.AnswerWave, s.Waves.Answer)
	recorded(r, api.WaveGlance, s.Waves.Glance)
	answer(r, api.CompareWave, nil, s.Waves.Compare)
	s.registerDeliverables(r)
}

// retryWave has agents begin again. That what is done may become stale, only the person agrees to.
func (s *Server) retryWave(ctx context.Context, a record.Author, q wave.RetryRequest) (wave.View, error) {
	if a.Agent && q.Agreed {
		return wave.View{}, thread.Kindf(thread.ErrNotGranted, "only the user agrees that what is done becomes stale (--yes)")
	}
	return s.Waves.Retry(ctx, a, q)
}

// mayRunPlan refuses an agent a plan of which one run would be more than it may start.
func (s *Server) mayRunPlan(ctx context.Context, q *wave.RunRequest) error {
	if !callerOf(ctx).Agent {
		return nil
	}
	if err := mayBegin(callerOf(ctx), *q); err != nil {
		return err
	}
	if err := s.mayWorkIn(callerOf(ctx), &q.Dir); err != nil {
		return err
	}
	for _, a := range q.Plan.Agents {
		if err := s.mayWish(ctx, wish(a, q.Session), &q.Dir); err != nil {
			return thread.Kindf(err, "%s: %v", thread.Excerpt(a.Name), err)
		}
		start := thread.NewRequest{Prompt: a.Prompt, Flags: thread.Flags{Program: a.Program}}
		if err := mayStartRun(callerOf(ctx), start); err != nil {
			return err
		}
	}
	return nil
}

// mayBegin refuses an agent what a person decides about a plan: to agree to what it asks before it runs, and to begin a task
// that waits, which it may have proposed itself. Runs of its agents start others no deeper than its own may.
func mayBegin(c grant.Caller, q wave.RunRequest) error {
	if q.Agreed {
		return thread.Kindf(thread.ErrNotGranted, "only the user agrees to what a plan asks before it runs (--yes)")
	}
	if q.Task != "" && !c.Has(grant.Start) {
		return c.Lacks("beginning a task that waits", grant.Start)
	}
	for _, a := range q.Plan.Agents {
		if depth := 1 + max(a.SpawnDepth, min(a.Spawn, 1)); depth > 1 && depth > grant.Depth(c.Grants) && !c.Has(grant.Start) {
			return c.Lacks("a plan whose agent "+thread.Excerpt(a.Name)+" starts runs itself", grant.Deep(depth))
		}
	}
	return nil
}

// wish is what a run of an agent of a plan asks for.
func wish(a plan.Agent, session string) grant.Wish {
	return grant.Wish{Agent: a.Agent, Model: a.Model, Once: wave.Once(a, session)}
}
