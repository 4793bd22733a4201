package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orchestrator/agent/agenttest/clis"
	"orchestrator/agent/scripted"
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

			r.ok("send", "-d", name, "tool. #bash:touch started; while [ ! -e go ]; do sleep 0.1; done #say:tool is done.")
			await(t, "the tool to run", func() bool { _, err := os.Stat(filepath.Join(r.project, "started")); return err == nil })
			if res := r.run("fork", "no", "-t", name, "--at", "3"); res.code == exitcode.OK || !strings.Contains(res.stderr, "turn 3") {
				t.Errorf("a fork at a turn that is not over: exit %d, %s", res.code, res.stderr)
			}
			r.forkHears(name, "in-tool.")
			r.write("go", "")
			r.awaitState(name, thread.StateIdle, thread.StateDone)

			r.ok("send", "-d", name, "answer. #hold:writing #say:answer is there.")
			r.request("answer.")
			r.forkHears(name, "in-answer.", "tool.")
			r.model.Release("writing")
			r.awaitState(name, thread.StateIdle, thread.StateDone)

			session := r.status(name).Session
			r.ok("stop", name)
			for _, file := range cli.Files(t, r.home, session) {
				if err := os.Remove(file); err != nil {
					t.Fatal(err)
				}
			}
			r.forkHears(name, "missing.", "tool.", "answer.")
			r.ok("resume", name)
			r.ok("send", name, "parent. #say:answer-parent.")
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
	r.t.Helper()
	const turns = 2
	fork := get[thread.Status](r.rig, "fork", prompt, "-t", name)
	r.ok("send", fork.Name, prompt+" #say:fork-done.")
	q := r.request(prompt)
	holdsTurns(r.t, q, turns)
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
		r.t.Errorf("%s the fork's model heard %d results of %d calls", prompt, results, calls)
	}
	said := q.Turn.Prompts()
	if want := turns + len(more) + 1; len(said) != want {
		r.t.Errorf("%s the fork's model heard %d prompts, want %d: %q", prompt, len(said), want, said)
	}
	for _, what := range more {
		if !strings.Contains(strings.Join(said, "\n"), what) {
			r.t.Errorf("%s the fork's model did not hear %q", prompt, what)
		}
	}
	r.ok("stop", fork.Name)
}
