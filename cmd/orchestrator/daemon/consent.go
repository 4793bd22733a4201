package daemon

import (
	"context"
	"fmt"

	"orchestrator/thread"
	"orchestrator/thread/grant"
)

// consents refuses an agent that consents for the person to what is typed into a program that may run it.
func consents(ctx context.Context, given bool) error {
	if !given || !callerOf(ctx).Agent {
		return nil
	}
	return thread.Hint(fmt.Errorf("only the user may allow this text to be typed into a program that may run it: %w",
		thread.ErrNotGranted), "ask the user to send it")
}

// maySend refuses an agent that may not start programs but would have a program run its text.
func maySend(ctx context.Context, to thread.Status) error {
	c := callerOf(ctx)
	if !to.RunsLines || c.Has(grant.Start) {
		return nil
	}
	return thread.Hint(fmt.Errorf("the program of %s may run what is typed into it, which needs the grant %q: %w",
		to.Name, grant.Start, thread.ErrNotGranted), "ask the user to send it")
}

// mayChange is maySend for a prompt of a thread.
func (s *Server) mayChange(ctx context.Context, id thread.PromptID) error {
	if !callerOf(ctx).Agent {
		return nil
	}
	to, err := s.Manager.PromptThread(ctx, id)
	if err != nil {
		return err
	}
	return maySend(ctx, to)
}
