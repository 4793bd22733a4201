package kills

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread"
	"orchestrator/thread/ground/sample"
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
	slimmed := func(parent, _, _ string) []string { return []string{"fork", "slim", "-t", parent, "--base", "slim"} }
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
	add(slimmed, true, "thread.base.stored")
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
	rounds := e2e.FromEnv(t, "FAILPOINT_ROUNDS", 1)
	restoresKilled(t, rounds)
	for _, k := range sample.Of(t, 8, killPoints()) {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			for round := range rounds { // each ends its server
				t.Run(fmt.Sprint(round), func(t *testing.T) { killedAt(e2e.NewRig(t), k, round) })
			}
		})
	}
}

// killedAt is one round of one kill point.
func killedAt(r *e2e.Rig, k killPoint, round int) {
	r.T.Helper()
	parent := r.Demo("-w", "-p", "write a file one.txt with a line", "the parent")
	r.AwaitState(parent, thread.StateDone)
	r.Turn(parent, "write a file two.txt with a line")
	child := strings.Fields(r.Ok("fork", "the child", "-t", parent))[0]
	r.Turn(child, "write a file three.txt with a line")
	work := map[string]string{
		filepath.Join(r.Status(parent).Dir, "precious.txt"): fmt.Sprintf("of the parent %d\n", round),
		filepath.Join(r.Status(child).Dir, "treasure.txt"):  fmt.Sprintf("of the child %d\n", round),
	}
	for file, content := range work {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			r.T.Fatal(err)
		}
	}
	archive := filepath.Join(filepath.Dir(r.Project), "child.archive")
	r.Ok("export", child, "-o", archive)
	r.Ok("stop")
	healthy := r.Env
	r.Env = append(append([]string(nil), healthy...), "ORCHESTRATOR_FAILPOINT="+k.name)
	res := r.Run(k.deed(parent, child, archive)...)
	r.Env = healthy
	if res.Code == 0 && !strings.HasPrefix(k.name, "thread.start") {
		r.T.Logf("%s was answered before it was killed: %s", k.name, res.Stdout)
	}
	e2e.Await(r.T, "the server to be killed", func() bool { return r.Run("threads", "--json").Code == 0 })
	whole(r, k.name, work)
	if k.again {
		// The parent may be at work on what it was told of the merge.
		e2e.Await(r.T, k.name+" to be done again", func() bool {
			res = r.Run(k.deed(parent, child, archive)...)
			return !strings.Contains(res.Stderr, "Wait for its answer")
		})
		if res.Code != 0 {
			r.T.Fatalf("%s, again: exit %d: %s", k.name, res.Code, res.Stderr)
		}
		whole(r, k.name+", again", work)
	}
}

// whole checks that all work is kept and that every thread can be gone on with.
func whole(r *e2e.Rig, where string, work map[string]string) {
	r.T.Helper()
	for file, content := range work {
		if b, err := os.ReadFile(file); (err != nil || string(b) != content) && !kept(r, filepath.Base(file), content) {
			r.T.Errorf("%s: %s is gone: %q %v", where, file, b, err)
		}
	}
	seen := map[string]bool{}
	for _, s := range e2e.Get[[]thread.Status](r, "threads", "--all") {
		if s.Session != "" && seen[s.Session] {
			r.T.Errorf("%s: two threads share the session of %s", where, s.Name)
		}
		seen[s.Session] = true
		if !s.Archived.IsZero() {
			continue
		}
		if info, err := os.Stat(s.Dir); err != nil || !info.IsDir() {
			r.T.Errorf("%s: %s has no folder: %v", where, s.Name, err)
		}
		if s.Execution == nil {
			r.Ok("resume", s.Name)
		}
		r.AwaitState(s.Name, thread.StateIdle, thread.StateDone)
		turns := r.Status(s.Name).Turn
		r.Turn(s.Name, "list files")
		if now := r.Status(s.Name).Turn; now <= turns {
			r.T.Errorf("%s: %s went from turn %d to %d", where, s.Name, turns, now)
		}
	}
}

// kept reports whether a file's content is in any commit that a reference holds.
func kept(r *e2e.Rig, name, content string) bool {
	for _, commit := range strings.Fields(r.Git("for-each-ref", "--format=%(objectname)")) {
		cmd := exec.Command("git", "show", commit+":"+name)
		cmd.Dir, cmd.Env = r.Project, r.Env
		if out, err := cmd.Output(); err == nil && string(out) == content {
			return true
		}
	}
	return false
}
