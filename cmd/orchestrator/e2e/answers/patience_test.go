package answers

import (
	"strings"
	"syscall"
	"testing"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread"
)

// TestSendOutlivesTheAgent: an agent is killed while a prompt waits behind another one. Who gave it time waits for a resume
// within that time, and gets the answer.
func TestSendOutlivesTheAgent(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	name := r.Demo("mortal")
	r.Ok("send", "-d", name, "#slow:600s list files")
	r.AwaitState(name, thread.StateWorking)
	k := talk(r, "send", name, "say after its death", "--timeout", "90s")
	e2e.Await(t, "the prompt to wait", func() bool { return len(e2e.Get[[]thread.Prompt](r, "prompts", name, "--open")) == 2 })
	if err := syscall.Kill(r.Status(name).Execution.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	e2e.Await(t, "its death to be known", func() bool { return r.Status(name).Execution == nil })
	r.Ok("resume", name)
	if rest, code := k.end(); code != exitcode.OK || strings.TrimSpace(rest) != "after its death" {
		t.Errorf("exit %d, %q, %s", code, rest, k.stderr.String())
	}
	for _, p := range e2e.Get[[]thread.Prompt](r, "prompts", name) {
		if strings.HasPrefix(p.Text, "#slow") && !strings.Contains(p.Reason, "the agent exited") {
			t.Errorf("what ended the first prompt is said to be: %s", p.Reason)
		}
	}
}

// TestSendNamesTheDraft: while something lies in the agent's input, that is why a prompt waits, also once its time is up.
func TestSendNamesTheDraft(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	name := r.Demo("draft")
	r.AwaitState(name, thread.StateIdle, thread.StateDone)
	pane, err := r.Client().Attach(t.Context(), r.Status(name).ID, 100, 30)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = pane.Close() }()
	if _, err := pane.Read(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := pane.Write(t.Context(), []byte("half a sentence")); err != nil {
		t.Fatal(err)
	}
	const why = "its input holds something that is not sent"
	res := r.Run("send", name, "say hello", "--timeout", "4s")
	if res.Code != exitcode.Refused || !strings.Contains(res.Stderr, why) || strings.Contains(res.Stderr, "busy with another prompt") {
		t.Errorf("exit %d, %q", res.Code, res.Stderr)
	}
}
