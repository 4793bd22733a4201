package session

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"orchestrator/agent"
	"orchestrator/agent/pty"
	"orchestrator/agent/state"
	"orchestrator/agent/vterm"
	"orchestrator/thread"
	"orchestrator/thread/typing"
)

const (
	// quiet is how long a changed screen must stand still before the rules look at it.
	quiet = 100 * time.Millisecond
	// restless is how often they look at one that does not stand still.
	restless = time.Second
)

// Session is one agent in its terminal. It implements thread.Session.
type Session struct {
	all    *Sessions
	thread thread.ID
	spec   thread.SessionSpec
	rules  []agent.Rule
	input  func(*vterm.Terminal) (agent.Input, bool) // nil where it cannot be read off the screen
	proc   *pty.Process                              // set before the first use
	ready  chan struct{}                             // closed when proc is set
	done   chan struct{}                             // nothing is left of the agent, and everybody was told
	sendMu sync.Mutex                                // one prompt at a time; taken before mu

	watched atomic.Int32 // viewers; read without mu to skip the line

	// mu guards all below. The emulator calls back under it. Under it only pty's own locks are taken.
	mu       sync.Mutex
	term     *vterm.Terminal
	tracker  *state.Tracker
	signs    state.Signs // of a program without rules
	viewers  []*Viewer
	active   *Viewer   // whose size counts
	first    time.Time // first output; zero before
	printed  time.Time // newest output
	burst    time.Time // since when it prints without a pause of restless
	examined time.Time // the rules last looked
	dirty    bool      // the screen changed since
	relook   time.Time // when to look again at a screen that is not believed yet; zero when it is
	rests    bool      // the rules last saw that it rests
	odd      time.Time // since when no rule matches; zero while one does
	tells    bool      // some rule tells when it works or waits
	waits    bool      // some rule tells when a prompt is taken
	usable   time.Time // one of them has matched first; zero before
	timer    *time.Timer
	armed    time.Time // when timer fires; zero when it is not set
	exit     *thread.Exit
	stopped  bool   // Stop was called
	reason   string // the limit that it was ended for
	told     thread.StateReport
	toldExit bool
	telling  bool // a goroutine runs tell

	keys    typing.Keys // what the person typed
	keyed   time.Time   // their newest key
	sent    time.Time   // when return was pressed last on something, by them or by us
	found   bool        // its input was on its screen once
	holding bool        // a prompt of ours is being typed: theirs wait in held
	held    []byte
	stop    bool                  // they pressed ctrl+c meanwhile
	wake    chan struct{}         // holds one when a prompt that is being typed should look again
	refused *thread.NotReadyError // what Send returned, until OnReady is called
	again   bool                  // OnReady is to be called

	toldAll chan struct{} // closed when OnExit has returned
}

var _ thread.Session = (*Session)(nil)

func newSession(all *Sessions, spec thread.SessionSpec, rules []agent.Rule) *Session {
	now := time.Now()
	s := &Session{
		all: all, thread: spec.Thread, spec: spec, rules: rules, tracker: state.New(now), told: thread.StateReport{State: thread.StateStarting},
		ready: make(chan struct{}), done: make(chan struct{}), toldAll: make(chan struct{}), wake: make(chan struct{}, 1),
	}
	s.tells = slices.ContainsFunc(rules, func(r agent.Rule) bool { return !dialog(r.State) })
	if all.config.Input != nil {
		s.input = s.remembered(all.config.Input(spec.Agent))
	}
	s.waits = s.input != nil || slices.ContainsFunc(rules, func(r agent.Rule) bool { return r.Prompt })
	if s.waits {
		s.tracker.Expect(state.StartPatience)
	}
	s.term = vterm.New(spec.Cols, spec.Rows, vterm.Options{
		Scrollback: all.config.Scrollback, Version: all.config.Version, Reply: s.reply, Event: s.event,
	})
	return s
}

// remembered reads an input once for each screen: while a prompt is typed it is asked for again and again. mu is held.
func (s *Session) remembered(read func(*vterm.Terminal) (agent.Input, bool)) func(*vterm.Terminal) (agent.Input, bool) {
	if read == nil {
		return nil
	}
	type screen struct {
		printed    time.Time
		cols, rows int
	}
	var of screen
	var in agent.Input
	var found bool
	return func(t *vterm.Terminal) (agent.Input, bool) {
		now := screen{printed: s.printed}
		now.cols, now.rows = t.Size()
		if now != of || s.printed.IsZero() {
			in, found = read(t)
			of = now
		}
		return in, found
	}
}

// started is called once with the process; nothing that it prints is handled before.
func (s *Session) started(p *pty.Process) {
	s.mu.Lock()
	s.proc = p
	s.schedule(time.Now())
	s.mu.Unlock()
	close(s.ready)
	go func() {
		<-p.Done()
		<-s.toldAll
		s.all.retire(s)
		close(s.done)
	}()
}

// turn waits until this session's output may be taken: at once when somebody watches.
func (s *Session) turn() (end func()) {
	if s.watched.Load() > 0 {
		return func() {}
	}
	s.all.turn <- struct{}{}
	return s.all.endTurn
}

// output takes what the agent prints; it is called by the pty's reader, one at a time.
func (s *Session) output(b []byte) {
	<-s.ready
	s.mu.Lock()
	_, _ = s.term.Write(b) // takes everything
	now := time.Now()
	if s.first.IsZero() {
		s.first = now
	}
	if now.Sub(s.printed) >= restless {
		s.burst = now
	}
	s.printed, s.dirty = now, true
	s.tracker.Output(now)
	for _, v := range s.viewers {
		v.add(b)
	}
	s.rouse()
	if s.armed.IsZero() || s.armed.After(now.Add(quiet)) {
		s.arm(now.Add(quiet))
	}
	s.mu.Unlock()
}

// exited is called by the pty when the agent has ended and all its output was handled.
func (s *Session) exited(code int) {
	<-s.ready
	s.mu.Lock()
	reason := "exited"
	switch {
	case s.stopped:
		reason = "stopped"
	case s.reason != "":
		reason = s.reason
	}
	now := time.Now()
	s.exit = &thread.Exit{Code: code, Reason: reason, Limit: !s.stopped && s.reason != ""}
	if code != 0 && !s.stopped {
		s.exit.Screen = lastWords(s.term.Text())
	}
	s.tracker.Report(thread.Evidence{
		Source: thread.SourceProcess, State: thread.StateExited, Detail: fmt.Sprintf("%s with code %d", reason, code), At: now,
	})
	if s.timer != nil {
		s.timer.Stop()
	}
	for _, v := range s.viewers {
		v.wake()
	}
	s.notify()
	s.mu.Unlock()
}

// lastWords returns the last lines of a screen that say something: why a program ended stands there.
func lastWords(screen string) string {
	const most = 8
	var lines []string
	for line := range strings.Lines(screen) {
		if line = strings.TrimRight(line, " \n"); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines[max(0, len(lines)-most):], "\n")
}

// reply sends the emulator's answer to the agent. mu is held by the caller of the emulator.
func (s *Session) reply(b []byte) {
	_ = s.proc.Write(b) // an agent that does not read its answers goes without
}

// event takes what the agent reports to its terminal. mu is held by the caller of the emulator.
func (s *Session) event(e vterm.Event) {
	st, ok := e.(vterm.Status)
	if !ok {
		s.sign(e)
		return
	}
	now := time.Now()
	ev, ok := state.FromStatus(st.State, st.Kind, st.Message, now)
	switch {
	case !ok:
		return
	case ev.State == "":
		s.tracker.Withdraw(ev.Source, now)
	default:
		if ev.State == thread.StateIdle {
			s.takes(now)
		}
		s.tracker.Report(ev)
	}
	s.schedule(now)
}

// arm sets the timer. mu is held.
func (s *Session) arm(at time.Time) {
	s.armed = at
	wait := max(time.Until(at), 0)
	if s.timer == nil {
		s.timer = time.AfterFunc(wait, s.fire)
	} else {
		s.timer.Reset(wait)
	}
}

// fire is the timer: looks at the screen when it is time to, and at what time alone has changed.
func (s *Session) fire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.armed = time.Time{}
	if s.exit != nil {
		return
	}
	now := time.Now()
	if s.dirty && (s.tells && now.Sub(s.printed) >= quiet || now.Sub(s.examined) >= restless) ||
		!s.relook.IsZero() && !now.Before(s.relook) {
		s.examine(now)
	}
	thin := false
	for _, v := range s.viewers {
		if now.Sub(s.printed) >= quiet {
			v.fill()
		}
		thin = thin || v.thin
	}
	s.schedule(now)
	if thin && s.armed.IsZero() {
		s.arm(now.Add(quiet))
	}
}

// rouse has a prompt that is being typed look again. mu is held.
func (s *Session) rouse() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// schedule tells of a new state and sets the timer for what comes next. mu is held.
func (s *Session) schedule(now time.Time) {
	s.notify()
	next := s.tracker.Next(now)
	if again := s.retry(now); again.After(now) && (next.IsZero() || again.Before(next)) {
		next = again
	}
	if s.dirty {
		look := s.printed.Add(quiet)
		if again := s.examined.Add(restless); again.After(now) && (look.After(again) || !s.tells) {
			look = again
		}
		if next.IsZero() || look.Before(next) {
			next = look
		}
	}
	if s.relook.After(now) && (next.IsZero() || s.relook.Before(next)) {
		next = s.relook
	}
	if !next.IsZero() && s.exit == nil && (s.armed.IsZero() || next.Before(s.armed)) {
		s.arm(next)
	}
}

// notify has the listeners told when there is news. mu is held.
func (s *Session) notify() {
	s.rouse()
	news := !s.tracker.State(time.Now()).Same(s.told) || s.exit != nil && !s.toldExit || s.again
	if news && !s.telling {
		s.telling = true
		go s.tell()
	}
}

// tell calls the listeners until they know all, without a lock, so that they may call back.
func (s *Session) tell() {
	for {
		s.mu.Lock()
		r := s.tracker.State(time.Now())
		newState := !r.Same(s.told)
		exit := s.exit
		if s.toldExit {
			exit = nil
		}
		again := s.again
		s.again = false
		if !newState && exit == nil && !again {
			s.telling = false
			s.mu.Unlock()
			return
		}
		s.told = r
		s.toldExit = s.toldExit || exit != nil
		s.mu.Unlock()
		if newState && s.spec.OnState != nil {
			s.spec.OnState(r)
		}
		if again && s.spec.OnReady != nil {
			s.spec.OnReady()
		}
		if exit != nil {
			if s.spec.OnExit != nil {
				s.spec.OnExit(*exit)
			}
			close(s.toldAll)
		}
	}
}

// PID returns the agent's process id.
func (s *Session) PID() int { return s.proc.PID() }

// Done is closed when the agent has ended, nothing of it is left, and OnExit has returned.
func (s *Session) Done() <-chan struct{} { return s.done }

// over reports whether the agent has ended.
func (s *Session) over() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.exit != nil
}

// State returns what the agent is doing and what speaks for it.
func (s *Session) State() thread.StateReport {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tracker.State(time.Now())
}

// Report adds evidence from outside.
func (s *Session) Report(e thread.Evidence) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tracker.Report(e)
	s.schedule(time.Now())
}

// Resize sets the size of the terminal.
func (s *Session) Resize(cols, rows int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.resize(cols, rows)
}

// resize sets the size of emulator and pty, and gives every viewer the new screen. mu is held.
func (s *Session) resize(cols, rows int) error {
	if cols < 1 || rows < 1 {
		return nil
	}
	cols, rows = vterm.Bound(cols, rows)
	if c, r := s.term.Size(); c == cols && r == rows {
		return nil
	}
	s.term.Resize(cols, rows)
	for _, v := range s.viewers {
		v.restart(s.exit != nil)
	}
	if s.exit != nil {
		return nil // its last screen can still be looked at in any size
	}
	return s.proc.Resize(cols, rows)
}

// Screen returns the lines that are seen now.
func (s *Session) Screen() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Split(s.term.Text(), "\n")
}

// end kills the agent and everything it started, for a limit that is told to people.
func (s *Session) end(reason string) {
	s.mu.Lock()
	again := s.reason != ""
	s.reason = reason
	s.mu.Unlock()
	if again {
		return
	}
	go func() { _ = s.proc.Stop(context.Background(), 0) }() // OnExit tells the end
}

// Stop ends the agent and everything it started. When ctx ends, so does the grace.
func (s *Session) Stop(ctx context.Context, grace time.Duration) error {
	s.mu.Lock()
	s.stopped = true
	s.mu.Unlock()
	if err := s.proc.Stop(ctx, grace); err != nil {
		return err
	}
	<-s.done
	return nil
}
