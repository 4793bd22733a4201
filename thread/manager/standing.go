package manager

import (
	"errors"
	"slices"

	"orchestrator/thread"
	exec "orchestrator/thread/work"
)

// steers notes a prompt that its agent is given for the running turn.
func (a *attempt) steers(p thread.Prompt) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.given = append(a.given, p)
}

// steered notes that nothing is left to wait for of a prompt with a text.
func (a *attempt) steered(text string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.given.take(text)
}

// untaken returns what its agent was given and has not taken, as far as it told.
func (a *attempt) untaken() []thread.Prompt {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.given)
}

// waiting returns what its agent waits for an answer to; nil for nothing.
func (a *attempt) waiting() *thread.Question {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.asks.first()
}

// stops reports whether it is being stopped, or will be once its last call has returned.
func (a *attempt) stops() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.bound.reached || a.bound.waits || a.decided != nil
}

// stand is the step that stores whether it works or needs input. Where the store refuses it, it is tried again.
func (a *attempt) stand() {
	if a.live.work.closes() {
		return // the next server says that nobody had answered
	}
	if s := a.execution().State; s != exec.Running && s != exec.NeedsInput {
		return // it has no prompt yet, or has ended
	}
	state, why, q := exec.Running, "", a.waiting()
	if q != nil {
		state, why = exec.NeedsInput, q.Line()
	}
	err := a.becomes(a.live.work.ctx, state, why, q)
	if err != nil && !errors.Is(err, exec.ErrFence) {
		a.open.cfg.Log.Warn("store what a run asks", "execution", a.name, "err", err)
		a.live.later(flushEvery, a.stand)
	}
}
