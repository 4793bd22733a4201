package worktree_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/checkpoint/snapshot/snapshottest"
	"orchestrator/thread"
	"orchestrator/thread/ground/sample"
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
	r.Write("a", "a\n")
	r.Write("b", "b\n")
	r.Write(".gitignore", ".env\n")
	r.CommitAll("first")
	r.Write("new", "untracked\n")
	wt = r.Add("fork", r.Take(nil))
	r.WriteIn(wt.Path, "a", "committed\n", 0o644)
	r.GitIn(wt.Path, "commit", "-q", "-a", "-m", "work")
	r.WriteIn(wt.Path, "b", "uncommitted\n", 0o644)
	r.WriteIn(wt.Path, ".env", "secret", 0o600)
	last, err := r.Store.Take(context.Background(), "t2", wt.Path, nil)
	if err != nil {
		r.Fatal(err)
	}
	if err := r.Store.Close(); err != nil {
		r.Fatal(err)
	}
	return wt, last
}

// works makes sure that everything can be done with a worktree.
func (r *repo) works(wt thread.Worktree, last thread.Snapshot) {
	r.Helper()
	ctx := context.Background()
	r.looks("in the end", wt)
	if diffs, err := r.Store.Diff(ctx, wt.Path, wt.Base, ""); err != nil || len(diffs) != 3 {
		r.Errorf("diff: %v %v", diffs, err)
	}
	again, err := r.Store.Take(ctx, "t2", wt.Path, &last)
	if err != nil || again.Tree != last.Tree {
		r.Errorf("take: %v %+v", err, again)
	}
	if _, err := r.Store.Restore(ctx, "t2", wt.Path, last); err != nil {
		r.Errorf("restore: %v", err)
	}
	if list, err := r.Store.Finder.List(ctx); err != nil || len(list) != 1 || list[0].Missing || list[0].Thread != "t2" {
		r.Errorf("list: %+v %v", list, err)
	}
	if _, err := r.Store.Add(ctx, "t3", wt.Path, "second", last); err != nil {
		r.Errorf("fork: %v", err)
	}
	if _, err := r.Store.Remove(ctx, "t2", wt); err != nil {
		r.Errorf("remove: %v", err)
	}
}

// looks compares a fork with what it was: its files, and what git says about it.
func (r *repo) looks(what string, wt thread.Worktree) {
	r.Helper()
	r.Same(what+": its files", r.Files(wt.Path), map[string]string{"a": "committed\n", "b": "uncommitted\n",
		"new": "untracked\n", ".gitignore": ".env\n", ".env": "secret"})
	if s := r.GitIn(wt.Path, "status", "--porcelain", "--branch"); s != "## orchestrator/fork\n M b\n?? new" {
		r.Errorf("%s: status:\n%s", what, s)
	}
	if head := r.GitIn(wt.Path, "log", "-1", "--format=%s"); head != "work" {
		r.Errorf("%s: HEAD is %q", what, head)
	}
}

// TestHollowWorktree empties each of the files that make a folder a worktree, and all of them: the next start sets it
// right, and so does the first use without one.
func TestHollowWorktree(t *testing.T) {
	part := func(name string) func(*repo, thread.Worktree) []string {
		return func(r *repo, _ thread.Worktree) []string {
			return []string{filepath.Join(r.Dir, ".git/worktrees/fork", name)}
		}
	}
	for name, files := range sample.In(t, 2, map[string]func(*repo, thread.Worktree) []string{
		".git":      func(_ *repo, wt thread.Worktree) []string { return []string{filepath.Join(wt.Path, ".git")} },
		"HEAD":      part("HEAD"),
		"commondir": part("commondir"),
		"gitdir":    part("gitdir"),
		"index":     part("index"),
		"marker":    part("orchestrator.json"),
		"all": func(r *repo, wt thread.Worktree) []string {
			all := []string{filepath.Join(wt.Path, ".git")}
			for _, name := range []string{"HEAD", "commondir", "gitdir", "index", "orchestrator.json"} {
				all = append(all, filepath.Join(r.Dir, ".git/worktrees/fork", name))
			}
			return all
		},
		"branch too": func(r *repo, _ thread.Worktree) []string {
			return []string{filepath.Join(r.Dir, ".git/worktrees/fork/HEAD"),
				filepath.Join(r.Dir, ".git/refs/heads/orchestrator/fork")}
		},
		"branch": func(r *repo, _ thread.Worktree) []string {
			return []string{filepath.Join(r.Dir, ".git/refs/heads/orchestrator/fork")}
		},
		"branch, no reflog": func(r *repo, _ thread.Worktree) []string {
			r.Remove(".git/logs/refs/heads/orchestrator/fork")
			return []string{filepath.Join(r.Dir, ".git/refs/heads/orchestrator/fork")}
		},
		"our own": func(r *repo, _ thread.Worktree) []string {
			found, _ := filepath.Glob(filepath.Join(r.Top, "state/own/*/*"))
			more, _ := filepath.Glob(filepath.Join(r.Top, "state/own/*/shadow/*"))
			var all []string
			for _, f := range append(found, more...) {
				if info, err := os.Lstat(f); err == nil && info.Mode().IsRegular() && filepath.Base(f) != "made.json" {
					all = append(all, f)
				}
			}
			return append(all, filepath.Join(r.Dir, ".git/worktrees/fork/HEAD"))
		},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// One fork for all kinds of damage: what is rebuilt is each time what it was, byte for byte, and is damaged again.
			r := isolate(t)
			wt, last := r.fork()
			whole := r.parts(wt)
			for kind, cut := range hollowed {
				for _, start := range []bool{true, false} {
					alike := strings.Contains(" HEAD commondir gitdir marker our own ", " "+name+" ")
					if kind != "empty" && (!start || alike) {
						continue // the same way as others
					}
					what := fmt.Sprintf("%s, start=%t", kind, start)
					for _, file := range files(r, wt) {
						if err := cut(file); err != nil {
							t.Fatalf("%s: %v", what, err)
						}
					}
					var said string
					r.Store = r.noticed(&said)
					if start {
						all, err := r.Store.Repair(t.Context())
						if err != nil {
							t.Fatalf("%s: %v", what, err)
						}
						said = strings.Join(all, "\n")
						if more, err := r.Store.Repair(t.Context()); err != nil || len(more) > 0 {
							t.Errorf("%s: said again: %q %v", what, more, err)
						}
					} else if _, err := r.Store.Take(t.Context(), "t2", wt.Path, &last); err != nil {
						t.Fatalf("%s: %v", what, err)
					}
					if !strings.Contains(said, "rebuilt worktree "+wt.Path) {
						t.Errorf("%s: said %q", what, said)
					}
					r.Same(what+": its parts", r.parts(wt), whole)
					r.looks(what, wt)
					if again, err := r.Store.Take(t.Context(), "t2", wt.Path, &last); err != nil || again.Tree != last.Tree {
						t.Errorf("%s: take: %v %+v", what, err, again)
					}
					if err := r.Store.Close(); err != nil {
						t.Fatalf("%s: %v", what, err)
					}
				}
			}
			r.Store = r.Open(0)
			r.works(wt, last)
		})
	}
}

// parts are the files that make a worktree one, its index aside, which looks tells of.
func (r *repo) parts(wt thread.Worktree) map[string]string {
	r.Helper()
	part := filepath.Join(r.Dir, ".git/worktrees/fork")
	found := map[string]string{}
	for _, file := range []string{
		filepath.Join(wt.Path, ".git"), filepath.Join(part, "HEAD"), filepath.Join(part, "commondir"),
		filepath.Join(part, "gitdir"), filepath.Join(part, "orchestrator.json"),
		filepath.Join(r.Dir, ".git/refs/heads/orchestrator/fork"),
	} {
		b, err := os.ReadFile(file)
		if err != nil {
			r.Fatal(err)
		}
		found[file] = string(b)
	}
	return found
}

// noticed opens a store that tells what it set right at use.
func (r *repo) noticed(said *string) *snapshottest.Store {
	r.Helper()
	s := r.Open(0)
	s.Finder.OnRepair(func(text string) { *said += text + "\n" })
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
				r.Write(f, long)
			}
			r.Write("ends-with-zeroes", "x\x00\x00")
			r.WriteIn(r.Dir, "script", long, 0o755)
			r.CommitAll("first")
			wt := r.Add("fork", r.Take(nil))
			if err := r.Store.Close(); err != nil {
				t.Fatal(err)
			}
			if !tc.settled {
				r.unsettle()
			}
			at := func(name string) string { return filepath.Join(wt.Path, name) }
			r.WriteIn(wt.Path, "empty", "", 0o644)
			r.WriteIn(wt.Path, "script", "", 0o755)
			r.WriteIn(wt.Path, "short", long[:70_000], 0o644)
			r.WriteIn(wt.Path, "zeroes", strings.Repeat("\x00", len(long)), 0o644)
			r.WriteIn(wt.Path, "tail", long[:70_000]+strings.Repeat("\x00", len(long)-70_000), 0o644)
			r.WriteIn(wt.Path, "changed", "the agent's\n", 0o644)
			r.WriteIn(wt.Path, "grown", long+"more\n", 0o644)
			r.WriteIn(wt.Path, "untracked", "", 0o644)
			if err := os.Remove(at("gone")); err != nil {
				t.Fatal(err)
			}
			want := r.Files(wt.Path)
			if tc.evidence {
				if err := os.Truncate(filepath.Join(r.Dir, ".git/worktrees/fork/HEAD"), 0); err != nil {
					t.Fatal(err)
				}
			}
			said := r.repair()
			if tc.rebuilt {
				for _, f := range []string{"empty", "short", "zeroes", "tail"} {
					want[f] = long
				}
				want["script"] = "exec " + long
				if !strings.Contains(said, "restored 5 of its files from the last snapshot") {
					t.Errorf("said %q", said)
				}
			} else if said != "" {
				t.Errorf("said %q", said)
			}
			r.Same("files", r.Files(wt.Path), want)
			snap, err := r.Store.Take(t.Context(), "t2", wt.Path, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Same("the next snapshot", r.Held(snap), want)
			if said := r.repair(); said != "" {
				t.Errorf("said again %q", said)
			}
		})
	}
}

// unsettle makes the records say that the files may not be on the disk.
func (r *repo) unsettle() {
	r.Helper()
	found, err := filepath.Glob(filepath.Join(r.Top, "state/own/*/made.json"))
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
	if err := os.RemoveAll(filepath.Join(r.Dir, ".git/worktrees")); err != nil {
		t.Fatal(err)
	}
	said := r.repair()
	if strings.Contains(said, "rebuilt") {
		t.Errorf("said %q", said)
	}
	if _, err := r.Store.Take(t.Context(), "t2", wt.Path, &last); err == nil {
		t.Error("taken")
	}
	// The files are kept by the snapshot: a fork of it works.
	other := r.Add("again", last)
	r.Same("fork", r.Files(other.Path), r.Held(last))
}

// TestLostGitFile: a worktree without its .git file is not taken for a part of a repository around our folder.
func TestLostGitFile(t *testing.T) {
	r := isolate(t)
	wt, last := r.fork()
	r.Git("init", "-q", r.Top)
	if err := os.Remove(filepath.Join(wt.Path, ".git")); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(r.Dir, ".git/worktrees/fork")); err != nil {
		t.Fatal(err)
	}
	r.WriteIn(r.Top, "victim", "v\n", 0o644)
	if _, err := r.Store.Restore(t.Context(), "t2", wt.Path, last); err == nil {
		t.Error("restored over the repository around")
	}
	if _, err := r.Store.Take(t.Context(), "t2", wt.Path, nil); err == nil {
		t.Error("took the repository around")
	}
	if s := r.GitIn(r.Top, "for-each-ref"); s != "" {
		t.Errorf("the repository around has refs: %s", s)
	}
}

// TestHollowShadow empties the files of our own git folder, whose stamp is whole.
func TestHollowShadow(t *testing.T) {
	r := isolate(t)
	r.Write(".gitattributes", "* text eol=lf\n")
	r.Write("a", "a\n")
	r.CommitAll("first")
	r.Take(nil)
	for _, name := range []string{"HEAD", "config", "info/attributes"} {
		for kind, cut := range hollowed {
			if err := cut(filepath.Join(r.Top, "state/own/main/shadow", name)); err != nil {
				t.Fatal(err)
			}
			r.Write("a", name+" "+kind+"\r\n")
			snap, err := r.Open(0).Take(t.Context(), "t1", r.Dir, nil)
			if err != nil {
				t.Errorf("%s %s: %v", name, kind, err)
				continue
			}
			r.Same(name+" "+kind, r.Held(snap), map[string]string{".gitattributes": "* text eol=lf\n", "a": name + " " + kind + "\r\n"})
		}
	}
}
