package daemon

import (
	"context"
	"fmt"

	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/grant"
	"orchestrator/thread/turns"
	"orchestrator/thread/typing"
	"orchestrator/thread/work"
)

// newThread starts a thread.
func (s *Server) newThread(ctx context.Context, q thread.NewRequest) (thread.Status, error) {
	c := callerOf(ctx)
	if err := mayRun(c, q.Once, false); err != nil {
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
	q.Started, q.By = q.Started || c.Agent, c.Thread
	return s.Manager.Creation.New(ctx, q)
}

// fork starts a thread at a point of another.
func (s *Server) fork(ctx context.Context, q thread.ForkRequest) (thread.Status, error) {
	c := callerOf(ctx)
	if err := mayRun(c, q.Once, true); err != nil {
		return thread.Status{}, err
	}
	if err := consents(ctx, q.Lines || q.HandOver); err != nil {
		return thread.Status{}, err
	}
	if err := s.mayHaveBase(ctx, q.Base, q.Keep, q.Thread); err != nil {
		return thread.Status{}, err
	}
	q.Started, q.By = q.Started || c.Agent, c.Thread
	return s.Manager.Forks.Fork(ctx, q)
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
	return s.Manager.Prompts.Ask(ctx, string(to.ID), thread.AskRequest{Text: q.Text, Lines: q.Lines, Agent: c.Agent, By: c.Thread})
}

// mayRun refuses an agent that may start threads but no runs.
func mayRun(c grant.Caller, once thread.Once, fork bool) error {
	switch {
	case !once.On:
		return nil
	case fork:
		return c.May(api.ForkRun.Name(), true)
	default:
		return c.May(api.StartRun.Name(), false)
	}
}

// mayStartRun refuses an agent that may start runs, and no other programs, but would have one run with options of its
// own, which may lift what the person has configured, or have it take the prompt for a command.
func mayStartRun(c grant.Caller, q thread.NewRequest) error {
	if c.Has(grant.Start) {
		return nil
	}
	what := ""
	switch f := q.Flags; {
	case len(f.Program) > 0:
		what = "a program of its own"
	case len(f.Args) > 0, len(f.Env) > 0, f.PermissionMode != "", f.NoGateway:
		what = "options of its own for the agent"
	case turns.Command(typing.Printable(q.Prompt)):
		what = "a prompt that the agent may take for a command of its own"
	default:
		return nil
	}
	return thread.Hint(fmt.Errorf("a run with %s needs the grant %q, which %s does not have: %w", what, grant.Start, c.Name,
		thread.ErrNotGranted), fmt.Sprintf("ask the user to run: orchestrator grants %s --add %s", c.Name, grant.Start))
}

// mayRunNext refuses an agent whose prompt would start a run that it may not start.
func (s *Server) mayRunNext(ctx context.Context, to thread.Status) error {
	c := callerOf(ctx)
	if !c.Agent || !to.Once.On {
		return nil
	}
	list, err := s.Executions.List(ctx, work.Query{Thread: to.ID, Limit: 1})
	if err != nil {
		return err
	}
	own := len(list) > 0 && c.Owns(list[0])
	return c.May(api.SendExecution.Name(), own)
}
