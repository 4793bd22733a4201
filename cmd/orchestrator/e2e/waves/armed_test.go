package waves

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread/plan"
	"orchestrator/thread/wave"
)

// counting is a program that notes the mark of its task's title when it begins and when it ends, each in one write.
const counting = `mark=$(sed -n 's/.*mark-\([0-9]*\)-.*/\1/p' | head -n 1)
echo "begin $mark $$" >>"$1/notes"
sleep "$2"
echo '{"ok": true}'
echo "end $mark $$" >>"$1/notes"
`

// armedRig is a project whose armed plan takes tasks by the hundred.
type armedRig struct {
	*rig
	added int
}

func newArmed(t *testing.T, atOnce int, takes time.Duration) *armedRig {
	t.Helper()
	r := &armedRig{rig: newBare(t)}
	r.put("count.sh", counting)
	p := plan.Plan{Name: "standing", Agents: []plan.Agent{{
		Name: "works", Agent: "command", Writes: []string{"**"}, Prompt: "{{task.title}}",
		Program: []string{"/bin/sh", filepath.Join(r.out, "count.sh"), r.out, fmt.Sprintf("%.2f", takes.Seconds())},
	}}}
	r.Ok("wave", "arm", r.file(p), "--at-once", strconv.Itoa(atOnce), "--yes")
	return r
}

// add adds the next task.
func (r *armedRig) add() {
	r.T.Helper()
	r.added++
	r.Ok("task", "add", "--plan", "standing", fmt.Sprintf("mark-%d-", r.added))
}

// atWork are the marks of what has begun and not ended, by the notes.
func (r *armedRig) atWork() map[string]bool {
	now := map[string]bool{}
	for _, line := range r.notes() {
		word, mark, _ := strings.Cut(line, " ")
		if word == "begin" {
			now[mark] = true
		} else {
			delete(now, mark)
		}
	}
	return now
}

// agree has what was lost with a server begin again, as a person does.
func (r *armedRig) agree() {
	r.T.Helper()
	for _, t := range e2e.Get[[]plan.Task](r.Rig, "task", "list", "--status", "in_progress", "-n", "500") {
		for _, open := range r.Task(t.Name).Open {
			r.Run("wave", "answer", t.Name, open, "--yes") // it may have gone on by itself
		}
	}
}

// done waits until all tasks are complete.
func (r *armedRig) done() {
	r.T.Helper()
	e2e.Await(r.T, fmt.Sprintf("%d tasks to be complete", r.added), func() bool {
		r.agree()
		all := e2e.Get[[]plan.Task](r.Rig, "task", "list", "--status", "complete", "-n", "900")
		return len(all) == r.added
	})
}

// TestArmedPlanTakesEachTaskOnce has an armed plan work through tasks as they come, over two restarts and a kill -9. The
// figures are those of 100 tasks a day, faster: ARMED_SECONDS of them (600 for ten minutes), ARMED_SPEED times as fast.
func TestArmedPlanTakesEachTaskOnce(t *testing.T) {
	e2e.ManyStarts(t)
	t.Parallel()
	seconds, speed := e2e.FromEnv(t, "ARMED_SECONDS", 8), e2e.FromEnv(t, "ARMED_SPEED", 1000)
	every := 24 * time.Hour / 100 / time.Duration(speed)
	long := time.Duration(seconds) * time.Second
	r := newArmed(t, 3, min(every, 2*time.Second))
	interrupted := map[string]bool{} // marks of what was at work when a server ended
	var memory, files []int
	begin, next := time.Now(), 0
	for time.Since(begin) < long {
		r.add()
		switch at := time.Since(begin); {
		case next == 0 && at > long/4, next == 2 && at > 3*long/4:
			next++
			before := r.atWork()
			r.Ok("restart")
			r.meanwhile(interrupted, before)
		case next == 1 && at > long/2:
			next++
			before := r.atWork()
			for _, pid := range r.Servers() {
				if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
					t.Fatal(err)
				}
			}
			r.meanwhile(interrupted, before)
			r.Ok("threads")
		}
		r.agree()
		if pids := r.Servers(); len(pids) == 1 && time.Since(begin) > long/8 {
			memory = append(memory, e2e.ProcessOf(t, pids[0], "status", "VmRSS"))
			open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pids[0]))
			if err == nil {
				files = append(files, len(open))
			}
		}
		time.Sleep(time.Until(begin.Add(time.Duration(r.added) * every)))
	}
	r.done()
	if next != 3 {
		t.Errorf("the server ended %d times only", next)
	}
	r.once(interrupted)
	list := e2e.Get[[]wave.StandingPlan](r.Rig, "wave", "armed")
	if len(list) != 1 || !list[0].On || list[0].Pending != 0 || list[0].Paused != "" {
		t.Errorf("it stands as %+v", list)
	}
	t.Logf("%d tasks in %v, at work when a server ended: %d; memory of the server %v KB; open files %v", r.added, time.Since(begin).Round(time.Second),
		len(interrupted), some(memory), some(files))
	if n := len(memory); n > 20 && memory[n-1] > 2*memory[n/2]+20_000 {
		t.Errorf("its memory grows: %v KB", some(memory))
	}
	if n := len(files); n > 20 && files[n-1] > files[n/2]+20 {
		t.Errorf("its open files grow: %v", some(files))
	}
}

// meanwhile notes what was at work when a server ended, and what began just before.
func (r *armedRig) meanwhile(interrupted, before map[string]bool) {
	for _, now := range []map[string]bool{before, r.atWork()} {
		for mark := range now {
			interrupted[mark] = true
		}
	}
}

// once holds the programs' notes against what was added: each task has ended once, and has begun once unless it was at
// work when a server ended.
func (r *armedRig) once(interrupted map[string]bool) {
	r.T.Helper()
	began, ended := map[string]int{}, map[string]int{}
	for _, line := range r.notes() {
		word, mark, _ := strings.Cut(line, " ")
		if word == "begin" {
			began[mark]++
		} else {
			ended[mark]++
		}
	}
	for i := 1; i <= r.added; i++ {
		mark := strconv.Itoa(i)
		if ended[mark] != 1 && !interrupted[mark] || began[mark] != 1 && !interrupted[mark] || ended[mark] == 0 || began[mark] > 4 {
			r.T.Errorf("task %d has begun %d times and ended %d times; at work when a server ended: %v", i, began[mark], ended[mark], interrupted[mark])
		}
	}
	if len(began) != r.added {
		r.T.Errorf("%d tasks were added, %d have begun", r.added, len(began))
	}
}

// some are a few of many figures, the last one too.
func some(all []int) (few []int) {
	for i, n := range all {
		if i%max(1, len(all)/8) == 0 || i == len(all)-1 {
			few = append(few, n)
		}
	}
	return few
}
