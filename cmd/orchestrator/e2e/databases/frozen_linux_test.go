package databases

import (
	"strings"
	"testing"
	"time"

	"orchestrator/checkpoint/postgres/pgtest"
	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/cmd/orchestrator/exitcode"
)

// TestPostgresFrozen stops all processes of PostgreSQL without ending them, for a minute: every verb answers within its
// time, stop and doctor too, and all goes on by itself after it, with nothing lost.
func TestPostgresFrozen(t *testing.T) {
	e2e.ManyStarts(t)
	t.Parallel()
	var own pgtest.Server
	t.Cleanup(func() {
		if err := own.Close(); err != nil {
			t.Error(err)
		}
	})
	r := e2e.NewRig(t)
	r.KeepIn(own.Database(t, "frozen"))
	name, other := r.Demo("kept"), r.Demo("other")
	r.Turn(name, "list files")
	own.Freeze(t, true)
	t.Cleanup(func() { own.Freeze(t, false) })
	thawed := time.Now().Add(time.Minute)
	const most = 20 * time.Second // 5 s for PostgreSQL, the rest for a busy machine
	timed := func(verb ...string) e2e.Result {
		t.Helper()
		begin := time.Now()
		res := r.Run(verb...)
		took := time.Since(begin)
		t.Logf("%v: exit %d in %v", verb, res.Code, took.Round(10*time.Millisecond))
		if took > most {
			t.Errorf("%v took %v: exit %d\n%s%s", verb, took, res.Code, res.Stdout, res.Stderr)
		}
		return res
	}
	for _, verb := range [][]string{{"why", name}, {"checkpoint", "list", name}, {"find", "files"}, {"new", "-a", "demo", "more"},
		{"fork", "way", "-t", name}, {"rename", other, "renamed"}, {"mcp", "list"}, {"gc"}, {"stage", "list"}} {
		timed(verb...)
	}
	for again := true; again; again = time.Now().Before(thawed) {
		if res := timed("threads"); res.Code != 0 || !strings.Contains(res.Stdout, name) {
			t.Errorf("threads: exit %d\n%s%s", res.Code, res.Stdout, res.Stderr)
		}
		if res := timed("doctor"); res.Code != exitcode.Error || !strings.Contains(res.Stdout, "× store") {
			t.Errorf("doctor: exit %d\n%s%s", res.Code, res.Stdout, res.Stderr)
		}
		if res := timed("send", name, "list files"); res.Code == 0 || !strings.Contains(res.Stderr, "cannot be reached") {
			t.Errorf("send: exit %d\n%s%s", res.Code, res.Stdout, res.Stderr)
		}
	}
	timed("stop")
	if res := timed("threads"); res.Code != 0 || !strings.Contains(res.Stdout, name) {
		t.Errorf("a start: exit %d\n%s%s", res.Code, res.Stdout, res.Stderr)
	}
	own.Freeze(t, false)
	e2e.Await(t, "the server to go on by itself", func() bool { return !strings.Contains(r.Run("threads").Stderr, "cannot be reached") })
	r.Ok("resume", name)
	r.Turn(name, "list files")
	if s := r.Status(name); s.Turn != 2 {
		t.Errorf("after it: %+v", s)
	}
}
