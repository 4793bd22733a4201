package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/thread"
	"orchestrator/thread/failpoint"
)

// killPoint is a place in a use case where the server is killed.
type killPoint struct {
	name string
	// deed is the call of the program that passes the place.
	deed func(parent, child, archive string) []string
	// again is set where the same call must work after the restart.
	again bool
}

func killPoints() []killPoint {
	forked := func(parent, _, _ string) []string { return []string{"fork", "another", "-t", parent, "--at", "1"} }
	rewound := func(parent, _, _ string) []string { return []string{"checkpoint", "restore", parent, "1"} }
	merged := func(_, child, _ string) []string { return []string{"merge", child} }
	finished := func(_, child, _ string) []string { return []string{"finish", child} }
	archived := func(_, child, _ string) []string { return []string{"archive", child} }
	imported := func(_, _, archive string) []string { return []string{"import", archive} }
	var list []killPoint
	add := func(deed func(parent, child, archive string) []string, again bool, names ...string) {
		for _, n := range names {
			list = append(list, killPoint{n, deed, again})
		}
	}
	add(forked, true, "thread.fork.intended", "thread.fork.created", "thread.fork.added", "thread.fork.stored", "thread.setup.begun", "thread.setup.ran", "thread.start.begun", "thread.start.started")
	add(rewound, true, "thread.rewind.intended", "thread.rewind.restored", "thread.rewind.stored")
	add(merged, true, "thread.merge.intended", "thread.merge.committed", "thread.merge.merged", "thread.merge.recorded")
	add(finished, false, "thread.finish.safe", "thread.finish.archived", "thread.finish.removed")
	add(archived, true, "thread.archive.stopped")
	add(imported, true, "archive.import.intended", "archive.import.created", "archive.import.record", "archive.import.written", "archive.import.visible")
	return list
}

// TestKilledAtFailpoints kills the server at each step of fork, rewind, merge, finish, import and
// restore-backup, with the demo agent, git and SQLite: nothing uncommitted is lost, no thread is half there, and what
// was cut off can be done again.
func TestKilledAtFailpoints(t *testing.T) {
	if !failpoint.Enabled {
		t.Skip("SKIPPED without failpoints: go test -tags failpoint -run TestKilledAtFailpoints ./cmd/orchestrator runs it")
	}
	rounds := fromEnv(t, "FAILPOINT_ROUNDS", 1)
	restoresKilled(t, rounds)
	for _, k := range killPoints() {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			for round := range rounds { // each ends its server
				t.Run(fmt.Sprint(round), func(t *testing.T) { newRig(t).killedAt(k, round) })
			}
		})
	}
}

// killedAt is one round of one kill point.
func (r *rig) killedAt(k killPoint, round int) {
	r.t.Helper()
	parent := r.demo("-w", "-p", "write a file one.txt with a line", "the parent")
	r.awaitState(parent, thread.StateDone)
	r.turn(parent, "write a file two.txt with a line")
	child := strings.Fields(r.ok("fork", "the child", "-t", parent))[0]
	r.turn(child, "write a file three.txt with a line")
	work := map[string]string{
		filepath.Join(r.status(parent).Dir, "precious.txt"): fmt.Sprintf("of the parent %d\n", round),
		filepath.Join(r.status(child).Dir, "treasure.txt"):  fmt.Sprintf("of the child %d\n", round),
	}
	for file, content := range work {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			r.t.Fatal(err)
		}
	}
	archive := filepath.Join(filepath.Dir(r.project), "child.archive")
	r.ok("export", child, "-o", archive)
	r.ok("stop")
	healthy := r.env
	r.env = append(append([]string(nil), healthy...), "ORCHESTRATOR_FAILPOINT="+k.name)
	res := r.run(k.deed(parent, child, archive)...)
	r.env = healthy
	if res.code == 0 && !strings.HasPrefix(k.name, "thread.start") {
		r.t.Logf("%s was answered before it was killed: %s", k.name, res.stdout)
	}
	await(r.t, "the server to be killed", func() bool { return r.run("threads", "--json").code == 0 })
	r.whole(k.name, work)
	if k.again {
		// The parent may be at work on what it was told of the merge.
		await(r.t, k.name+" to be done again", func() bool {
			res = r.run(k.deed(parent, child, archive)...)
			return !strings.Contains(res.stderr, "wait for its answer")
		})
		if res.code != 0 {
			r.t.Fatalf("%s, again: exit %d: %s", k.name, res.code, res.stderr)
		}
		r.whole(k.name+", again", work)
	}
}

// whole checks that all work is kept and that every thread can be gone on with.
func (r *rig) whole(where string, work map[string]string) {
	r.t.Helper()
	for file, content := range work {
		if b, err := os.ReadFile(file); (err != nil || string(b) != content) && !r.kept(filepath.Base(file), content) {
			r.t.Errorf("%s: %s is gone: %q %v", where, file, b, err)
		}
	}
	seen := map[string]bool{}
	for _, s := range get[[]thread.Status](r, "threads", "--all") {
		if s.Session != "" && seen[s.Session] {
			r.t.Errorf("%s: two threads share the session of %s", where, s.Name)
		}
		seen[s.Session] = true
		if !s.Archived.IsZero() {
			continue
		}
		if info, err := os.Stat(s.Dir); err != nil || !info.IsDir() {
			r.t.Errorf("%s: %s has no folder: %v", where, s.Name, err)
		}
		if s.Execution == nil {
			r.ok("resume", s.Name)
		}
		r.awaitState(s.Name, thread.StateIdle, thread.StateDone)
		turns := r.status(s.Name).Turn
		r.turn(s.Name, "list files")
		if now := r.status(s.Name).Turn; now <= turns {
			r.t.Errorf("%s: %s went from turn %d to %d", where, s.Name, turns, now)
		}
	}
}

// kept reports whether a file's content is in any commit that a reference holds.
func (r *rig) kept(name, content string) bool {
	for _, commit := range strings.Fields(r.git("for-each-ref", "--format=%(objectname)")) {
		cmd := exec.Command("git", "show", commit+":"+name)
		cmd.Dir, cmd.Env = r.project, r.env
		if out, err := cmd.Output(); err == nil && string(out) == content {
			return true
		}
	}
	return false
}
