package troubles

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread"
	"orchestrator/thread/ground/sample"
	"orchestrator/thread/work"
)

// firstWait is the longest wait before a second attempt if the provider says nothing, and slack what a start of a process on
// a busy machine takes.
const (
	firstWait = 5 * time.Second
	slack     = 5 * time.Second
)

// TestRunsObeyRetryAfter: the time after which a provider wants to be asked again is obeyed, if it can be meant; else it counts as nothing.
func TestRunsObeyRetryAfter(t *testing.T) {
	e2e.ManyStarts(t)
	in := func(d time.Duration) string { return time.Now().Add(d).UTC().Format(http.TimeFormat) }
	for _, c := range sample.Of(t, 3, []struct {
		name  string
		says  func() string
		least time.Duration // until the second request
		limit bool          // it is not asked again for long
	}{
		{"in seconds", func() string { return "8" }, 8 * time.Second, false},
		{"in parts of seconds", func() string { return "7.5" }, 7500 * time.Millisecond, false},
		{"a date", func() string { return in(9 * time.Second) }, 7 * time.Second, false}, // it has whole seconds
		{"nothing", func() string { return "" }, 0, false},
		{"now", func() string { return "0" }, 0, false},
		{"below nothing", func() string { return "-5" }, 0, false},
		{"a date that is past", func() string { return in(-time.Hour) }, 0, false},
		{"words", func() string { return "soon" }, 0, false},
		{"very many seconds", func() string { return "999999999999999999999" }, 0, false},
		{"no number", func() string { return "NaN" }, 0, false},
		{"a date in ten years", func() string { return in(10 * 365 * 24 * time.Hour) }, 0, false},
		{"a day", func() string { return "86400" }, 0, true},
		{"a date in a month", func() string { return in(30 * 24 * time.Hour) }, 0, true},
	}) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newAsking(t)
			r.Ok("threads") // a start takes none of the time
			r.provider.FailsFirst(e2e.RetryAfter+c.says(), 1)
			name := r.run()
			if c.limit {
				var x work.Execution
				e2e.Await(t, "it to wait", func() bool { x = r.show(name); return x.State == work.Queued && x.Attempt == 1 })
				time.Sleep(firstWait) // what must not happen
				if n := r.provider.Asked(); n != 1 || time.Until(x.After) < 23*time.Hour || !strings.HasPrefix(x.Reason, "goes on at ") {
					t.Errorf("%d requests; it waits until %v: %s", n, x.After, x.Reason)
				}
				return
			}
			x := r.becomes(name, work.Completed)
			gap := r.provider.Gap()
			if gap < c.least || gap > c.least+firstWait+slack || x.Attempt != 2 || r.provider.Asked() != 2 {
				t.Errorf("the second of %d requests comes after %v, in attempt %d", r.provider.Asked(), gap, x.Attempt)
			}
			t.Logf("%s: asked again after %v", c.name, gap.Round(100*time.Millisecond))
		})
	}
}

// TestRunsWithoutAWay: a provider that cannot be reached is tried again as often as is configured, and the failure says what
// is the matter.
func TestRunsWithoutAWay(t *testing.T) {
	e2e.ManyStarts(t)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ln.Close()
	unknown := httptest.NewUnstartedServer(http.NotFoundHandler())
	unknown.StartTLS() // a certificate that nobody knows
	t.Cleanup(unknown.Close)
	plain := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(plain.Close)
	for _, c := range sample.Of(t, 2, []struct{ name, to string }{
		{"refused", "http://" + ln.Addr().String()}, {"no such host", "http://no-such-host.invalid"},
		{"a certificate of nobody", unknown.URL}, {"no TLS", "https" + strings.TrimPrefix(plain.URL, "http")},
	}) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newAsking(t)
			r.Env = append(r.Env, "ORCHESTRATOR_RUNS_RETRIES=2", "ANTHROPIC_BASE_URL="+c.to)
			x := r.becomes(r.run(), work.Failed)
			if f := x.Failure; f.Class != work.ClassTransport || f.Code != work.CodeIntegration || f.State != thread.StateUnreachable ||
				!strings.Contains(f.Do, "network") || x.Attempt != 2 {
				t.Errorf("attempt %d: %+v", x.Attempt, f)
			}
			t.Logf("%s: %q, took %v", c.name, x.Reason, x.Ended.Sub(x.Created).Round(100*time.Millisecond))
		})
	}
}

// TestRunsPassAtTheLastTry: what fails at the first attempts and not at the last one completes, with no request more.
func TestRunsPassAtTheLastTry(t *testing.T) {
	e2e.ManyStarts(t)
	for _, fault := range sample.Of(t, 4, []string{"408", "429", "500", "502", "503", "529", "cut", "rst"}) {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			r := newAsking(t)
			r.Env = append(r.Env, "ORCHESTRATOR_RUNS_RETRIES=3")
			r.provider.FailsFirst(fault, 2)
			if x := r.becomes(r.run(), work.Completed); x.Attempt != 3 || x.Retries != 2 || r.provider.Asked() != 3 {
				t.Errorf("%d requests in %d attempts", r.provider.Asked(), x.Attempt)
			}
		})
	}
}
