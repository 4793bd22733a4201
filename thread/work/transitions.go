package work

import (
	"slices"

	"orchestrator/thread"
)

// States returns all states, in the order in which an execution goes through them.
func States() []State {
	return []State{Queued, Deployed, Running, NeedsInput, Completed, Failed, Cancelled, Lost}
}

// OpenStates returns those that are not final.
func OpenStates() []State {
	return slices.DeleteFunc(States(), State.Final)
}

// next returns the states that may follow on one.
func next(s State) []State {
	switch s {
	case Queued:
		return []State{Deployed, Failed, Cancelled}
	case Deployed: // back to Queued if its process was never started
		return []State{Running, Queued, Failed, Cancelled, Lost}
	case Running: // to Queued if it was lost and is tried again
		return []State{NeedsInput, Queued, Completed, Failed, Cancelled, Lost}
	case NeedsInput:
		return []State{Running, Queued, Completed, Failed, Cancelled, Lost}
	case Lost: // a person or its policy decides
		return []State{Queued, Failed, Cancelled}
	case Failed: // a person tries it again
		return []State{Queued}
	default:
		return nil
	}
}

// Follows reports whether a state may follow on another. Every known one may stay.
func Follows(from, to State) bool {
	return from == to && slices.Contains(States(), from) || slices.Contains(next(from), to)
}

// checkFollows refuses a state that may not follow, with thread.ErrInvalid.
func checkFollows(x Execution, to State) error {
	if Follows(x.State, to) {
		return nil
	}
	return thread.Kindf(thread.ErrInvalid, "%s is %s and cannot become %q", x.Name, x.State, string(to))
}
