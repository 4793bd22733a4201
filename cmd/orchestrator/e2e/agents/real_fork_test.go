package agents

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orchestrator/agent/agenttest/clis"
	"orchestrator/agent/scripted"
	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread"
)

// TestRealForksAtBadTimes forks every real CLI when that is hard: the moment a turn is over, in the
// middle of a tool call, in the middle of an answer, and after its native files are gone. Each fork
// holds the turns that were whole, or it is refused with words; the parent goes on.
func TestRealForksAtBadTimes(t *testing.T) {
	for _, cli := range clis.All() {
		t.Run(cli.Name, func(t *testing.T) {
			r := newRealRig(t, cli)
			begin := time.Now()
			name := r.talked(2)
			r.forkHears(name, "at-once.")

			r.Ok("send", "-d", name, "tool. #bash:touch started; while [ ! -e go ]; do sleep 0.1; done #say:tool is done.")
			e2e.Await(t, "the tool to run", func() bool { _, err := os.Stat(filepath.Join(r.Project, "started")); return err == nil })
			if res := r.Run("fork", "no", "-t", name, "--at", "3"); res.Code == exitcode.OK || !strings.Contains(res.Stderr, "turn 3") {
				t.Errorf("a fork at a turn that is not over: exit %d, %s", res.Code, res.Stderr)
			}
			r.forkHears(name, "in-tool.")
			r.Write("go", "")
			r.AwaitState(name, thread.StateIdle, thread.StateDone)

			r.Ok("send", "-d", name, "answer. #hold:writing #say:answer is there.")
			r.request("answer.")
			r.forkHears(name, "in-answer.", "tool.")
			r.model.Release("writing")
			r.AwaitState(name, thread.StateIdle, thread.StateDone)

			session := r.Status(name).Session
			r.Ok("stop", name)
			for _, file := range cli.Files(t, r.Home, session) {
				if err := os.Remove(file); err != nil {
					t.Fatal(err)
				}
			}
			r.forkHears(name, "missing.", "tool.", "answer.")
			r.Ok("resume", name)
			r.Ok("send", name, "parent. #say:answer-parent.")
			heard := strings.Join(r.request("parent.").Turn.Prompts(), "\n")
			for _, what := range []string{"prompt-1.", "prompt-2.", "tool.", "answer."} {
				if !strings.Contains(heard, what) {
					t.Errorf("after its files were lost the parent lacks %q", what)
				}
			}
			t.Logf("%s: forked after an answer, in a tool call, in an answer and without its files in %v", cli.Name, time.Since(begin).Round(time.Second))
		})
	}
}

// forkHears forks a thread, sends the fork a prompt, and checks that the model then hears the first two
// turns and the prompts that were more, and nothing else.
func (r *realRig) forkHears(name, prompt string, more ...string) {
	r.T.Helper()
	const turns = 2
	fork := e2e.Get[thread.Status](r.Rig, "fork", prompt, "-t", name)
	r.Ok("send", fork.Name, prompt+" #say:fork-done.")
	q := r.request(prompt)
	holdsTurns(r.T, q, turns)
	calls, results := 0, 0
	for _, m := range q.Turn.History {
		switch {
		case m.Call != "":
			calls++
		case m.Role == scripted.Result:
			results++
		}
	}
	if results > calls {
		r.T.Errorf("%s the fork's model heard %d results of %d calls", prompt, results, calls)
	}
	said := q.Turn.Prompts()
	if want := turns + len(more) + 1; len(said) != want {
		r.T.Errorf("%s the fork's model heard %d prompts, want %d: %q", prompt, len(said), want, said)
	}
	for _, what := range more {
		if !strings.Contains(strings.Join(said, "\n"), what) {
			r.T.Errorf("%s the fork's model did not hear %q", prompt, what)
		}
	}
	r.Ok("stop", fork.Name)
}

// TestRealForksThatAnswerAlike has every turn of a thread and of the forks of its forks answered with the same word. Each
// is forked the moment its first turn is over, when the CLI may not have written that down yet: the fork has it.
func TestRealForksThatAnswerAlike(t *testing.T) {
	for _, cli := range clis.All() {
		t.Run(cli.Name, func(t *testing.T) {
			r := newRealRig(t, cli)
			begin := time.Now()
			name := r.start("alike")
			for turn := 1; turn <= 4; turn++ {
				if turn > 1 {
					name = e2e.Get[thread.Status](r.Rig, "fork", "again", "-t", name).Name
				}
				prompt := fmt.Sprintf("prompt-%d.", turn)
				r.Ok("send", name, prompt+" #say:Done.")
				if said := r.request(prompt).Turn.Prompts(); len(said) != turn {
					t.Errorf("the model heard %q in turn %d", said, turn)
				}
			}
			t.Logf("%s: a turn, and three forks of forks with one each, in %v", cli.Name, time.Since(begin).Round(time.Second))
		})
	}
}
