package snapshot_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/checkpoint/snapshot"
	"orchestrator/thread"
)

// hollowed is what a power cut leaves of a file that was not synced.
var hollowed = map[string]func(path string) error{
	"empty": func(path string) error { return os.Truncate(path, 0) },
	"zeroes": func(path string) error {
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		return os.WriteFile(path, make([]byte, info.Size()), 0o600)
	},
	"gone": os.Remove,
	// What a damaged disk leaves.
	"grown": func(path string) error {
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(path, append(append(b, make([]byte, 2<<20)...), 'x'), 0o600)
	},
}

// fork is a worktree with work in it: a commit, a staged file, an uncommitted one, an untracked one.
func (r *repo) fork() (wt thread.Worktree, last thread.Snapshot) {
	r.Helper()
	r.write("a", "a\n")
	r.write("b", "b\n")
	r.write(".gitignore", ".env\n")
	r.commitAll("first")
	r.write("new", "untracked\n")
	wt = r.add("fork", r.take(nil))
	r.writeIn(wt.Path, "a", "committed\n", 0o644)
	r.gitIn(wt.Path, "commit", "-q", "-a", "-m", "work")
	r.writeIn(wt.Path, "b", "uncommitted\n", 0o644)
	r.writeIn(wt.Path, ".env", "secret", 0o600)
	last, err := r.store.Take(context.Background(), "t2", wt.Path, nil)
	if err != nil {
		r.Fatal(err)
	}
	if err := r.store.Close(); err != nil {
		r.Fatal(err)
	}
	return wt, last
}

// works makes sure that everything can be done with a worktree.
func (r *repo) works(wt thread.Worktree, last thread.Snapshot) {
	r.Helper()
	ctx := context.Background()
	want := map[string]string{"a": "committed\n", "b": "uncommitted\n", "new": "untracked\n", ".gitignore": ".env\n", ".env": "secret"}
	r.same("its files", r.files(wt.Path), want)
	if s := r.gitIn(wt.Path, "status", "--porcelain", "--branch"); s != "## orchestrator/fork\n M b\n?? new" {
		r.Errorf("status:\n%s", s)
	}
	if head := r.gitIn(wt.Path, "log", "-1", "--format=%s"); head != "work" {
		r.Errorf("HEAD is %q", head)
	}
	if diffs, err := r.store.Diff(ctx, wt.Path, wt.Base, ""); err != nil || len(diffs) != 3 {
		r.Errorf("diff: %v %v", diffs, err)
	}
	again, err := r.store.Take(ctx, "t2", wt.Path, &last)
	if err != nil || again.Tree != last.Tree {
		r.Errorf("take: %v %+v", err, again)
	}
	if _, err := r.store.Restore(ctx, "t2", wt.Path, last); err != nil {
		r.Errorf("restore: %v", err)
	}
	if list, err := r.store.List(ctx); err != nil || len(list) != 1 || list[0].Missing || list[0].Thread != "t2" {
		r.Errorf("list: %+v %v", list, err)
	}
	if _, err := r.store.Add(ctx, "t3", wt.Path, "second", last); err != nil {
		r.Errorf("fork: %v", err)
	}
	if _, err := r.store.Remove(ctx, "t2", wt); err != nil {
		r.Errorf("remove: %v", err)
	}
}

// TestHollowWorktree empties each of the files that make a folder a worktree, and all of them: the next start sets it
// right, and so does the first use without one.
func TestHollowWorktree(t *testing.T) {
	part := func(name string) func(*repo, thread.Worktree) []string {
		return func(r *repo, _ thread.Worktree) []string {
			return []string{filepath.Join(r.dir, ".git/worktrees/fork", name)}
		}
	}
	for name, files := range map[string]func(*repo, thread.Worktree) []string{
		".git":      func(_ *repo, wt thread.Worktree) []string { return []string{filepath.Join(wt.Path, ".git")} },
		"HEAD":      part("HEAD"),
		"commondir": part("commondir"),
		"gitdir":    part("gitdir"),
		"index":     part("index"),
		"marker":    part("orchestrator.json"),
		"all": func(r *repo, wt thread.Worktree) []string {
			all := []string{filepath.Join(wt.Path, ".git")}
			for _, name := range []string{"HEAD", "commondir", "gitdir", "index", "orchestrator.json"} {
				all = append(all, filepath.Join(r.dir, ".git/worktrees/fork", name))
			}
			return all
		},
		"branch too": func(r *repo, _ thread.Worktree) []string {
			return []string{filepath.Join(r.dir, ".git/worktrees/fork/HEAD"), filepath.Join(r.dir, ".git/refs/heads/orchestrator/fork")}
		},
		"branch": func(r *repo, _ thread.Worktree) []string {
			return []string{filepath.Join(r.dir, ".git/refs/heads/orchestrator/fork")}
		},
		"branch, no reflog": func(r *repo, _ thread.Worktree) []string {
			r.remove(".git/logs/refs/heads/orchestrator/fork")
			return []string{filepath.Join(r.dir, ".git/refs/heads/orchestrator/fork")}
		},
		"our own": func(r *repo, _ thread.Worktree) []string {
			found, _ := filepath.Glob(filepath.Join(r.top, "state/own/*/*"))
			more, _ := filepath.Glob(filepath.Join(r.top, "state/own/*/shadow/*"))
			var all []string
			for _, f := range append(found, more...) {
				if info, err := os.Lstat(f); err == nil && info.Mode().IsRegular() && filepath.Base(f) != "made.json" {
					all = append(all, f)
				}
			}
			return append(all, filepath.Join(r.dir, ".git/worktrees/fork/HEAD"))
		},
	} {
		for kind, cut := range hollowed {
			for _, start := range []bool{true, false} {
				alike := strings.Contains(" HEAD commondir gitdir marker our own ", " "+name+" ")
				if kind != "empty" && (!start || alike) {
					continue // the same way as others
				}
				t.Run(fmt.Sprintf("%s/%s/start=%t", name, kind, start), func(t *testing.T) {
					t.Parallel()
					r := isolate(t)
					wt, last := r.fork()
					for _, file := range files(r, wt) {
						if err := cut(file); err != nil {
							t.Fatal(err)
						}
					}
					var said string
					r.store = r.noticed(&said)
					if start {
						all, err := r.store.Repair(t.Context())
						if err != nil {
							t.Fatal(err)
						}
						said = strings.Join(all, "\n")
						if more, err := r.store.Repair(t.Context()); err != nil || len(more) > 0 {
							t.Errorf("said again: %q %v", more, err)
						}
					} else if _, err := r.store.Take(t.Context(), "t2", wt.Path, &last); err != nil {
						t.Fatal(err)
					}
					if !strings.Contains(said, "rebuilt the worktree "+wt.Path) {
						t.Errorf("said %q", said)
					}
					r.works(wt, last)
				})
			}
		}
	}
}

// noticed opens a store that tells what it set right at use.
func (r *repo) noticed(said *string) *snapshot.Store {
	r.Helper()
	s := r.open(0)
	s.OnRepair(func(text string) { *said += text + "\n" })
	return s
}

// TestHollowFiles cuts the files of a worktree short: where a power cut is to be seen, those that hold nothing of their
// own are written again, and no other is touched.
func TestHollowFiles(t *testing.T) {
	long := strings.Repeat("line of a long file\n", 10_000)
	for name, tc := range map[string]struct {
		settled, evidence, rebuilt bool
	}{
		"before it was synced":        {false, false, true},
		"with a hollow HEAD":          {true, true, true},
		"where no power cut happened": {true, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := isolate(t)
			for _, f := range []string{"empty", "short", "zeroes", "tail", "changed", "grown", "whole", "gone"} {
				r.write(f, long)
			}
			r.write("ends-with-zeroes", "x\x00\x00")
			r.writeIn(r.dir, "script", long, 0o755)
			r.commitAll("first")
			wt := r.add("fork", r.take(nil))
			if err := r.store.Close(); err != nil {
				t.Fatal(err)
			}
			if !tc.settled {
				r.unsettle()
			}
			at := func(name string) string { return filepath.Join(wt.Path, name) }
			r.writeIn(wt.Path, "empty", "", 0o644)
			r.writeIn(wt.Path, "script", "", 0o755)
			r.writeIn(wt.Path, "short", long[:70_000], 0o644)
			r.writeIn(wt.Path, "zeroes", strings.Repeat("\x00", len(long)), 0o644)
			r.writeIn(wt.Path, "tail", long[:70_000]+strings.Repeat("\x00", len(long)-70_000), 0o644)
			r.writeIn(wt.Path, "changed", "the agent's\n", 0o644)
			r.writeIn(wt.Path, "grown", long+"more\n", 0o644)
			r.writeIn(wt.Path, "untracked", "", 0o644)
			if err := os.Remove(at("gone")); err != nil {
				t.Fatal(err)
			}
			want := r.files(wt.Path)
			if tc.evidence {
				if err := os.Truncate(filepath.Join(r.dir, ".git/worktrees/fork/HEAD"), 0); err != nil {
					t.Fatal(err)
				}
			}
			said := r.repair()
			if tc.rebuilt {
				for _, f := range []string{"empty", "short", "zeroes", "tail"} {
					want[f] = long
				}
				want["script"] = "exec " + long
				if !strings.Contains(said, "5 of its files are those of the last snapshot again") {
					t.Errorf("said %q", said)
				}
			} else if said != "" {
				t.Errorf("said %q", said)
			}
			r.same("files", r.files(wt.Path), want)
			snap, err := r.store.Take(t.Context(), "t2", wt.Path, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.same("the next snapshot", r.held(snap), want)
			if said := r.repair(); said != "" {
				t.Errorf("said again %q", said)
			}
		})
	}
}

// unsettle makes the records say that the files may not be on the disk.
func (r *repo) unsettle() {
	r.Helper()
	found, err := filepath.Glob(filepath.Join(r.top, "state/own/*/made.json"))
	if err != nil || len(found) == 0 {
		r.Fatal(found, err)
	}
	for _, file := range found {
		b, err := os.ReadFile(file)
		if err != nil {
			r.Fatal(err)
		}
		cut := bytes.Replace(b, []byte(`,"settled":true`), nil, 1)
		if bytes.Equal(cut, b) {
			r.Fatalf("it never settled: %s", b)
		}
		if err := os.WriteFile(file, cut, 0o600); err != nil {
			r.Fatal(err)
		}
	}
}

// TestHollowBeyondRepair takes away what a worktree could be rebuilt from: every operation says what can be done.
func TestHollowBeyondRepair(t *testing.T) {
	r := isolate(t)
	wt, last := r.fork()
	if err := os.RemoveAll(filepath.Join(r.dir, ".git/worktrees")); err != nil {
		t.Fatal(err)
	}
	said := r.repair()
	if strings.Contains(said, "rebuilt") {
		t.Errorf("said %q", said)
	}
	if _, err := r.store.Take(t.Context(), "t2", wt.Path, &last); err == nil {
		t.Error("taken")
	}
	// The files are kept by the snapshot: a fork of it works.
	other := r.add("again", last)
	r.same("fork", r.files(other.Path), r.held(last))
}

// TestLostGitFile: a worktree without its .git file is not taken for a part of a repository around our folder.
func TestLostGitFile(t *testing.T) {
	r := isolate(t)
	wt, last := r.fork()
	r.git("init", "-q", r.top)
	if err := os.Remove(filepath.Join(wt.Path, ".git")); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(r.dir, ".git/worktrees/fork")); err != nil {
		t.Fatal(err)
	}
	r.writeIn(r.top, "victim", "v\n", 0o644)
	if _, err := r.store.Restore(t.Context(), "t2", wt.Path, last); err == nil {
		t.Error("restored over the repository around")
	}
	if _, err := r.store.Take(t.Context(), "t2", wt.Path, nil); err == nil {
		t.Error("took the repository around")
	}
	if s := r.gitIn(r.top, "for-each-ref"); s != "" {
		t.Errorf("the repository around has refs: %s", s)
	}
}

// TestDamagedRefs empties refs of snapshots, breaks them, and has one lead to a commit that is not there.
func TestDamagedRefs(t *testing.T) {
	r := isolate(t)
	ctx := context.Background()
	r.write("a", "0\n")
	r.commitAll("first")
	var commits []string
	for i := range 5 {
		r.write("a", fmt.Sprintf("%d\n", i+1))
		commits = append(commits, r.take(nil).Commit)
	}
	refs := filepath.Join(r.dir, ".git/refs/orchestrator/t1")
	for name, content := range map[string]string{"1": "", "2": strings.Repeat("\x00", 41), "3": strings.Repeat("a", 40) + "\n", "5": "no id\n"} {
		r.writeIn(refs, name, content, 0o644)
	}
	if ids, err := r.store.Damaged(ctx); err != nil || len(ids) != 1 || ids[0] != "t1" {
		t.Fatalf("damaged: %v %v", ids, err)
	}
	r.store = r.open(0)
	if said, err := r.store.Repair(ctx); err != nil || len(said) > 0 {
		t.Errorf("repair: %q %v", said, err)
	}
	r.write("a", "after\n")
	after := r.take(nil) // the rest goes on
	missing := strings.Repeat("b", 40)
	said, err := r.store.RepairRefs(ctx, "t1", append(commits, missing, "--all", ""))
	if err != nil || !strings.Contains(said, "4 snapshot refs were damaged") || !strings.Contains(said, "4 snapshots are kept again") ||
		!strings.Contains(said, "1 snapshot is lost: "+missing) {
		t.Errorf("said %q %v", said, err)
	}
	if ids, err := r.store.Damaged(ctx); err != nil || len(ids) != 0 {
		t.Errorf("damaged: %v %v", ids, err)
	}
	kept, err := r.store.Kept(ctx)
	if err != nil || len(kept) != 1 || len(kept["t1"]) != 6 || !kept["t1"][commits[0]] || kept["t1"][missing] {
		t.Errorf("kept: %v %v", kept, err)
	}
	r.git("gc", "-q", "--prune=now")
	r.git("fsck", "--no-dangling")
	for _, commit := range append(commits, after.Commit) {
		r.git("cat-file", "-e", commit+"^{tree}")
	}
	if _, err := r.store.Size(ctx); err != nil {
		t.Error(err)
	}
}

// TestDropTakesDamagedRefs: a purged thread leaves nothing.
func TestDropTakesDamagedRefs(t *testing.T) {
	r := isolate(t)
	r.write("a", "a\n")
	r.commitAll("first")
	r.take(nil)
	r.writeIn(filepath.Join(r.dir, ".git/refs/orchestrator/t1"), "1", "", 0o644)
	if err := r.store.Drop(t.Context(), "t1"); err != nil {
		t.Fatal(err)
	}
	if ids, err := r.store.Damaged(t.Context()); err != nil || len(ids) != 0 {
		t.Errorf("damaged: %v %v", ids, err)
	}
}

// TestHollowShadow empties the files of our own git folder, whose stamp is whole.
func TestHollowShadow(t *testing.T) {
	for _, name := range []string{"HEAD", "config", "info/attributes"} {
		for kind, cut := range hollowed {
			r := isolate(t)
			r.write(".gitattributes", "* text eol=lf\n")
			r.write("a", "a\n")
			r.commitAll("first")
			r.take(nil)
			if err := cut(filepath.Join(r.top, "state/own/main/shadow", name)); err != nil {
				t.Fatal(err)
			}
			r.write("a", "b\r\n")
			snap, err := r.open(0).Take(t.Context(), "t1", r.dir, nil)
			if err != nil {
				t.Errorf("%s %s: %v", name, kind, err)
				continue
			}
			r.same(name+" "+kind, r.held(snap), map[string]string{".gitattributes": "* text eol=lf\n", "a": "b\r\n"})
		}
	}
}
