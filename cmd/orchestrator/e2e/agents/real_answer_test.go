package agents

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"orchestrator/agent/agenttest/clis"
	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread"
)

// askingModes are the modes in which each CLI asks before a command, and what a prompt must say for that.
var askingModes = map[string]struct{ mode, mark string }{
	"claude": {"manual", ""}, "codex": {"on-request/workspace-write", "#escalate "}, "gemini": {"default", ""}, "opencode": {"", ""},
}

// TestRealAnswers answers the dialogs of the real CLIs by approve, deny and answer: what was approved runs, what was
// denied does not, and an answer to a question that is gone chooses nothing. ROUNDS asks for more of them.
func TestRealAnswers(t *testing.T) {
	for _, cli := range clis.All() {
		t.Run(cli.Name, func(t *testing.T) {
			cli.Mode = askingModes[cli.Name].mode
			r := newRealRig(t, cli)
			r.Env = append(r.Env, `OPENCODE_PERMISSION={"bash":"ask"}`)
			name := r.start("asked")
			rounds, wrong, refused, slowest := e2e.FromEnv(t, "ROUNDS", 6), 0, 0, time.Duration(0)
			last := ""
			for n := range rounds {
				r.AwaitState(name, thread.StateIdle, thread.StateDone)
				file := fmt.Sprintf("made-%d.txt", n)
				r.Run("send", "--timeout", "30s", name, fmt.Sprintf("please %d. %s#bash:touch %s #say:round %d is done.", n, askingModes[cli.Name].mark, file, n))
				var q *thread.Question
				e2e.Await(t, "the question", func() bool {
					q = r.Status(name).State.Question
					return q != nil && len(q.Choices) > 0 && q.About == "touch "+file // some draw their dialog in pieces
				})
				if q.Kind != thread.QuestionPermission {
					t.Errorf("it asks %+v", q)
				}
				if last != "" {
					if res := r.Run("approve", name, "--question", last); res.Code == 0 {
						wrong++
						t.Errorf("an old question was answered: %s", res.Stdout)
					}
					refused++
				}
				last = q.ID
				approve := n%3 != 1
				verb := "approve"
				if !approve {
					verb = "deny"
				}
				begin := time.Now()
				if res := r.Run(verb, name, "--question", q.ID); res.Code != 0 {
					t.Errorf("%s: %s", verb, res.Stderr)
					continue
				}
				slowest = max(slowest, time.Since(begin))
				r.AwaitState(name, thread.StateIdle, thread.StateDone)
				_, err := os.Stat(filepath.Join(r.Project, file))
				if ran := err == nil; ran != approve {
					wrong++
					t.Errorf("round %d: %s, and the command ran: %t", n, verb, ran)
				}
			}
			t.Logf("%s: %d questions answered, %d old ones refused, %d wrong; the slowest answer took %v", cli.Name, rounds, refused, wrong, slowest)
		})
	}
}
