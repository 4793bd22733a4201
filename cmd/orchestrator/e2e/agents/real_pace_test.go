package agents

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"orchestrator/agent/agenttest/clis"
	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread"
)

// TestRealPace has every real CLI answered at once, twenty prompts in a row, and then after five seconds each: every
// prompt gets its own answer, and what is shown is true within two seconds.
func TestRealPace(t *testing.T) {
	for _, cli := range clis.All() {
		t.Run(cli.Name, func(t *testing.T) {
			r, p := newTroubleRig(t, cli)
			name := r.start("pace")
			r.AwaitState(name, thread.StateIdle, thread.StateDone)
			w := e2e.Watch(t, r.Client(), r.Status(name).ID)
			waits := e2e.Is(thread.StateIdle, thread.StateDone)
			var took, late []time.Duration
			ask := func(word string, i int) {
				t.Helper()
				mark, begin := w.Mark(), time.Now()
				if got, want := r.Ok("send", name, fmt.Sprintf("%s-%d. #say:%s answer %d.", word, i, word, i)), fmt.Sprintf("%s answer %d.", word, i); got != want {
					t.Errorf("prompt %s-%d was answered %q", word, i, got)
				}
				answered := time.Now()
				took = append(took, answered.Sub(begin).Round(time.Millisecond))
				s, err := w.Until(mark, "at rest", r.Patience, func(now thread.StateReport) bool { return waits(now) && now.Since.After(begin) })
				if err != nil {
					t.Fatal(err)
				}
				late = append(late, s.At.Sub(answered).Round(time.Millisecond))
				if s.At.Sub(answered) > e2e.Soon {
					t.Errorf("prompt %s-%d: shown %v after the answer: %s", word, i, s.At.Sub(answered), e2e.Told(w.After(mark)))
				}
				for _, s := range w.After(mark) {
					if s.State != thread.StateWorking && !waits(s.StateReport) {
						t.Errorf("prompt %s-%d: shown as %s: %s", word, i, s.State, e2e.Told(w.After(mark)))
					}
				}
			}
			for i := range 20 {
				ask("fast", i)
			}
			t.Logf("%s: answered at once: send took %v (%v to %v), the state came %v at most after the answer",
				cli.Name, median(took), slices.Min(took), slices.Max(took), slices.Max(late))
			took, late = nil, nil
			p.Fails("slow")
			for i := range 3 {
				mark := w.Mark()
				ask("slow", i)
				works := slices.ContainsFunc(w.After(mark), func(s e2e.Moment) bool { return s.State == thread.StateWorking })
				if !works || took[i] < 5*time.Second {
					t.Errorf("prompt slow-%d: %v, %s", i, took[i], e2e.Told(w.After(mark)))
				}
			}
			t.Logf("%s: answered after 5 s: send took %v, the state came %v at most after the answer", cli.Name, took, slices.Max(late))
			prompts := e2e.Get[[]thread.Prompt](r.Rig, "prompts", name)
			for i, p := range prompts {
				if p.State != thread.PromptAnswered || p.Turn != i+1 {
					t.Errorf("prompt %d is %s, turn %d: %.40q", i+1, p.State, p.Turn, p.Text)
				}
			}
			if len(prompts) != 23 {
				t.Errorf("%d prompts are listed, want 23", len(prompts))
			}
		})
	}
}

// median returns the middle one.
func median(all []time.Duration) time.Duration {
	return slices.Sorted(slices.Values(all))[len(all)/2]
}
