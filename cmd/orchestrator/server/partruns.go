package server

import (
	"context"

	"orchestrator/thread"
	"orchestrator/thread/grant"
	"orchestrator/thread/wave"
	"orchestrator/thread/work"
)

// openParts opens what agents of plans start, and what watches them. Without a record of work there is nothing of either.
func (a *Server) openParts(context.Context) error {
	a.parts.waves = a.waves
	if a.executions == nil {
		return nil
	}
	p := partRuns{a}
	a.parts.spawns = wave.NewSpawns(wave.SpawnConfig{
		Store: plansOf(a.executions), Record: a.executions, Start: p.start, Cancel: a.manager.Parts.Cancel, May: p.may, Log: a.Log,
		Thread: func(ctx context.Context, id thread.ID) (thread.Thread, error) { return a.store.Thread(ctx, id) },
	})
	a.service(a.parts.spawns.Run)
	a.parts.stalls = wave.NewStalls(wave.StallConfig{
		Store: plansOf(a.executions), Busy: a.manager.Executions.Asking, Files: p.files, Stuck: a.waves.Stuck, Log: a.Log,
	})
	a.service(a.parts.stalls.Run)
	return nil
}

// partRuns adapts the manager to what agents of plans start.
type partRuns struct{ app *Server }

// start starts a run that an agent of a plan asks for. Its agent may leave meanwhile.
func (p partRuns) start(ctx context.Context, r thread.NewRequest) (work.Execution, error) {
	ctx = context.WithoutCancel(ctx)
	if _, err := p.app.manager.Creation.New(ctx, r); err != nil {
		return work.Execution{}, err
	}
	return p.app.executions.Execution(ctx, r.Execution)
}

// may refuses a run that would be more than the one whose agent asks for it.
func (p partRuns) may(ctx context.Context, by thread.Thread, r thread.NewRequest) error {
	own, err := p.app.manager.Threads.Status(ctx, string(by.ID))
	if err != nil {
		return err
	}
	c := grant.Caller{Agent: true, Thread: by.ID, Name: by.Name}
	return c.MayWish(grant.Wish{Once: r.Once, Agent: r.Agent, Model: r.Model}, runBounds(p.app.Config).Of(own))
}

// files tells the state of a thread's files apart from others.
func (p partRuns) files(ctx context.Context, id thread.ID) (string, bool) {
	if p.app.files == nil {
		return "", false
	}
	t, err := p.app.store.Thread(ctx, id)
	if err != nil {
		return "", false
	}
	s, err := p.app.files.Take(ctx, id, t.Dir, nil)
	return s.Tree, err == nil
}
