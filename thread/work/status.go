package work

import "orchestrator/thread"

// Status returns an execution as lists of threads show it.
func (x Execution) Status() *thread.RunStatus {
	s := &thread.RunStatus{
		Execution: x.Name, State: string(x.State), Reason: x.Reason, Attempt: x.Attempt, Started: x.Started, Ended: x.Ended,
		By: x.By, ReadOnly: x.ReadOnly, Tier: x.Tier, Model: x.Model, Chosen: x.Chosen,
		Calls: x.Calls, MaxCalls: max(0, x.Caps.Calls), Rereads: x.Rereads, Gap: x.Gap,
	}
	switch {
	case x.State == Failed && x.Instead == "":
		s.Code, s.Do, s.SignIn = string(x.Failure.Code), x.Failure.Do, x.Failure.State == thread.StateUnauthorised
		if x.Offers() {
			s.Fallback = x.Fallback
		}
	case x.State == Failed:
		s.Instead = string(x.Instead)
	case x.State == Queued && !x.After.IsZero():
		s.Again, s.Try = x.After, x.Retries+1
		if x.Offers() {
			s.Fallback = x.Fallback
		}
	}
	return s
}
