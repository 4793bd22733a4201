package troubles

import (
	"strings"
	"testing"
	"time"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread"
	"orchestrator/thread/ground/sample"
	"orchestrator/thread/work"
)

// streamed are the ways in which a stream of events goes wrong that has begun well, with what an attempt's failure is.
var streamed = []struct {
	fault string
	class work.Class // "" if the answer is whole
	code  work.Code
	state thread.State
	// endless is set if only the deadline ends it.
	endless bool
}{
	{"fin", work.ClassTransport, work.CodeIntegration, thread.StateCut, false},
	{"rst", work.ClassTransport, work.CodeIntegration, thread.StateCut, false},
	{"closed", work.ClassTransport, work.CodeIntegration, thread.StateCut, false},
	{"bad chunk", work.ClassTransport, work.CodeIntegration, thread.StateCut, false},
	{"garbage", work.ClassTransport, work.CodeIntegration, thread.StateCut, false},
	{"no message_stop", work.ClassTransport, work.CodeIntegration, thread.StateCut, false},
	{"silence", work.ClassAgent, work.CodePerformance, "", true},
	{"ping only", work.ClassAgent, work.CodePerformance, "", true},
	{"slow bytes", work.ClassAgent, work.CodePerformance, "", true},
	{"line separator", "", "", "", false},
	{"split letters", "", "", "", false},
	{"two message_stop", "", "", "", false},
	{"slow end", "", "", "", false},
}

// deadline is that of runs whose provider never ends its answer, and late how much later than that they may end.
const (
	deadline = 4 * time.Second
	late     = 4 * time.Second
)

// TestRunsOfBrokenStreams has runs meet streams that break off, go on for ever, or are odd and whole: what breaks off is kept
// as far as it came and marked, and tried again; what never ends is ended by the deadline, and what is odd is an answer like
// others.
func TestRunsOfBrokenStreams(t *testing.T) {
	e2e.ManyStarts(t)
	for _, c := range sample.Of(t, 3, streamed) {
		t.Run(c.fault, func(t *testing.T) {
			t.Parallel()
			r := newAsking(t)
			r.Env = append(r.Env, "ORCHESTRATOR_RUNS_RETRIES=2")
			r.provider.Fails(c.fault)
			if c.class == "" {
				x := r.becomes(r.run(), work.Completed)
				if got := r.answers(x); x.Attempt != 1 || len(got) != 1 || got[0].Interrupted || got[0].Answer != e2e.Odd {
					t.Errorf("attempt %d: %+v", x.Attempt, got)
				}
				return
			}
			began, flags, want := time.Now(), []string(nil), 2
			if c.endless {
				flags, want = []string{"--deadline", deadline.String()}, 1
			}
			x := r.becomes(r.run(flags...), work.Failed)
			took := time.Since(began)
			if f := x.Failure; f.Class != c.class || f.Code != c.code || f.State != c.state || f.Do == "" {
				t.Errorf("its failure: %+v", f)
			}
			if n := r.provider.Asked(); n != want || x.Attempt != want {
				t.Errorf("%d requests in %d attempts, want %d", n, x.Attempt, want)
			}
			if took > deadline+late && c.endless {
				t.Errorf("it ends after %v", took)
			}
			r.halves(x, want)
			t.Logf("%s: %d requests in %v, %q", c.fault, r.provider.Asked(), took.Round(100*time.Millisecond), x.Reason)
			if c.endless {
				return
			}
			r.provider.FailsFirst(c.fault, 1)
			x = r.becomes(r.run(), work.Completed)
			got := r.answers(x)
			if len(got) != 2 || got[0].Interrupted || !got[1].Interrupted || !strings.HasPrefix(got[1].Answer, e2e.Half) || x.Attempt != 2 || r.provider.Asked() != 2 {
				t.Errorf("%d requests in %d attempts: %+v", r.provider.Asked(), x.Attempt, got)
			}
		})
	}
}

// answers returns what is kept of the answers to an execution, the newest first.
func (r *asking) answers(x work.Execution) []thread.Checkpoint {
	r.T.Helper()
	return e2e.Get[[]thread.Checkpoint](r.Rig, "checkpoint", "list", string(x.Thread))
}

// halves checks that what came of each answer is kept and marked.
func (r *asking) halves(x work.Execution, want int) {
	r.T.Helper()
	got := r.answers(x)
	if len(got) != want {
		r.T.Errorf("%d checkpoints, want %d: %+v", len(got), want, got)
	}
	for _, c := range got {
		if !c.Interrupted || !strings.HasPrefix(c.Answer, e2e.Half) {
			r.T.Errorf("turn %d, interrupted %v: %q", c.Turn, c.Interrupted, c.Answer)
		}
	}
}
