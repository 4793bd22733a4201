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
)

// Session is one agent in its terminal, or without one. It implements thread.Session.
type Session struct {
	thread thread.ID
	spec   thread.SessionSpec
	pace   pace
	turns  chan struct{} // unwatched output waits for its turn here
	proc   *pty.Process  // set before the first use
	ready  chan struct{} // closed when proc is set
	done   chan struct{} // the agent and its processes have ended, and all listeners were called
	sendMu sync.Mutex    // one prompt at a time; taken before mu
	run    *run          // of an agent without a terminal, whose lock is taken before mu; else nil

	watched atomic.Int32 // number of viewers; read without mu to skip the queue

	// mu guards the rest. The emulator calls back while it is held. Only pty's own locks are taken under it,
	// and that of the hooks that wait, while a dialog is decided.
	mu sync.Mutex
	readiness
	feeds    []*feed // of the viewers
	active   *feed   // of the viewer whose size the terminal has
	timer    *time.Timer
	armed    time.Time   // when timer fires; zero when it is not set
	last     *time.Timer // stops a run whose process does not end after its answer
	exit     *thread.Exit
	stopped  bool   // Stop was called
	reason   string // the limit for which it was ended
	told     thread.StateReport
	toldExit bool
	telling  bool // a goroutine runs tell

	answered time.Time // when the person last typed into a dialog

	holding  bool // a prompt of ours is being typed: what the person types waits in held
	held     []byte
	settling bool                  // a dialog was answered a moment ago
	stop     bool                  // the person pressed ctrl+c in the meantime
	wake     chan struct{}         // contains an element if a prompt that is being typed should look again
	refused  *thread.NotReadyError // what Send returned, until OnReady is called
	again    bool                  // OnReady is to be called

	asking *thread.Question // what a run waits for an answer to; nil for nothing

	toldAll chan struct{} // closed when OnExit has returned
}

var _ thread.Session = (*Session)(nil)

// pace holds the time limits for typing a prompt: the constants, except in tests.
type pace struct{ takeLimit, settled, pressAgain, plainLimit time.Duration }

func newSession(c Config, spec thread.SessionSpec, pace pace, turns chan struct{}) *Session {
	var rules []agent.Rule
	if spec.Dialogue != nil {
		c.Rules, c.Input, c.Dialogs = nil, nil, nil // its screen is our log
	}
	if c.Rules != nil {
		rules = c.Rules(spec.Agent)
	}
	var input func(*vterm.Terminal) (agent.Input, bool)
	if c.Input != nil {
		input = c.Input(spec.Agent)
	}
	s := &Session{
		thread: spec.Thread, spec: spec, pace: pace, turns: turns,
		ready: make(chan struct{}), done: make(chan struct{}),
		told: thread.StateReport{State: thread.StateStarting}, toldAll: make(chan struct{}), wake: make(chan struct{}, 1),
	}
	s.screen = newScreen(rules, input, spec.Launch.Ready, time.Now())
	if c.Dialogs != nil {
		s.screen.asks.forms = c.Dialogs(spec.Agent)
	}
	s.screen.loaded = spec.Launch.Loaded
	options := vterm.Options{Scrollback: c.Scrollback, Version: c.Version}
	if spec.Dialogue == nil {
		options.Reply, options.Event = s.reply, s.event
	} else {
		s.run = newRun(spec, c.RunOutput, s)
	}
	s.screen.term = vterm.New(spec.Cols, spec.Rows, options)
	return s
}

// started is called once with the process; none of its output is handled before.
func (s *Session) started(p *pty.Process) {
	now := time.Now()
	if s.run != nil {
		s.run.started(p, s.spec.Cols)
	}
	s.mu.Lock()
	s.proc = p
	if s.run != nil {
		s.screen.tracker.Report(thread.Evidence{Source: thread.SourceHook, State: thread.StateIdle, Detail: "takes its prompt", At: now})
	}
	s.schedule(now)
	s.mu.Unlock()
	close(s.ready)
}

// turn waits until this session's output may be handled: not at all if it is watched. Before, without holding others up, it
// waits until what a run has printed can be kept.
func (s *Session) turn() (end func()) {
	if s.run != nil {
		<-s.ready
		s.run.raw.room()
	}
	if s.watched.Load() > 0 {
		return func() {}
	}
	s.turns <- struct{}{}
	return s.endTurn
}

func (s *Session) endTurn() { <-s.turns }

// output handles the agent's output; it is called by the pty's reader, one call at a time.
func (s *Session) output(b []byte) {
	<-s.ready
	s.mu.Lock()
	now := s.screen.write(b)
	for _, f := range s.feeds {
		f.add(b)
	}
	s.rouse()
	s.armBefore(now.Add(quiet))
	s.mu.Unlock()
}

// exited is called by the pty when the agent has ended and all its output was handled.
func (s *Session) exited(code int) {
	<-s.ready
	printed := s.finishRun(code)
	s.mu.Lock()
	reason := "exited"
	switch {
	case s.stopped:
		reason = "stopped"
	case s.reason != "":
		reason = s.reason
	}
	now := time.Now()
	s.exit = &thread.Exit{Code: code, Reason: reason, Limit: !s.stopped && s.reason != "", Printed: printed}
	if code != 0 && !s.stopped {
		s.exit.Screen = lastWords(s.screen.term.Text())
	}
	s.screen.tracker.Report(thread.Evidence{
		Source: thread.SourceProcess, State: thread.StateExited, At: now,
		Detail: fmt.Sprintf("%s with code %d", reason, code),
	})
	for _, timer := range []*time.Timer{s.timer, s.last} {
		if timer != nil {
			timer.Stop()
		}
	}
	for _, f := range s.feeds {
		f.wake()
	}
	s.rouse()
	s.notify()
	s.mu.Unlock()
}

// finishRun handles the end of an agent without a terminal, and returns how much it printed.
func (s *Session) finishRun(code int) (printed int64) {
	if s.run == nil {
		return 0
	}
	s.mu.Lock()
	reason, stopped := s.reason, s.stopped
	s.mu.Unlock()
	return s.run.finish(code, reason, stopped)
}

// lastWords returns the last non-empty lines of a screen: they say why a program ended.
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

// reply sends the emulator's answer to the agent. The emulator's caller holds mu.
func (s *Session) reply(b []byte) {
	_ = s.proc.Write(b) // an agent that does not read its answers loses them
}

// event handles what the agent reports to its terminal. The emulator's caller holds mu.
func (s *Session) event(e vterm.Event) {
	st, ok := e.(vterm.Status)
	if !ok {
		s.screen.sign(e, s.keyed)
		return
	}
	now := time.Now()
	ev, ok := state.FromStatus(st.State, st.Kind, st.Message, now)
	switch {
	case !ok:
		return
	case ev.State == "":
		s.screen.tracker.Withdraw(ev.Source, now)
	default:
		if ev.State == thread.StateIdle {
			s.screen.takes(now)
		}
		s.screen.tracker.Report(ev)
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

// armBefore sets the timer to a time, unless it fires before. mu is held.
func (s *Session) armBefore(at time.Time) {
	if s.armed.IsZero() || s.armed.After(at) {
		s.arm(at)
	}
}

// fire is called by the timer: it examines the screen if it is time to, and reports what has changed by time alone.
func (s *Session) fire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.armed = time.Time{}
	if s.exit != nil {
		return
	}
	now := time.Now()
	if s.screen.dirty && (s.screen.tells && now.Sub(s.screen.printed) >= quiet || now.Sub(s.screen.examined) >= restless) ||
		!s.screen.relook.IsZero() && !now.Before(s.screen.relook) {
		s.screen.examine(now)
	}
	thin := false
	for _, f := range s.feeds {
		if now.Sub(s.screen.printed) >= quiet {
			f.fill()
		}
		thin = thin || f.thin
	}
	s.rouse()
	s.schedule(now)
	if thin && s.armed.IsZero() {
		s.arm(now.Add(quiet))
	}
}

// rouse makes a prompt that is being typed look again. Whatever changes what it looks at calls it, and it itself never
// does: it would look again without a pause. mu is held.
func (s *Session) rouse() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// schedule reports a new state and sets the timer for the next change. mu is held.
func (s *Session) schedule(now time.Time) {
	s.notify()
	next := s.screen.tracker.Next(now)
	if again := s.retry(now); again.After(now) && (next.IsZero() || again.Before(next)) {
		next = again
	}
	if s.screen.dirty {
		look := s.screen.printed.Add(quiet)
		if again := s.screen.examined.Add(restless); again.After(now) && (look.After(again) || !s.screen.tells) {
			look = again
		}
		if next.IsZero() || look.Before(next) {
			next = look
		}
	}
	if s.screen.relook.After(now) && (next.IsZero() || s.screen.relook.Before(next)) {
		next = s.screen.relook
	}
	if !next.IsZero() && s.exit == nil {
		s.armBefore(next)
	}
}

// retry queues the owner's callback if the reason for which a prompt was refused has changed or is gone. mu is held.
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

// notify calls the listeners if there is news. mu is held.
func (s *Session) notify() {
	news := !s.state(time.Now()).Same(s.told) || s.exit != nil && !s.toldExit || s.again
	if news && !s.telling {
		s.telling = true
		go s.tell()
	}
}

// tell calls the listeners until they have everything, without a lock, so that they may call back.
func (s *Session) tell() {
	for {
		s.mu.Lock()
		r := s.state(time.Now())
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

// Done is closed when the agent and its processes have ended, and OnExit has returned.
func (s *Session) Done() <-chan struct{} { return s.done }

// over reports whether the agent has ended.
func (s *Session) over() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.exit != nil
}

// State returns what the agent is doing and the evidence for it.
func (s *Session) State() thread.StateReport {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state(time.Now())
}

// state returns what the agent is doing, with what it asks. mu is held.
func (s *Session) state(now time.Time) thread.StateReport {
	r := s.screen.tracker.State(now)
	if q := s.asking; q != nil && s.exit == nil {
		return thread.StateReport{State: q.Kind.State(), Since: q.Since, Question: q, Evidence: slices.Concat([]thread.Evidence{
			{Source: thread.SourceHook, State: q.Kind.State(), Detail: "asks: " + q.Line(), At: q.Since},
		}, r.Evidence)}
	}
	if r.NeedsPerson() {
		r.Question = s.screen.asks.question
	}
	return r
}

// Report adds evidence from outside.
func (s *Session) Report(e thread.Evidence) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.screen.tracker.Report(e)
	s.rouse()
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
	if c, r := s.screen.term.Size(); c == cols && r == rows {
		return nil
	}
	s.screen.term.Resize(cols, rows)
	if s.run != nil {
		s.run.cols.Store(int32(cols)) //nolint:gosec // vterm.Bound
	}
	for _, f := range s.feeds {
		f.restart(s.exit != nil)
	}
	if s.exit != nil {
		return nil // its last screen can still be shown in any size
	}
	return s.proc.Resize(cols, rows)
}

// Screen returns the visible lines.
func (s *Session) Screen() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Split(s.screen.term.Text(), "\n")
}

// end kills the agent and everything it started, for a limit that is reported to people.
func (s *Session) end(reason string) {
	s.mu.Lock()
	again := s.reason != ""
	s.reason = reason
	s.mu.Unlock()
	if again {
		return
	}
	go func() { _ = s.proc.Stop(context.Background(), 0) }() // OnExit reports the end
}
