package worktest

import (
	"fmt"
	"testing"

	"orchestrator/thread"
	"orchestrator/thread/work"
)

// testParts lists the executions of a plan's task, of an agent of it, and of a round.
func testParts(_ *testing.T, f *fixture) {
	parts := []thread.Part{{Task: "task-001", Agent: "a", Round: 1}, {Task: "task-001", Agent: "a", Round: 2}, {Task: "task-001", Agent: "b", Round: 1},
		{Task: "task-002", Agent: "a", Round: 1}, {}}
	for i, p := range parts {
		x := fresh(thread.ID(fmt.Sprintf("t%d", i)))
		x.Part = p
		_, err := f.store.Add(f.ctx, x)
		f.ok(err)
	}
	f.reopen()
	for _, c := range []struct {
		asked thread.Part
		want  []string
	}{
		{thread.Part{Task: "task-001"}, []string{"exec-003", "exec-002", "exec-001"}}, {thread.Part{Task: "task-001", Agent: "a"}, []string{"exec-002", "exec-001"}},
		{parts[1], []string{"exec-002"}}, {thread.Part{Task: "task-009"}, []string{}}, {thread.Part{}, []string{"exec-005", "exec-004", "exec-003", "exec-002", "exec-001"}},
	} {
		f.equal(f.recorded(work.RecordQuery{Part: c.asked}), c.want)
	}
	first, err := f.store.Execution(f.ctx, "exec-001")
	f.ok(err)
	_, err = f.store.Supersede(f.ctx, first.ID, func(x *work.Execution) error { x.State = work.Cancelled; return nil })
	f.ok(err)
	_, err = f.store.Purge(f.ctx, []thread.ID{"t0"})
	f.ok(err)
	f.equal(f.recorded(work.RecordQuery{Part: thread.Part{Task: "task-001", Agent: "a"}}), []string{"exec-002"})
}
