package agents

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"orchestrator/agent/agenttest/clis"
	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread"
)

// TestRealHandoff forks a conversation at turn 3 of five into another agent: what that agent sends to
// its model names the files and the decisions up to there and nothing later, and it works in the files
// of turn 3.
func TestRealHandoff(t *testing.T) {
	all := map[string]clis.CLI{}
	for _, cli := range clis.All() {
		all[cli.Name] = cli
	}
	for _, pair := range [][2]string{{"claude", "codex"}, {"codex", "claude"}, {"claude", "gemini"}, {"gemini", "opencode"}} {
		from, to := all[pair[0]], all[pair[1]]
		t.Run(from.Name+" to "+to.Name, func(t *testing.T) {
			r := newRealRig(t, from)
			r.setUp(to)
			begin := time.Now()
			name := r.talked(realTurns)
			fork := e2e.Get[thread.Status](r.Rig, "fork", "another way", "-t", name, "--at", "3", "-a", to.Name)
			q := r.request(handoffBegin)
			checkPrimer(t, q.Turn.Prompt)
			holdsNothingAfter(t, string(q.Body), 3)
			holdsFiles(t, fork.Dir, 3)
			r.AwaitState(fork.Name, thread.StateDone, thread.StateIdle)
			r.Ok("send", fork.Name, "fork. #say:answer-fork.")
			holdsNothingAfter(t, string(r.request("fork.").Body), 3)
			r.Ok("send", name, "parent. #say:answer-parent.")
			holdsTurns(t, r.request("parent."), realTurns)
			holdsFiles(t, r.Project, realTurns)
			st := r.Status(fork.Name)
			if h := st.Handoff; h == nil || h.Metadata.ForkPoint != 3 || h.Metadata.TokenBudget == 0 || !strings.HasPrefix(h.ContextSummary, handoffBegin) {
				t.Errorf("the stored handoff is %+v", h)
			}
			t.Logf("%s: five turns, handed to %s at turn 3 in %d bytes, a turn in each in %v", from.Name, to.Name, len(q.Turn.Prompt), time.Since(begin).Round(time.Second))
		})
	}
}

// checkPrimer checks that a primer says what turns 1 to 3 changed and decided.
func checkPrimer(t *testing.T, primer string) {
	t.Helper()
	_, files, _ := strings.Cut(primer, "## Files\n")
	files, _, _ = strings.Cut(files, "\n## ")
	if !strings.Contains(files, "notes.txt") {
		t.Errorf("the primer's files are %q", files)
	}
	for i := 1; i <= 3; i++ {
		if file := fmt.Sprintf("f-%d.txt", i); !strings.Contains(files, file) {
			t.Errorf("%s is not among the primer's files %q", file, files)
		}
		for _, word := range []string{"prompt-%d.", "answer-%d.", "We decided on plan-%d."} {
			if word = fmt.Sprintf(word, i); !strings.Contains(primer, word) {
				t.Errorf("the primer lacks %q", word)
			}
		}
	}
	if t.Failed() {
		t.Logf("the primer:\n%s", primer)
	}
}
