package work

import (
	"cmp"
	"fmt"
	"time"

	"orchestrator/thread"
)

// The bounds of waiting between attempts.
const (
	// The nth retry waits a random part of firstWait, doubled each time, and of lastWait at most.
	firstWait = 5 * time.Second
	lastWait  = 2 * time.Minute
	// longWait is how long a provider may have it wait without asking anybody; what is longer is a limit.
	longWait = 2 * time.Minute
	// farWait is the longest wait for a limit: a window of a month.
	farWait = 32 * 24 * time.Hour
)

// DefaultTries is how often an execution is tried while the way to its model fails.
const DefaultTries = 5

// Retrying is how failed executions are tried again.
type Retrying struct {
	Tries int // DefaultTries if 0
	// Continue goes on at the end of a limit whatever the policy is.
	Continue bool
	// Fallback is set if something may take the place of the agent or its model.
	Fallback bool
}

// Again is how an execution is tried again.
type Again string

// The ways.
const (
	AgainNever    Again = ""         // a person decides
	AgainSame     Again = "same"     // it goes on as if nothing had been
	AgainOther    Again = "other"    // it goes on, and is told what failed
	AgainFallback Again = "fallback" // its fallback does it
)

// Next is what follows on a failure.
type Next struct {
	Again  Again
	After  time.Time // the earliest start of AgainSame
	Reason string    // for people
	// Notice is set if people are told of it at once: it is not the first failure in a row.
	Notice bool
}

// AfterFailure returns what follows on the failure of an execution's newest attempt. Chance returns random numbers in
// [0,1), so that what failed together is not tried again together.
func AfterFailure(x Execution, f Failure, r Retrying, now time.Time, chance func() float64) Next {
	onFail := cmp.Or(x.OnFail, FailWait)
	ask := Next{Reason: f.What}
	tries := cmp.Or(r.Tries, DefaultTries)
	limit := f.Until.Sub(now) > longWait
	switch {
	case x.Reporting: // it is asked for a report once
		return ask
	case f.Passes() && x.Retries+1 < tries:
		waits := onFail == FailWait || onFail == FailFallback && !r.Fallback || r.Continue
		switch {
		case limit && onFail == FailFallback && r.Fallback:
			return Next{Again: AgainFallback, Reason: f.What}
		case limit && !waits, !limit && onFail == FailAsk:
			return ask
		}
		return Next{
			Again: AgainSame, After: now.Add(wait(x.Retries, f.Until.Sub(now), chance())), Notice: x.Retries > 0,
			Reason: fmt.Sprintf("%s, attempt %d of %d", f.What, x.Retries+2, tries),
		}
	case f.Class == ClassTransport && onFail == FailFallback && r.Fallback:
		return Next{Again: AgainFallback, Reason: f.What, Notice: true}
	case f.Passes() && x.Retries > 0:
		ask.Reason = fmt.Sprintf("%s, in each of %d attempts", f.What, x.Retries+1)
	case f.Redoes() && onFail == FailRetry && x.Redone == 0:
		return Next{Again: AgainOther, Reason: "it failed, and is tried once more: " + f.What}
	}
	return ask
}

// Worked reports whether its agent has begun with its prompt, in any of its attempts, as far as is known: it may not pass the
// gateway.
func (x Execution) Worked() bool { return x.Usage.Output > 0 || x.Calls > 0 || x.Answer != "" }

// wait is how long the nth retry waits: at least what the provider asks for.
func wait(n int, asked time.Duration, chance float64) time.Duration {
	most := lastWait
	if n = max(n, 0); n < 5 {
		most = min(firstWait<<n, lastWait)
	}
	random := time.Duration(chance * float64(most))
	return min(max(asked, 0)+random, farWait)
}

// Left is how long an execution still waits for its next attempt: never longer than was decided, whatever the clock was
// set to since.
func (x Execution) Left(now time.Time) time.Duration {
	if x.After.IsZero() {
		return 0
	}
	decided := farWait + lastWait
	if !x.Failure.At.IsZero() {
		decided = min(decided, x.After.Sub(x.Failure.At))
	}
	return max(0, min(x.After.Sub(now), decided))
}

// Waits says for people what an execution that is tried again waits for; "" if it does not.
func (x Execution) Waits(left time.Duration, now time.Time) string {
	if left <= 0 {
		return ""
	}
	at := now.Add(left)
	if x.After.Sub(at).Abs() < time.Second {
		at = x.After
	}
	format := time.TimeOnly
	if left > 12*time.Hour {
		format = "Jan 2 15:04"
	}
	why := x.Reason
	if x.Failure.State == thread.StateLimited && left > longWait {
		return fmt.Sprintf("goes on at %s: %s", at.Local().Format(format), why)
	}
	return fmt.Sprintf("tried again at %s: %s", at.Local().Format(format), why)
}
