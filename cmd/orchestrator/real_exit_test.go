package main

import (
	"testing"

	"orchestrator/agent/agenttest/clis"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread"
)

// TestRealExit sends every real CLI its command to end: it ends, the prompt is taken, and is not typed again after the
// resume, in which the next prompt is answered.
func TestRealExit(t *testing.T) {
	for _, cli := range clis.All() {
		t.Run(cli.Name, func(t *testing.T) {
			r := newRealRig(t, cli)
			name := r.start("ends")
			r.ok("send", name, "one. #say:first", "--timeout", "5m")
			how := map[string]string{"claude": "/exit", "codex": "/quit", "gemini": "/quit", "opencode": "/exit"}[cli.Name]
			res := r.run("send", name, how, "--timeout", "2m")
			t.Logf("%s: exit %d, %s", how, res.code, res.stderr)
			await(t, "the agent to end", func() bool { return r.status(name).Execution == nil })
			r.ok("resume", name)
			if res := r.run("send", name, "two. #say:second", "--timeout", "5m"); res.code != exitcode.OK || res.stdout != "second\n" {
				t.Errorf("after the resume: exit %d, %q, %s", res.code, res.stdout, res.stderr)
			}
			prompts := get[[]thread.Prompt](r.rig, "prompts", name)
			if len(prompts) != 3 || prompts[1].State != thread.PromptTaken || prompts[2].State != thread.PromptAnswered {
				t.Errorf("%+v", prompts)
			}
			if s := r.status(name); s.Execution == nil {
				t.Errorf("it ended again: %+v", s.State)
			}
		})
	}
}
