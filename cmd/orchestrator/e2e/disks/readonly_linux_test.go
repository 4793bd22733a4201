package disks

import (
	"errors"
	"strings"
	"syscall"
	"testing"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread"
)

// TestReadOnlyShowsTheLastList: a state folder that has become read-only while nothing runs shows the last list, in verbs
// and on the screen, says why, and refuses the rest; when it can be written again, all goes on.
func TestReadOnlyShowsTheLastList(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	disk := r.StateDisk(0)
	name := r.Demo("kept")
	r.Turn(name, "list files")
	other := r.Demo("other")
	r.Ok("stop")
	mount := func(flags uintptr) {
		t.Helper()
		e2e.Await(t, "the disk to be free", func() bool {
			err := syscall.Mount("", disk, "", syscall.MS_REMOUNT|flags, "size=8m,mode=0700")
			if err != nil && !errors.Is(err, syscall.EBUSY) {
				t.Fatal(err)
			}
			return err == nil
		})
	}
	mount(syscall.MS_RDONLY)
	res := r.Run("threads")
	if res.Code != 0 || !strings.Contains(res.Stdout, name) || !strings.Contains(res.Stdout, other) ||
		!strings.Contains(res.Stderr, "last known list, as of") || !strings.Contains(res.Stderr, "read-only") {
		t.Errorf("threads: exit %d\n%s%s", res.Code, res.Stdout, res.Stderr)
	}
	if s := r.Status(name); s.Turn != 1 || s.State.State != thread.StateUnknown {
		t.Errorf("the last list says %+v", s)
	}
	for _, verb := range [][]string{{"send", name, "list files"}, {"new", "-a", "demo", "more"}, {"checkpoint", "list", name}, {"delete", name}} {
		r.Says(exitcode.Error, []string{"not available", "read-only", "mounted so that it can be written"}, verb...)
	}
	s := r.Open(100, 30)
	s.See(name[:len(name)-5], "read-only")
	mount(0)
	r.Ok("resume", name)
	r.Turn(name, "list files")
	if s := r.Status(name); s.Turn != 2 {
		t.Errorf("when it can be written again: %+v", s)
	}
}
