package session

import (
	"slices"
	"strings"
	"time"

	"orchestrator/agent"
	"orchestrator/agent/dialog"
	"orchestrator/agent/state"
	"orchestrator/agent/vterm"
	"orchestrator/thread"
)

const (
	// quiet is how long a changed screen must stay the same before the rules are applied to it.
	quiet = 100 * time.Millisecond
	// restless is how often they are applied to a screen that keeps changing.
	restless = time.Second
	// redraws is how long an agent that was idle may show what no rule matches: some clear the screen between two views.
	redraws = 1500 * time.Millisecond
	// mounted is how long a prompt must have been shown: some agents show it before they read from it.
	mounted = time.Second
	// startLimitQuiet is how long a program that prints nothing counts as starting: it may be one that only reads.
	startLimitQuiet = 3 * time.Second
	// coveredLimit is how long an input must not be shown until something counts as lying over it.
	coveredLimit = 2 * time.Second
	// loadedPause is how long to wait between two looks whether an agent has loaded the conversation that it resumes.
	loadedPause = 50 * time.Millisecond
	// loadedLimit is how long to wait for that once it shows its input: another version may not tell.
	loadedLimit = time.Minute
	// unknownLimit is how long to search for an agent's input before the agent counts as started without it: a newer
	// version may look different.
	unknownLimit = 30 * time.Second
)

// screen is an agent's screen and what is known about its state, from the screen and from reports. The session's mu
// guards it and is held when its methods are called.
type screen struct {
	term    *vterm.Terminal
	rules   []agent.Rule
	input   func(*vterm.Terminal) (agent.Input, bool) // nil if it cannot be read from the screen
	tells   bool                                      // some rule shows when it works or waits
	waits   bool                                      // some rule, or the input, shows when a prompt is accepted
	startup time.Duration                             // the minimum time after its first output until it is ready
	loaded  func() bool                               // whether it has loaded the conversation that it resumes; nil once it has

	asks asks // the dialog on it

	tracker *state.Tracker
	signs   state.Signs // of a program without rules

	began    time.Time // when it was started
	first    time.Time // first output; zero before
	printed  time.Time // newest output
	burst    time.Time // since when it prints without a pause of restless
	examined time.Time // when the rules were last applied
	dirty    bool      // the screen changed since
	relook   time.Time // when to examine a screen again that is not trusted yet; zero if it is
	rests    bool      // it was idle when the rules were last applied
	odd      time.Time // since when no rule matches; zero while one does
	covered  time.Time // since when its input is not shown though it seems to wait for a prompt; zero otherwise
	usable   time.Time // when it first showed that it accepts a prompt; zero before
	found    bool      // its input has been on its screen
	unloaded time.Time // when to look again whether it has loaded its conversation
}

// newScreen returns the state before the agent starts; the caller sets term. read finds the agent's input on its screen
// and is nil if that is not possible.
func newScreen(
	rules []agent.Rule, read func(*vterm.Terminal) (agent.Input, bool), startup time.Duration, now time.Time,
) *screen {
	s := &screen{
		rules: rules, startup: startup, tracker: state.New(now), began: now,
		tells: slices.ContainsFunc(rules, func(r agent.Rule) bool { return !isDialog(r.State) }),
		waits: read != nil || slices.ContainsFunc(rules, func(r agent.Rule) bool { return r.Prompt }),
	}
	s.input = s.remembered(read)
	if s.waits {
		s.tracker.Expect(state.StartPatience)
	}
	return s
}

// remembered caches the input of each screen: it is needed again and again while a prompt is typed.
func (s *screen) remembered(read func(*vterm.Terminal) (agent.Input, bool)) func(*vterm.Terminal) (agent.Input, bool) {
	if read == nil {
		return nil
	}
	type frame struct {
		printed    time.Time
		cols, rows int
	}
	var of frame
	var in agent.Input
	var found bool
	return func(t *vterm.Terminal) (agent.Input, bool) {
		now := frame{printed: s.printed}
		now.cols, now.rows = t.Size()
		if now != of || s.printed.IsZero() {
			in, found = read(t)
			of = now
		}
		return in, found
	}
}

// write processes the agent's output and returns the time of it.
func (s *screen) write(b []byte) time.Time {
	_, _ = s.term.Write(b) // accepts everything
	now := time.Now()
	if s.first.IsZero() {
		s.first = now
	}
	if now.Sub(s.printed) >= restless {
		s.burst = now
	}
	s.printed, s.dirty = now, true
	s.tracker.Output(now)
	return now
}

// sign records what any program may report to its terminal about its state. A bell may be the reply to a key at keyed.
func (s *screen) sign(e vterm.Event, keyed time.Time) {
	switch e := e.(type) {
	case vterm.TitleChanged:
		s.signs.Title(e.Title)
	case vterm.Progress:
		s.signs.Progress(e.State)
	case vterm.Bell:
		if time.Since(keyed) >= restless {
			s.signs.Bell()
		}
	case vterm.Notification:
		s.signs.Notified(e.Title + " " + e.Body)
	default:
		return
	}
	s.dirty = true
}

// activity is all that can be observed of a program without rules, or with rules for dialogs only: while it keeps
// printing it works; what it does while it is quiet is not known.
func (s *screen) activity(now time.Time) {
	quiet := now.Sub(s.printed) >= restless
	if e, ok := s.signs.Evidence(strings.Split(s.term.Text(), "\n"), quiet, now); ok {
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

// examine reads the state from the screen.
func (s *screen) examine(now time.Time) {
	s.dirty, s.examined, s.relook = false, now, time.Time{}
	if !s.term.Modes().Sync { // else a frame is half drawn
		d, shown := s.dialog()
		if s.asks.see(d, shown, now) {
			defer func() { s.relook = now.Add(quiet) }()
		}
	}
	if !s.found && s.readsInput() {
		_, s.found = s.input(s.term)
	}
	r, ok := agent.Match(s.rules, strings.Split(s.term.Text(), "\n"), s.term.Title())
	if !ok && !s.tells {
		s.activity(now)
		return
	}
	if s.hides(r, ok, now) {
		if s.covered.IsZero() {
			s.covered = now
		}
		at := s.covered.Add(coveredLimit)
		if now.Before(at) { // some clear their screen to draw it again
			s.relook = at
			return
		}
		r, ok = agent.Rule{State: thread.StateQuestion, Detail: "does not show its input: a menu may be open"}, true
	} else {
		s.covered = time.Time{}
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
	if again, starts := s.starts(now); starts && waits(r.State) {
		// Some show that they are idle, and even their input, and then open a dialog.
		s.relook, s.rests = again, false
		s.tracker.Withdraw(thread.SourceScreen, now)
		return
	}
	s.tracker.Report(thread.Evidence{Source: thread.SourceScreen, State: r.State, Detail: r.Detail, At: now})
}

// dialog reads the dialog that is shown. Where the agent's input is shown there is none: something only looks like it.
func (s *screen) dialog() (dialog.Dialog, bool) {
	if len(s.asks.forms) == 0 {
		return dialog.Dialog{}, false
	}
	if s.readsInput() {
		if _, found := s.input(s.term); found {
			return dialog.Dialog{}, false
		}
	}
	return dialog.Read(s.term, s.asks.forms)
}

// hides reports whether something lies over the input of an agent that has shown it, and that seems to wait for a
// prompt: a menu that no rule knows.
func (s *screen) hides(r agent.Rule, known bool, now time.Time) bool {
	if !s.found || s.usable.IsZero() || s.term.Blank() || known && !waits(r.State) {
		return false
	}
	if is := s.tracker.State(now).State; !waits(is) && (s.covered.IsZero() || is != thread.StateQuestion) {
		return false // it works, as others know
	}
	_, shown := s.input(s.term)
	return !shown
}

// takes records that the agent accepts a prompt.
func (s *screen) takes(now time.Time) {
	if s.usable.IsZero() {
		s.usable = now
	}
}

// starts reports whether the agent may still lose keys, and until when at most, if that is known.
func (s *screen) starts(now time.Time) (again time.Time, starts bool) {
	if s.first.IsZero() {
		if s.waits {
			return again, true
		}
		again = s.began.Add(startLimitQuiet)
		return again, now.Before(again)
	}
	if again = s.first.Add(s.startup); now.Before(again) {
		return again, true
	}
	if !s.waits {
		return time.Time{}, false
	}
	if s.usable.IsZero() {
		if s.readsInput() {
			if _, found := s.input(s.term); found {
				s.takes(now)
			}
		}
		if s.usable.IsZero() {
			again = s.first.Add(unknownLimit)
			return again, now.Before(again) || s.term.Blank()
		}
	}
	if again = s.usable.Add(mounted); now.Before(again) {
		return again, true
	}
	return s.loads(now)
}

// loads reports whether the agent shows its input and has not loaded the conversation that it resumes, and when to look
// again. One that never says so counts as having loaded it in the end.
func (s *screen) loads(now time.Time) (again time.Time, loads bool) {
	if s.loaded == nil {
		return again, false
	}
	if now.Before(s.unloaded) {
		return s.unloaded, true
	}
	if s.loaded() || !now.Before(s.usable.Add(loadedLimit)) {
		s.loaded = nil
		return again, false
	}
	s.unloaded = now.Add(loadedPause)
	return s.unloaded, true
}

// draws reports whether the agent's screen is empty, where its input should be. Gemini CLI shows its input, and then
// draws a long history for many seconds, in which it reads nothing.
func (s *screen) draws() bool { return s.waits && s.readsInput() && s.term.Blank() }

// readsInput reports whether the agent's input can be found on its screen.
func (s *screen) readsInput() bool { return s.input != nil }

// menu returns which menu is open, according to the screen as it is now or to what was reported.
func (s *screen) menu(now time.Time) (why string, open bool) {
	rule, _ := agent.Match(s.rules, strings.Split(s.term.Text(), "\n"), s.term.Title())
	if isDialog(rule.State) || rule.State == thread.StateUnauthorised { // it asks to log in
		return rule.Detail, true
	}
	r := s.tracker.State(now)
	return r.Why(), isDialog(r.State)
}

// knows reports whether the screen has shown that a prompt is accepted, so that it can be told when it does.
func (s *screen) knows() bool {
	known := slices.ContainsFunc(s.rules, func(r agent.Rule) bool { return r.Prompt && r.Lines != agent.InTitle })
	return known && !s.usable.IsZero()
}

// shows reports whether the screen shows that a prompt is accepted.
func (s *screen) shows() bool {
	r, ok := agent.Match(s.rules, strings.Split(s.term.Text(), "\n"), s.term.Title())
	return ok && r.Prompt && r.Lines != agent.InTitle
}

// lastLines returns the last non-empty lines of the screen.
func (s *screen) lastLines(n int) string {
	var lines []string
	for l := range strings.Lines(s.term.Text()) {
		if strings.TrimSpace(l) != "" {
			lines = append(lines, l)
		}
	}
	return strings.Join(lines[max(0, len(lines)-n):], "")
}

func isDialog(s thread.State) bool { return s == thread.StateApproval || s == thread.StateQuestion }

func waits(s thread.State) bool { return s == thread.StateIdle || s == thread.StateDone }
