package outbox_test

import (
	"errors"
	"testing"

	"orchestrator/thread"
	"orchestrator/thread/manager/outbox"
)

func TestDecide(t *testing.T) {
	ready, works := outbox.Gate{Running: true, State: thread.StateIdle}, outbox.Gate{Running: true, State: thread.StateWorking}
	types := func(o *outbox.Outbox) { o.Type("0", 0) }
	queued, open, over := thread.PromptQueued, thread.PromptOpen, thread.PromptAnswered
	for name, c := range map[string]struct {
		states []thread.PromptState
		primer string
		before func(*outbox.Outbox)
		gate   outbox.Gate
		left   bool
		next   thread.PromptID
		why    string
		due    bool
	}{
		"nothing":                  {gate: ready},
		"nothing, and it works":    {gate: works},
		"all answered":             {states: []thread.PromptState{over, over}, gate: ready},
		"one":                      {states: []thread.PromptState{queued}, gate: ready, next: "1", due: true},
		"the oldest":               {states: []thread.PromptState{over, queued, queued}, gate: ready, next: "2", due: true},
		"the primer":               {primer: "was", gate: ready, due: true},
		"the primer, and it works": {primer: "was", gate: works, why: "its agent is working"},
		"both":                     {primer: "was", states: []thread.PromptState{queued}, gate: ready, next: "1", due: true},
		"it works":                 {states: []thread.PromptState{queued}, gate: works, next: "1", why: "its agent is working"},
		"no agent":                 {states: []thread.PromptState{queued}, next: "1", why: "its agent is not running"},
		"one is open": {states: []thread.PromptState{open, queued}, gate: ready, next: "2",
			why: "waiting for another prompt to be answered"},
		"the open one was given up": {states: []thread.PromptState{open, queued}, gate: ready, left: true, next: "2", due: true},
		"one is typed":              {states: []thread.PromptState{queued}, before: types, gate: ready},
		"another thread's is typed": {states: []thread.PromptState{queued}, before: (*outbox.Outbox).Wait, gate: ready, next: "1"},
		"another thread's is typed, and it works": {states: []thread.PromptState{queued}, before: (*outbox.Outbox).Wait, gate: works,
			next: "1", why: "its agent is working"},
		"another thread's was typed": {states: []thread.PromptState{queued}, gate: ready, next: "1", due: true,
			before: func(o *outbox.Outbox) { o.Wait(); o.Waited() }},
		"one was typed, and is answered": {states: []thread.PromptState{over, queued}, gate: ready, next: "2", due: true,
			before: func(o *outbox.Outbox) { o.Type("1", 0); o.Typed("1", nil, outbox.Reader{}) }},
	} {
		o := box(c.states...)
		o.Prime(c.primer)
		if c.before != nil {
			c.before(o)
		}
		p, why, due := o.Decide(c.gate, func() bool { return c.left })
		if p.ID != c.next || why != c.why || due != c.due {
			t.Errorf("%s: %q, %q, %v; want %q, %q, %v", name, p.ID, why, due, c.next, c.why, c.due)
		}
	}
}

// TestTyped says how each end of typing leaves the prompt, and when it is looked for the next one.
func TestTyped(t *testing.T) {
	joined := func(errs ...error) error { return errors.Join(errs...) }
	look := func(o *outbox.Outbox) {
		o.Decide(outbox.Gate{Running: true, State: thread.StateIdle}, func() bool { return false })
	}
	for name, c := range map[string]struct {
		text   string
		err    error
		reader outbox.Reader
		known  thread.PromptState     // what became of it meanwhile
		during func(o *outbox.Outbox) // what happens meanwhile
		event  outbox.Event
		reason string
		later  bool
		primed bool // the primer is still to be typed
	}{
		"it took it":                   {event: outbox.Typed},
		"another agent runs":           {reader: outbox.Reader{Gone: true}, event: outbox.Typed, primed: true},
		"nothing is seen of it":        {reader: outbox.Reader{Silent: true, Blind: true}, event: outbox.Taken, reason: "typed; this program does not report its answers"},
		"only its requests are":        {reader: outbox.Reader{Blind: true}, event: outbox.Typed},
		"no reaction":                  {err: thread.ErrNoReaction, event: outbox.Typed, reason: thread.ErrNoReaction.Error()},
		"no reaction can be seen":      {err: thread.ErrNoReaction, reader: outbox.Reader{Blind: true}, event: outbox.Taken, reason: thread.ErrNoReaction.Error()},
		"the hook was quicker":         {known: thread.PromptOpen},
		"it ended by the command":      {text: "/exit", err: joined(thread.ErrSent, thread.ErrNotRunning), event: outbox.Taken, reason: outbox.EndedWith, primed: true},
		"it ended with it":             {err: joined(thread.ErrSent, thread.ErrNotRunning), event: outbox.Stopped, reason: "the agent ended before it answered", primed: true},
		"it ended before":              {err: thread.ErrNotRunning, event: outbox.Postponed, reason: "the agent exited before it was typed", primed: true},
		"it asks the person":           {err: thread.ErrApproval, event: outbox.Postponed, reason: thread.ErrApproval.Error(), later: true, primed: true},
		"it is busy, and says why":     {err: &thread.NotReadyError{Reason: "it loads"}, event: outbox.Postponed, reason: "it loads", later: true, primed: true},
		"it asked, and no longer does": {err: thread.ErrApproval, during: look, event: outbox.Postponed, reason: thread.ErrApproval.Error(), primed: true},
		"it is left in the input":      {err: joined(thread.ErrTyped, thread.ErrBusy), event: outbox.Refused, reason: thread.ErrTyped.Error(), primed: true},
		"else":                         {err: errors.New("no\nterminal"), event: outbox.Refused, reason: "no", primed: true},
	} {
		o := &outbox.Outbox{}
		o.Prime("was")
		o.Keep(thread.Prompt{ID: "1", Text: c.text, State: thread.PromptTyping})
		o.Type("1", 7)
		if n, known := o.Begun("1"); !known || n != 7 {
			t.Errorf("%s: it began after %d requests", name, n)
		}
		if c.during != nil {
			c.during(o)
		}
		if c.known != "" {
			o.Keep(thread.Prompt{ID: "1", Text: c.text, State: c.known})
		}
		e := o.Typed("1", c.err, c.reader)
		if e.Prompt.ID != "1" || e.Event != c.event || e.Reason != c.reason || e.Later != c.later {
			t.Errorf("%s: %q, %q, %v; want %q, %q, %v", name, e.Event, e.Reason, e.Later, c.event, c.reason, c.later)
		}
		if primed := o.Primer() != ""; primed != c.primed {
			t.Errorf("%s: the primer is still to be typed: %v", name, primed)
		}
		if e.Event != "" {
			if _, err := outbox.Next(thread.PromptTyping, e.Event); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}
