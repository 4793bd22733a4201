package work

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"orchestrator/thread"
)

func TestAfterFailure(t *testing.T) {
	now := time.Unix(1e9, 0)
	provider := func(status int, until time.Duration) Failure {
		p := Provider{State: thread.TroubleOf(status), Status: status}
		if until > 0 {
			p.Until = now.Add(until)
		}
		return Classify(Ending{Provider: p}, now)
	}
	busy, soon, later := provider(529, 0), provider(429, time.Minute), provider(429, 5*time.Hour)
	login, paid := provider(401, 0), provider(402, 5*time.Hour)
	wrong, large := provider(400, 0), provider(413, 0)
	own := Classify(Ending{Reason: "no"}, now)
	network := Classify(Ending{Provider: Provider{State: thread.StateUnreachable}}, now)
	deadline := Classify(Ending{Cause: CauseDeadline, Reason: "over"}, now)
	for _, c := range []struct {
		name string
		f    Failure
		on   OnFail
		x    Execution
		r    Retrying
		want Again
	}{
		{"busy", busy, "", Execution{}, Retrying{}, AgainSame},
		{"busy, at its bound", busy, FailWait, Execution{Reporting: true}, Retrying{}, AgainNever},
		{"network", network, FailWait, Execution{}, Retrying{}, AgainSame},
		{"busy, ask", busy, FailAsk, Execution{}, Retrying{}, AgainNever},
		{"busy, ask, and limits are waited for", busy, FailAsk, Execution{}, Retrying{Continue: true}, AgainNever},
		{"busy, retry", busy, FailRetry, Execution{}, Retrying{}, AgainSame},
		{"busy, the fourth time", busy, FailWait, Execution{Retries: 3}, Retrying{}, AgainSame},
		{"busy, the fifth time", busy, FailWait, Execution{Retries: 4}, Retrying{}, AgainNever},
		{"busy, tried once", busy, FailWait, Execution{}, Retrying{Tries: 1}, AgainNever},
		{"busy, with a fallback", busy, FailFallback, Execution{}, Retrying{Fallback: true}, AgainSame},
		{"busy, the fifth time, with a fallback", busy, FailFallback, Execution{Retries: 4}, Retrying{Fallback: true}, AgainFallback},
		{"busy, the fifth time, with a fallback that is offered", busy, FailWait, Execution{Retries: 4}, Retrying{Fallback: true}, AgainNever},
		{"a short wait, ask", soon, FailAsk, Execution{}, Retrying{}, AgainNever},
		{"a short wait", soon, FailRetry, Execution{}, Retrying{}, AgainSame},
		{"a limit", later, "", Execution{}, Retrying{}, AgainSame},
		{"a limit, ask", later, FailAsk, Execution{}, Retrying{}, AgainNever},
		{"a limit, retry", later, FailRetry, Execution{}, Retrying{}, AgainNever},
		{"a limit, ask, and limits are waited for", later, FailAsk, Execution{}, Retrying{Continue: true}, AgainSame},
		{"a limit, with a fallback", later, FailFallback, Execution{}, Retrying{Fallback: true}, AgainFallback},
		{"a limit, with a fallback that has been taken", later, FailFallback, Execution{}, Retrying{}, AgainSame},
		{"sign in", login, FailWait, Execution{}, Retrying{}, AgainNever},
		{"sign in, retry", login, FailRetry, Execution{}, Retrying{}, AgainNever},
		{"sign in, with a fallback", login, FailFallback, Execution{}, Retrying{Fallback: true}, AgainFallback},
		{"pay", paid, FailWait, Execution{}, Retrying{Continue: true}, AgainNever},
		{"wrong", wrong, FailWait, Execution{}, Retrying{}, AgainNever},
		{"wrong, retry", wrong, FailRetry, Execution{}, Retrying{}, AgainOther},
		{"wrong, a second time", wrong, FailRetry, Execution{Redone: 1}, Retrying{}, AgainNever},
		{"too large, retry", large, FailRetry, Execution{}, Retrying{}, AgainOther},
		{"its own", own, FailWait, Execution{}, Retrying{}, AgainNever},
		{"its own, retry", own, FailRetry, Execution{}, Retrying{}, AgainOther},
		{"its own, after transport", own, FailRetry, Execution{Retries: 2}, Retrying{}, AgainOther},
		{"its own, with a fallback", own, FailFallback, Execution{}, Retrying{Fallback: true}, AgainNever},
		{"deadline", deadline, FailRetry, Execution{}, Retrying{}, AgainNever},
	} {
		c.x.OnFail = c.on
		n := AfterFailure(c.x, c.f, c.r, now, func() float64 { return 0.5 })
		if n.Again != c.want || n.Reason == "" || n.After.IsZero() != (n.Again != AgainSame) {
			t.Errorf("%s: %+v, want %q", c.name, n, c.want)
		}
		if n.Again == AgainSame && n.Notice != (c.x.Retries > 0) {
			t.Errorf("%s: people are told %v", c.name, n.Notice)
		}
	}
}

// TestBackoff: waits grow and are bounded, the provider's word is kept, and what fails together is not tried together.
func TestBackoff(t *testing.T) {
	for n, most := range []time.Duration{5 * time.Second, 10 * time.Second, 20 * time.Second, 40 * time.Second, 80 * time.Second, 2 * time.Minute, 2 * time.Minute} {
		if got := wait(n, 0, 0); got != 0 {
			t.Errorf("%d: at least %s", n, got)
		}
		if got := wait(n, 0, 0.999999); got > most || got < most-time.Second {
			t.Errorf("%d: at most %s, want %s", n, got, most)
		}
	}
	for _, n := range []int{-5, 1 << 40} { // nothing that was stored makes it huge or negative
		if got := wait(n, 0, 0.9); got < 0 || got > lastWait {
			t.Errorf("%d: %s", n, got)
		}
	}
	if got := wait(0, time.Minute, 0.5); got < time.Minute || got > time.Minute+firstWait {
		t.Errorf("asked for a minute: %s", got)
	}
	if got := wait(0, 1<<62, 0.5); got != farWait {
		t.Errorf("asked for ages: %s", got)
	}
	chance := rand.New(rand.NewPCG(1, 2))
	slots := map[time.Duration]int{}
	for range 100 {
		slots[wait(2, 0, chance.Float64()).Truncate(10*time.Millisecond)]++
	}
	crowd := 0
	for _, n := range slots {
		crowd = max(crowd, n)
	}
	t.Logf("100 that failed together take %d of 2000 moments of 10 ms, at most %d the same", len(slots), crowd)
	if len(slots) < 90 || crowd > 3 {
		t.Errorf("they are tried together: %d moments, %d in one", len(slots), crowd)
	}
}

// TestLeft: whatever the clock is set to, nothing waits longer than was decided, or for a negative time.
func TestLeft(t *testing.T) {
	at := time.Unix(1e9, 0)
	x := Execution{After: at.Add(time.Minute), Failure: Failure{At: at}}
	for jump, want := range map[time.Duration]time.Duration{
		0: time.Minute, 20 * time.Second: 40 * time.Second, time.Hour: 0, -time.Hour: time.Minute, -24 * time.Hour: time.Minute, 10 * 365 * 24 * time.Hour: 0,
	} {
		if got := x.Left(at.Add(jump)); got != want {
			t.Errorf("the clock is %s off: %s, want %s", jump, got, want)
		}
	}
	if got := (Execution{After: at.Add(100 * 365 * 24 * time.Hour)}).Left(at); got > 33*24*time.Hour {
		t.Errorf("without its failure: %s", got)
	}
	if got := (Execution{}).Left(at); got != 0 {
		t.Errorf("without a wait: %s", got)
	}
	x.Reason = "the provider is overloaded (529), attempt 2 of 5"
	want := "tried again at " + x.After.Local().Format(time.TimeOnly) + ": the provider is overloaded (529), attempt 2 of 5"
	if got := x.Waits(x.Left(at), at); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	x.After, x.Failure.State = at.Add(5*time.Hour), thread.StateLimited
	if got := x.Waits(x.Left(at), at); !strings.HasPrefix(got, "goes on at ") {
		t.Errorf("%q", got)
	}
	if got := x.Waits(0, at); got != "" {
		t.Errorf("it does not wait: %q", got)
	}
}
