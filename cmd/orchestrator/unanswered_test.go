package main

import (
	"slices"
	"strings"
	"testing"

	"orchestrator/thread"
)

// TestPromptsWithoutAnAnswerAreKept: a prompt that was cut by a kill and one that was stopped stay to be seen after later
// turns: in the list of checkpoints and its JSON, by find, and on the screen, where enter leads to sending it again.
func TestPromptsWithoutAnAnswerAreKept(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	name := r.demo("kept")
	r.turn(name, "first things")
	r.ok("send", name, "#slow:600s say polish the silver", "-d")
	r.awaitState(name, thread.StateWorking)
	r.ok("stop", name)
	r.ok("resume", name)
	r.turn(name, "second things")
	rows := get[[]thread.Checkpoint](r, "checkpoint", "list", name)
	at := slices.IndexFunc(rows, func(c thread.Checkpoint) bool { return strings.Contains(c.Prompt, "silver") })
	if at < 0 || rows[at].Kind == thread.KindPrompt && rows[at].Ended != thread.PromptInterrupted ||
		rows[at].Kind == thread.KindTurn && !rows[at].Interrupted {
		t.Errorf("the prompt that was cut is not among %+v", rows)
	}
	order := r.ok("checkpoint", "list", name)
	for _, text := range []string{"second things", "silver", "first things"} {
		_, after, found := strings.Cut(order, text)
		if !found {
			t.Errorf("%q is not where it belongs in\n%s", text, r.ok("checkpoint", "list", name))
		}
		order = after
	}
	if out := r.ok("find", "silver"); !strings.Contains(out, name) {
		t.Errorf("find: %s", out)
	}
	s := r.open(120, 36)
	s.see("kept")
	s.press("\t")
	s.see("polish the silver", "second things", "first things")
}
