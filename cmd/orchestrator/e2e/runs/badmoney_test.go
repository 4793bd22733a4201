package runs

import (
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread/work"
)

// TestOddBudgets: what is no amount is refused, 0 allows nothing, and the least that there is ends before it is spent twice.
func TestOddBudgets(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	for _, bad := range []string{"", "-1usd", "nan", "NaN usd", "1e309usd", "99999999999999999999 tokens", "1e3 tokens", "$1,", "$1,$2", "\u0661"} {
		r.Says(exitcode.Usage, []string{"no amount"}, "run", "--once", "-d", "-a", "demo", "--budget", bad, "say x")
	}
	for _, bad := range [][]string{{"project", "--usd", "-1"}, {"project", "--tokens", "99999999999999999999"}, {"group:../x", "--tokens", "1k"}} {
		r.Says(exitcode.Usage, []string{"budget"}, append([]string{"budget", "set"}, bad...)...)
	}
	r.Says(exitcode.NotFound, []string{"nosuch"}, "budget", "set", "nosuch", "--tokens", "1k")
	if all := list(r); len(all) != 0 {
		t.Errorf("%d executions", len(all))
	}
	for _, none := range []string{"0", "$0", "0usd", "0 tokens"} {
		name := runIt(r, "say x", "--no-worktree", "--budget", none)
		e2e.Await(t, "it to say why it waits", func() bool { return strings.Contains(show(r, name).Reason, "is used up") })
		r.Ok("exec", "cancel", name)
	}
	for _, little := range []string{"5", "10 tokens", "1k"} {
		x := ends(r, runIt(r, "say x", "--no-worktree", "--budget", little))
		if x.State != work.Failed || x.Failure.Code != work.CodeOverflow || !strings.Contains(x.Reason, "the budget of "+x.Name) || x.Usage.Context() != 0 {
			t.Errorf("%s: %s, %s, %+v: %s", little, x.State, x.Failure.Code, x.Usage, x.Reason)
		}
	}
	noneLeft(r)
}

// TestBudgetWhileEightRun lowers, raises and clears the budget of a group while eight of its runs are in flight: all end
// with that reason, what is asked then waits with it, and all goes on once it is raised.
func TestBudgetWhileEightRun(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	r.Env = append(r.Env, "ORCHESTRATOR_RUNS_PARALLEL=8")
	r.Ok("budget", "set", "group:night", "--tokens", "100k")
	var names []string
	for n := range 8 {
		names = append(names, runIt(r, fmt.Sprintf("#slow:10s write w%d.txt: it", n), "--no-worktree", "--group", "night"))
	}
	for _, name := range names {
		becomes(r, name, work.Running)
	}
	r.Ok("budget", "set", "group:night", "--tokens", "100")
	for n, name := range names {
		x := becomes(r, name, work.Failed)
		if !strings.Contains(x.Reason, "budget of the group night is used up") || x.Failure.Code != work.CodeOverflow || made(r, fmt.Sprintf("w%d.txt", n)) && n > 0 {
			t.Errorf("%s: %s: %s", name, x.Failure.Code, x.Reason)
		}
	}
	noneLeft(r)
	next := runIt(r, "say waits", "--no-worktree", "--group", "night")
	e2e.Await(t, "it to say why it waits", func() bool { return strings.Contains(show(r, next).Reason, "is used up") })
	r.Ok("budget", "set", "group:night", "--tokens", "10M")
	becomes(r, next, work.Completed)
	r.Ok("exec", "retry", names[3])
	if x := becomes(r, names[3], work.Completed); x.Attempt != 2 || !made(r, "w3.txt") {
		t.Errorf("tried again: %+v", x)
	}
	noneLeft(r)
}

// TestOddUsage: a provider's numbers that no answer can have used are added to nothing; the cost is not known.
func TestOddUsage(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	for _, usage := range []string{"-5", "0", "100000000000"} {
		x := becomes(r, runIt(r, "say x #usage:"+usage, "--no-worktree", "--budget", "$1, 100k tokens"), work.Completed)
		s := r.Status(string(x.Thread))
		for _, u := range []int64{x.Usage.Context(), s.Usage.Context(), x.Usage.Output, s.Usage.Output} {
			if u < 0 || u > 1e6 {
				t.Errorf("%s: the run counts %+v, its thread %+v", usage, x.Usage, s.Usage)
				break
			}
		}
		if known := x.Usage.Unknown == 0; known != (usage == "0") {
			t.Errorf("%s: %d answers of unknown cost", usage, x.Usage.Unknown)
		}
	}
}

// TestFallbacksThatFail: a fallback that fails, too, or cannot be started, is taken once: nothing goes back and forth, the
// run says what became of it, and one that is its own is refused.
func TestFallbacksThatFail(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	fake(r, `read -r p; echo '{"type":"result","is_error":true,"result":"API Error: 401","api_error_status":401}'; exit 1`)
	e2e.Put(t, filepath.Join(r.Home, ".config", "orchestrator", "config.toml"), "[runs.fallback]\nclaude = \"demo\"\n")
	for _, bad := range []string{"demo", "nosuch", "model:"} {
		if res := r.Run("run", "--once", "-d", "-a", "demo", "--fallback", bad, "say x"); res.Code == 0 || !strings.Contains(res.Stderr, "fallback") {
			t.Errorf("%s: exit %d: %s", bad, res.Code, res.Stderr)
		}
	}
	for fallback, executions := range map[string]int{"claude": 2, "codex": 1, "model:demo-2": 1} {
		before := len(list(r))
		name := strings.TrimSpace(r.Ok("run", "--once", "-d", "-a", "demo", "--no-worktree", "--on-fail", "fallback", "--fallback", fallback, "say x #401"))
		x := becomes(r, name, work.Failed)
		e2e.Await(t, "the end of all", func() bool {
			for _, y := range list(r) {
				if !y.State.Final() {
					return false
				}
			}
			return true
		})
		time.Sleep(500 * time.Millisecond) // nothing more is started
		all := list(r)
		if got := len(all) - before; got != executions || x.Reason == "" {
			t.Errorf("%s: %d executions, want %d: %s", fallback, got, executions, x.Reason)
		}
		if all[0].State != work.Failed || all[0].Attempt > 2 {
			t.Errorf("%s: the newest is %+v", fallback, all[0])
		}
	}
	noneLeft(r)
}

// TestTriesOverKills kills the server again and again while a run waits for its next attempt: the attempts are counted over
// all of them.
func TestTriesOverKills(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	r.Env = append(r.Env, "ORCHESTRATOR_RUNS_RETRIES=3")
	name := runIt(r, "say x #500", "--no-worktree", "--lost", "retry")
	killed := 0
	e2e.Await(t, "its end", func() bool {
		x := show(r, name)
		if x.State == work.Queued && x.Retries > 0 && killed < 4 {
			killed++
			_ = syscall.Kill(r.ServerPID(), syscall.SIGKILL) // it may have just ended
			for len(r.Servers()) > 0 {
				time.Sleep(20 * time.Millisecond)
			}
			if y := show(r, name); y.Retries < x.Retries {
				t.Errorf("after %d retries and a kill it has had %d", x.Retries, y.Retries)
			}
		}
		return x.State.Final()
	})
	x := show(r, name)
	if x.State != work.Failed || x.Retries != 2 || x.Attempt != 3 || !strings.Contains(x.Reason, "3 attempts") || killed == 0 {
		t.Errorf("%s after %d kills, %d retries, attempt %d: %s", x.State, killed, x.Retries, x.Attempt, x.Reason)
	}
	noneLeft(r)
}
