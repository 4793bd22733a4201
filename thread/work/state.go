package work

import "slices"

// State is the state of an execution.
type State string

// The states. The first four are open, the others final, but that a lost execution may be queued again.
const (
	Queued     State = "queued"      // stored; it waits for its turn
	Deployed   State = "deployed"    // it was given to a server, and its process is being started
	Running    State = "running"     // its process has the prompt
	NeedsInput State = "needs_input" // it waits for a person
	Completed  State = "completed"
	Failed     State = "failed"
	Cancelled  State = "cancelled"
	Lost       State = "lost" // its server or its process died without a word; nobody knows how far it came
)

// States returns all states, in the order in which an execution goes through them.
func States() []State {
	return []State{Queued, Deployed, Running, NeedsInput, Completed, Failed, Cancelled, Lost}
}

// OpenStates returns those that are not final.
func OpenStates() []State {
	return slices.DeleteFunc(States(), State.Final)
}

// Final reports whether nothing follows on a state by itself.
func (s State) Final() bool {
	switch s {
	case Completed, Failed, Cancelled, Lost:
		return true
	default:
		return false
	}
}

// Holds reports whether an execution in this state has a process, or is about to.
func (s State) Holds() bool { return s == Deployed || s == Running || s == NeedsInput }

// Status is the state of an execution as the views have it.
type Status string

// The three states of the views. What is queued is in none of them.
const (
	StatusDeployed  Status = "deployed"
	StatusCompleted Status = "completed"
	StatusFailed    Status = "failed"
)

// Status returns the state of the views: "" for what is queued; cancelled and lost are failed.
func (s State) Status() Status {
	switch s {
	case Deployed, Running, NeedsInput:
		return StatusDeployed
	case Completed:
		return StatusCompleted
	case Failed, Cancelled, Lost:
		return StatusFailed
	default:
		return ""
	}
}

// States returns the states of executions that are one of the views.
func (s Status) States() []State {
	var out []State
	for _, state := range States() {
		if state.Status() == s && s != "" {
			out = append(out, state)
		}
	}
	return out
}
