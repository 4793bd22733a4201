package disks

import (
	"strings"
	"testing"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread/work"
)

// TestRecordOnAFullDisk writes down by hand until the disk is full: each verb that could not says why, what others have told
// of is there, and with room again the same verb works.
func TestRecordOnAFullDisk(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	disk := r.StateDisk(0)
	r.Ok("session", "init", "before", "--as", "before")
	free := r.Fill(disk)
	message, told, refused := strings.Repeat("a long message ", 6000), 0, e2e.Result{}
	for told < 100 {
		res := r.Run("exec", "init", "x", "--type", "writer", "--session", "before", "--prompt", message)
		if res.Code != exitcode.OK {
			refused = res
			break
		}
		told++
	}
	if refused.Code != exitcode.Error || !strings.Contains(refused.Stderr, "disk is full") {
		t.Errorf("after %d: exit %d: %s", told, refused.Code, refused.Stderr)
	}
	if rows := e2e.Get[[]work.Row](r, "exec", "query", "-n", "999"); len(rows) != told {
		t.Errorf("%d executions were told of, %d are there", told, len(rows))
	}
	free()
	name := r.Ok("exec", "init", "x", "--type", "writer", "--session", "before", "--prompt", message)
	r.Ok("exec", "complete", name, "--message", message)
	r.Ok("session", "complete", "before")
}
