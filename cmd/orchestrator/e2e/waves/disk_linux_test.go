package waves

import (
	"testing"
	"time"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread/plan"
)

// TestFullDiskInAWave fills the disk at any moment of a task. Nothing of it begins that is not stored; once there is room it
// goes on by itself, and each agent has handed over once.
func TestFullDiskInAWave(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.Env = append(r.Env, "ORCHESTRATOR_RUNS_PARALLEL=8", "ORCHESTRATOR_RUNS_LOST=retry")
	disk := r.StateDisk(0)
	r.Ok("threads")
	for n := range e2e.FromEnv(t, "FULL_ROUNDS", 3) {
		p := r.relay()
		for _, a := range p.Agents {
			r.slow(a.Name, 400*time.Millisecond)
		}
		r.forget()
		task := r.begin(p)
		time.Sleep(time.Duration(n) * 250 * time.Millisecond) // the point is that it comes between any two rows
		free := r.Cram(disk)
		time.Sleep(1500 * time.Millisecond) // it would have gone on
		began := len(r.notes())
		for _, x := range r.executions(task) {
			if x.Attempt == 0 && r.began(x.Part.Agent) > 0 {
				t.Errorf("%s was started, and no row says so", x.Part.Agent)
			}
		}
		free()
		v := r.settled(task)
		t.Logf("round %d: %d notes while the disk was full; %s", n, began, v.Task.Status)
		if v.Task.Status != plan.Complete {
			t.Errorf("%s", r.said(v))
		}
	}
}
