package manager_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"orchestrator/thread"
	exec "orchestrator/thread/work"
)

// uncapped are the caps of runs whose tests are about something else.
var uncapped = thread.Caps{Calls: exec.Uncapped, Words: exec.Uncapped}

// withCaps has runs bounded as they are without configuration.
func withCaps(w *world) { w.cfg.Runs.Caps = thread.Caps{} }

// withTiers configures models of one agent.
func withTiers(w *world) {
	w.cfg.Runs.Models = exec.Models{"claude": {thread.TierFast: "small", thread.TierStrong: "large"}}
}

// TestPromptsNameCaps: the agent of a run is told its caps after the prompt. The thread's name and label, and the prompt as
// it is listed and answered, have the person's words alone.
func TestPromptsNameCaps(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.once("fix the parser")
		x := w.runIs(s.ID, exec.Running)
		got := w.sess.of(s.ID).prompts()
		if want := "fix the parser\n\n" + exec.Told(x); got != want || !strings.Contains(got, "at most 500 words") || !strings.Contains(got, "20 tool calls") {
			t.Errorf("asked %q, want %q", got, want)
		}
		report, _ := json.Marshal(map[string]string{"prompt": got})
		w.m.Traffic.Hook(s.ID, "UserPromptSubmit", report)
		w.finish(s.ID, "fix the parser") // as the reader of requests finds the person's words: see TestToldApart
		x = w.runIs(s.ID, exec.Completed)
		if p := w.promptOf(x); p.State != thread.PromptAnswered || p.Text != "fix the parser" {
			t.Errorf("its prompt is %+v", p)
		}
		if s = w.status(s.ID); s.Label != "fix the parser" || !strings.HasPrefix(s.Name, "fix-the-parser-") || s.Turn != 1 {
			t.Errorf("the thread is %q, %q at turn %d", s.Name, s.Label, s.Turn)
		}
		if list, _ := w.store.Prompts(context.Background(), s.ID, false, 0); len(list) != 1 {
			t.Errorf("prompts %+v: the hook's is another", list)
		}
	}, withRuns, withCaps)
}

// TestPromptsStayCommands: what the agent takes for a command of its own is sent as it is.
func TestPromptsStayCommands(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.once("/review all")
		w.runIs(s.ID, exec.Running)
		if got := w.sess.of(s.ID).prompts(); got != "/review all" {
			t.Errorf("asked %q", got)
		}
	}, withRuns, withCaps)
}

// TestTiers: a run has the model of its tier as it is configured when it is asked for, with the reason; a tier without one
// is refused before there is a thread.
func TestTiers(t *testing.T) {
	inWorld(t, func(w *world) {
		for _, c := range []struct {
			tier               thread.Tier
			model, want, words string
			why                string
		}{
			{"", "", "", "at most 500 words", "standard: the agent's own model"},
			{thread.TierStandard, "", "", "at most 500 words", "standard by --tier: the agent's own model"},
			{thread.TierFast, "", "small", "at most 100 words", "fast by --tier; tiers.claude.fast"},
			{thread.TierStrong, "", "large", "as long as it needs", "strong by --tier; tiers.claude.strong"},
			{thread.TierFast, "mine", "mine", "at most 100 words", "model by --model"},
		} {
			s := w.once("do it", func(r *thread.NewRequest) { r.Once.Tier, r.Model = c.tier, c.model })
			x := w.runIs(s.ID, exec.Running)
			p := w.sess.of(s.ID)
			if x.Model != c.want || x.Chosen != c.why || s.Model != c.model {
				t.Errorf("%q, %q: model %q, %q, the thread's %q", c.tier, c.model, x.Model, x.Chosen, s.Model)
			}
			if got := p.spec.Launch.Env; !strings.Contains(strings.Join(got, "\n")+"\n", "MODEL="+c.want+"\n") {
				t.Errorf("%q, %q: started with %q", c.tier, c.model, got)
			}
			if !strings.Contains(p.prompts(), c.words) {
				t.Errorf("%q, %q: asked %q", c.tier, c.model, p.prompts())
			}
			w.finish(s.ID, "do it")
		}
		before, _ := w.store.Threads(context.Background())
		_, err := w.m.Creation.New(context.Background(), thread.NewRequest{
			Agent: "claude", Prompt: "do it", Once: thread.Once{On: true, Tier: thread.TierFrontier}})
		if !errors.Is(err, thread.ErrInvalid) || !strings.Contains(err.Error(), "no frontier model of claude") {
			t.Errorf("a tier without a model: %v", err)
		}
		if after, _ := w.store.Threads(context.Background()); len(after) != len(before) {
			t.Error("a thread is left of it")
		}
		s := w.create(thread.NewRequest{Agent: "claude", Once: thread.Once{Tier: thread.TierFast}})
		if s.Model != "small" {
			t.Errorf("in a terminal: model %q", s.Model)
		}
		f, err := w.m.Forks.Fork(context.Background(), thread.ForkRequest{Thread: s.Name, Label: "again", Once: thread.Once{Tier: thread.TierStrong}})
		if err != nil || f.Model != "large" {
			t.Errorf("forked: model %q, %v", f.Model, err)
		}
		if f, err = w.m.Forks.Fork(context.Background(), thread.ForkRequest{Thread: s.Name, Label: "as it is"}); err != nil || f.Model != "small" {
			t.Errorf("forked without a tier: model %q, %v", f.Model, err)
		}
	}, withRuns, withCaps, withTiers)
}
