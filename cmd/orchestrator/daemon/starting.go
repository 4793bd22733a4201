package daemon

import (
	"context"

	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/grant"
	"orchestrator/thread/record"
)

// newThread starts a thread.
func (s *Server) newThread(ctx context.Context, q thread.NewRequest) (thread.Status, error) {
	c := callerOf(ctx)
	if err := mayRun(c, q.Once, false); err != nil {
		return thread.Status{}, err
	}
	if err := s.mayWish(ctx, grant.Wish{Once: q.Once, Agent: q.Agent, Model: q.Model, InPlace: q.InPlace}, &q.Dir); err != nil {
		return thread.Status{}, err
	}
	if err := consents(ctx, q.Lines); err != nil {
		return thread.Status{}, err
	}
	if len(q.MCP) > 0 && c.Agent {
		return thread.Status{}, grant.Alone(api.SwitchMCP.Name())
	}
	if err := s.mayHaveBase(ctx, q.Base, nil); err != nil {
		return thread.Status{}, err
	}
	if err := s.mayGive(ctx, &q.Given, q.Agent, q.Model, q.Prompt); err != nil {
		return thread.Status{}, err
	}
	q.Started, q.By = q.Started || c.Agent, c.Thread
	q.Once.Part, q.Once.Spawn = thread.Part{}, thread.Spawn{} // only a plan's engine gives them
	return s.Manager.Creation.New(ctx, q)
}

// fork starts a thread at a point of another.
func (s *Server) fork(ctx context.Context, q thread.ForkRequest) (thread.Status, error) {
	c := callerOf(ctx)
	if err := mayRun(c, q.Once, true); err != nil {
		return thread.Status{}, err
	}
	if err := s.mayWish(ctx, grant.Wish{Once: q.Once, Agent: q.Agent, InPlace: q.NoWorktree}, new(string)); err != nil {
		return thread.Status{}, err
	}
	if err := consents(ctx, q.Lines || q.HandOver); err != nil {
		return thread.Status{}, err
	}
	if err := s.mayHaveBase(ctx, q.Base, q.Keep, q.Thread); err != nil {
		return thread.Status{}, err
	}
	if err := s.mayGive(ctx, &q.Given, q.Agent, "", q.Prompt); err != nil {
		return thread.Status{}, err
	}
	q.Started, q.By = q.Started || c.Agent, c.Thread
	q.Once.Part, q.Once.Spawn = thread.Part{}, thread.Spawn{}
	return s.Manager.Forks.Fork(ctx, q)
}

// mayGive finds what a prompt is said to be made of, if the caller sees it, and puts its ids in the place of its names. With a
// bundle, the agent must have room for it.
func (s *Server) mayGive(ctx context.Context, g *thread.Given, agent, model, prompt string) error {
	if g.Bundle != "" {
		k, err := s.Record.Bundles.Find(ctx, authorOf(ctx), record.BundleArg{Ref: g.Bundle})
		if err != nil {
			return err
		}
		g.Bundle = k.Bundle.ID
		if err := s.Record.Bundles.Fits(ctx, agent, model, prompt); err != nil {
			return err
		}
	}
	if g.Replays == "" {
		return nil
	}
	c := callerOf(ctx)
	x, err := s.Executions.Execution(ctx, g.Replays)
	switch {
	case err != nil:
		return err
	case !c.Has(grant.Read) && !c.Owns(x):
		return c.Lacks("exec replay", grant.Read)
	}
	g.Replays = string(x.ID)
	return nil
}

// ask sends a prompt to a thread's agent, if the caller may: what else is to be asked, may says.
func (s *Server) ask(ctx context.Context, q api.AskRequest, may func(to thread.Status) error) (thread.Prompt, error) {
	to, err := s.Manager.Threads.Status(ctx, q.Thread)
	if err == nil {
		err = may(to)
	}
	if err == nil {
		err = maySend(ctx, to, q.Text)
	}
	if err == nil {
		err = consents(ctx, q.Lines)
	}
	if err != nil {
		return thread.Prompt{}, err
	}
	c := callerOf(ctx)
	return s.Manager.Prompts.Ask(ctx, string(to.ID), thread.AskRequest{
		Text: q.Text, Lines: q.Lines, Agent: c.Agent, By: c.Thread, Untyped: c.May(api.Ask.Name(), to.ID == c.Thread),
	})
}
