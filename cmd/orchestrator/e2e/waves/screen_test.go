package waves

import (
	"strings"
	"testing"
	"time"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread/plan"
)

// gated is a plan whose second wave waits for a person.
func (r *rig) gated(name string) plan.Plan {
	return plan.Plan{Name: name, Agents: []plan.Agent{
		r.program(plan.Agent{Name: name + "-a", Wave: 1}, `{"n": 1}`), r.program(plan.Agent{Name: name + "-b", Wave: 2}, `{"n": 2}`),
	}, Gates: []plan.Gate{{Name: "look", After: 1, Text: "Is what " + name + " found right?"}}}
}

// TestScreenAnswersGates: what a task asks is answered in the list of threads, in the inbox and in the graph of the real screen;
// what was answered by a verb meanwhile is gone from it; the graph follows to the end.
func TestScreenAnswersGates(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	one := r.begin(r.gated("one"))
	r.is(one, "look", plan.NodeAsking)
	s := r.Open(120, 36)
	s.See("NEEDS YOU", one+"/look", "Is what one found right?")
	s.Press("w")
	s.See("graph of the task")
	time.Sleep(time.Second) // it was looked at
	s.Press("a")
	r.ends(one, plan.Complete)

	two := r.begin(r.gated("two"))
	s.See("1 needs you", two+"/look")
	s.Press("I")
	s.See("task asks", "Is what two found right?")
	time.Sleep(time.Second)
	s.Press("x")
	if v := r.ends(two, plan.Failed, plan.Complete); nodeOf(t, v, "look").State != plan.NodeFailed {
		t.Errorf("the gate that was denied is %+v", nodeOf(t, v, "look"))
	}
	s.Press("\x1b")

	three := r.begin(r.gated("three"))
	s.See("1 needs you", three+"/look")
	r.slow("three-b", 2*time.Second)
	s.Press("W")
	s.See("tasks of plans: 3 tasks", three)
	s.Press("\x1b[H\r")
	s.See("wave 2", "longest chain", "Is what three found right?")
	r.Ok("wave", "answer", three, "look", "--yes")
	s.See("◐ three-b")
	s.See("complete  2/2")
	s.Press("\x1b")
	s.See("tasks of plans")
	s.Press("\x1bq")
	s.Press("q")
}

// TestWatch: on a terminal a task is drawn in place until it ends, also while it asks and while the terminal is resized;
// ctrl-c leaves it at work; where the output is no terminal, each change is a line.
func TestWatch(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	task := r.begin(r.gated("seen"))
	r.is(task, "look", plan.NodeAsking)
	if res := r.Run("wave", "watch", task); res.Code != exitcode.Refused || !strings.Contains(res.Stdout, "seen-a") || strings.Contains(res.Stdout, "\x1b") {
		t.Errorf("piped: code %d, %q", res.Code, res.Stdout)
	}
	left := r.Open(100, 30, "wave", "watch", task)
	left.See("wave 1", "look?", "wave answer "+task+" look --yes|--no")
	left.Press("\x03")
	left.End()
	if v := r.Task(task); v.Task.Status != plan.InProgress {
		t.Errorf("after ctrl-c it is %s", v.Task.Status)
	}
	s := r.Open(120, 36, "wave", "watch", task)
	s.See("wave 1", "wave 2", "Is what seen found right?")
	r.Ok("wave", "answer", task, "look", "--yes")
	s.See("complete  2/2", task+" is complete")
	if code := s.End(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if got := strings.Count(s.Text(), "wave 1"); got != 1 {
		t.Errorf("it was drawn %d times, not in place:\n%s", got, s.Text())
	}
	e2e.Await(t, "nothing of it to be asked any more", func() bool { return !strings.Contains(r.Ok("inbox"), task) })
}
