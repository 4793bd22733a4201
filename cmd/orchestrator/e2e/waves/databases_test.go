package waves

import (
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"orchestrator/checkpoint/postgres/pgtest"
	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread/plan"
)

// TestStoreAwayInAWave kills the database in the middle of a wave, under programs that end meanwhile. What ended is replayed
// once it is back, and the next wave begins with it: no program is started twice, and nothing is handed over twice.
func TestStoreAwayInAWave(t *testing.T) {
	t.Parallel()
	away := time.Duration(e2e.FromEnv(t, "WAVE_AWAY", 6)) * time.Second
	var own pgtest.Server
	t.Cleanup(func() {
		if err := own.Close(); err != nil {
			t.Error(err)
		}
	})
	r := newRig(t)
	r.KeepIn(own.Database(t, "waves"))
	r.Env = append(r.Env, "ORCHESTRATOR_RUNS_PARALLEL=8")
	p := r.relay()
	r.slow("a", 3*time.Second)
	r.slow("b", 4*time.Second)
	r.slow("c", away+6*time.Second)
	r.Ok("threads")
	task := r.begin(p)
	e2e.Await(t, "the first wave to begin", func() bool { return len(r.notes()) == 3 })
	own.Kill(t, syscall.SIGKILL)
	gone := time.Now()
	if res := r.Run("wave", "run", "--detach", r.file(p), "another"); res.Code == 0 {
		t.Errorf("a task was accepted without the store: %s", res.Stdout)
	}
	time.Sleep(away - time.Since(gone)) // two of them end meanwhile
	if n := r.began("d") + r.began("e"); n > 0 {
		t.Errorf("the second wave began without the store: %v", r.notes())
	}
	own.Start(t)
	v := r.settled(task)
	for _, n := range v.Nodes {
		if began := r.began(n.Agent); began != 1 {
			t.Errorf("%s was started %d times", n.Agent, began)
		}
	}
	if all := r.tasks(); len(all) != 1 {
		t.Errorf("%d tasks: %+v", len(all), all)
	}
	r.NoSecret()
}

// together are two machines with one project in one database.
func together(t *testing.T, word string) (both [2]*rig) {
	t.Helper()
	url := e2e.Database.Database(t, word)
	for i := range both {
		both[i] = newRig(t)
		both[i].KeepIn(url)
		both[i].Env = append(both[i].Env, "ORCHESTRATOR_PROJECT=ours", "ORCHESTRATOR_RUNS_PARALLEL=8", fmt.Sprintf("ORCHESTRATOR_HOST=host%d", i))
		both[i].Ok("threads")
	}
	return both
}

// TestTasksOfTwoServers has two servers of one project on one database: each schedules its own tasks, once, and none of the
// other's, though one of them is killed and starts again.
func TestTasksOfTwoServers(t *testing.T) {
	t.Parallel()
	both := together(t, "waves")
	const each = 3
	var tasks [2][]string
	var all sync.WaitGroup
	for i, r := range both {
		p := r.relay()
		all.Go(func() {
			for range each {
				tasks[i] = append(tasks[i], r.begin(p))
			}
		})
	}
	all.Wait()
	both[0].kill()
	both[0].Ok("threads")
	names := map[string]bool{}
	for i, r := range both {
		begun := 0
		for _, task := range tasks[i] {
			if names[task] {
				t.Errorf("two are called %s", task)
			}
			names[task] = true
			v := r.ends(task, plan.Complete, plan.InProgress)
			_ = v
		}
		for _, task := range tasks[i] {
			n := r.lostAgain(task)
			begun += n
		}
		for _, line := range r.notes() {
			if strings.HasPrefix(line, "begin ") {
				begun--
			}
		}
		if begun < 0 {
			t.Errorf("server %d started %d programs more than its rows have attempts", i, -begun)
		}
	}
}

// lostAgain has the runs of a task that were lost begin again, waits for its end, and returns how many attempts its runs had.
func (r *rig) lostAgain(task string) (attempts int) {
	r.T.Helper()
	for _, x := range r.lost(task) {
		r.Ok("exec", "resume", x.Name)
	}
	r.ends(task, plan.Complete)
	for _, x := range r.executions(task) {
		attempts += max(1, x.Attempt)
	}
	return attempts
}

// TestArmedOnTwoServers has a plan armed on two servers of one project: each pending task is taken once.
func TestArmedOnTwoServers(t *testing.T) {
	t.Parallel()
	both := together(t, "armed")
	const count = 10
	for i, r := range both {
		r.Ok("wave", "arm", r.file(r.chain("standing", fmt.Sprintf("a%d", i))), "--at-once", "2")
	}
	for n := range count {
		both[n%2].Ok("task", "add", "--plan", "standing", fmt.Sprintf("task %d", n))
	}
	e2e.Await(t, "all to be taken and done", func() bool {
		done := 0
		for _, task := range append(both[0].tasks(), both[1].tasks()...) { // each lists its own
			if task.Status == plan.Complete {
				done++
			}
		}
		return done == count
	})
	if n := both[0].began("a0") + both[1].began("a1") + both[0].began("a1") + both[1].began("a0"); n != count {
		t.Errorf("%d programs were started for %d tasks", n, count)
	}
}
