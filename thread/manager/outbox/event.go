package outbox

import (
	"time"

	"orchestrator/thread"
)

// Event is something that happens to a prompt.
type Event string

// The events.
const (
	Accepted  Event = "accepted"  // asked by a person or by the program
	Edited    Event = "edited"    // its text was changed
	Cancelled Event = "cancelled" // withdrawn
	Forgotten Event = "forgotten" // it was for a run that has ended

	TypingBegan Event = "typing began"
	Postponed   Event = "postponed" // not typed; will be tried again
	Typed       Event = "typed"     // the agent took it
	Taken       Event = "taken"     // the agent took it, and its answer will not be reported
	Refused     Event = "refused"   // the agent or the provider did not take it
	Moved       Event = "moved"     // it goes on in a fork
	Stopped     Event = "stopped"   // the agent exited, or was stopped, before it answered

	Received  Event = "received"  // a hook, or a request to the model, shows that the agent has it
	Answering Event = "answering" // a turn about it has its first response
	Answered  Event = "answered"  // that turn has ended
	Cut       Event = "cut"       // that turn was interrupted
	Lost      Event = "lost"      // the record of its end could not be stored
)

// fresh is the state of a prompt that was unknown before.
const fresh thread.PromptState = ""

// given are the states of a prompt that the agent has, or may still turn out to have had.
var given = []thread.PromptState{
	thread.PromptTyping, thread.PromptOpen, thread.PromptInterrupted, thread.PromptRefused, thread.PromptTaken,
}

// transition describes from which states an event leads to which state.
type transition struct {
	from []thread.PromptState
	to   thread.PromptState
}

// table has all allowed transitions.
var table = map[Event]transition{
	Accepted:  {states(fresh), thread.PromptQueued},
	Edited:    {states(thread.PromptQueued), thread.PromptQueued},
	Cancelled: {states(thread.PromptQueued), thread.PromptCancelled},
	Forgotten: {states(thread.PromptQueued, thread.PromptTyping, thread.PromptOpen), thread.PromptCancelled},

	TypingBegan: {states(fresh, thread.PromptQueued), thread.PromptTyping},
	Postponed:   {states(thread.PromptTyping), thread.PromptQueued},
	Typed:       {states(thread.PromptTyping), thread.PromptOpen},
	Taken:       {states(thread.PromptTyping, thread.PromptOpen), thread.PromptTaken},
	Refused:     {states(thread.PromptTyping, thread.PromptOpen, thread.PromptMoved), thread.PromptRefused},
	Moved: {states(thread.PromptTyping, thread.PromptOpen, thread.PromptRefused, thread.PromptInterrupted,
		thread.PromptMoved), thread.PromptMoved},
	Stopped: {states(thread.PromptTyping, thread.PromptOpen), thread.PromptInterrupted},

	Received:  {append(states(fresh), given...), thread.PromptOpen},
	Answering: {append(states(fresh), given...), thread.PromptOpen},
	Answered:  {given, thread.PromptAnswered},
	Cut:       {given, thread.PromptInterrupted},
	Lost: {states(thread.PromptAnswered, thread.PromptInterrupted, thread.PromptRefused, thread.PromptTaken),
		thread.PromptInterrupted},
}

func states(s ...thread.PromptState) []thread.PromptState { return s }

// Next returns the state that an event leads to; ErrRefused if the event is not allowed.
func Next(from thread.PromptState, e Event) (thread.PromptState, error) {
	t := table[e]
	for _, s := range t.from {
		if s == from {
			return t.to, nil
		}
	}
	return from, thread.Kindf(thread.ErrRefused, "a prompt that is %q cannot be %s", from, e)
}

// After returns a prompt as an event leaves it, with the reason for people. On an error it is unchanged.
func After(p thread.Prompt, e Event, at time.Time, reason string) (thread.Prompt, error) {
	to, err := Next(p.State, e)
	if err != nil {
		return p, err
	}
	p.State, p.Reason = to, reason
	switch e {
	case Accepted:
		p.Accepted = at
	case Typed, Received:
		p.Opened = at
	case Answering, Taken:
		if p.Opened.IsZero() {
			p.Opened = at
		}
	case Lost:
		p.Answer = ""
		return p, nil // it keeps its time of ending
	default:
	}
	switch {
	case to.Over():
		p.Ended = at
	case to == thread.PromptOpen:
		p.Ended = time.Time{}
	}
	return p, nil
}
