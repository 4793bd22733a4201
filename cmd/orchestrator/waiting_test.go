package main

import (
	"strings"
	"syscall"
	"testing"

	"orchestrator/checkpoint/postgres/pgtest"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread"
)

// TestPostgresDownAtTheStart starts a server while its database is down: the last list is shown, marked and read-only, what
// needs the store is refused with exit code 4, and all goes on by itself when the database is back.
func TestPostgresDownAtTheStart(t *testing.T) {
	manyStarts(t)
	t.Parallel()
	var own pgtest.Server
	t.Cleanup(func() {
		if err := own.Close(); err != nil {
			t.Error(err)
		}
	})
	r := newRig(t)
	r.keepIn(own.Database(t, "down"))
	name := r.demo("kept")
	for range 2 {
		r.turn(name, "list files")
	}
	other := r.demo("other")
	r.ok("stop")
	own.Kill(t, syscall.SIGKILL)

	res := r.run("threads")
	if res.code != 0 || !strings.Contains(res.stdout, name) || !strings.Contains(res.stdout, other) ||
		!strings.Contains(res.stderr, "last known list, as of") || !strings.Contains(res.stderr, "cannot be reached") {
		t.Errorf("threads: exit %d\n%s%s", res.code, res.stdout, res.stderr)
	}
	if s := r.status(name); s.Turn != 2 || s.Agent != "demo" || s.State.State != thread.StateUnknown {
		t.Errorf("the last list says %+v", s)
	}
	for _, verb := range [][]string{{"send", name, "list files"}, {"new", "-a", "demo", "more"}, {"checkpoint", "list", name}, {"delete", name}, {"find", "files"}} {
		r.says(exitcode.Refused, []string{"cannot be reached", "not available"}, verb...)
	}
	if res := r.run("doctor"); res.code != exitcode.Error || !strings.Contains(res.stdout, "✗ store") {
		t.Errorf("the doctor: exit %d\n%s", res.code, res.stdout)
	}
	r.noSecret()
	r.ok("stop") // it can be stopped, and started again
	r.ok("threads")

	own.Start(t)
	await(t, "the server to go on by itself", func() bool { return r.run("threads").stderr == "" })
	r.ok("resume", name)
	r.turn(name, "list files")
	if s := r.status(name); s.Turn != 3 {
		t.Errorf("when the database is back: %+v", s)
	}
}
