package troubles

import (
	"strings"
	"testing"
	"time"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread/work"
)

// failsFor is how long every second request fails.
const failsFor = 30 * time.Second

// TestRunsOfHalfAProvider: every second request fails for half a minute, while eight runs work. Within ten seconds
// nothing more is asked, a single run finds out once the provider is healthy, and all complete.
func TestRunsOfHalfAProvider(t *testing.T) {
	e2e.ManyStarts(t)
	t.Parallel()
	r := newAsking(t)
	r.Env = append(r.Env, "ORCHESTRATOR_RUNS_PARALLEL=8")
	r.provider.FailsHalf("529")
	began := time.Now()
	var names []string
	for range 8 {
		names = append(names, r.run())
	}
	open := func() bool { return strings.Contains(r.Ok("queue", "list"), "attempts") }
	e2e.Await(t, "the breaker to open", open)
	opened := time.Since(began)
	asked := r.provider.Asked()
	if opened > 10*time.Second {
		t.Errorf("it opens after %v", opened)
	}
	time.Sleep(2 * time.Second) // for what was under way
	before := r.provider.Asked()
	r.provider.FailsHalf("529") // the first one of those that come now fails: a probe that has luck would end the test here
	for time.Since(began) < failsFor {
		time.Sleep(200 * time.Millisecond)
	}
	probed := r.provider.Asked()
	if probed != 1 {
		t.Errorf("%d requests between pauses", probed)
	}
	failing := before + probed
	r.provider.Fails("slow") // healthy, and slow enough to see who asks
	healthy := time.Now()
	for r.provider.Asked() == 0 && time.Since(healthy) < time.Minute { // a pause is 30 seconds after a probe that failed
		time.Sleep(100 * time.Millisecond)
	}
	time.Sleep(e2e.SlowFor * 3 / 4) // what must not happen
	if n := r.provider.Asked(); n != 1 {
		t.Errorf("%d find out at once", n)
	}
	e2e.Await(t, "the breaker to close with the first answer", func() bool { return !open() })
	closed := time.Since(healthy)
	attempts := 0
	for _, name := range names {
		x := r.becomes(name, work.Completed)
		attempts += x.Attempt
	}
	if all := failing + r.provider.Asked(); all != attempts {
		t.Errorf("%d requests in %d attempts", all, attempts)
	}
	t.Logf("opened %v after the first run, at %d requests; %d until the provider was healthy; closed %v later by one probe; %d in all",
		opened.Round(100*time.Millisecond), asked, failing, closed.Round(100*time.Millisecond), failing+r.provider.Asked())
}
