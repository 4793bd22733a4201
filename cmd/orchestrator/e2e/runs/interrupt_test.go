package runs

import (
	"bytes"
	"os"
	"testing"
	"time"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread/work"
)

// TestInterruptedSubmission: whenever Ctrl+C comes while a run is submitted, it is cancelled and the verb says so: none goes on that nobody
// was told of.
func TestInterruptedSubmission(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	runDone(r) // the server is there
	submitted := 0
	for after := 10 * time.Millisecond; after < 400*time.Millisecond; after += 30 * time.Millisecond {
		before := len(list(r))
		cmd := r.Command("run", "--once", "-a", "demo", long)
		var said bytes.Buffer
		cmd.Stderr = &said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(after) // the point is that it comes at any time
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		err := cmd.Wait()
		now := list(r)
		if len(now) == before {
			if err == nil {
				t.Errorf("interrupted after %v: no run, exit 0", after)
			}
			continue
		}
		submitted++
		if x := becomes(r, now[0].Name, work.Cancelled); cmd.ProcessState.ExitCode() != exitcode.Cancelled || !bytes.Contains(said.Bytes(), []byte(x.Name)) {
			t.Errorf("interrupted after %v: exit %d, %s", after, cmd.ProcessState.ExitCode(), said.String())
		}
	}
	if submitted == 0 {
		t.Error("no run was submitted at all")
	}
	nothingLeft(r)
}
