package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread"
)

// testKey has the shape of a key.
const testKey = "sk-ant-api03-" + "Zx8Kq2Lm9Np4Rs7Tv1Wy3Ab6Cd0Ef5GhJk"

// loseState ends the server and removes all that it ever wrote, in the repository too.
func (r *rig) loseState() {
	r.t.Helper()
	r.ok("stop", "--force")
	if err := os.RemoveAll(r.stateDir()); err != nil {
		r.t.Fatal(err)
	}
	for _, ref := range strings.Fields(r.git("for-each-ref", "--format=%(refname)", "refs/orchestrator", "refs/heads/orchestrator")) {
		r.git("update-ref", "-d", ref)
	}
	r.git("worktree", "prune")
	r.git("reflog", "expire", "--expire=all", "--all")
	r.git("gc", "-q", "--prune=now")
}

// TestBackup makes turns, forks and an archived thread, backs them up while an agent works, loses the whole state and
// takes all of it back.
func TestBackup(t *testing.T) {
	manyStarts(t)
	t.Parallel()
	r := newRig(t)
	parent := r.demo("parent")
	for _, n := range []string{"one", "two", "three"} {
		r.turn(parent, "write notes.txt: "+n)
	}
	fork := get[thread.Status](r, "fork", "another way", "-t", parent, "--at", "1")
	r.turn(fork.Name, "write fork.txt: "+testKey)
	grandchild := get[thread.Status](r, "fork", "deeper", "-t", fork.Name)
	away := r.demo("put away")
	r.turn(away, "list files")
	r.ok("archive", away)
	r.ok("pin", parent)
	other := get[thread.Status](r, "rename", fork.Name, "other name").Name
	r.ok("send", "-d", parent, "say something #slow:600s")
	r.awaitState(parent, thread.StateWorking)

	dir := t.TempDir()
	clean, whole := filepath.Join(dir, "clean"), filepath.Join(dir, "whole")
	kept := get[thread.BackupReport](r, "backup", clean)
	if kept.Threads != 4 || kept.Checkpoints == 0 || kept.Secrets || !kept.Files || len(kept.Notes) != 0 {
		t.Errorf("the backup: %+v", kept)
	}
	r.ok("backup", "--with-secrets", whole)
	r.says(exitcode.Error, []string{whole + ": file already exists (choose another name)"}, "backup", whole)
	for _, file := range []string{clean, whole} {
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", file, info, err)
		}
	}
	if s := r.status(parent); s.State.State != thread.StateWorking {
		t.Errorf("after the backup the agent is %s", s.State.State)
	}
	before := map[string]thread.Status{}
	for _, s := range get[[]thread.Status](r, "threads", "--all") {
		before[s.Name] = s
	}
	r.loseState()
	if list := get[[]thread.Status](r, "threads", "--all"); len(list) != 0 {
		t.Fatalf("%d threads after the loss", len(list))
	}

	back := get[thread.BackupReport](r, "restore-backup", whole)
	if back.Threads != 4 || back.Checkpoints != kept.Checkpoints || len(back.Existing)+len(back.Notes) != 0 {
		t.Errorf("what is back: %+v", back)
	}
	for name, was := range before {
		s := r.status(name)
		if s.ID != was.ID || s.Parent != was.Parent || s.Turn != was.Turn || s.Head != was.Head || s.Pinned != was.Pinned ||
			s.Archived.IsZero() != was.Archived.IsZero() || s.Usage != was.Usage || s.Label != was.Label {
			t.Errorf("%s is %+v, was %+v", name, s.Thread, was.Thread)
		}
	}
	if s := r.status(parent); s.State.State != thread.StateInterrupted {
		t.Errorf("%s is %s", parent, s.State.State)
	}
	for _, of := range []string{other, grandchild.Name} {
		s := r.status(of)
		if b, err := os.ReadFile(filepath.Join(s.Dir, "fork.txt")); err != nil || !strings.Contains(string(b), testKey) {
			t.Errorf("fork.txt of %s: %q, %v", of, b, err)
		}
	}
	again := get[thread.Status](r, "fork", "once more", "-t", parent, "--at", "1")
	if b, err := os.ReadFile(filepath.Join(again.Dir, "notes.txt")); err != nil || !strings.Contains(string(b), "one") {
		t.Errorf("notes.txt at turn 1: %q, %v", b, err)
	}
	if out := r.ok("checkpoint", "show", other, "2"); !strings.Contains(out, testKey) {
		t.Errorf("the fork's turn 2:\n%s", out)
	}
	r.ok("resume", other)
	r.turn(other, "list files")
	if s := r.status(other); s.Turn != 3 {
		t.Errorf("turn %d after going on", s.Turn)
	}

	// What is here stays as it is.
	back = get[thread.BackupReport](r, "restore-backup", clean)
	if back.Threads != 0 || len(back.Existing) != 4 {
		t.Errorf("taken back twice: %+v", back)
	}
	if s := r.status(other); s.Turn != 3 {
		t.Errorf("turn %d after a second restore", s.Turn)
	}

	// What was deleted or archived since is out of sight: the way back is another verb.
	r.ok("delete", grandchild.Name)
	out := r.ok("restore-backup", clean)
	for _, want := range []string{"restored 0 threads", "deleted: " + grandchild.Name + " (`orchestrator undelete " + grandchild.Name + "`",
		"archived: " + away + " (`orchestrator restore " + away + "`"} {
		if !strings.Contains(out, want) {
			t.Errorf("a restore after a delete does not say %q:\n%s", want, out)
		}
	}
	back = get[thread.BackupReport](r, "restore-backup", clean)
	if len(back.Existing) != 4 || !slices.Equal(back.Deleted, []string{grandchild.Name}) || !slices.Equal(back.Archived, []string{away}) {
		t.Errorf("a restore after a delete: %+v", back)
	}
	r.ok("undelete", grandchild.Name)
	if back = get[thread.BackupReport](r, "restore-backup", clean); len(back.Deleted) != 0 {
		t.Errorf("a restore after an undelete: %+v", back)
	}

	// Another machine, and no secrets.
	there := newRig(t)
	if back := get[thread.BackupReport](there, "restore-backup", clean); back.Threads != 4 || len(back.Notes) != 0 {
		t.Errorf("elsewhere: %+v", back)
	}
	if out := there.ok("checkpoint", "show", other, "2"); strings.Contains(out, testKey) || !strings.Contains(out, "write fork.txt") {
		t.Errorf("turn 2 elsewhere:\n%s", out)
	}
	if s := there.status(parent); s.Dir != there.project {
		t.Errorf("%s works in %s", parent, s.Dir)
	}
	there.ok("resume", other)
	there.turn(other, "list files")
	if s := there.status(other); s.Turn != 3 || s.Worktree.Path == "" {
		t.Errorf("going on elsewhere: turn %d in %s", s.Turn, s.Dir)
	}
	if left, err := filepath.Glob(filepath.Join(there.stateDir(), backupRoom)); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

// TestDamagedBackup refuses files that are no whole backup, and writes nothing of them.
func TestDamagedBackup(t *testing.T) {
	manyStarts(t)
	t.Parallel()
	r := newRig(t)
	r.turn(r.demo("one"), "write notes.txt: one")
	file := filepath.Join(t.TempDir(), "backup")
	r.ok("backup", file)
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	there := newRig(t)
	for name, b := range map[string][]byte{
		"empty": nil, "cut": whole[:len(whole)-2048], "half": whole[:len(whole)/2], "text": []byte("no backup"),
		"flipped": flipped(whole, strings.Index(string(whole), "SQLite format 3")+5000),
	} {
		bad := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(bad, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if res := there.run("restore-backup", bad); res.code == exitcode.OK || !strings.Contains(res.stderr, bad) {
			t.Errorf("%s: exit %d, %s", name, res.code, res.stderr)
		}
	}
	there.says(exitcode.NotFound, []string{"missing.file"}, "restore-backup", "missing.file")
	if list := get[[]thread.Status](there, "threads", "--all"); len(list) != 0 {
		t.Errorf("%d threads came of damaged backups", len(list))
	}
}

// flipped is b with one byte changed.
func flipped(b []byte, at int) []byte {
	b = append([]byte(nil), b...)
	b[at] ^= 0xff
	return b
}
