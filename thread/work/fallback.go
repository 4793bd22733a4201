package work

import (
	"strings"

	"orchestrator/thread"
)

// NoFallback is the fallback of what has none, whatever is configured.
const NoFallback = "none"

// modelPrefix begins a fallback that is another model of the same agent.
const modelPrefix = "model:"

// FallbackModel returns the model that a fallback is; false if it is another agent.
func FallbackModel(fallback string) (model string, is bool) {
	return strings.CutPrefix(fallback, modelPrefix)
}

// CheckFallback refuses a fallback of an agent and its model that cannot be one, with thread.ErrInvalid. An agent that is
// not known is for the caller to refuse.
func CheckFallback(fallback, agent, model string) error {
	m, is := FallbackModel(fallback)
	switch {
	case fallback == "" || fallback == NoFallback:
		return nil
	case is && m == "":
		return thread.Hint(thread.Kindf(thread.ErrInvalid, "the fallback %q names no model", fallback), "write it as model:NAME")
	case is && m == model:
		return thread.Kindf(thread.ErrInvalid, "the fallback of the model %s is itself", thread.Excerpt(m))
	case fallback == agent:
		return thread.Hint(thread.Kindf(thread.ErrInvalid, "the fallback of %s is itself", agent), "take another agent, or model:NAME")
	}
	return nil
}

// CheckOnFail refuses a policy that there is not, with thread.ErrInvalid; "" stands for the configured one.
func CheckOnFail(p OnFail) error {
	switch p {
	case "", FailAsk, FailRetry, FailWait, FailFallback:
		return nil
	}
	return thread.Hint(thread.Kindf(thread.ErrInvalid, "policy %q for a failed run is not known", thread.Excerpt(string(p))),
		"take ask, retry, wait or fallback")
}

// Offers reports whether an execution has a fallback that has not taken its place. What is a fallback itself has none: so
// nothing goes back and forth.
func (x Execution) Offers() bool {
	return x.Fallback != "" && x.Fallback != NoFallback && x.Instead == "" && x.For == ""
}

// FallBack has the fallback take its place: its model from the next attempt on, or an execution of another agent, whose id
// that is. It is done once.
func (x *Execution) FallBack(id ID) {
	model, is := FallbackModel(x.Fallback)
	if !is {
		x.Instead = id
		return
	}
	x.FellBack, x.Former = x.Attempt+1, x.Model
	x.Model, x.Chosen, x.Fallback, x.Retries = model, "the fallback, since "+x.Failure.What, NoFallback, 0
}

// TakesPlace has an execution take the place of another: for whoever asked for that, so that the same pays, with its caps and
// what is left of its own budget.
func (x *Execution) TakesPlace(of Execution) {
	x.For, x.By, x.Within, x.Group, x.Depth = of.ID, of.By, of.Within, of.Group, of.Depth
	x.Session, x.Task, x.Type, x.Agreed = of.Session, of.Task, of.Type, true
	x.Caps, x.Budget = of.Caps, Rest(of.Budget, of.Usage)
}

// Rest is what of a budget is left after some usage; the zero value stays no limit.
func Rest(b thread.Budget, used thread.Usage) thread.Budget {
	var rest thread.Budget
	if b.Tokens != nil {
		n := max(0, *b.Tokens-used.Context())
		rest.Tokens = &n
	}
	if b.USD != nil {
		n := max(0, *b.USD-used.CostUSD)
		rest.USD = &n
	}
	return rest
}
