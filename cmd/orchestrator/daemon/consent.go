package daemon

import (
	"context"
	"fmt"

	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/grant"
	"orchestrator/thread/turns"
	"orchestrator/thread/typing"
)

// consents refuses an agent that consents for the person to what is typed into a program that may run it.
func consents(ctx context.Context, given bool) error {
	if !given || !callerOf(ctx).Agent {
		return nil
	}
	return thread.Hint(fmt.Errorf("only the user may allow this text to be typed into a program that may run it: %w",
		thread.ErrNotGranted), "ask the user to send it")
}

// maySend refuses an agent that may not start programs but would have a program run its text: as a shell does, or as an
// agent does with its own commands, which run a line in a shell, answer its questions or change what it may do.
func maySend(ctx context.Context, to thread.Status, text string) error {
	c := callerOf(ctx)
	if !c.Agent || c.Has(grant.Start) {
		return nil
	}
	what := ""
	switch {
	case to.RunsLines:
		what = fmt.Sprintf("the program of %s may run what is typed into it", to.Name)
	case turns.Command(typing.Printable(text)):
		what = fmt.Sprintf("%s may take this text for a command of its own, such as a line for a shell", to.Name)
	default:
		return nil
	}
	return thread.Hint(fmt.Errorf("%s, which needs the grant %q: %w", what, grant.Start, thread.ErrNotGranted),
		"ask the user to send it")
}

// mayChange is maySend for a prompt of a thread that gets another text, or is sent again with its own if that is empty.
// The prompt of a run needs what starting it needs.
func (s *Server) mayChange(ctx context.Context, id thread.PromptID, text string) error {
	if !callerOf(ctx).Agent {
		return nil
	}
	to, err := s.Manager.Prompts.Thread(ctx, id)
	if err != nil {
		return err
	}
	if err := s.mayDo(ctx, to, api.SendExecution.Name(), id); err != nil {
		return err
	}
	if text == "" {
		p, err := s.Manager.Prompts.Prompt(ctx, string(to.ID), id)
		if err != nil {
			return err
		}
		text = p.Text
	}
	return maySend(ctx, to, text)
}

// mayWithdraw refuses an agent that would cancel a run by its prompt and may not cancel it.
func (s *Server) mayWithdraw(ctx context.Context, id thread.PromptID) error {
	if !callerOf(ctx).Agent {
		return nil
	}
	to, err := s.Manager.Prompts.Thread(ctx, id)
	if err != nil {
		return err
	}
	return s.mayDo(ctx, to, api.CancelExecution.Name(), id)
}

// mayHaveBase returns an error if an agent asks for a thread that has more of its base than the agent itself, or than the
// threads that it is made from: what an agent leaves out it does not give itself back in a fork.
func (s *Server) mayHaveBase(ctx context.Context, profile string, keep []string, from ...string) error {
	c := callerOf(ctx)
	if !c.Agent || profile == thread.BaseDefault && len(keep) == 0 {
		return nil
	}
	narrow := len(keep) == 0
	for _, name := range append(from, string(c.Thread)) {
		t, err := s.Manager.Threads.Status(ctx, name)
		if err != nil {
			return err
		}
		has, _ := t.Base.ToCome()
		narrow = narrow && thread.BaseNarrows(profile, has)
	}
	if narrow {
		return nil
	}
	return thread.Hint(thread.Kindf(thread.ErrNotGranted, "base %q: an agent may not start one with more than it has itself", profile),
		"omit --base, or have the user start it")
}
