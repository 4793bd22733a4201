package state

import (
	"slices"
	"time"

	"orchestrator/thread"
)

// How long claims hold against newer ones of lower sources.
const (
	// hookSettle is how long a hook's "waits" stands back behind the gateway's "works".
	hookSettle = 1500 * time.Millisecond
	// screenSettle is the same for what the screen shows.
	screenSettle = 3 * time.Second
	// staleFrame is how much newer "works" on the screen must be than the claim it contradicts.
	staleFrame = 2 * time.Second
	// dialogSlack is how much later the gateway may tell of work when a dialog opens.
	dialogSlack = 300 * time.Millisecond
	// lateReport is how late a hook's "works" may come after the answer that it came before: it takes
	// the way through the terminal or through a process of its own. A new turn's request says it anyway.
	lateReport = time.Second
	// retryHold is how long a refusal stands through the next request.
	retryHold = 3 * time.Second

	// startSilence is how long "starting" is believed without a word.
	startSilence = 30 * time.Second
	// screenSilence is how long "works" on a screen is believed without output: spinners spin.
	screenSilence = 30 * time.Second
	// hookSilence is how long a hook's "works" is believed without output: a tool may be silent.
	hookSilence = 10 * time.Minute
)

// Tracker keeps the newest evidence of each source and ranks it.
type Tracker struct {
	process, gateway, hook, screen thread.Evidence // zero while there is none

	heard   time.Time       // newest output or evidence
	claimed bool            // something other than the process has spoken
	refused thread.Evidence // the gateway's last refusal, while nothing succeeded since
	shown   bool            // the screen showed the dialog that the hook told of

	state thread.State // as of the last call, for since
	since time.Time
}

// New returns the tracker of a process that was started at a time.
func New(started time.Time) *Tracker {
	t := &Tracker{heard: started, state: thread.StateStarting, since: started}
	t.process = thread.Evidence{Source: thread.SourceProcess, State: thread.StateStarting, Detail: "process started", At: started}
	return t
}

// Report adds evidence. Older evidence than what its source said last is dropped.
func (t *Tracker) Report(e thread.Evidence) {
	slot := t.slot(e.Source)
	switch {
	case slot == nil, e.State == "", e.At.Before(slot.At):
		return
	case ended(t.process.State):
		return // nothing comes after the end
	case ended(e.State) && e.Source != thread.SourceProcess:
		return // nobody else can know
	}
	t.settle(e.At)
	switch e.Source {
	case thread.SourceGateway, thread.SourceTranscript:
		e.Began = newest(e, *slot)
		switch {
		case refusal(e.State):
			t.refused = e
		case waits(e.State):
			t.refused = thread.Evidence{}
		}
	case thread.SourceHook:
		t.shown = dialog(e.State) && t.screen.State == e.State && !t.screen.At.Before(e.At)
	case thread.SourceScreen:
		t.screenChanged(e.State)
	default: // the process's word has no history
	}
	*slot = e
	t.claimed = t.claimed || e.Source != thread.SourceProcess
	t.Output(e.At)
	t.settle(e.At)
}

// Withdraw says that a source claims nothing any more: no rule matches the screen.
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

// screenChanged drops a hook's dialog that the screen showed and shows no more.
func (t *Tracker) screenChanged(now thread.State) {
	switch {
	case !dialog(t.hook.State):
	case dialog(now):
		t.shown = true
	case t.shown:
		t.hook, t.shown = thread.Evidence{}, false
	}
}

// Output says that the agent printed something.
func (t *Tracker) Output(at time.Time) {
	if at.After(t.heard) {
		t.heard = at
	}
}

// State returns what the agent is doing and what speaks for it, the deciding evidence first.
func (t *Tracker) State(now time.Time) thread.StateReport {
	best := t.settle(now)
	r := thread.StateReport{State: t.state, Since: t.since, Evidence: []thread.Evidence{best}}
	for _, e := range []thread.Evidence{t.process, t.gateway, t.hook, t.screen} {
		if e.State != "" && e != best {
			r.Evidence = append(r.Evidence, e)
		}
	}
	return r
}

// Next returns when the state changes if nothing more is heard; zero when it does not.
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
		return nil // silence is worked out, not told
	}
}

// settle follows the state's changes, so that since comes from the whole history.
func (t *Tracker) settle(now time.Time) thread.Evidence {
	best, _ := t.decide(now)
	if best.State != t.state {
		t.state, t.since = best.State, now
	}
	return best
}

// decide ranks the evidence. The second result is when that may come out differently by itself.
func (t *Tracker) decide(now time.Time) (thread.Evidence, time.Time) {
	if ended(t.process.State) {
		return t.process, time.Time{}
	}
	var next time.Time
	later := func(at time.Time) bool { // notes a time that is still to come
		if !at.After(now) {
			return true
		}
		if next.IsZero() || at.Before(next) {
			next = at
		}
		return false
	}

	best := t.heldGateway(later)
	for _, e := range []thread.Evidence{t.hook, t.screen} {
		if e.State != "" && (best.State == "" || overrides(e, best, later)) {
			best = e
		}
	}
	silence := thread.Evidence{Source: thread.SourceSilence, State: thread.StateUnknown, Detail: "nothing speaks for a state", At: t.heard}
	switch limit := patience(best); {
	case best.State == "" && (t.claimed || later(t.process.At.Add(startSilence))):
		return silence, next
	case best.State == "":
		return t.process, next
	case limit > 0 && later(t.heard.Add(limit)):
		silence.Detail = "nothing heard since it was " + string(best.State)
		return silence, next
	}
	return best, next
}

// heldGateway returns the gateway's word, a refusal as long as it holds through a retry.
func (t *Tracker) heldGateway(later func(time.Time) bool) thread.Evidence {
	if t.refused.State != "" && t.gateway.State == thread.StateWorking && t.gateway.At.Sub(t.refused.At) < 2*time.Minute &&
		!later(t.gateway.At.Add(retryHold)) {
		return t.refused
	}
	return t.gateway
}

// overrides reports whether a lower source's claim wins over a higher one's.
func overrides(low, high thread.Evidence, later func(time.Time) bool) bool {
	if dialog(low.State) && responses(high.Source) && high.State == thread.StateWorking {
		if !high.Began.IsZero() {
			return low.At.After(high.Began) // the response led to it, however late its end is told
		}
		return low.At.Add(dialogSlack).After(high.At)
	}
	if !low.At.After(high.At) {
		return false
	}
	screen := low.Source == thread.SourceScreen
	switch {
	case dialog(low.State):
		return true
	case waits(low.State):
		switch {
		case waits(high.State), refusal(high.State):
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
		if screen {
			return high.State != thread.StateWorking && low.At.Sub(high.At) >= staleFrame
		}
		if waits(high.State) && responses(high.Source) {
			return low.At.Sub(high.At) >= lateReport
		}
		return high.State != thread.StateWorking
	case refusal(low.State):
		return !refusal(high.State) && (!screen || low.At.Sub(high.At) >= staleFrame)
	default:
		return false // starting, unknown: less than what is known
	}
}

// newest returns when the newest request began that evidence of the gateway tells the end of: there
// may be several at once. Zero for what tells of no end.
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

// patience is how long a claim is believed without a sign of life, 0 for ever.
func patience(e thread.Evidence) time.Duration {
	switch {
	case e.State == thread.StateWorking && e.Source == thread.SourceScreen:
		return screenSilence
	case e.State == thread.StateWorking && e.Source == thread.SourceHook:
		return hookSilence
	default:
		return 0
	}
}

// responses reports whether a source tells of the model's responses themselves.
func responses(s thread.Source) bool {
	return s == thread.SourceGateway || s == thread.SourceTranscript
}

func ended(s thread.State) bool {
	return slices.Contains([]thread.State{thread.StateExited, thread.StateInterrupted}, s)
}

func dialog(s thread.State) bool { return s == thread.StateApproval || s == thread.StateQuestion }

func waits(s thread.State) bool { return s == thread.StateIdle || s == thread.StateDone }

func refusal(s thread.State) bool {
	return s == thread.StateLimited || s == thread.StateUnauthorised || s == thread.StateUnavailable
}
