package main

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"orchestrator/agent/agenttest/clis"
	"orchestrator/thread"
)

// TestRealPace has every real CLI answered at once, twenty prompts in a row, and then after five seconds each: every
// prompt gets its own answer, and what is shown is true within two seconds.
func TestRealPace(t *testing.T) {
	for _, cli := range clis.All() {
		t.Run(cli.Name, func(t *testing.T) {
			r, p := newTroubleRig(t, cli)
			name := r.start("pace")
			r.awaitState(name, thread.StateIdle, thread.StateDone)
			w := watch(t, r.client(), r.status(name).ID)
			waits := is(thread.StateIdle, thread.StateDone)
			var took, late []time.Duration
			ask := func(word string, i int) {
				t.Helper()
				mark, begin := w.mark(), time.Now()
				if got, want := r.ok("send", name, fmt.Sprintf("%s-%d. #say:%s answer %d.", word, i, word, i)), fmt.Sprintf("%s answer %d.", word, i); got != want {
					t.Errorf("prompt %s-%d was answered %q", word, i, got)
				}
				answered := time.Now()
				took = append(took, answered.Sub(begin).Round(time.Millisecond))
				s, err := w.until(mark, "at rest", r.patience, func(now thread.StateReport) bool { return waits(now) && now.Since.After(begin) })
				if err != nil {
					t.Fatal(err)
				}
				late = append(late, s.at.Sub(answered).Round(time.Millisecond))
				if s.at.Sub(answered) > soon {
					t.Errorf("prompt %s-%d: shown %v after the answer: %s", word, i, s.at.Sub(answered), told(w.after(mark)))
				}
				for _, s := range w.after(mark) {
					if s.State != thread.StateWorking && !waits(s.StateReport) {
						t.Errorf("prompt %s-%d: shown as %s: %s", word, i, s.State, told(w.after(mark)))
					}
				}
			}
			for i := range 20 {
				ask("fast", i)
			}
			t.Logf("%s: answered at once: send took %v (%v to %v), the state came %v at most after the answer",
				cli.Name, median(took), slices.Min(took), slices.Max(took), slices.Max(late))
			took, late = nil, nil
			p.fails("slow")
			for i := range 3 {
				mark := w.mark()
				ask("slow", i)
				works := slices.ContainsFunc(w.after(mark), func(s moment) bool { return s.State == thread.StateWorking })
				if !works || took[i] < 5*time.Second {
					t.Errorf("prompt slow-%d: %v, %s", i, took[i], told(w.after(mark)))
				}
			}
			t.Logf("%s: answered after 5 s: send took %v, the state came %v at most after the answer", cli.Name, took, slices.Max(late))
			prompts := get[[]thread.Prompt](r.rig, "prompts", name)
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
