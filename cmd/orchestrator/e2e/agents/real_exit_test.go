package agents

import (
	"testing"

	"orchestrator/agent/agenttest/clis"
	"orchestrator/cmd/orchestrator/e2e"
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
			r.Ok("send", name, "one. #say:first", "--timeout", "5m")
			how := map[string]string{"claude": "/exit", "codex": "/quit", "gemini": "/quit", "opencode": "/exit"}[cli.Name]
			res := r.Run("send", name, how, "--timeout", "2m")
			t.Logf("%s: exit %d, %s", how, res.Code, res.Stderr)
			e2e.Await(t, "the agent to end", func() bool { return r.Status(name).Execution == nil })
			r.Ok("resume", name)
			if res := r.Run("send", name, "two. #say:second", "--timeout", "5m"); res.Code != exitcode.OK || res.Stdout != "second\n" {
				t.Errorf("after the resume: exit %d, %q, %s", res.Code, res.Stdout, res.Stderr)
			}
			prompts := e2e.Get[[]thread.Prompt](r.Rig, "prompts", name)
			if len(prompts) != 3 || prompts[1].State != thread.PromptTaken || prompts[2].State != thread.PromptAnswered {
				t.Errorf("%+v", prompts)
			}
			if s := r.Status(name); s.Execution == nil {
				t.Errorf("it ended again: %+v", s.State)
			}
		})
	}
}
