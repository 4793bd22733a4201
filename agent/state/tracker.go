package state

import (
	"slices"
	"time"

	"orchestrator/thread"
)

// How long evidence holds against newer evidence of lower sources.
const (
	// hookSettle is how long a hook's "waits" is deferred while the gateway reports "works".
	hookSettle = 1500 * time.Millisecond
	// screenSettle is the same for the screen.
	screenSettle = 3 * time.Second
	// staleFrame is how much newer "works" on the screen must be than the evidence that it contradicts.
	staleFrame = 2 * time.Second
	// dialogSlack is how much later than a dialog's appearance the gateway may report work.
	dialogSlack = 300 * time.Millisecond
	// lateReport is how long after the answer a hook's "works" may arrive that was sent before it: it passes through the
	// terminal or a process of its own. A new turn's request is reported anyway.
	lateReport = time.Second
	// answerHold is how long the answer to a repeated request must last before the trouble counts as over: otherwise the
	// state would flip with each attempt if every answer breaks off.
	answerHold = 1500 * time.Millisecond
	// retryPatience is how long an agent may be silent before its next attempt.
	retryPatience = 3 * time.Minute
	// gaveUp is how long an agent must wait for a prompt after trouble before it counts as having given up; gaveUpSeen is
	// the same for the screen.
	gaveUp     = time.Second
	gaveUpSeen = 1500 * time.Millisecond
	// abandonedHold is how long a hook's "works" outlives the request that its agent abandoned.
	abandonedHold = time.Second

	// startSilence is how long "starting" is accepted without any evidence.
	startSilence = 30 * time.Second
	// StartPatience is the same for an agent whose screen shows when it accepts a prompt: on a loaded machine some need
	// more than a minute.
	StartPatience = 5 * time.Minute
	// screenSilence is how long "works" on a screen is accepted without output: spinners spin.
	screenSilence = 30 * time.Second
	// hookSilence is how long a hook's "works" is accepted without output: a tool may be silent.
	hookSilence = 10 * time.Minute
)

// Tracker keeps the newest evidence of each source and ranks it.
type Tracker struct {
	process, gateway, hook, screen thread.Evidence // zero if there is none

	heard   time.Time       // newest output or evidence
	claimed bool            // it has been working or waiting for a prompt
	startup time.Duration   // how long it may take until then
	trouble thread.Evidence // the failure of the gateway's last requests, while none has succeeded since
	retried bool            // the failed request has been repeated
	gave    bool            // the agent has given up since: what it draws again changes nothing
	answers time.Time       // when the answer to the repeated request began; zero before
	shown   bool            // the screen has shown the dialog that the hook reported

	state thread.State // at the last call, for since
	since time.Time
}

// New returns the tracker of a process that was started at the given time.
func New(started time.Time) *Tracker {
	t := &Tracker{heard: started, state: thread.StateStarting, since: started, startup: startSilence}
	t.process = thread.Evidence{
		Source: thread.SourceProcess, State: thread.StateStarting, Detail: "process started", At: started,
	}
	return t
}

// Expect sets how long the process may take to start.
func (t *Tracker) Expect(startup time.Duration) { t.startup = startup }

// Report adds evidence. Evidence that is older than its source's last is dropped.
func (t *Tracker) Report(e thread.Evidence) {
	slot := t.slot(e.Source)
	switch {
	case slot == nil, e.State == "", e.At.Before(slot.At):
		return
	case ended(t.process.State):
		return // nothing follows the end
	case ended(e.State) && e.Source != thread.SourceProcess:
		return // no other source can know that
	}
	t.settle(e.At)
	switch e.Source {
	case thread.SourceGateway, thread.SourceTranscript:
		t.gave = false
		t.trackTrouble(e)
		e.Began = newest(e, *slot)
	case thread.SourceHook:
		if e.Prompt && e.At.Sub(t.trouble.At) >= lateReport || e.State == thread.StateWorking && t.stuck(until(e.At, nil)) {
			t.clearTrouble() // the person has continued
		}
		t.shown = dialog(e.State) && t.screen.State == e.State && !t.screen.At.Before(e.At)
	case thread.SourceScreen:
		t.screenChanged(e.State)
	default: // evidence of the process has no history
	}
	*slot = e
	t.claimed = t.claimed || e.Source != thread.SourceProcess && (waits(e.State) || e.State == thread.StateWorking ||
		e.State.Trouble())
	t.Output(e.At)
	t.settle(e.At)
}

// trackTrouble follows the trouble of requests. It begins with one that fails, and ends with one that succeeds or is
// for something else: the person has continued.
func (t *Tracker) trackTrouble(e thread.Evidence) {
	switch {
	case e.State.Trouble():
		if t.trouble.State == "" {
			t.retried = false
		}
		t.trouble, t.answers = e, time.Time{}
	case t.trouble.State == "" || e.State == thread.StateUnknown || e.State == thread.StateSilent:
	case e.Answers:
		t.answers = e.At
	case e.Again:
		t.retried, t.answers = true, time.Time{}
	default:
		t.clearTrouble()
	}
}

// clearTrouble ends the trouble.
func (t *Tracker) clearTrouble() {
	if t.gateway.State.Trouble() {
		t.gateway = thread.Evidence{}
	}
	t.trouble, t.retried, t.gave, t.answers = thread.Evidence{}, false, false, time.Time{}
}

// Withdraw records that a source no longer indicates anything: no rule matches the screen.
func (t *Tracker) Withdraw(s thread.Source, at time.Time) {
	slot := t.slot(s)
	if slot == nil || s == thread.SourceProcess || at.Before(slot.At) {
		return
	}
	t.settle(at)
	if s == thread.SourceScreen {
		t.screenChanged("")
	}
	*slot = thread.Evidence{}
	t.settle(at)
}

// screenChanged drops a hook's dialog that the screen showed and no longer shows.
func (t *Tracker) screenChanged(now thread.State) {
	switch {
	case !dialog(t.hook.State):
	case dialog(now):
		t.shown = true
	case t.shown:
		t.hook, t.shown = thread.Evidence{}, false
	}
}

// Output records that the agent printed something.
func (t *Tracker) Output(at time.Time) {
	if at.After(t.heard) {
		t.heard = at
	}
}

// State returns the agent's state with the evidence for it, the deciding one first.
func (t *Tracker) State(now time.Time) thread.StateReport {
	best := t.settle(now)
	r := thread.StateReport{State: t.state, Since: t.since, Evidence: make([]thread.Evidence, 1, 5)}
	r.Evidence[0] = best
	if best.State.Trouble() {
		r.Until, r.Stuck = best.Until, best.Source == thread.SourceHook || best == t.trouble && t.stuck(until(now, nil))
		r.Retrying = best == t.trouble && t.retried && !r.Stuck
	}
	for _, e := range []thread.Evidence{t.process, t.gateway, t.hook, t.screen} {
		if e.State != "" && e != best {
			r.Evidence = append(r.Evidence, e)
		}
	}
	return r
}

// Next returns when the state changes without further evidence; zero if it does not.
func (t *Tracker) Next(now time.Time) time.Time {
	_, at := t.decide(now)
	return at
}

func (t *Tracker) slot(s thread.Source) *thread.Evidence {
	switch s {
	case thread.SourceProcess:
		return &t.process
	case thread.SourceGateway, thread.SourceTranscript:
		return &t.gateway
	case thread.SourceHook:
		return &t.hook
	case thread.SourceScreen:
		return &t.screen
	default:
		return nil // silence is derived, not reported
	}
}

// settle follows the changes of the state, so that since is based on the whole history.
func (t *Tracker) settle(now time.Time) thread.Evidence {
	best, _ := t.decide(now)
	if best.State != t.state {
		t.state, t.since = best.State, now
	}
	t.gave = t.stuck(until(now, nil))
	return best
}

// until returns a function that reports whether a time has passed, and calls note with those that have not.
func until(now time.Time, note func(time.Time)) func(time.Time) bool {
	return func(at time.Time) bool {
		if !at.After(now) {
			return true
		}
		if note != nil {
			note(at)
		}
		return false
	}
}

// decide ranks the evidence. The second result is when the result, or the report on trouble, may change without further
// evidence.
func (t *Tracker) decide(now time.Time) (thread.Evidence, time.Time) {
	if ended(t.process.State) {
		return t.process, time.Time{}
	}
	var next time.Time
	later := until(now, func(at time.Time) {
		if next.IsZero() || at.Before(next) {
			next = at
		}
	})

	best := t.gatewayEvidence(later)
	hook := t.hook
	if best.State == thread.StateUnknown { // the agent abandoned its request, and only other sources can tell what it does
		best = thread.Evidence{}
		if hook.State == thread.StateWorking && hook.At.Before(t.gateway.At) && later(t.gateway.At.Add(abandonedHold)) {
			hook = thread.Evidence{} // it was working at that request
		}
	}
	for _, e := range []thread.Evidence{hook, t.screen} {
		if e.State != "" && (best.State == "" || overrides(e, best, later)) {
			best = e
		}
	}
	if best.State == "" && t.gateway.State == thread.StateUnknown {
		best = t.gateway
	}
	silence := thread.Evidence{
		Source: thread.SourceSilence, State: thread.StateUnknown, Detail: "no evidence of its state", At: t.heard,
	}
	switch limit := silenceLimit(best); {
	case best.State == "" && (t.claimed || later(t.process.At.Add(t.startup))):
		return silence, next
	case best.State == "":
		return t.process, next
	case limit > 0 && later(t.heard.Add(limit)):
		silence.Detail = "no activity since it was " + string(best.State)
		return silence, next
	}
	if best == t.trouble {
		t.stuck(later)
	}
	return best, next
}

// gatewayEvidence returns the evidence of the gateway: the trouble until it is over, otherwise the newest.
func (t *Tracker) gatewayEvidence(later func(time.Time) bool) thread.Evidence {
	if t.trouble.State != "" && (t.answers.IsZero() || !later(t.answers.Add(answerHold))) {
		return t.trouble
	}
	return t.gateway
}

// stuck reports whether the agent has given up after trouble: it waits or has failed, or it has not retried for a long
// time.
func (t *Tracker) stuck(later func(time.Time) bool) bool {
	if s := t.gateway.State; t.trouble.State == "" || s == thread.StateWorking || s == thread.StateSilent {
		return false // nothing to give up, or an attempt is in progress
	}
	if t.gave {
		return true
	}
	given := false
	for _, e := range []thread.Evidence{t.hook, t.screen} {
		wait := gaveUp
		if e.Source == thread.SourceScreen {
			wait = gaveUpSeen
		}
		if (waits(e.State) || e.Source == thread.SourceHook && e.State.Trouble()) && e.At.After(t.gateway.At) {
			given = later(e.At.Add(wait)) || given
		}
	}
	return later(t.gateway.At.Add(retryPatience)) || given
}

// overrides reports whether the evidence of a lower source wins over that of a higher one.
func overrides(low, high thread.Evidence, later func(time.Time) bool) bool {
	if dialog(low.State) && responses(high.Source) && high.State == thread.StateWorking {
		if !high.Began.IsZero() {
			return low.At.After(high.Began) // the response led to it, however late its end is reported
		}
		return low.At.Add(dialogSlack).After(high.At)
	}
	if !low.At.After(high.At) {
		return false
	}
	screen := low.Source == thread.SourceScreen
	switch {
	case dialog(low.State), low.State == thread.StateUnauthorised && screen:
		return true // also of one that had answered: it asks to log in now
	case waits(low.State):
		switch {
		case waits(high.State), high.State.Trouble():
			return false // the same, or less than what is known
		case dialog(high.State):
			return !screen || low.At.Sub(high.At) >= staleFrame
		case screen:
			return later(low.At.Add(screenSettle))
		case responses(high.Source):
			return later(low.At.Add(hookSettle))
		}
		return true
	case low.State == thread.StateWorking:
		if responses(high.Source) && (high.State.Trouble() || high.State == thread.StateSilent) {
			return false // that is what it works at
		}
		if screen {
			return high.State != thread.StateWorking && low.At.Sub(high.At) >= staleFrame
		}
		if waits(high.State) && responses(high.Source) {
			return low.At.Sub(high.At) >= lateReport
		}
		return high.State != thread.StateWorking
	case low.State.Trouble():
		return !high.State.Trouble() && (!screen || low.At.Sub(high.At) >= staleFrame)
	default:
		return false // starting, unknown: less than what is known
	}
}

// newest returns when the newest request began whose end the gateway reports: there may be several at once. Zero for
// evidence of no end.
func newest(e, before thread.Evidence) time.Time {
	switch {
	case e.Began.IsZero():
		return e.Began
	case before.Began.After(e.Began):
		return before.Began
	case before.Began.IsZero() && before.State == thread.StateWorking && before.At.After(e.Began):
		return before.At
	}
	return e.Began
}

// silenceLimit is how long evidence is accepted without a sign of activity, 0 for unlimited.
func silenceLimit(e thread.Evidence) time.Duration {
	switch {
	case e.State == thread.StateWorking && e.Source == thread.SourceScreen:
		return screenSilence
	case e.State == thread.StateWorking && e.Source == thread.SourceHook:
		return hookSilence
	default:
		return 0
	}
}

// responses reports whether a source observes the model's responses themselves.
func responses(s thread.Source) bool {
	return s == thread.SourceGateway || s == thread.SourceTranscript
}

func ended(s thread.State) bool {
	return slices.Contains([]thread.State{thread.StateExited, thread.StateInterrupted}, s)
}

func dialog(s thread.State) bool { return s == thread.StateApproval || s == thread.StateQuestion }

func waits(s thread.State) bool { return s == thread.StateIdle || s == thread.StateDone }
