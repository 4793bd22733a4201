package session

import (
	"strings"
	"time"

	"orchestrator/agent"
	"orchestrator/agent/vterm"
	"orchestrator/thread"
)

// redraws is how long an agent that rested may show what no rule knows: some clear the screen between two views.
const redraws = 1500 * time.Millisecond

// sign takes what any program may tell its terminal of what it does. mu is held by the caller of the emulator.
func (s *Session) sign(e vterm.Event) {
	switch e := e.(type) {
	case vterm.TitleChanged:
		s.signs.Title(e.Title)
	case vterm.Progress:
		s.signs.Progress(e.State)
	case vterm.Bell:
		if time.Since(s.keyed) >= restless {
			s.signs.Bell()
		}
	case vterm.Notification:
		s.signs.Notified(e.Title + " " + e.Body)
	default:
		return
	}
	s.dirty = true
}

// activity is all that can be seen of a program whose rules tell of dialogs alone, or that has none: one that prints on
// and on works; what a quiet one does is not known. mu is held.
func (s *Session) activity(now time.Time) {
	quiet := now.Sub(s.printed) >= restless
	if e, ok := s.signs.Look(strings.Split(s.term.Text(), "\n"), quiet, now); ok {
		s.dirty = !quiet
		s.tracker.Report(e)
		return
	}
	e := thread.Evidence{Source: thread.SourceScreen, At: now}
	switch {
	case quiet:
		e.State, e.Detail = thread.StateUnknown, "prints nothing now, and does not report what it does"
	case now.Sub(s.burst) >= restless:
		e.State, e.Detail, s.dirty = thread.StateWorking, "prints", true
		s.signs.Worked()
	default:
		s.dirty = true // look again
		return
	}
	s.tracker.Report(e)
}

// examine reads the state off the screen. mu is held.
func (s *Session) examine(now time.Time) {
	s.dirty, s.examined, s.relook = false, now, time.Time{}
	r, ok := agent.Match(s.rules, strings.Split(s.term.Text(), "\n"), s.term.Title())
	if !ok && !s.tells {
		s.activity(now)
		return
	}
	if !ok {
		if s.odd.IsZero() {
			s.odd = now
		}
		if at := s.odd.Add(redraws); s.rests && now.Before(at) {
			s.relook = at
			return
		}
		s.rests = false
		s.tracker.Withdraw(thread.SourceScreen, now)
		return
	}
	s.odd, s.rests = time.Time{}, waits(r.State)
	if r.Prompt {
		s.takes(now)
	}
	if starting, still := s.starts(now); still && waits(r.State) {
		// Some show that they rest, and even their input, and then open a dialog.
		s.relook, s.rests = starting.again, false
		s.tracker.Withdraw(thread.SourceScreen, now)
		return
	}
	s.tracker.Report(thread.Evidence{Source: thread.SourceScreen, State: r.State, Detail: r.Detail, At: now})
}

// takes notes that the agent takes a prompt. mu is held.
func (s *Session) takes(now time.Time) {
	if s.usable.IsZero() {
		s.usable = now
	}
}
