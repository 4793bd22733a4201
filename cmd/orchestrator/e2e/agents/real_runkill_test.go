package agents

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"orchestrator/agent/agenttest/clis"
	"orchestrator/agent/agenttest/model"
	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread"
	"orchestrator/thread/ground/process"
	"orchestrator/thread/work"
)

// TestRealRunsKilled kills the server at any moment while eight runs work, of the demo, the real Claude Code and Gemini
// CLI: after the next start no process is without a row and no row without its process, each execution is over or goes
// on, and what a completed one cost is counted once. KILL_ROUNDS is how often.
func TestRealRunsKilled(t *testing.T) {
	bin := clis.Bin(t)
	var some []clis.CLI
	for _, cli := range clis.All() {
		if cli.Name == "claude" || cli.Name == "gemini" {
			some = append(some, cli)
		}
	}
	r := &realRig{Rig: e2e.NewRig(t), cli: some[0], model: model.New(atWork)}
	t.Cleanup(r.model.Close)
	r.Patience = 3 * e2e.Patience
	r.Env = append(r.Env, "PATH="+bin+":"+pathOf(r.Env), "ORCHESTRATOR_NEW_WORKTREE=shared")
	for _, cli := range some {
		r.setUp(cli)
	}
	rounds := e2e.FromEnv(t, "KILL_ROUNDS", 2)
	seed := uint64(e2e.FromEnv(t, "KILL_SEED", int(time.Now().UnixNano()%1e9)))
	random := rand.New(rand.NewPCG(seed, 1))
	t.Logf("KILL_SEED=%d", seed)
	ends := map[work.State]int{}
	for round := range rounds {
		for n := range 8 {
			word := fmt.Sprintf("run-%d-%d.", round, n)
			switch {
			case n < 4:
				r.Ok("run", "--once", "-d", "-a", "demo", "--no-worktree", []string{"count to 300 ", "write " + word + "txt: x "}[n%2]+word)
			default:
				cli := some[n%2]
				r.Ok("run", "--once", "-d", "-a", cli.Name, "-m", cli.Model, "--permission-mode", cli.Mode, "--no-worktree",
					word+" #bash:echo out-"+strconv.Itoa(n)+" #usage:1000,20,0,7 #say:answer to "+word)
			}
		}
		time.Sleep(time.Duration(random.IntN(3000)) * time.Millisecond) // any moment of their lives
		pid := r.ServerPID()
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		e2e.Await(t, "the server's end", func() bool { _, there := process.Look(pid); return !there })
		r.checkRuns(round, ends)
		if t.Failed() {
			return
		}
	}
	t.Logf("%d rounds, executions by their state at the end: %v", rounds, ends)
}

// checkRuns starts the server again and checks what it makes of the runs of the one before.
func (r *realRig) checkRuns(round int, ends map[work.State]int) {
	r.T.Helper()
	list := func() (all []work.Execution) {
		return e2e.Get[[]work.Execution](r.Rig, "exec", "list", "-n", "8")
	}
	e2e.Await(r.T, "the end of what goes on", func() bool {
		for _, x := range list() {
			if !x.State.Final() {
				return false
			}
		}
		return true
	})
	short := 0
	defer func() { ends["cost not known whole"] += short }()
	for _, x := range list() {
		ends[x.State]++
		switch x.State {
		case work.Completed, work.Lost:
		default:
			r.T.Errorf("round %d: %s is %s: %s", round, x.Name, x.State, x.Reason)
		}
		if x.Agent == "demo" || x.State != work.Completed || x.Attempt != 1 {
			continue
		}
		var sent thread.Usage
		word := fmt.Sprintf("run-%d-", round)
		for _, q := range r.model.Main() {
			if strings.Contains(q.Turn.Prompt, word) && strings.Contains(x.Answer, strings.Fields(q.Turn.Prompt)[0]) {
				u := q.Reply.Usage
				sent = sent.Add(thread.Usage{Input: u.Input, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite, Output: u.Output})
			}
		}
		switch {
		case x.Usage.Context() == sent.Context():
		case x.Usage.Context() < sent.Context(): // an answer came as the server was killed: its text is in the agent's files, its price is not
			short++
		default:
			r.T.Errorf("round %d: %s cost %+v, the model sent %+v", round, x.Name, x.Usage, sent)
		}
	}
	for _, s := range r.list() {
		if s.Execution != nil {
			r.T.Errorf("round %d: %s still has the process %d", round, s.Name, s.Execution.PID)
		}
	}
	home := "HOME=" + r.Home
	for _, p := range process.All() {
		if p.PID != r.ServerPID() && process.Marked(p.PID, func(kv string) bool { return kv == home }) &&
			process.Marked(p.PID, func(kv string) bool { return strings.HasPrefix(kv, "ORCHESTRATOR_THREAD=") }) {
			r.T.Errorf("round %d: process %d (%s) has no row", round, p.PID, p.Name)
		}
	}
}

// list returns the threads.
func (r *realRig) list() []thread.Status { return e2e.Get[[]thread.Status](r.Rig, "threads") }

// pathOf returns the PATH of an environment.
func pathOf(env []string) (path string) {
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, "PATH="); ok {
			path = v
		}
	}
	return path
}
