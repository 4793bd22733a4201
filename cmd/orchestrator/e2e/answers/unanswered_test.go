package answers

import (
	"slices"
	"strings"
	"testing"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread"
)

// TestPromptsWithoutAnAnswerAreKept: a prompt that was cut by a kill and one that was stopped stay to be seen after later
// turns: in the list of checkpoints and its JSON, by find, and on the screen, where enter leads to sending it again.
func TestPromptsWithoutAnAnswerAreKept(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	name := r.Demo("kept")
	r.Turn(name, "first things")
	r.Ok("send", name, "#slow:600s say polish the silver", "-d")
	r.AwaitState(name, thread.StateWorking)
	r.Ok("stop", name)
	r.Ok("resume", name)
	r.Turn(name, "second things")
	rows := e2e.Get[[]thread.Checkpoint](r, "checkpoint", "list", name)
	at := slices.IndexFunc(rows, func(c thread.Checkpoint) bool { return strings.Contains(c.Prompt, "silver") })
	if at < 0 || rows[at].Kind == thread.KindPrompt && rows[at].Ended != thread.PromptInterrupted ||
		rows[at].Kind == thread.KindTurn && !rows[at].Interrupted {
		t.Errorf("the prompt that was cut is not among %+v", rows)
	}
	order := r.Ok("checkpoint", "list", name)
	for _, text := range []string{"second things", "silver", "first things"} {
		_, after, found := strings.Cut(order, text)
		if !found {
			t.Errorf("%q is not where it belongs in\n%s", text, r.Ok("checkpoint", "list", name))
		}
		order = after
	}
	if out := r.Ok("find", "silver"); !strings.Contains(out, name) {
		t.Errorf("find: %s", out)
	}
	s := r.Open(120, 36)
	s.See("kept")
	s.Press("\t")
	s.See("polish the silver", "second things", "first things")
}
