package daemon

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/grant"
	"orchestrator/thread/turns"
	"orchestrator/thread/typing"
	"orchestrator/thread/work"
)

// mostLooked is how many of a thread's executions are looked at for that of a prompt.
const mostLooked = 100

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

// mayWish refuses an agent whose run would be more than it may start. Without the grant to start programs a run is no way
// out: it works in the project's folder, as what the caller is or what is configured.
func (s *Server) mayWish(ctx context.Context, w grant.Wish, dir *string) error {
	c := callerOf(ctx)
	if !c.Agent || !w.Once.On {
		return nil
	}
	b := s.Runs
	if c.Thread != "" && !c.Has(grant.Start) {
		own, err := s.Manager.Threads.Status(ctx, string(c.Thread))
		if err != nil {
			return err
		}
		b = b.Of(own)
		if w.Once.Session != "" {
			if x, err := s.Manager.Executions.WorkSession(ctx, w.Once.Session); err == nil && x.Admits(c.Thread, own.Once.Session) {
				b.Sessions = []string{x.Name}
			}
		}
	}
	if err := c.MayWish(w, b); err != nil {
		return err
	}
	return s.mayWorkIn(c, dir)
}

// mayWorkIn has a request name a folder itself, without the links that lead to it, and refuses one outside of the project
// to agents that may not start programs.
func (s *Server) mayWorkIn(c grant.Caller, dir *string) error {
	if *dir == "" {
		return nil
	}
	if !filepath.IsAbs(*dir) {
		*dir = filepath.Join(s.Project, *dir)
	}
	at, err := filepath.EvalSymlinks(*dir)
	if err != nil {
		return thread.Kindf(thread.ErrNotFound, "folder %s: it cannot be found", thread.Excerpt(*dir))
	}
	root, err := filepath.EvalSymlinks(s.Project)
	if err != nil {
		return fmt.Errorf("find the project's folder: %w", err)
	}
	if rel, err := filepath.Rel(root, at); (err != nil || !filepath.IsLocal(rel)) && !c.Has(grant.Start) {
		return c.Lacks(fmt.Sprintf("a run outside of the project (%s)", thread.Excerpt(at)), grant.Start)
	}
	*dir = at
	return nil
}

// mayStartRun refuses an agent that may start runs, and no other programs, but would have one run with options of its
// own, which may lift what the person has configured, or have it take the prompt for a command.
func mayStartRun(c grant.Caller, q thread.NewRequest) error {
	if c.Has(grant.Start) {
		return nil
	}
	switch f := q.Flags; {
	case len(f.Program) > 0:
		return c.Lacks("a run with a program of its own", grant.Start)
	case len(f.Args) > 0, len(f.Env) > 0, f.PermissionMode != "", f.NoGateway:
		return c.Lacks("a run with options of its own for the agent", grant.Start)
	case turns.Command(typing.Printable(q.Prompt)):
		return c.Lacks("a run with a prompt that the agent may take for a command of its own", grant.Start)
	}
	return nil
}

// mayRunNext refuses an agent whose prompt would start a run that it may not start.
func (s *Server) mayRunNext(ctx context.Context, to thread.Status) error {
	return s.mayDo(ctx, to, api.SendExecution.Name(), "")
}

// mayDo refuses an agent that may not do something with the execution of a thread's prompt, or with the newest of the
// thread if the prompt has none. Threads that only run in terminals have no executions: there it allows everything.
func (s *Server) mayDo(ctx context.Context, to thread.Status, op string, prompt thread.PromptID) error {
	c := callerOf(ctx)
	if !c.Agent || !to.Once.On {
		return nil
	}
	list, err := s.Executions.List(ctx, work.Query{Thread: to.ID, Limit: mostLooked})
	if err != nil || len(list) == 0 {
		return errors.Join(err, c.May(op, false))
	}
	i := max(0, slices.IndexFunc(list, func(x work.Execution) bool { return x.Prompt == prompt }))
	return c.May(op, c.Owns(list[i]))
}
