package kills

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread"
	"orchestrator/thread/ground/sample"
)

// restorePoints are the places in the restore of a backup where the server is killed.
var restorePoints = []string{
	"backup.restore.hidden", "backup.restore.hidden:2", "staging.import.entry", "masks.import.batch", "backup.restore.carried", "backup.restore.checkpoint", "backup.restore.checkpoint:4",
	"backup.restore.written", "backup.restore.files", "backup.restore.placed", "backup.restore.placed:2",
	"backup.restore.visible", "backup.restore.visible:2", "backup.restore.shown", "backup.restore.shown:2",
}

// restoreKilledAt loses the whole state, kills the server in the middle of the restore of a backup, and restores again:
// no thread is half there in between, what was cut off is said, and all of it is there afterwards.
func restoreKilledAt(r *e2e.Rig, point string) {
	r.T.Helper()
	parent := r.Demo("-w", "-p", "write a file one.txt with a line", "the parent")
	r.AwaitState(parent, thread.StateDone)
	r.Turn(parent, "write a file two.txt with a line")
	child := strings.Fields(r.Ok("fork", "the child", "-t", parent))[0]
	r.Turn(child, "write a file three.txt with a line")
	other := r.Demo("on its own")
	r.Turn(other, "list files")
	r.Ok("archive", other)
	mask, token := r.MaskResult(r.Status(parent).ID, "a long result\n"), r.Stage("kept\n")
	grandchild := strings.Fields(r.Ok("fork", "the grandchild", "-t", parent))[0]
	before, turns := map[string]thread.Status{}, map[string]int{}
	for _, s := range e2e.Get[[]thread.Status](r, "threads", "--all") {
		before[s.Name], turns[s.Name] = s, len(e2e.Get[[]thread.Checkpoint](r, "checkpoint", "list", s.Name))
	}
	file := filepath.Join(r.T.TempDir(), "backup")
	r.Ok("backup", "--with-secrets", file)
	r.LoseState()

	healthy := r.Env
	r.Env = append(append([]string(nil), healthy...), "ORCHESTRATOR_FAILPOINT="+point)
	if res := r.Run("restore-backup", file); res.Code == exitcode.OK {
		r.T.Errorf("the restore passed %s: %s", point, res.Stdout)
	}
	r.Env = healthy
	e2e.Await(r.T, "the server to be killed", func() bool { return r.Run("threads", "--json").Code == 0 })
	half := e2e.Get[[]thread.Status](r, "threads", "--all")
	for _, s := range half {
		was := before[s.Name]
		if s.ID != was.ID || s.Head != was.Head || s.Turn != was.Turn {
			r.T.Errorf("%s is half there: %+v, was %+v", s.Name, s.Thread, was.Thread)
		}
		if n := len(e2e.Get[[]thread.Checkpoint](r, "checkpoint", "list", s.Name)); n != turns[s.Name] {
			r.T.Errorf("%s has %d checkpoints, had %d", s.Name, n, turns[s.Name])
		}
	}
	if len(half) < len(before) {
		if said := r.Run("doctor").Stdout; !strings.Contains(said, "restore-backup") || !strings.Contains(said, "interrupted") {
			r.T.Errorf("nothing tells that the restore was cut off:\n%s", said)
		}
	}

	back := e2e.Get[thread.BackupReport](r, "restore-backup", file)
	if back.Threads+len(back.Existing) != len(before) || len(back.Existing) != len(half) || len(back.Notes) != 0 {
		r.T.Errorf("restored again: %+v with %d there", back, len(half))
	}
	for name, was := range before {
		s := r.Status(name)
		if s.ID != was.ID || s.Parent != was.Parent || s.Turn != was.Turn || s.Head != was.Head || s.Archived.IsZero() != was.Archived.IsZero() {
			r.T.Errorf("%s is %+v, was %+v", name, s.Thread, was.Thread)
		}
		if n := len(e2e.Get[[]thread.Checkpoint](r, "checkpoint", "list", name)); n != turns[name] {
			r.T.Errorf("%s has %d checkpoints, had %d", name, n, turns[name])
		}
	}
	if _, err := os.Stat(filepath.Join(r.Status(child).Dir, "three.txt")); err != nil {
		r.T.Error(err)
	}
	if n := strings.Count(r.Git("worktree", "list", "--porcelain"), "worktree "); n != 4 {
		r.T.Errorf("%d worktrees, want the project's and three threads':\n%s", n, r.Git("worktree", "list"))
	}
	if left, err := filepath.Glob(filepath.Join(r.StateDir(), e2e.BackupRoom)); err != nil || len(left) > 0 {
		r.T.Errorf("left behind: %v %v", left, err)
	}
	if got := r.Ok("retrieve", token); got != "kept" {
		r.T.Errorf("%s has %q", token, got)
	}
	for _, name := range []string{parent, grandchild} {
		if m, set := r.MaskOf(r.Status(name).ID); m.Token != mask.Token || m.Home != mask.Home || len(set.All()) != 1 {
			r.T.Errorf("%s has %+v of %d, had %+v", name, m, len(set.All()), mask)
		} else if b, err := os.ReadFile(m.File); err != nil || string(b) != "a long result\n" {
			r.T.Errorf("the copy of %s: %q, %v", name, b, err)
		}
	}
	whole(r, point, nil)
}

func restoresKilled(t *testing.T, rounds int) {
	for _, point := range sample.Of(t, 8, restorePoints) {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			for range rounds {
				restoreKilledAt(e2e.NewRig(t), point)
			}
		})
	}
}
