package work

import (
	"slices"

	"orchestrator/thread"
)

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
// One that is no run ends from any open state, and not again.
func checkFollows(x Execution, to State) error {
	if Follows(x.State, to) || x.Kind != KindRun && x.State == Deployed && to == Completed {
		if x.Kind == KindRun || to != Queued {
			return nil
		}
	}
	return thread.Kindf(thread.ErrInvalid, "%s is %s and cannot become %q", x.Name, x.State, string(to))
}
