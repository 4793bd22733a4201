package troubles

import (
	"testing"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread/work"
)

// mostLine is how much memory in KB an answer may take that has a line without an end: the largest event, twice, and what
// had to be copied while it grew. It is less than the line.
const mostLine = 128 << 10

// TestRunsOfALongLine has a run's answer contain a line longer than any event may be: its agent gets it, what is kept of the
// answer is marked as not whole, and the server holds no more than a part of the line.
func TestRunsOfALongLine(t *testing.T) {
	e2e.ManyStarts(t)
	r := newAsking(t)
	r.becomes(r.run(), work.Completed)
	idle := e2e.ProcessOf(t, r.ServerPID(), "status", "VmHWM")
	r.provider.Fails("long line")
	x := r.becomes(r.run(), work.Completed) // its agent says that it has a whole answer
	if got := r.answers(x); x.Attempt != 1 || r.provider.Asked() != 1 || len(got) == 0 {
		t.Errorf("%d requests in %d attempts, %d checkpoints", r.provider.Asked(), x.Attempt, len(got))
	}
	r.halves(x, 1)
	most := e2e.ProcessOf(t, r.ServerPID(), "status", "VmHWM")
	t.Logf("a line of %d MB: the server's peak is %d MB, %d MB before", e2e.LongLine>>20, most>>10, idle>>10)
	if most-idle > mostLine || mostLine >= e2e.LongLine>>10 {
		t.Errorf("it takes %d MB more", (most-idle)>>10)
	}
	r.provider.Fails("")
	r.becomes(r.run(), work.Completed)
}
