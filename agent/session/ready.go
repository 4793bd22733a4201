package session

import (
	"time"

	"orchestrator/thread"
	"orchestrator/thread/pattern"
	"orchestrator/thread/typing"
)

const (
	// calm is how long the screen must not change before it is read: a frame arrives in several pieces.
	calm = 15 * time.Millisecond
	// calmLimit is how long without a pause it takes until the screen is read all the same.
	calmLimit = 2 * time.Second
	// doubtKey is how long to wait, once the agent draws, for the effect of a key that only the agent knows.
	doubtKey = time.Second
	// doubtText is how long text that was typed and is not on the screen counts as still to come; it is also how long to
	// wait for an effect while the agent draws nothing.
	doubtText = 3 * time.Second
	// sentLimit is how long to wait for evidence that what was sent began a turn.
	sentLimit = 2 * time.Second
)

// anyMenu matches the last lines of menus of any program.
var anyMenu = pattern.Lazy(`(?i)\benter to (confirm|select|continue|save|submit)\b|\besc to (cancel|close|go back)\b|` +
	`\benter (continue|select|confirm|resume|submit)\b|\besc (back|dismiss|exit)\b|` +
	`\bpress enter\b|\(use enter to select|enter/esc confirm`)

// refusal is the reason why a prompt may not be typed now.
type refusal struct {
	thread.NotReadyError
	dialog bool      // a menu is open
	brief  bool      // it will be over in a moment
	again  time.Time // when it may be over by itself; zero if something has to happen first
}

func person(reason string) refusal {
	return refusal{NotReadyError: thread.NotReadyError{Reason: reason, Person: true}}
}

// moment returns a refusal that will be over in a moment, and may be at a time.
func moment(reason string, again time.Time) refusal {
	return refusal{NotReadyError: thread.NotReadyError{Reason: reason}, brief: true, again: again}
}

// readiness holds what determines whether an agent can be typed to: its screen, and what was typed to it before. The
// session's mu guards it and is held when its methods are called.
type readiness struct {
	screen *screen
	keys   typing.Keys // what the person typed
	keyed  time.Time   // their newest key
	sent   time.Time   // when they or we last pressed return on some text
	found  bool        // its input has been on its screen
}

// refuses returns why a prompt may not be typed now, if so.
func (s *readiness) refuses(now time.Time) (refusal, bool) {
	if why, open := s.screen.menu(now); open {
		r := person("a menu is open (" + why + ")")
		r.dialog = true
		return r, true
	}
	if again, starts := s.screen.starts(now); starts {
		return moment("it is starting", again), true
	}
	if r := s.screen.tracker.State(now); (r.Works() || r.State.Trouble() && !r.Stuck) && s.screen.tells {
		return refusal{NotReadyError: thread.NotReadyError{Reason: "it is working"}}, true
	}
	if pause := now.Sub(s.screen.printed); (pause < calm || s.screen.term.Modes().Sync) && now.Sub(s.screen.burst) < calmLimit {
		return moment("it is drawing its screen", s.screen.printed.Add(calm)), true
	}
	if s.screen.draws() {
		return moment("its screen is empty", now.Add(calm)), true
	}
	if r, refused := s.drafts(now); refused {
		return r, true
	}
	if !s.sent.IsZero() && !s.begun() {
		if again := s.sent.Add(sentLimit); now.Before(again) {
			return moment("a prompt was sent a moment ago", again), true
		}
	}
	return refusal{}, false
}

// drafts reports whether there is, or may be, something in the agent's input.
func (s *readiness) drafts(now time.Time) (refusal, bool) {
	const typed, held = "you are typing to it", "its input holds something that is not sent"
	hold := s.keys.Hold()
	if !s.screen.readsInput() {
		return person(typed), hold != typing.Nothing
	}
	in, found := s.screen.input(s.screen.term)
	switch {
	case found:
		s.found = true
	case s.found, anyMenu().MatchString(s.screen.lastLines(4)):
		return person("it does not show its input: a menu may be open"), true
	case hold == typing.Nothing && s.screen.knows() && !s.screen.shows():
		return moment("it does not show its input", now.Add(calm)), true
	default: // a version with an unknown screen
		return person(typed), hold != typing.Nothing
	}
	if !in.Empty() {
		return person(held), true
	}
	since, shown := now.Sub(s.keyed), s.screen.printed.After(s.keyed)
	switch {
	case hold == typing.Text && !shown:
		return person(typed), true
	case hold == typing.Text && since < doubtText:
		r := person(typed)
		r.again = s.keyed.Add(doubtText)
		return r, true
	case hold == typing.Perhaps && (since < doubtKey || !shown && since < doubtText):
		r := person(typed)
		r.brief, r.again = true, s.keyed.Add(doubtKey)
		if !shown && since >= doubtKey {
			r.again = s.keyed.Add(doubtText)
		}
		return r, true
	}
	s.keys.Empty() // the screen is more reliable
	return refusal{}, false
}

// begun reports whether there is evidence that what was sent last began a turn.
func (s *readiness) begun() bool {
	for _, e := range s.screen.tracker.State(s.sent).Evidence {
		if e.At.After(s.sent) && (e.State == thread.StateWorking || e.Source != thread.SourceScreen) {
			return true
		}
	}
	return false
}
