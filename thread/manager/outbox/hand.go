package outbox

import "orchestrator/thread"

// Hand is what types a thread's prompts, one at a time. The zero Hand is free.
type Hand struct {
	phase  Phase
	prompt thread.PromptID // while it types
}

// Phase is what a Hand is at.
type Phase int

// The phases.
const (
	Free   Phase = iota // it types nothing
	InLine              // it waits until prompts of other threads are typed
	AtWork              // it types a prompt
	Called              // it types a prompt, and something changed meanwhile
)

// Phase returns what the hand is at.
func (h *Hand) Phase() Phase { return h.phase }

// Typing returns the prompt that is being typed, "" for none.
func (h *Hand) Typing() thread.PromptID { return h.prompt }

// Call has a hand that types look again afterwards, and reports whether it does type.
func (h *Hand) Call() bool {
	switch h.phase {
	case AtWork, Called:
		h.phase = Called
		return true
	default:
		return false
	}
}

// LineUp has a hand that is free wait in line; false where it is not free.
func (h *Hand) LineUp() bool {
	if h.phase != Free {
		return false
	}
	h.phase = InLine
	return true
}

// LeaveLine frees a hand that waits in line.
func (h *Hand) LeaveLine() {
	if h.phase == InLine {
		h.phase = Free
	}
}

// Begin has a hand that is free type a prompt; false where it is not free.
func (h *Hand) Begin(id thread.PromptID) bool {
	if h.phase != Free {
		return false
	}
	h.phase, h.prompt = AtWork, id
	return true
}

// End frees a hand that types, and reports whether it was called meanwhile.
func (h *Hand) End() (called bool) {
	called = h.phase == Called
	if h.phase == AtWork || called {
		h.phase, h.prompt = Free, ""
	}
	return called
}
