package agents

import (
	"context"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"orchestrator/agent/agenttest/clis"
	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread/work"
)

// aloneFor is how long a CLI may try a provider that fails, without the program.
const aloneFor = 20 * time.Second

// alone has the CLI do a prompt without the program, as in a script, and reports whether it gave up by itself.
func (r *realRig) alone(prompt string) (gaveUp bool) {
	r.T.Helper()
	args := map[string][]string{
		"claude": {"claude", "-p", "--model", r.cli.Model, prompt}, "codex": {"codex", "exec", "-m", r.cli.Model, prompt},
		"gemini": {"gemini", "-p", prompt}, "opencode": {"opencode", "run", prompt},
	}[r.cli.Name]
	ctx, cancel := context.WithTimeout(r.T.Context(), aloneFor)
	defer cancel()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	for _, kv := range r.Env {
		if path, ok := strings.CutPrefix(kv, "PATH="); ok {
			cmd.Path, _, _ = strings.Cut(path, ":")
			cmd.Path += "/" + args[0]
		}
	}
	cmd.Err, cmd.WaitDelay = nil, time.Second
	cmd.Dir, cmd.Env = r.Project, append(slices.Clone(r.Env), "NO_PROXY=127.0.0.1", "no_proxy=127.0.0.1")
	out, err := cmd.CombinedOutput()
	if err == nil && r.T.Context().Err() == nil && r.cli.Name == "claude" {
		r.T.Logf("%s alone has succeeded: %s", r.cli.Name, out)
	}
	return ctx.Err() == nil
}

// TestRealRunFaults has the real CLIs meet a provider that fails: each attempt asks it once, or little more; what passes is
// tried again, as often as is configured; and what the failure is, is told. Beside it is how often the CLI alone asks.
func TestRealRunFaults(t *testing.T) {
	for _, cli := range clis.All() {
		t.Run(cli.Name, func(t *testing.T) {
			r, p := newTroubleRig(t, cli)
			r.Env = append(r.Env, "ORCHESTRATOR_RUNS_RETRIES=2")
			for _, c := range []struct {
				fault    string
				attempts int
				code     work.Code
			}{
				{"529", 2, work.CodeIntegration}, {"429", 2, work.CodeIntegration}, {"500", 2, work.CodeIntegration},
				{"cut", 2, work.CodeIntegration}, {"401", 1, work.CodeIntegration}, {"400", 1, work.CodeAgent},
			} {
				t.Run(c.fault, func(t *testing.T) {
					r.Run("stop") // a breaker is not kept
					p.Fails(c.fault)
					gaveUp := r.alone("please #say:ok")
					alone := p.Asked()
					p.Fails(c.fault)
					name := strings.TrimSpace(r.Ok(r.once("-d", "--no-worktree", "please #say:ok")...))
					var x work.Execution
					for end := time.Now().Add(2 * e2e.Patience); !x.State.Final() && time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
						x = r.execution(name)
					}
					asked := p.Asked()
					t.Logf("%s %s: alone %d requests in %v (gave up %v); a run %d in %d attempts: %s", cli.Name, c.fault, alone,
						aloneFor, gaveUp, asked, x.Attempt, x.Reason)
					if x.State != work.Failed || x.Attempt != c.attempts || x.Failure.Code != c.code {
						t.Errorf("%s in attempt %d, %+v", x.State, x.Attempt, x.Failure)
					}
					// Beside the one of the conversation: OpenCode asks three times for a title, Codex five times before it says so, and
					// Claude tries other forms of a request after a 400.
					if asked > 6*c.attempts {
						t.Errorf("%d requests in %d attempts", asked, c.attempts)
					}
				})
			}
			r.Run("stop")
			p.FailsFirst("529", 1)
			if res := r.Run(r.once("--no-worktree", "please #say:well")...); res.Code != 0 || !strings.Contains(res.Stdout, "well") {
				t.Errorf("after one failure: %+v", res)
			}
		})
	}
}
