package session

import (
	"context"
	"errors"
	"fmt"

	"orchestrator/thread"
)

var _ thread.Replier = (*Session)(nil)

// Reply implements thread.Replier.
func (s *Session) Reply(ctx context.Context, question string, choice int, text string) error {
	err := ctx.Err()
	switch {
	case s.run == nil:
		err = fmt.Errorf("in a terminal: %w", thread.ErrUnsupported)
	case err == nil:
		err = s.run.answer(question, choice, text)
	}
	if err != nil {
		return fmt.Errorf("answer: %w", err)
	}
	return nil
}

// answer answers the question that people know by an id. Nothing the agent prints is read meanwhile, so the answer is to
// what is asked, as far as it has told.
func (r *run) answer(id string, choice int, text string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	q := r.asks.find(id)
	asker, can := r.dialogue.(thread.Asker)
	switch {
	case r.ended || r.outcome != "" || r.closed:
		return thread.Kindf(thread.ErrRefused, "its run ends: nothing was answered")
	case q == nil && r.asks.first() != nil:
		return thread.Kindf(thread.ErrRefused, "it asks something else now")
	case q == nil:
		return thread.Kindf(thread.ErrRefused, "it asks nothing now")
	case choice < thread.Dismiss || choice >= len(q.told.Choices):
		return thread.Kindf(thread.ErrInvalid, "there is no answer %d, only %d of them", choice+1, len(q.told.Choices))
	case !can:
		return thread.ErrUnsupported
	}
	said, err := asker.Answer(q.own, choice, text)
	if err != nil {
		return err
	}
	if err := r.tell(said.Write); err != nil { // nobody took it, and nobody will
		said.Events, said.Write = nil, nil
		r.withdraw("its program does not take the answer")
		_ = r.handle(said) // nothing is written
		r.flush()
		return err
	}
	said.Write = nil
	_ = r.handle(said) // nothing is left to write
	r.flush()
	return nil
}

// steer gives the agent a further prompt for the turn that it works on; steered is false if it works on none yet.
func (r *run) steer(text string) (steered bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	steerer, can := r.dialogue.(thread.Steerer)
	switch {
	case !r.asked:
		return false, nil
	case r.ended || r.outcome != "" || r.closed:
		return true, thread.ErrNotRunning
	case !can:
		return true, &thread.NotReadyError{Reason: "it takes one prompt a run"}
	}
	said, err := steerer.Steer(text)
	if err != nil {
		return true, err
	}
	if err := r.tell(said.Write); err != nil {
		return true, err
	}
	said.Write = nil
	_ = r.handle(said) // nothing is left to write
	r.flush()
	return true, nil
}

// tell writes to the process. mu is held.
func (r *run) tell(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	err := r.proc.Write(b)
	if errors.Is(err, thread.ErrNotRunning) {
		return thread.ErrNotRunning
	}
	return err
}
