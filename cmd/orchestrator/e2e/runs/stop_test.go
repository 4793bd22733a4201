package runs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread"
	"orchestrator/thread/work"
)

// TestStopWithEight stops and restarts the server while eight runs work and two wait: no process is left when the verb
// returns, what worked is lost and does what its policy says, what waited goes on, and nothing is paid for twice.
func TestStopWithEight(t *testing.T) {
	for _, verb := range []string{"stop", "restart", "stop --force"} {
		t.Run(verb, func(t *testing.T) {
			t.Parallel()
			r := e2e.NewRig(t)
			r.Env = append(r.Env, "ORCHESTRATOR_RUNS_PARALLEL=8")
			policies := []work.Policy{work.PolicyAsk, work.PolicyRetry, work.PolicyResume, work.PolicyFail}
			var names []string
			for n := range 10 {
				names = append(names, runIt(r, "say hello", "--lost", string(policies[n%4]), "--no-worktree"))
			}
			for n, first := range names {
				becomes(r, first, work.Completed) // it has a session to resume
				names[n] = strings.TrimSpace(r.Ok("exec", "send", "-d", first, fmt.Sprintf("#slow:12s write n%d.txt: it is %d", n, n)))
			}
			for _, name := range names[:8] {
				becomes(r, name, work.Running)
			}
			e2e.Await(t, "eight processes", func() bool { return len(processes(r)) == 8 })
			for _, name := range names[8:] {
				if x := show(r, name); x.State != work.Queued {
					t.Errorf("%s is %s", name, x.State)
				}
			}
			old := r.ServerPID()
			begin := time.Now()
			r.Ok(strings.Fields(verb)...)
			t.Logf("%s took %v", verb, time.Since(begin).Round(time.Millisecond))
			for _, pid := range r.Servers() {
				if pid == old {
					t.Errorf("the server %d is left", old)
				}
			}
			if verb != "restart" { // the next one has started some again
				nothingLeft(r)
			}
			for n, name := range names {
				x := ends(r, name)
				want, attempt := work.Completed, 2
				switch {
				case n >= 8:
					attempt = 1
				case x.Lost == work.PolicyAsk:
					want, attempt = work.Lost, 1
				case x.Lost == work.PolicyFail:
					want, attempt = work.Failed, 1
				}
				if x.State != want || x.Attempt != attempt {
					t.Errorf("%s (%s): %s in attempt %d: %s; want %s in %d", name, x.Lost, x.State, x.Attempt, x.Reason, want, attempt)
				}
				_, err := os.Stat(filepath.Join(r.Project, fmt.Sprintf("n%d.txt", n)))
				if done := err == nil; done != (want == work.Completed) && x.Lost != work.PolicyResume { // told to go on, the demo only says so
					t.Errorf("%s: its file: %v", name, err)
				}
				if s := r.Status(string(x.Thread)); x.Usage.Output > s.Usage.Output || s.Interrupted {
					t.Errorf("%s counted %d tokens, its thread %d, interrupted %v", name, x.Usage.Output, s.Usage.Output, s.Interrupted)
				}
			}
			e2e.Await(t, "all processes to end", func() bool { return len(processes(r)) == 0 })
		})
	}
}

// TestStopWhileItStarts stops the server again and again while runs are submitted: each that was accepted has an end.
func TestStopWhileItStarts(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	r.Ok("threads")
	accepted, failed := map[string]bool{}, map[string]int{}
	var mu sync.Mutex // guards failed
	for round := range 4 {
		var all sync.WaitGroup
		said := make([]string, 5)
		for n := range said {
			all.Go(func() {
				res := r.Run("run", "--once", "-d", "-a", "demo", "--no-worktree", "--lost", "retry", fmt.Sprintf("say it is %d %d", round, n))
				if said[n] = strings.TrimSpace(res.Stdout); res.Code != 0 {
					said[n] = ""
					mu.Lock()
					defer mu.Unlock()
					failed[res.Stderr]++
				}
			})
		}
		time.Sleep(time.Duration(40+60*round) * time.Millisecond) // the point is that it comes at any time
		r.Ok("stop")
		all.Wait()
		for _, name := range said {
			if name != "" {
				if accepted[name] {
					t.Errorf("two are called %s", name)
				}
				accepted[name] = true
			}
		}
	}
	accepted[runIt(r, "say it is the last", "--no-worktree")] = true // on a busy machine the stops came first
	for name := range accepted {
		if x := ends(r, name); x.State != work.Completed && (x.State != work.Lost || x.Attempt < 2) {
			t.Errorf("%s: %s in attempt %d: %s", name, x.State, x.Attempt, x.Reason)
		}
	}
	for _, x := range list(r) {
		if x = ends(r, x.Name); !accepted[x.Name] && x.State == work.Completed {
			t.Logf("%s completed, though its verb was not told: %v", x.Name, failed)
		}
	}
	noneLeft(r)
}

// TestVanishedFolders: a folder or a worktree that is gone between two runs is said, or brought back; nothing else is made
// in its place, and no run hangs.
func TestVanishedFolders(t *testing.T) {
	t.Parallel()
	t.Run("worktree", func(t *testing.T) {
		t.Parallel()
		r := e2e.NewRig(t)
		x := becomes(r, runIt(r, "write one.txt: first", "-w"), work.Completed)
		s := r.Status(string(x.Thread))
		if err := os.RemoveAll(s.Dir); err != nil {
			t.Fatal(err)
		}
		next := ends(r, strings.TrimSpace(r.Ok("exec", "send", "-d", x.Name, "write two.txt: second")))
		t.Logf("the worktree: %s: %s", next.State, next.Reason)
		if next.State == work.Completed {
			for _, file := range []string{"one.txt", "two.txt"} {
				if _, err := os.Stat(filepath.Join(s.Dir, file)); err != nil {
					t.Errorf("brought back without %s: %v", file, err)
				}
			}
		} else if !strings.Contains(next.Reason, filepath.Base(s.Dir)) {
			t.Errorf("%s: %s", next.State, next.Reason)
		}
		if _, err := os.Stat(filepath.Join(r.Project, "two.txt")); err == nil {
			t.Error("it worked in the person's folder")
		}
		noneLeft(r)
	})
	t.Run("while it works", func(t *testing.T) {
		t.Parallel()
		r := e2e.NewRig(t)
		name := runIt(r, "#slow:3s write one.txt: first", "-w")
		dir := folderOf(r, name)
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		x := ends(r, name)
		t.Logf("while it works: %s: %s", x.State, x.Reason)
		next := ends(r, strings.TrimSpace(r.Ok("exec", "send", "-d", name, "say hello")))
		t.Logf("its next: %s: %s", next.State, next.Reason)
		noneLeft(r)
	})
	t.Run("folder", func(t *testing.T) {
		t.Parallel()
		r := e2e.NewRig(t)
		dir := filepath.Join(r.Project, "part")
		r.Write("part/a.txt", "a\n")
		x := becomes(r, runIt(r, "say hello", "--no-worktree", "--dir", dir), work.Completed)
		s := r.Status(string(x.Thread))
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		res := r.Run("exec", "send", "-d", x.Name, "say more")
		t.Logf("a folder that is gone: exit %d: %s%s", res.Code, res.Stdout, res.Stderr)
		if res.Code == 0 {
			next := ends(r, strings.TrimSpace(res.Stdout))
			t.Logf("%s: %s", next.State, next.Reason)
			if s.Dir == dir && (next.State != work.Failed || !strings.Contains(next.Reason, "part")) {
				t.Errorf("%s: %s", next.State, next.Reason)
			}
		}
		noneLeft(r)
	})
	t.Run("worktree of one that waits", func(t *testing.T) {
		t.Parallel()
		r := e2e.NewRig(t)
		r.Ok("threads")
		r.Ok("queue", "pause")
		name := runIt(r, "write one.txt: first", "-w")
		s := r.Status(string(show(r, name).Thread))
		if err := os.RemoveAll(s.Dir); err != nil {
			t.Fatal(err)
		}
		r.Ok("queue", "resume")
		x := ends(r, name)
		t.Logf("%s: %s", x.State, x.Reason)
		if x.State != work.Completed && !strings.Contains(x.Reason, filepath.Base(s.Dir)) {
			t.Errorf("%s: %s", x.State, x.Reason)
		}
		noneLeft(r)
	})
}

// TestAtTheEnd: whatever comes at the moment when a run ends (cancel, twice; a person who opens its terminal, sends, stops,
// archives it), it has one end, its thread one process or none, and nothing hangs.
func TestAtTheEnd(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	r.Env = append(r.Env, "ORCHESTRATOR_RUNS_PARALLEL=2")
	rounds := e2e.FromEnv(t, "RUN_RACES", 12)
	counts := map[string]int{}
	for round := range rounds {
		name := runIt(r, "#slow:500ms say hello", "--no-worktree")
		x := becomes(r, name, work.Running, work.Completed)
		at := nameOf(r, x)
		var all sync.WaitGroup
		var send string
		for n, args := range [][]string{
			{"exec", "cancel", name}, {"exec", "cancel", name}, {"resume", at}, {"send", "-d", at, "say more"}, {"stop", at},
		} {
			if round%3 == 1 && n < 2 || round%3 == 2 && n == 4 {
				continue
			}
			all.Go(func() {
				time.Sleep(time.Duration(200+40*round+15*n) * time.Millisecond) // the point is that it comes around the end
				res := r.Run(args...)
				if strings.Contains(res.Stderr, "panic") {
					t.Errorf("%v: %s", args, res.Stderr)
				}
				if args[0] == "send" && res.Code == 0 {
					send = res.Stdout
				}
			})
		}
		all.Wait()
		x = ends(r, name)
		counts[string(x.State)]++
		e2e.Await(t, "its thread to be at rest", func() bool {
			s := r.Status(at)
			if open := working(r, s.ID); open == nil && s.Execution != nil || open != nil && strings.Contains(open.Reason, "terminal") {
				counts["opened"]++
				r.Run("stop", at) // it was opened in a terminal, for which what waits has to wait; it may have just ended
			}
			return s.Execution == nil && s.Queued == 0 && working(r, s.ID) == nil
		})
		var left thread.Prompt
		over := func() bool {
			for _, p := range e2e.Get[[]thread.Prompt](r, "prompts", at) {
				if !p.State.Over() {
					left = p
					return false
				}
			}
			return true
		}
		for begin := time.Now(); !over(); time.Sleep(50 * time.Millisecond) {
			if time.Since(begin) > 20*time.Second {
				t.Fatalf("round %d: a prompt of %s is %s: %s (sent: %s)", round, at, left.State, left.Reason, send)
			}
		}
	}
	t.Logf("%v", counts)
	noneLeft(r)
}

// working returns the newest execution of a thread that is open, nil if there is none.
func working(r *e2e.Rig, id thread.ID) *work.Execution {
	r.T.Helper()
	for _, x := range list(r) {
		if x.Thread == id && !x.State.Final() {
			return &x
		}
	}
	return nil
}
