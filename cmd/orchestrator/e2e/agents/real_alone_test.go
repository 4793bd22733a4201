package agents

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"orchestrator/agent/agenttest/clis"
	"orchestrator/agent/agenttest/model"
	"orchestrator/agent/scripted"
	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread"
)

// turnsVariable is how many turns TestRealAnswersAlone makes over all CLIs.
const turnsVariable = "ORCHESTRATOR_REAL_TURNS"

// outsideTurn makes a turn in a thread's session without the program, as from another terminal.
func (r *realRig) outsideTurn(s thread.Status, text string) {
	r.T.Helper()
	args := map[string][]string{
		"claude":   {"claude", "-p", "--resume", s.Session, "--model", r.cli.Model, text},
		"codex":    {"codex", "exec", "resume", s.Session, "-m", r.cli.Model, "--json", text},
		"gemini":   {"gemini", "--resume", s.Session, "-p", text},
		"opencode": {"opencode", "run", "--format", "json", "-s", s.Session, text},
	}[r.cli.Name]
	cmd := exec.CommandContext(r.T.Context(), args[0], args[1:]...)
	for _, kv := range r.Env {
		if path, ok := strings.CutPrefix(kv, "PATH="); ok {
			cmd.Path, _, _ = strings.Cut(path, ":")
			cmd.Path += "/" + args[0]
		}
	}
	cmd.Err = nil
	// The person, who has a proxy, has told it to leave this machine alone; for the CLI's own turn nobody else does.
	cmd.Dir, cmd.Env = s.Dir, append(slices.Clone(r.Env), "NO_PROXY=127.0.0.1", "no_proxy=127.0.0.1")
	if out, err := cmd.CombinedOutput(); err != nil {
		r.T.Fatalf("%v: %v\n%s", args, err, out)
	}
}

// TestRealAnswersAlone sends prompts to every real CLI in text mode: what is printed is the answer to each and nothing
// else, byte for byte, with reasoning, tools, sub-agents that go on by themselves, and turns made outside between them.
func TestRealAnswersAlone(t *testing.T) {
	all := clis.All()
	turns := 20
	if n, err := strconv.Atoi(os.Getenv(turnsVariable)); err == nil {
		turns = n
	}
	for _, cli := range all {
		t.Run(cli.Name, func(t *testing.T) {
			r := newScripted(t, cli, func(turn model.Turn) scripted.Reply {
				if strings.Contains(turn.Prompt, "find it") {
					return delegating(turn)
				}
				return atWork(turn)
			})
			name := r.start("alone")
			began, outside, rows := time.Now(), 0, 0
			for i := range (turns + len(all) - 1) / len(all) {
				prompt := fmt.Sprintf("prompt-%d. #say:answer-%d, plain", i, i)
				want := fmt.Sprintf("answer-%d, plain\n", i)
				switch i % 5 {
				case 0:
					prompt = fmt.Sprintf("prompt-%d. #think:let me see %d #say:answer-%d after reasoning", i, i, i)
					want = fmt.Sprintf("answer-%d after reasoning\n", i)
				case 2:
					prompt = fmt.Sprintf("prompt-%d. #think:a tool #bash:echo out-%d #think:well #say:answer-%d of a tool", i, i, i)
					want = fmt.Sprintf("answer-%d of a tool\n", i)
				case 3:
					if cli.Name == "claude" {
						prompt, want = fmt.Sprintf("find it %d", i), "a sub-agent looks for it\n"
					}
				case 4:
					if i%10 == 4 {
						r.Ok("stop", name)
						r.outsideTurn(r.Status(name), fmt.Sprintf("outside-%d. #say:answer to somebody else", i))
						r.Ok("resume", name)
						outside++
						rows++
					}
				}
				got := r.Run("send", name, prompt, "--timeout", "4m")
				rows++
				if got.Code != 0 || got.Stdout != want {
					t.Errorf("turn %d: %d %q, want %q\n%s", i, got.Code, got.Stdout, want, got.Stderr)
				}
			}
			list := e2e.Get[[]thread.Checkpoint](r.Rig, "checkpoint", "list", "--limit", "0", name)
			made := 0
			for _, c := range list {
				if c.Note == thread.NoteOutside {
					made++
				}
			}
			if made != outside || len(list) < rows {
				t.Errorf("%d rows, want %d; %d of turns made outside, want %d", len(list), rows, made, outside)
			}
			for _, p := range e2e.Get[[]thread.Prompt](r.Rig, "prompts", name) {
				if strings.HasPrefix(p.Text, "<") || p.State != thread.PromptAnswered {
					t.Errorf("prompt %q is %s (%s)", p.Text, p.State, p.Reason)
				}
			}
			t.Logf("%s: %d rows, %d of them made outside, in %v", cli.Name, len(list), made, time.Since(began).Round(time.Second))
		})
	}
}
