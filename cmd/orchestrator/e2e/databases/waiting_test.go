package databases

import (
	"strings"
	"syscall"
	"testing"

	"orchestrator/checkpoint/postgres/pgtest"
	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread"
)

// TestPostgresDownAtTheStart starts a server while its database is down: the last list is shown, marked and read-only, what
// needs the store is refused with exit code 4, and all goes on by itself when the database is back.
func TestPostgresDownAtTheStart(t *testing.T) {
	e2e.ManyStarts(t)
	t.Parallel()
	var own pgtest.Server
	t.Cleanup(func() {
		if err := own.Close(); err != nil {
			t.Error(err)
		}
	})
	r := e2e.NewRig(t)
	r.KeepIn(own.Database(t, "down"))
	name := r.Demo("kept")
	for range 2 {
		r.Turn(name, "list files")
	}
	other := r.Demo("other")
	r.Ok("stop")
	own.Kill(t, syscall.SIGKILL)

	res := r.Run("threads")
	if res.Code != 0 || !strings.Contains(res.Stdout, name) || !strings.Contains(res.Stdout, other) ||
		!strings.Contains(res.Stderr, "last known list, as of") || !strings.Contains(res.Stderr, "cannot be reached") {
		t.Errorf("threads: exit %d\n%s%s", res.Code, res.Stdout, res.Stderr)
	}
	if s := r.Status(name); s.Turn != 2 || s.Agent != "demo" || s.State.State != thread.StateUnknown {
		t.Errorf("the last list says %+v", s)
	}
	for _, verb := range [][]string{{"send", name, "list files"}, {"new", "-a", "demo", "more"}, {"checkpoint", "list", name}, {"delete", name}, {"find", "files"}} {
		r.Says(exitcode.Refused, []string{"cannot be reached", "not available"}, verb...)
	}
	if res := r.Run("doctor"); res.Code != exitcode.Error || !strings.Contains(res.Stdout, "× store") {
		t.Errorf("the doctor: exit %d\n%s", res.Code, res.Stdout)
	}
	r.NoSecret()
	r.Ok("stop") // it can be stopped, and started again
	r.Ok("threads")

	own.Start(t)
	e2e.Await(t, "the server to go on by itself", func() bool { return r.Run("threads").Stderr == "" })
	r.Ok("resume", name)
	r.Turn(name, "list files")
	if s := r.Status(name); s.Turn != 3 {
		t.Errorf("when the database is back: %+v", s)
	}
}
