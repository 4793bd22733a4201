package runs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread"
	"orchestrator/thread/work"
)

// asking submits a run of the demo agent that asks before it does something, and returns its name and its thread's.
func asking(r *e2e.Rig, prompt string, flags ...string) (name, at string) {
	r.T.Helper()
	args := append([]string{"run", "--once", "-d", "-a", "demo", "--no-worktree", "--asks", "wait"}, flags...)
	name = strings.TrimSpace(r.Ok(append(args, prompt)...))
	return name, nameOf(r, show(r, name))
}

// question waits for the question of a thread's run, another one than that before.
func question(r *e2e.Rig, at, before string) (q *thread.Question) {
	r.T.Helper()
	e2e.Await(r.T, "a question of "+at, func() bool {
		q = r.Status(at).State.Question
		return q != nil && q.ID != before
	})
	return q
}

// made reports whether a file is in the project.
func made(r *e2e.Rig, name string) bool {
	_, err := os.Stat(filepath.Join(r.Project, name))
	return err == nil
}

// TestAskedByTwoClients: of two clients that answer one question at once, one wins, and what it says is what happens; an
// answer to a question that was answered is refused.
func TestAskedByTwoClients(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	rounds, won := e2e.FromEnv(t, "ASK_ROUNDS", 8), map[string]int{}
	for n := range rounds {
		file := fmt.Sprintf("two%d", n)
		name, at := asking(r, "run touch "+file)
		q := question(r, at, "")
		var all sync.WaitGroup
		verbs := []string{"approve", "deny", "approve", "deny"}
		res := make([]e2e.Result, len(verbs))
		for i, verb := range verbs {
			all.Go(func() { res[i] = r.Run(verb, at, "--question", q.ID) })
		}
		all.Wait()
		said := ""
		for i, got := range res {
			switch {
			case got.Code == 0 && said == "":
				said = verbs[i]
			case got.Code == 0:
				t.Errorf("%s and %s were both taken", said, verbs[i])
			case got.Code != exitcode.Refused || got.Stderr == "":
				t.Errorf("%s, too late: exit %d: %s", verbs[i], got.Code, got.Stderr)
			}
		}
		becomes(r, name, work.Completed)
		if said == "" || made(r, file) != (said == "approve") {
			t.Errorf("%q was taken, the file is made: %v", said, made(r, file))
		}
		won[said]++
		if again := r.Run("approve", at, "--question", q.ID); again.Code == 0 {
			t.Error("answered again after the end")
		}
	}
	t.Log(won)
	noneLeft(r)
}

// TestAskedAndCancelled: an answer that comes with, or after, a cancellation, a stop, a kill or an archival does nothing
// that nobody is told of; the run has one end, and its question is gone.
func TestAskedAndCancelled(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	for n := range e2e.FromEnv(t, "ASK_ROUNDS", 8) {
		file := fmt.Sprintf("cut%d", n)
		name, at := asking(r, "run touch "+file)
		q := question(r, at, "")
		var all sync.WaitGroup
		var answered, cancelled e2e.Result
		all.Go(func() { answered = r.Run("approve", at, "--question", q.ID) })
		all.Go(func() {
			time.Sleep(time.Duration(n*7) * time.Millisecond) // the point is that it comes at any time
			cancelled = r.Run("exec", "cancel", name)
		})
		all.Wait()
		x := ends(r, name)
		switch {
		case cancelled.Code == 0 && x.State != work.Cancelled, cancelled.Code != 0 && x.State != work.Completed:
			t.Errorf("cancel: exit %d: %s; it is %s", cancelled.Code, cancelled.Stderr, x.State)
		case answered.Code != 0 && made(r, file):
			t.Errorf("not approved (%s), and it was done", answered.Stderr)
		}
		s := r.Status(at)
		if s.State.Question != nil {
			t.Errorf("it still asks %+v", s.State.Question)
		}
		if late := r.Run("approve", at, "--yes"); late.Code == 0 {
			t.Error("approved after its end")
		}
	}
	noneLeft(r)

	name, at := asking(r, "run touch stopped")
	q := question(r, at, "")
	r.Ok("stop")
	noneLeft(r)
	x := becomes(r, name, work.Lost)
	if s := r.Status(at); s.State.Question != nil {
		t.Errorf("after a stop it asks %+v: %s", s.State.Question, x.Reason)
	}
	if late := r.Run("approve", at, "--question", q.ID); late.Code == 0 || made(r, "stopped") {
		t.Error("a question outlived its server")
	}
	r.Ok("exec", "resume", name) // in its session, where the demo only says so
	if becomes(r, name, work.Completed); made(r, "stopped") {
		t.Error("it was done without an answer")
	}

	name, at = asking(r, "run touch killed", "--lost", "retry")
	q = question(r, at, "")
	if err := syscall.Kill(r.ServerPID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	e2e.Await(t, "the server to be gone", func() bool { return len(r.Servers()) == 0 })
	old := q.ID
	if q = question(r, at, ""); q.ID == old || made(r, "killed") {
		t.Errorf("it asks %s, before %s; done: %v", q.ID, old, made(r, "killed"))
	}
	if late := r.Run("approve", at, "--question", old); late.Code == 0 {
		t.Error("the answer to the old question was taken for the new one")
	}
	r.Ok("deny", at, "--question", q.ID)
	if x := becomes(r, name, work.Completed); x.Attempt != 2 || made(r, "killed") {
		t.Errorf("%+v", x)
	}
	noneLeft(r)

	_, at = asking(r, "run touch archived")
	question(r, at, "")
	if res := r.Run("archive", at); res.Code != 0 {
		t.Logf("archive while it asks: exit %d: %s", res.Code, res.Stderr)
		r.Ok("stop", at)
	}
	e2e.Await(t, "its end", func() bool { return working(r, r.Status(at).ID) == nil })
	if late := r.Run("approve", at, "--yes"); late.Code == 0 || made(r, "archived") {
		t.Error("approved after it was archived")
	}
	noneLeft(r)
}

// TestAskedAndChanged: a question that its agent takes back or changes is not answered by what was meant for it as it was.
func TestAskedAndChanged(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	name, at := asking(r, "run touch gone #withdraw:1s")
	q := question(r, at, "")
	x := becomes(r, name, work.Completed)
	if late := r.Run("approve", at, "--question", q.ID); late.Code == 0 || made(r, "gone") {
		t.Errorf("approved after it was taken back: %s", x.Reason)
	}
	name, at = asking(r, "run touch new #change:1s")
	q = question(r, at, "")
	next := question(r, at, q.ID)
	if late := r.Run("approve", at, "--question", q.ID); late.Code != exitcode.Refused {
		t.Errorf("the question as it was: exit %d: %s", late.Code, late.Stderr)
	}
	r.Ok("approve", at, "--question", next.ID)
	becomes(r, name, work.Completed)
	if made(r, "new") || !made(r, "new-changed") {
		t.Errorf("done: the first %v, the second %v", made(r, "new"), made(r, "new-changed"))
	}
	for n := range e2e.FromEnv(t, "ASK_ROUNDS", 8) { // the answer and the change cross
		file := fmt.Sprintf("cross%d", n)
		name, at := asking(r, fmt.Sprintf("run touch %s #change:600ms", file))
		q := question(r, at, "")
		time.Sleep(time.Duration(n*40) * time.Millisecond) // the point is that it comes at any time
		got := r.Run("approve", at, "--question", q.ID)
		e2e.Await(t, "its end", func() bool {
			if now := r.Status(at).State.Question; now != nil && now.ID != q.ID {
				r.Run("deny", at, "--question", now.ID)
			}
			return show(r, name).State.Final()
		})
		becomes(r, name, work.Completed)
		if made(r, file+"-changed") {
			t.Errorf("round %d: what was denied was done", n)
		}
		if got.Code != 0 && made(r, file) {
			t.Errorf("round %d: refused (%s), and it was done", n, got.Stderr)
		}
	}
	noneLeft(r)
}

// TestAsksAHundredTimes: a run that asks again and again is answered each time, or ended; its deadline stands still
// meanwhile, and other runs work in its place.
func TestAsksAHundredTimes(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	r.Env = append(r.Env, "ORCHESTRATOR_RUNS_PARALLEL=1")
	name, at := asking(r, "run touch many #times:100", "--calls", "none", "--deadline", "20s")
	question(r, at, "")
	time.Sleep(2 * time.Second) // as a person who reads
	becomes(r, runIt(r, "say hello", "--no-worktree"), work.Completed)
	before, asked := "", 0
	begin := time.Now()
	for {
		x := show(r, name)
		if x.State.Final() {
			break
		}
		q := r.Status(at).State.Question
		if q == nil || q.ID == before {
			time.Sleep(10 * time.Millisecond)
			if time.Since(begin) > 3*e2e.Patience {
				t.Fatalf("after %d answers it is %s: %s", asked, x.State, x.Reason)
			}
			continue
		}
		before = q.ID
		asked++
		if asked == 10 {
			time.Sleep(5 * time.Second)
		}
		r.Ok("approve", at, "--question", q.ID)
	}
	if x := becomes(r, name, work.Completed, work.Failed); asked != 100 || x.State != work.Completed {
		t.Errorf("asked %d times, %s: %s", asked, x.State, x.Reason)
	}
	name, at = asking(r, "run touch all #times:50 #together", "--calls", "none")
	question(r, at, "")
	r.Ok("exec", "cancel", name)
	becomes(r, name, work.Cancelled)
	if made(r, "all") {
		t.Error("it was done without an answer")
	}
	noneLeft(r)
}
