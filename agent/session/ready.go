package session

import (
	"errors"
	"strings"
	"time"

	"orchestrator/agent"
	"orchestrator/thread"
	"orchestrator/thread/pattern"
	"orchestrator/thread/typing"
)

const (
	// calm is how long the screen must stand still to be read: a frame comes in several pieces.
	calm = 15 * time.Millisecond
	// calmLimit is after how long without a pause it is read all the same.
	calmLimit = 2 * time.Second
	// doubtKey is how long the effect of a key that only the agent knows is awaited, once it draws.
	doubtKey = time.Second
	// doubtText is how long text that was typed and is not seen counts as still to come; so long an effect is
	// awaited, too, while the agent draws nothing.
	doubtText = 3 * time.Second
	// sentLimit is how long evidence is awaited that what was sent began a turn.
	sentLimit = 2 * time.Second
	// unknownLimit is after how long an agent whose input was never found is typed to without: a newer version
	// may look different.
	unknownLimit = 30 * time.Second
)

// anyMenu is what the last lines of menus say, whichever program's.
var anyMenu = pattern.Lazy(`(?i)\benter to (confirm|select|continue|save|submit)\b|\besc to (cancel|close|go back)\b|` +
	`\benter (continue|select|confirm|resume|submit)\b|\besc (back|dismiss|exit)\b|\bpress enter\b|\(use enter to select|enter/esc confirm`)

// refusal is why a prompt may not be typed now.
type refusal struct {
	thread.NotReadyError
	dialog bool      // a menu is open
	brief  bool      // it is over in a moment
	again  time.Time // when it may be over by itself; zero when something has to happen
}

func person(reason string) refusal {
	return refusal{NotReadyError: thread.NotReadyError{Reason: reason, Person: true}}
}

// menu says which menu is open, by the screen as it is now or by what was reported. mu is held.
func (s *Session) menu(now time.Time) (why string, open bool) {
	rule, _ := agent.Match(s.rules, strings.Split(s.term.Text(), "\n"), s.term.Title())
	if dialog(rule.State) || rule.State == thread.StateUnauthorised { // it asks to log in
		return rule.Detail, true
	}
	r := s.tracker.State(now)
	return r.Why(), dialog(r.State)
}

// refuses says why a prompt may not be typed now, if so. mu is held.
func (s *Session) refuses(now time.Time) (refusal, bool) {
	if why, open := s.menu(now); open {
		r := person("a menu is open (" + why + ")")
		r.dialog = true
		return r, true
	}
	if r, refused := s.starts(now); refused {
		return r, true
	}
	if r := s.tracker.State(now); (r.Works() || r.State.Trouble() && !r.Stuck) && s.tells {
		return refusal{NotReadyError: thread.NotReadyError{Reason: "it is working"}}, true
	}
	if pause := now.Sub(s.printed); (pause < calm || s.term.Modes().Sync) && now.Sub(s.burst) < calmLimit {
		return refusal{NotReadyError: thread.NotReadyError{Reason: "it is drawing its screen"}, brief: true, again: s.printed.Add(calm)}, true
	}
	if r, refused := s.drafts(now); refused {
		return r, true
	}
	if !s.sent.IsZero() && !s.begun() {
		if again := s.sent.Add(sentLimit); now.Before(again) {
			return refusal{NotReadyError: thread.NotReadyError{Reason: "a prompt was sent a moment ago"}, brief: true, again: again}, true
		}
	}
	return refusal{}, false
}

// starts says whether the agent may still swallow keys. mu is held.
func (s *Session) starts(now time.Time) (refusal, bool) {
	r := refusal{NotReadyError: thread.NotReadyError{Reason: "it is starting"}, brief: true}
	if s.first.IsZero() {
		return r, true
	}
	if r.again = s.first.Add(s.spec.Launch.Ready); now.Before(r.again) {
		return r, true
	}
	if !s.waits {
		return refusal{}, false
	}
	if s.usable.IsZero() {
		if s.readsInput() {
			if _, found := s.input(s.term); found {
				s.takes(now)
			}
		}
		if s.usable.IsZero() {
			r.again = s.first.Add(unknownLimit)
			return r, now.Before(r.again) || strings.TrimSpace(s.term.Text()) == ""
		}
	}
	r.again = s.usable.Add(mounted)
	return r, now.Before(r.again)
}

// readsInput reports whether the agent's input can be found on its screen.
func (s *Session) readsInput() bool { return s.input != nil }

// drafts says whether something stands in the agent's input, or may. mu is held.
func (s *Session) drafts(now time.Time) (refusal, bool) {
	const typed, held = "you are typing to it", "its input holds something that is not sent"
	hold := s.keys.Hold()
	if !s.readsInput() {
		return person(typed), hold != typing.Nothing
	}
	in, found := s.input(s.term)
	switch {
	case found:
		s.found = true
	case s.found, anyMenu().MatchString(s.lastLines(4)):
		return person("it does not show its input: a menu may be open"), true
	default: // a version whose screen is not known
		return person(typed), hold != typing.Nothing
	}
	if !in.Empty() {
		return person(held), true
	}
	since, shown := now.Sub(s.keyed), s.printed.After(s.keyed)
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
	s.keys.Empty() // the screen knows better
	return refusal{}, false
}

// begun reports whether there is evidence that what was sent last began a turn. mu is held.
func (s *Session) begun() bool {
	for _, e := range s.tracker.State(s.sent).Evidence {
		if e.At.After(s.sent) && (e.State == thread.StateWorking || e.Source != thread.SourceScreen) {
			return true
		}
	}
	return false
}

// lastLines returns the last lines of the screen that hold something. mu is held.
func (s *Session) lastLines(n int) string {
	var lines []string
	for l := range strings.Lines(s.term.Text()) {
		if strings.TrimSpace(l) != "" {
			lines = append(lines, l)
		}
	}
	return strings.Join(lines[max(0, len(lines)-n):], "")
}

// refuse remembers why Send typed nothing, until that changes.
func (s *Session) refuse(err error) {
	var not *thread.NotReadyError
	if !errors.As(err, &not) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	told := *not
	s.refused = &told
	s.schedule(time.Now()) // it may have changed already
}

// retry has the owner told when what a prompt was refused for is another reason now, or none. mu is held.
func (s *Session) retry(now time.Time) (again time.Time) {
	if s.refused == nil || s.exit != nil {
		return time.Time{}
	}
	r, refused := s.refuses(now)
	if refused && (r.brief || r.NotReadyError == *s.refused) {
		return r.again
	}
	s.refused, s.again = nil, true
	s.notify()
	return time.Time{}
}

func dialog(s thread.State) bool { return s == thread.StateApproval || s == thread.StateQuestion }

func waits(s thread.State) bool { return s == thread.StateIdle || s == thread.StateDone }
