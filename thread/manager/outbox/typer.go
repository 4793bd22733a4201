package outbox

import "orchestrator/thread"

// Typer tracks the typing of a thread's prompts, one at a time. The zero Typer is idle.
type Typer struct {
	phase  Phase
	prompt thread.PromptID // while it types
}

// Phase is what a Typer is doing.
type Phase int

// The phases.
const (
	Idle    Phase = iota // it types nothing
	Waiting              // it waits until prompts of other threads are typed
	Typing               // it types a prompt
	Recheck              // it types a prompt, and something changed in the meantime
)

// Phase returns what the typer is doing.
func (t *Typer) Phase() Phase { return t.phase }

// Prompt returns the prompt that is being typed, "" if none is.
func (t *Typer) Prompt() thread.PromptID { return t.prompt }

// Recheck tells a typer that is typing to look again afterwards, and reports whether it is typing.
func (t *Typer) Recheck() bool {
	switch t.phase {
	case Typing, Recheck:
		t.phase = Recheck
		return true
	default:
		return false
	}
}

// Wait makes an idle typer wait; false if it is not idle.
func (t *Typer) Wait() bool {
	if t.phase != Idle {
		return false
	}
	t.phase = Waiting
	return true
}

// StopWaiting makes a waiting typer idle.
func (t *Typer) StopWaiting() {
	if t.phase == Waiting {
		t.phase = Idle
	}
}

// Begin makes an idle typer type a prompt; false if it is not idle.
func (t *Typer) Begin(id thread.PromptID) bool {
	if t.phase != Idle {
		return false
	}
	t.phase, t.prompt = Typing, id
	return true
}

// End makes a typer that is typing idle, and reports whether Recheck was called in the meantime.
func (t *Typer) End() (again bool) {
	again = t.phase == Recheck
	if t.phase == Typing || again {
		t.phase, t.prompt = Idle, ""
	}
	return again
}
