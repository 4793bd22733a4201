package agents

import (
	"fmt"
	"math/rand/v2"
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

// TestRealAnswersRaceThePerson: at any moment while a question is approved from outside, the person answers it in its
// terminal, so that another dialog takes its place. That one is never answered by what was meant for the first; where the
// person does nothing, the answer arrives. RACES asks for more rounds.
func TestRealAnswersRaceThePerson(t *testing.T) {
	for _, cli := range clis.All() {
		t.Run(cli.Name, func(t *testing.T) {
			cli.Mode = askingModes[cli.Name].mode
			mark := askingModes[cli.Name].mark
			r := newRealRig(t, cli)
			r.Env = append(r.Env, `OPENCODE_PERMISSION={"bash":"ask"}`)
			name := r.start("raced")
			pane := r.Open(120, 40, "attach", name)
			pane.See("ctrl+q back to threads")
			asks := func(about string) *thread.Question {
				var q *thread.Question
				e2e.Await(t, "the question about "+about, func() bool {
					q = r.Status(name).State.Question
					return q != nil && len(q.Choices) > 0 && q.About == about
				})
				return q
			}
			rounds := e2e.FromEnv(t, "RACES", 6)
			wrong, raced, late, delivered, quiet := 0, 0, 0, 0, 0
			for n := range rounds {
				r.AwaitState(name, thread.StateIdle, thread.StateDone)
				first, second := fmt.Sprintf("first-%d.txt", n), fmt.Sprintf("second-%d.txt", n)
				r.Run("send", "--timeout", "30s", name,
					fmt.Sprintf("please %d. %s#bash:touch %s %s#bash:touch %s #say:round %d is done.", n, mark, first, mark, second, n))
				q := asks("touch " + first)
				steps := n%2 == 0 // the person steps in
				stepped := make(chan time.Time, 1)
				if steps {
					time.AfterFunc(time.Duration(rand.IntN(1200))*time.Millisecond, func() {
						stepped <- time.Now()
						pane.Press("\r")
					})
				}
				res := r.Run("approve", name, "--question", q.ID)
				ended := time.Now()
				switch {
				case steps:
					raced++
				default:
					quiet++
					if res.Code == 0 {
						delivered++
					} else {
						t.Logf("round %d: %s", n, res.Stderr)
					}
				}
				if !steps && res.Code != 0 {
					r.Run("approve", name, "--question", r.Status(name).State.Question.ID)
				}
				if steps && (<-stepped).After(ended.Add(-100*time.Millisecond)) && res.Code == 0 {
					late++ // the person's return may have gone to the second question, as they pressed it
					r.AwaitState(name, thread.StateIdle, thread.StateDone, thread.StateApproval)
					if now := r.Status(name).State.Question; now != nil {
						r.Run("deny", name, "--question", now.ID)
					}
					continue
				}
				b := asks("touch " + second)
				time.Sleep(1500 * time.Millisecond) // whatever is late comes now
				if _, err := os.Stat(filepath.Join(r.Project, second)); err == nil {
					wrong++
					t.Errorf("round %d: the second question was answered, too", n)
					continue
				}
				if now := r.Status(name).State.Question; now == nil || now.About != "touch "+second {
					wrong++
					t.Errorf("round %d: it asks %+v", n, now)
					continue
				}
				if res := r.Run("deny", name, "--question", b.ID); res.Code != 0 {
					now := r.Status(name).State.Question
					if now == nil {
						t.Errorf("round %d: deny: %s", n, res.Stderr)
						continue
					}
					r.Run("deny", name, "--question", now.ID)
				}
			}
			t.Logf("%s: %d raced (%d after the answer), %d wrong; %d of %d arrived where nobody stepped in", cli.Name, raced, late, wrong, delivered, quiet)
			if delivered*100 < quiet*95 {
				t.Error("too few answers arrive")
			}
		})
	}
}
