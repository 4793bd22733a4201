package archives

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread"
)

// testKey has the shape of a key.
const testKey = "sk-ant-api03-" + "Zx8Kq2Lm9Np4Rs7Tv1Wy3Ab6Cd0Ef5GhJk"

// TestBackup makes turns, forks and an archived thread, backs them up while an agent works, loses the whole state and
// takes all of it back.
func TestBackup(t *testing.T) {
	e2e.ManyStarts(t)
	t.Parallel()
	r := e2e.NewRig(t)
	parent := r.Demo("parent")
	for _, n := range []string{"one", "two", "three"} {
		r.Turn(parent, "write notes.txt: "+n)
	}
	fork := e2e.Get[thread.Status](r, "fork", "another way", "-t", parent, "--at", "1")
	r.Turn(fork.Name, "write fork.txt: "+testKey)
	grandchild := e2e.Get[thread.Status](r, "fork", "deeper", "-t", fork.Name)
	away := r.Demo("put away")
	r.Turn(away, "list files")
	r.Ok("archive", away)
	r.Ok("pin", parent)
	other := e2e.Get[thread.Status](r, "rename", fork.Name, "other name").Name
	r.Ok("send", "-d", parent, "say something #slow:600s")
	r.AwaitState(parent, thread.StateWorking)

	dir := t.TempDir()
	clean, whole := filepath.Join(dir, "clean"), filepath.Join(dir, "whole")
	kept := e2e.Get[thread.BackupReport](r, "backup", clean)
	if kept.Threads != 4 || kept.Checkpoints == 0 || kept.Secrets || !kept.Files || len(kept.Notes) != 0 {
		t.Errorf("the backup: %+v", kept)
	}
	r.Ok("backup", "--with-secrets", whole)
	r.Says(exitcode.Error, []string{whole + ": file already exists. Choose another name"}, "backup", whole)
	for _, file := range []string{clean, whole} {
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", file, info, err)
		}
	}
	if s := r.Status(parent); s.State.State != thread.StateWorking {
		t.Errorf("after the backup the agent is %s", s.State.State)
	}
	before := map[string]thread.Status{}
	for _, s := range e2e.Get[[]thread.Status](r, "threads", "--all") {
		before[s.Name] = s
	}
	r.LoseState()
	if list := e2e.Get[[]thread.Status](r, "threads", "--all"); len(list) != 0 {
		t.Fatalf("%d threads after the loss", len(list))
	}

	back := e2e.Get[thread.BackupReport](r, "restore-backup", whole)
	if back.Threads != 4 || back.Checkpoints != kept.Checkpoints || len(back.Existing)+len(back.Notes) != 0 {
		t.Errorf("what is back: %+v", back)
	}
	for name, was := range before {
		s := r.Status(name)
		if s.ID != was.ID || s.Parent != was.Parent || s.Turn != was.Turn || s.Head != was.Head || s.Pinned != was.Pinned ||
			s.Archived.IsZero() != was.Archived.IsZero() || s.Usage != was.Usage || s.Label != was.Label {
			t.Errorf("%s is %+v, was %+v", name, s.Thread, was.Thread)
		}
	}
	if s := r.Status(parent); s.State.State != thread.StateInterrupted {
		t.Errorf("%s is %s", parent, s.State.State)
	}
	for _, of := range []string{other, grandchild.Name} {
		s := r.Status(of)
		if b, err := os.ReadFile(filepath.Join(s.Dir, "fork.txt")); err != nil || !strings.Contains(string(b), testKey) {
			t.Errorf("fork.txt of %s: %q, %v", of, b, err)
		}
	}
	again := e2e.Get[thread.Status](r, "fork", "once more", "-t", parent, "--at", "1")
	if b, err := os.ReadFile(filepath.Join(again.Dir, "notes.txt")); err != nil || !strings.Contains(string(b), "one") {
		t.Errorf("notes.txt at turn 1: %q, %v", b, err)
	}
	if out := r.Ok("checkpoint", "show", other, "2"); !strings.Contains(out, testKey) {
		t.Errorf("the fork's turn 2:\n%s", out)
	}
	r.Ok("resume", other)
	r.Turn(other, "list files")
	if s := r.Status(other); s.Turn != 3 {
		t.Errorf("turn %d after going on", s.Turn)
	}

	// What is here stays as it is.
	back = e2e.Get[thread.BackupReport](r, "restore-backup", clean)
	if back.Threads != 0 || len(back.Existing) != 4 {
		t.Errorf("taken back twice: %+v", back)
	}
	if s := r.Status(other); s.Turn != 3 {
		t.Errorf("turn %d after a second restore", s.Turn)
	}

	// What was deleted or archived since is out of sight: the way back is another verb.
	r.Ok("delete", grandchild.Name)
	out := r.Ok("restore-backup", clean)
	for _, want := range []string{"restored 0 threads", "deleted: " + grandchild.Name + " (`orchestrator undelete " + grandchild.Name + "`",
		"archived: " + away + " (`orchestrator restore " + away + "`"} {
		if !strings.Contains(out, want) {
			t.Errorf("a restore after a delete does not say %q:\n%s", want, out)
		}
	}
	back = e2e.Get[thread.BackupReport](r, "restore-backup", clean)
	if len(back.Existing) != 4 || !slices.Equal(back.Deleted, []string{grandchild.Name}) || !slices.Equal(back.Archived, []string{away}) {
		t.Errorf("a restore after a delete: %+v", back)
	}
	r.Ok("undelete", grandchild.Name)
	if back = e2e.Get[thread.BackupReport](r, "restore-backup", clean); len(back.Deleted) != 0 {
		t.Errorf("a restore after an undelete: %+v", back)
	}

	// Another machine, and no secrets.
	there := e2e.NewRig(t)
	if back := e2e.Get[thread.BackupReport](there, "restore-backup", clean); back.Threads != 4 || len(back.Notes) != 0 {
		t.Errorf("elsewhere: %+v", back)
	}
	if out := there.Ok("checkpoint", "show", other, "2"); strings.Contains(out, testKey) || !strings.Contains(out, "write fork.txt") {
		t.Errorf("turn 2 elsewhere:\n%s", out)
	}
	if s := there.Status(parent); s.Dir != there.Project {
		t.Errorf("%s works in %s", parent, s.Dir)
	}
	there.Ok("resume", other)
	there.Turn(other, "list files")
	if s := there.Status(other); s.Turn != 3 || s.Worktree.Path == "" {
		t.Errorf("going on elsewhere: turn %d in %s", s.Turn, s.Dir)
	}
	if left, err := filepath.Glob(filepath.Join(there.StateDir(), e2e.BackupRoom)); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

// TestDamagedBackup refuses files that are no whole backup, and writes nothing of them.
func TestDamagedBackup(t *testing.T) {
	e2e.ManyStarts(t)
	t.Parallel()
	r := e2e.NewRig(t)
	r.Turn(r.Demo("one"), "write notes.txt: one")
	file := filepath.Join(t.TempDir(), "backup")
	r.Ok("backup", file)
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	there := e2e.NewRig(t)
	for name, b := range map[string][]byte{
		"empty": nil, "cut": whole[:len(whole)-2048], "half": whole[:len(whole)/2], "text": []byte("no backup"),
		"flipped": flipped(whole, strings.Index(string(whole), "SQLite format 3")+5000),
	} {
		bad := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(bad, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if res := there.Run("restore-backup", bad); res.Code == exitcode.OK || !strings.Contains(res.Stderr, bad) {
			t.Errorf("%s: exit %d, %s", name, res.Code, res.Stderr)
		}
	}
	there.Says(exitcode.NotFound, []string{"missing.file"}, "restore-backup", "missing.file")
	if list := e2e.Get[[]thread.Status](there, "threads", "--all"); len(list) != 0 {
		t.Errorf("%d threads came of damaged backups", len(list))
	}
}

// flipped is b with one byte changed.
func flipped(b []byte, at int) []byte {
	b = append([]byte(nil), b...)
	b[at] ^= 0xff
	return b
}
