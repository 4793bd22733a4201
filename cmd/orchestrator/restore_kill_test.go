package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread"
)

// restorePoints are the places in the restore of a backup where the server is killed.
var restorePoints = []string{
	"backup.restore.hidden", "backup.restore.hidden:2", "backup.restore.checkpoint", "backup.restore.checkpoint:4",
	"backup.restore.written", "backup.restore.files", "backup.restore.placed", "backup.restore.placed:2",
	"backup.restore.visible", "backup.restore.visible:2", "backup.restore.shown", "backup.restore.shown:2",
}

// restoreKilledAt loses the whole state, kills the server in the middle of the restore of a backup, and restores again:
// no thread is half there in between, what was cut off is said, and all of it is there afterwards.
func (r *rig) restoreKilledAt(point string) {
	r.t.Helper()
	parent := r.demo("-w", "-p", "write a file one.txt with a line", "the parent")
	r.awaitState(parent, thread.StateDone)
	r.turn(parent, "write a file two.txt with a line")
	child := strings.Fields(r.ok("fork", "the child", "-t", parent))[0]
	r.turn(child, "write a file three.txt with a line")
	other := r.demo("on its own")
	r.turn(other, "list files")
	r.ok("archive", other)
	before, turns := map[string]thread.Status{}, map[string]int{}
	for _, s := range get[[]thread.Status](r, "threads", "--all") {
		before[s.Name], turns[s.Name] = s, len(get[[]thread.Checkpoint](r, "checkpoint", "list", s.Name))
	}
	file := filepath.Join(r.t.TempDir(), "backup")
	r.ok("backup", "--with-secrets", file)
	r.loseState()

	healthy := r.env
	r.env = append(append([]string(nil), healthy...), "ORCHESTRATOR_FAILPOINT="+point)
	if res := r.run("restore-backup", file); res.code == exitcode.OK {
		r.t.Errorf("the restore passed %s: %s", point, res.stdout)
	}
	r.env = healthy
	await(r.t, "the server to be killed", func() bool { return r.run("threads", "--json").code == 0 })
	half := get[[]thread.Status](r, "threads", "--all")
	for _, s := range half {
		was := before[s.Name]
		if s.ID != was.ID || s.Head != was.Head || s.Turn != was.Turn {
			r.t.Errorf("%s is half there: %+v, was %+v", s.Name, s.Thread, was.Thread)
		}
		if n := len(get[[]thread.Checkpoint](r, "checkpoint", "list", s.Name)); n != turns[s.Name] {
			r.t.Errorf("%s has %d checkpoints, had %d", s.Name, n, turns[s.Name])
		}
	}
	if len(half) < len(before) {
		if said := r.run("doctor").stdout; !strings.Contains(said, "restore-backup") || !strings.Contains(said, "interrupted") {
			r.t.Errorf("nothing tells that the restore was cut off:\n%s", said)
		}
	}

	back := get[thread.BackupReport](r, "restore-backup", file)
	if back.Threads+len(back.Existing) != len(before) || len(back.Existing) != len(half) || len(back.Notes) != 0 {
		r.t.Errorf("restored again: %+v with %d there", back, len(half))
	}
	for name, was := range before {
		s := r.status(name)
		if s.ID != was.ID || s.Parent != was.Parent || s.Turn != was.Turn || s.Head != was.Head || s.Archived.IsZero() != was.Archived.IsZero() {
			r.t.Errorf("%s is %+v, was %+v", name, s.Thread, was.Thread)
		}
		if n := len(get[[]thread.Checkpoint](r, "checkpoint", "list", name)); n != turns[name] {
			r.t.Errorf("%s has %d checkpoints, had %d", name, n, turns[name])
		}
	}
	if _, err := os.Stat(filepath.Join(r.status(child).Dir, "three.txt")); err != nil {
		r.t.Error(err)
	}
	if n := strings.Count(r.git("worktree", "list", "--porcelain"), "worktree "); n != 3 {
		r.t.Errorf("%d worktrees, want the project's and two threads':\n%s", n, r.git("worktree", "list"))
	}
	if left, err := filepath.Glob(filepath.Join(r.stateDir(), backupRoom)); err != nil || len(left) > 0 {
		r.t.Errorf("left behind: %v %v", left, err)
	}
	r.whole(point, nil)
}

func restoresKilled(t *testing.T, rounds int) {
	for _, point := range restorePoints {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			for range rounds {
				newRig(t).restoreKilledAt(point)
			}
		})
	}
}
