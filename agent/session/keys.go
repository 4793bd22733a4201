package session

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/typing"
)

// maxHeld is how much of a person's typing is held while an answer or a prompt of ours is being given.
const maxHeld = 1 << 20

// errHeld is what Input returns when too much is typed meanwhile.
var errHeld = errors.New("an answer or a prompt is being given, and what was typed meanwhile is too much to keep")

// Input passes bytes on as the person typed them. While an answer or a prompt of ours is being given they wait until that
// is over, in order.
func (s *Session) Input(b []byte) error {
	if s.run != nil {
		return noTerminal("type")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.holding {
		return s.pass(b, time.Now())
	}
	if len(s.held)+len(b) > maxHeld {
		return fmt.Errorf("type: %w: %w", errHeld, thread.ErrLimit)
	}
	s.held = append(s.held, b...)
	var fresh typing.Keys
	if fresh.Typed(b).Cancel {
		s.stop = true
		if s.settling {
			s.let()
		}
		s.rouse()
	}
	return nil
}

// pass writes what the person typed to the agent. mu is held.
func (s *Session) pass(b []byte, now time.Time) error {
	if _, open := s.screen.menu(now); open {
		if e := s.keys.Elsewhere(b); e.Key || bytes.Contains(b, click) { // they answer the dialog
			s.answered, s.screen.asks.touched = now, now
		}
		return s.proc.Write(b)
	}
	e := s.keys.Typed(b)
	if !e.Key {
		return s.proc.Write(b)
	}
	s.keyed = now
	s.screen.signs.Answered()
	if e.Sent {
		s.sent = now
	}
	err := s.proc.Write(b)
	s.schedule(now)
	return err
}

// click is how a terminal reports that the left button was pressed.
var click = []byte("\x1b[<0;")

// release passes on what the person typed in the meantime.
func (s *Session) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.let()
}

// let is release. mu is held.
func (s *Session) let() {
	held := s.held
	s.holding, s.held, s.stop = false, nil, false
	if len(held) > 0 && s.exit == nil {
		_ = s.pass(held, time.Now()) // an agent that does not read loses it
	}
	s.schedule(time.Now())
}
