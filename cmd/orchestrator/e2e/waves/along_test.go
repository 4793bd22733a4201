package waves

import (
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread"
	"orchestrator/thread/plan"
)

// TestTasksTakenAlong backs up a project whose plan has worked, loses the state and restores it: the task, what was handed
// over and what waits are there as they were, byte for byte, and a second time changes nothing.
func TestTasksTakenAlong(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	p := plan.Plan{Name: "two", Agents: []plan.Agent{r.program(plan.Agent{Name: "first"}, `{ "b": 1.50, "a": "<&>" }`),
		r.program(plan.Agent{Name: "second", Reads: []string{"first"}}, `{"done": true}`)}}
	task := strings.TrimSpace(r.Ok("wave", "run", "--yes", r.file(p), "takes two"))
	task = strings.Fields(task)[0]
	r.Ok("task", "add", "waits")
	handed := func() (out []string) {
		t.Helper()
		for _, h := range e2e.Get[[]plan.HandOver](r.Rig, "deliverable", "list", "task-001") {
			out = append(out, h.ID+" "+h.Agent+" "+h.Data)
		}
		return out
	}
	before := handed()
	if len(before) != 2 {
		t.Fatalf("%s: %v", task, before)
	}
	file := filepath.Join(t.TempDir(), "whole")
	wrote := e2e.Get[thread.BackupReport](r.Rig, "backup", "--with-secrets", file)
	if wrote.Tasks != 2 || len(wrote.Notes) > 0 {
		t.Errorf("%+v", wrote)
	}
	r.Ok("stop", "--force")
	r.LoseState()
	for _, tasks := range []int{2, 0} {
		if back := e2e.Get[thread.BackupReport](r.Rig, "restore-backup", file); back.Tasks != tasks {
			t.Errorf("%+v", back)
		}
	}
	if after := handed(); strings.Join(after, "\n") != strings.Join(before, "\n") {
		t.Errorf("%v, was %v", after, before)
	}
	list := e2e.Get[[]plan.Task](r.Rig, "task", "list", "--all")
	if len(list) != 2 || list[0].Status != plan.Pending || list[1].Status != plan.Complete {
		t.Errorf("%+v", list)
	}
}
