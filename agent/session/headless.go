package session

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"orchestrator/thread"
)

const (
	// endWait is how long a process may take to end after its run has, and endGrace how long once it is asked to.
	endWait  = 2 * time.Second
	endGrace = 2 * time.Second
	// cancelWait is how long a cancelled run may take to say that it ended, cancelExit by when its process has to have ended
	// by itself then, and cancelLimit by when it is killed.
	cancelWait  = 350 * time.Millisecond
	cancelExit  = 550 * time.Millisecond
	cancelLimit = 700 * time.Millisecond
)

var _ thread.Canceller = (*Session)(nil)

// wrote handles what a process without a terminal prints, erred what it prints on its standard error.
func (s *Session) wrote(b []byte) {
	<-s.ready
	s.run.wrote(b)
}

func (s *Session) erred(b []byte) {
	<-s.ready
	s.run.erred(b)
}

// show prints what the log of a run has, on the screen and for its viewers. The run's lock is held.
func (s *Session) show(b []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if len(b) > 0 {
		_, _ = s.screen.term.Write(b) // accepts everything
		for _, f := range s.feeds {
			f.add(b)
		}
		s.screen.printed = now
	}
	s.screen.tracker.Output(now)
	s.schedule(now)
}

// ends records how a run ended, and sees that its process ends too. The run's lock is held.
func (s *Session) ends(e thread.RunEvent) {
	seen := thread.Evidence{Source: thread.SourceHook, State: thread.StateDone, Detail: "answered", At: e.At}
	switch e.Outcome {
	case thread.RunFailed:
		seen.State, seen.Detail = cmp.Or(e.State, thread.StateFailed), cmp.Or(e.Reason, "failed")
	case thread.RunCancelled:
		seen.State, seen.Detail = thread.StateIdle, cmp.Or(e.Reason, "cancelled")
	case thread.RunCompleted:
	}
	s.Report(seen)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = time.AfterFunc(endWait, s.halt)
}

// halt stops what should have ended by itself.
func (s *Session) halt() {
	s.mu.Lock()
	over := s.exit != nil
	s.stopped = s.stopped || !over
	s.mu.Unlock()
	if !over {
		_ = s.proc.Stop(context.Background(), endGrace) // OnExit reports the end
	}
}

// asks records what the agent waits for an answer to. The run's lock is held.
func (s *Session) asks(q *thread.Question) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asking = q
	s.schedule(time.Now())
}

// exceeds ends a run that has printed too much. The run's lock is held.
func (s *Session) exceeds(reason string) { s.end(reason) }

// ask gives an agent without a terminal its prompt, or a further one for the turn that it works on.
func (s *Session) ask(text string) error {
	switch {
	case text == "":
		return thread.Kindf(thread.ErrInvalid, "it is empty")
	case len(text) > thread.MaxPrompt:
		err := thread.Kindf(thread.ErrInvalid, "it has %d bytes, and %d at most can be sent", len(text), thread.MaxPrompt)
		return thread.Hint(err, "write it to a file and name that")
	case s.over():
		return thread.ErrNotRunning
	}
	now := time.Now()
	if steered, err := s.run.steer(text); steered || err != nil {
		return err
	}
	if err := s.run.begin(text); err != nil {
		return err
	}
	s.Report(thread.Evidence{Source: thread.SourceHook, State: thread.StateWorking, Detail: "has its prompt", At: now, Prompt: true})
	return nil
}

// noTerminal is what an agent without a terminal answers to what a person does in one.
func noTerminal(what string) error {
	err := fmt.Errorf("%s: it works without a terminal: %w", what, thread.ErrUnsupported)
	return thread.Hint(err, "open it in a terminal, or send it a prompt")
}

// Cancel implements thread.Canceller. Cancelling twice at once is cancelling once.
func (s *Session) Cancel(ctx context.Context) error {
	if s.run == nil {
		return fmt.Errorf("cancel a turn in a terminal: %w", thread.ErrUnsupported)
	}
	return s.wind(ctx, "", cancelWait, cancelExit, cancelLimit)
}

// Stop ends the agent and everything it started. If ctx ends, the grace ends too. A run is interrupted first.
func (s *Session) Stop(ctx context.Context, grace time.Duration) error {
	if s.run != nil {
		return s.wind(ctx, "stopped", min(grace/2, cancelWait), grace*3/4, grace)
	}
	s.mu.Lock()
	s.stopped = true
	s.mu.Unlock()
	return s.kill(ctx, grace)
}

// kill ends the process and everything it started.
func (s *Session) kill(ctx context.Context, grace time.Duration) error {
	if err := s.proc.Stop(ctx, grace); err != nil {
		return err
	}
	<-s.done
	return nil
}

// wind ends a run for a reason: it asks the agent to end its turn, which has some time to say that it did, and to exit
// then; its process has to be gone at the limit.
func (s *Session) wind(ctx context.Context, reason string, say, exit, limit time.Duration) error {
	begin := time.Now()
	s.mu.Lock()
	s.stopped = true
	s.mu.Unlock()
	if s.run.interrupt(reason) {
		s.proc.Interrupt()
	}
	timer := time.NewTimer(say)
	defer timer.Stop()
	select {
	case <-s.run.over:
		timer.Reset(max(exit-time.Since(begin), 0))
		select {
		case <-s.proc.Done():
		case <-timer.C:
		case <-ctx.Done():
		}
	case <-timer.C:
	case <-ctx.Done():
	}
	return s.kill(ctx, max(limit-time.Since(begin), 0))
}
