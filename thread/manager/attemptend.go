package manager

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"orchestrator/thread"
	"orchestrator/thread/failpoint"
	"orchestrator/thread/manager/runs"
	"orchestrator/thread/secret"
	exec "orchestrator/thread/work"
)

// decide ends an execution, whatever its process does: it was cancelled, or its time is over. What the store does not take
// is stored with the end of the process.
func (a *attempt) decide(ctx context.Context, d verdict) (exec.Execution, error) {
	a.mu.Lock()
	events, process, started, files := a.record.Take(), a.process, a.started, a.files
	called := a.bound.tally(a.record.Calls)
	a.mu.Unlock()
	x, err := a.open.supersede(ctx, a.id, func(x *exec.Execution) error {
		if x.State.Final() {
			return errOver
		}
		if process != "" {
			x.Process, x.Started = process, started
		}
		files.into(x)
		called.apply(x)
		now := a.open.cfg.now()
		if d.state == exec.Failed {
			d.failure = exec.Classify(exec.Ending{Cause: d.cause, Reason: d.reason}, now)
		}
		d.apply(x, now)
		return nil
	}, events...)
	if err != nil {
		a.mu.Lock()
		a.record.Restore(events)
		if !errors.Is(err, errOver) && a.decided == nil {
			a.decided = &d
		}
		a.mu.Unlock()
		return x, err
	}
	a.took(x)
	a.unwanted()
	failpoint.Hit("thread.exec.decided")
	return x, nil
}

// outcome returns how the process ended by itself, or what was decided before.
func (a *attempt) outcome(exit thread.Exit, asked bool) (exec.State, string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.decided != nil {
		return a.decided.state, a.decided.reason
	}
	return runs.Ended{Said: a.record.End(), Exit: exit, Asked: asked, Refused: a.record.Refused()}.Outcome()
}

// saw takes how a request to the model ended. It reports whether that is the first one that was answered.
func (a *attempt) saw(p exec.Provider) (first bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.provider = p
	if p == (exec.Provider{}) {
		a.answers++
		return a.answers == 1
	}
	return false
}

// insisting has it fail if its agent would ask a provider again that has failed now: when that is done is decided in one
// place, which is not the agent. It reports whether that is news.
func (a *attempt) insisting(p exec.Provider) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	again := p.State == thread.StateLimited || p.State == thread.StateUnavailable || p.State == thread.StateUnreachable || p.State == thread.StateCut
	if !a.insists || !again || p.Fault == thread.FaultOurs || a.decided != nil || a.record.End() != nil {
		return false
	}
	a.decided = &verdict{state: exec.Failed, reason: "the provider failed, and its agent would ask it again by itself"}
	return true
}

// worked reports whether its agent has begun with its prompt: the model has answered it, as the gateway saw, or it has told
// of work itself, which it does also where its requests do not pass the gateway.
func (a *attempt) worked() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.answers > 0 || a.record.Worked()
}

// failing is what is known about how it failed.
func (a *attempt) failing(exit thread.Exit, reason string) exec.Ending {
	a.mu.Lock()
	defer a.mu.Unlock()
	e := exec.Ending{Reason: reason, Exit: exit, Provider: a.provider, Refused: a.record.Refused().Calls}
	if end := a.record.End(); end != nil {
		e.State, e.Status = end.State, end.Status
	}
	if a.decided != nil {
		e.Cause = a.decided.cause
	}
	return e
}

// sequel returns what follows on its loss or failure, which is decided once; the zero verdict if it is not, and decide is nil.
func (a *attempt) sequel(decide func() (verdict, error)) (verdict, error) {
	a.mu.Lock()
	known := a.follows
	a.mu.Unlock()
	switch {
	case known != nil:
		return *known, nil
	case decide == nil:
		return verdict{}, nil
	}
	v, err := decide()
	if err != nil {
		return v, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.follows = &v
	return v, nil
}

// stays reports whether the row of an execution stays open because the server stops: the next one finds it lost.
func (a *attempt) stays(asked, closes bool) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !closes || a.x.State.Final() || a.decided != nil {
		return false
	}
	said := a.record.End()
	return asked || said != nil && said.Outcome == thread.RunCancelled
}

// endsAs has it end in a state, whatever else it would end as; cause is why, if that is Failed.
func (a *attempt) endsAs(state exec.State, cause exec.Cause, why string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.decided = &verdict{state: state, reason: why, cause: cause}
}

// ended stores the end of the process, with what it said and used: next changes the state, to state. It can be repeated.
func (a *attempt) ended(
	ctx context.Context, exit thread.Exit, used thread.Usage, state exec.State, next func(*exec.Execution), more []exec.Event,
) (exec.Execution, error) {
	was := a.execution()
	if was.State == exec.Deployed && state == exec.Completed { // it was quicker than its row
		if err := a.become(ctx, exec.Running, ""); err != nil {
			return was, err
		}
		was = a.execution()
	}
	output := a.staged(ctx)
	a.mu.Lock()
	a.ending = true
	events := a.record.Close()
	answer, reported := a.record.Answer(), a.record.Usage()
	process, started, before, beside, files := a.process, a.started, a.before, a.beside, a.files
	said := secret.Redact(a.record.Whole())
	called := a.bound.tally(a.record.Calls)
	differs := a.record.Differs(before, used, beside)
	a.mu.Unlock()
	if more = slices.Clip(more); differs != "" && !a.live.thread().Launch.NoGateway {
		more = append(more, exec.Event{At: a.open.cfg.now(), Attempt: was.Attempt, Kind: "note", Text: differs})
	}
	if said != "" {
		more = append(more, exec.Event{At: a.open.cfg.now(), Attempt: was.Attempt, Kind: exec.KindSaid, Text: said})
	}
	x, err := a.open.change(ctx, was.ID, was.Fence, func(x *exec.Execution) error {
		if x.Counted == x.Attempt {
			return errCounted
		}
		x.Counted = x.Attempt
		called.apply(x)
		next(x)
		if process != "" {
			x.Process, x.Started = process, started
		}
		files.into(x)
		x.Answer, x.Printed, x.Output = answer, x.Printed+exit.Printed, cmp.Or(output, x.Output)
		x.Usage, x.Before, x.Beside = x.Usage.Add(runs.Used(before, used, beside, reported)), used, thread.Usage{}
		return nil
	}, append(slices.Clip(events), more...)...)
	if errors.Is(err, errCounted) {
		x, err = a.open.reread(ctx, was.ID)
	}
	if err != nil {
		a.mu.Lock()
		a.record.Restore(events)
		a.mu.Unlock()
		return was, err
	}
	a.took(x)
	failpoint.Hit("thread.exec.ended")
	return x, nil
}
