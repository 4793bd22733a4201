package branch_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orchestrator/checkpoint/branch"
	"orchestrator/thread"
)

// note writes what a merge or its abort leaves of itself when it is killed.
func (r *repo) note(op string) {
	r.Helper()
	r.write(".git/orchestrator-merge", fmt.Sprintf(`{"op":%q,"head":%q,"tip":%q}`, op, r.git("rev-parse", "HEAD"),
		r.git("rev-parse", "side")))
}

func (r *repo) repair() {
	r.Helper()
	if err := r.merger.Repair(context.Background(), r.dir); err != nil {
		r.Fatal(err)
	}
}

// TestRepair puts a worktree into states that a killed git leaves: all that is of the merge goes, and nothing else.
func TestRepair(t *testing.T) {
	const big = "a long line of the side\n"
	r := newRepo(t)
	r.write("d/x", "x\n")
	r.write("to folder", "f\n")
	r.write("kept", "kept\n")
	r.git("add", "-A")
	r.git("commit", "-q", "-m", "more")
	r.gitIn(r.side, "reset", "-q", "--hard", "main")
	r.writeIn(r.side, "a", strings.Repeat(big, 100))
	r.writeIn(r.side, "kept", big)
	r.writeIn(r.side, "new/deep/file", big)
	r.writeIn(r.side, "new/whole", big)
	for _, name := range []string{"b", "d/x", "d", "to folder"} {
		if err := os.Remove(filepath.Join(r.side, name)); err != nil {
			t.Fatal(err)
		}
	}
	r.writeIn(r.side, "d", big)
	r.writeIn(r.side, "to folder/file", big)
	if err := os.Symlink("a", filepath.Join(r.side, "link")); err != nil {
		t.Fatal(err)
	}
	r.commit(r.side, "work")
	r.write("mine", "not committed\n")
	before := r.state()
	remove := func(names ...string) {
		for _, name := range names {
			if err := os.Remove(filepath.Join(r.dir, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, half := range map[string]func(){
		"nothing":           func() {},
		"half a file":       func() { r.write("a", strings.Repeat(big, 50)+"a lo") },
		"an empty file":     func() { r.write("a", "") },
		"no file":           func() { remove("a", "b") },
		"half a new file":   func() { r.write("new/deep/file", "a long"); r.write("new/whole", big) },
		"a file, a folder":  func() { remove("to folder"); r.write("to folder/file", "a") },
		"a folder, a file":  func() { remove("d/x", "d"); r.write("d", "a long") },
		"a folder, no file": func() { remove("d/x", "d") },
		"a link":            func() { _ = os.Symlink("a", filepath.Join(r.dir, "link")) },
		"all but the commit": func() {
			r.git("merge", "-q", "--no-ff", "--no-commit", "side")
			remove(".git/MERGE_HEAD", ".git/MERGE_MSG", ".git/MERGE_MODE")
		},
		"git's own note too":  func() { r.git("merge", "-q", "--no-ff", "--no-commit", "side") },
		"git's note is empty": func() { r.git("merge", "-q", "--no-ff", "--no-commit", "side"); r.write(".git/MERGE_HEAD", "") },
		"half a repair":       func() { r.write("a", "1\n2") },
	} {
		t.Run(name, func(t *testing.T) {
			r.T = t
			half()
			r.note("merge")
			r.repair()
			if after := r.state(); after != before {
				t.Fatalf("not put right:\n%.2000s\n==\n%.2000s", before, after)
			}
			if _, err := os.Lstat(filepath.Join(r.dir, "new")); err == nil {
				t.Error("an empty folder is left")
			}
		})
	}
	r.T = t
	done, err := r.merger.Merge(context.Background(), r.dir, "side", "m")
	if err != nil || done.Commit == "" || r.read(r.dir, "to folder/file") != big {
		t.Errorf("%+v %v", done, err)
	}
}

// TestRepairLeavesWhatIsYours: what a person wrote after the crash stays, wherever it lies.
func TestRepairLeavesWhatIsYours(t *testing.T) {
	r := newRepo(t)
	outside := filepath.Join(r.top, "outside")
	r.writeIn(outside, "file", "of the side\n")
	for _, name := range []string{"a", "new/file", "linked/file", "folder", "late"} {
		r.writeIn(r.side, name, "of the side\n")
	}
	r.commit(r.side, "work")
	r.write("a", "of the side\nand mine\n")
	r.write("new/file", "mine")
	r.write("folder/mine", "mine")
	r.write("late", "of")
	if err := os.Symlink(outside, filepath.Join(r.dir, "linked")); err != nil {
		t.Fatal(err)
	}
	r.note("merge")
	_, err := r.merger.Merge(context.Background(), r.dir, "side", "m")
	var dirty *branch.DirtyError
	if !errors.As(err, &dirty) || !slices.Equal(dirty.Files, []string{"a", "folder", "linked/file", "new/file"}) {
		t.Errorf("err = %v", err)
	}
	for name, want := range map[string]string{"a": "of the side\nand mine\n", "new/file": "mine", "folder/mine": "mine",
		"linked/file": "of the side\n"} {
		if got := r.read(r.dir, name); got != want {
			t.Errorf("%s is %q", name, got)
		}
	}
	if got := r.read(outside, "file"); got != "of the side\n" {
		t.Errorf("outside: %q", got)
	}
	if _, err := os.Lstat(filepath.Join(r.dir, "late")); err == nil {
		t.Error("half a file is left")
	}
}

// TestRepairOfConflicts: a merge that stands there whole is the person's, an abort that was cut off is ended.
func TestRepairOfConflicts(t *testing.T) {
	r := conflict(t)
	ctx := context.Background()
	before := r.state()
	if _, err := r.merger.Merge(ctx, r.dir, "side", "m"); err != nil {
		t.Fatal(err)
	}
	r.write("a", "1\nboth\n3\n")
	r.note("merge")
	open := r.state()
	r.repair()
	if r.state() != open || r.read(r.dir, "a") != "1\nboth\n3\n" {
		t.Errorf("touched:\n%s\n==\n%s", open, r.state())
	}
	r.write("a", "1\nma")
	r.note("abort")
	r.repair()
	if after := r.state(); after != before {
		t.Errorf("not taken back:\n%s\n==\n%s", before, after)
	}

	// Killed after the files and before git's own note of the conflicts.
	if _, err := r.merger.Merge(ctx, r.dir, "side", "m"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"MERGE_HEAD", "MERGE_MSG", "MERGE_MODE"} {
		if err := os.Remove(filepath.Join(r.dir, ".git", name)); err != nil {
			t.Fatal(err)
		}
	}
	r.note("merge")
	r.repair()
	if after := r.state(); after != before {
		t.Errorf("conflicts without a merge are left:\n%s\n==\n%s", before, after)
	}
}

// TestRepairOfAMergeThatIsDone: git was killed after the commit, before it took its own note away.
func TestRepairOfAMergeThatIsDone(t *testing.T) {
	r := newRepo(t)
	r.writeIn(r.side, "a", "side\n")
	r.commit(r.side, "work")
	r.note("merge")
	r.git("merge", "-q", "--no-ff", "-m", "m", "side")
	r.write(".git/MERGE_HEAD", r.git("rev-parse", "side")+"\n")
	r.repair()
	if in, err := r.merger.InProgress(context.Background(), r.dir); in || err != nil ||
		r.git("status", "--porcelain") != "" {
		t.Errorf("in progress: %v %v %s", in, err, r.git("status", "--porcelain"))
	}
}

// TestRepairOfNothing: notes that say nothing, or of what is over, change nothing.
func TestRepairOfNothing(t *testing.T) {
	r := newRepo(t)
	r.writeIn(r.side, "a", "side\n")
	r.commit(r.side, "work")
	r.note("merge")
	old := r.read(r.dir, ".git/orchestrator-merge")
	r.write("c", "c\n")
	r.git("add", "c")
	r.git("commit", "-q", "-m", "went on")
	r.write("a", "si")
	before := r.state()
	for _, note := range []string{old, "", "{", `{"op":"merge","head":"--output=x","tip":"HEAD"}`,
		strings.Repeat("x", 1<<16)} {
		r.write(".git/orchestrator-merge", note)
		r.repair()
		if after := r.state(); after != before {
			t.Errorf("%.40s changed:\n%s\n==\n%s", note, before, after)
		}
		if left := r.read(r.dir, ".git/orchestrator-merge"); left != "" {
			t.Errorf("%.40s is left", note)
		}
	}
	if err := r.merger.Repair(context.Background(), filepath.Join(r.top, "nowhere")); !errors.Is(err, thread.ErrNotFound) {
		t.Errorf("no folder: %v", err)
	}
}

// TestMergeOfTheSameWork: what lies uncommitted where it is merged to is no obstacle when it is what the merge brings.
func TestMergeOfTheSameWork(t *testing.T) {
	r := newRepo(t)
	for _, dir := range []string{r.side, r.dir} {
		r.writeIn(dir, "a", "the same\n")
		r.writeIn(dir, "new/file", "the same\n")
		if err := os.Symlink("link", filepath.Join(dir, "link")); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(filepath.Join(dir, "b")); err != nil {
			t.Fatal(err)
		}
	}
	r.git("add", "a")
	r.commit(r.side, "work")
	if err := os.Remove(filepath.Join(r.dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("another", filepath.Join(r.dir, "link")); err != nil {
		t.Fatal(err)
	}
	var dirty *branch.DirtyError
	if _, err := r.merger.Merge(context.Background(), r.dir, "side", "m"); !errors.As(err, &dirty) ||
		!slices.Equal(dirty.Files, []string{"link"}) {
		t.Errorf("another link: %v", err)
	}
	if err := os.Remove(filepath.Join(r.dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("link", filepath.Join(r.dir, "link")); err != nil {
		t.Fatal(err)
	}
	if what, err := r.merger.Preview(context.Background(), r.dir, r.side); err != nil || len(what.Conflicts) > 0 {
		t.Errorf("preview: %+v %v", what, err)
	}
	done, err := r.merger.Merge(context.Background(), r.dir, "side", "m")
	if err != nil || done.Commit == "" || r.git("status", "--porcelain") != "" {
		t.Errorf("%+v %v %s", done, err, r.git("status", "--porcelain"))
	}
	if link, err := os.Readlink(filepath.Join(r.dir, "link")); r.read(r.dir, "a") != "the same\n" ||
		r.read(r.dir, "new/file") != "the same\n" || link != "link" {
		t.Errorf("files are not as they should be: %v", err)
	}
}

// TestMergeOfTheSameWorkThatFails: what is not committed, and what the merge brings too, is there again.
func TestMergeOfTheSameWorkThatFails(t *testing.T) {
	double := func(t *testing.T) *repo {
		t.Helper()
		r := newRepo(t)
		for _, dir := range []string{r.side, r.dir} {
			r.writeIn(dir, "a", "the same\n")
			r.writeIn(dir, "new/file", "the same\n")
			if err := os.Remove(filepath.Join(dir, "b")); err != nil {
				t.Fatal(err)
			}
		}
		r.commit(r.side, "work")
		r.write("mine", "untracked\n")
		return r
	}
	t.Run("refused by git", func(t *testing.T) {
		r := double(t)
		before := r.state()
		r.write(".git/HEAD.lock", "")
		_, err := r.merger.Merge(t.Context(), r.dir, "side", "m")
		if err == nil || !strings.Contains(err.Error(), "HEAD.lock") {
			t.Errorf("err = %v", err)
		}
		if err := os.Remove(filepath.Join(r.dir, ".git/HEAD.lock")); err != nil {
			t.Fatal(err)
		}
		if after := r.state(); after != before {
			t.Errorf("not as before:\n%s\n==\n%s", before, after)
		}
	})
	stopped := func(t *testing.T) (*repo, string) {
		t.Helper()
		r := double(t)
		r.writeIn(r.side, "clash", "side\n")
		r.commit(r.side, "clash")
		r.write("clash", "main\n")
		r.git("add", "clash")
		r.git("commit", "-q", "-m", "clash")
		before := r.state()
		done, err := r.merger.Merge(t.Context(), r.dir, "side", "m")
		if err != nil || !slices.Equal(done.Conflicts, []string{"clash"}) {
			t.Fatalf("%+v %v", done, err)
		}
		r.repair() // as the next start does: it waits for the person
		return r, before
	}
	abort := func(r *repo) {
		r.Helper()
		if err := r.merger.Abort(r.Context(), r.dir); err != nil {
			r.Fatal(err)
		}
	}
	t.Run("aborted", func(t *testing.T) {
		r, before := stopped(t)
		r.write(".git/index.lock", "")
		if err := r.merger.Abort(t.Context(), r.dir); err == nil {
			t.Error("aborted under a lock")
		}
		if err := os.Remove(filepath.Join(r.dir, ".git/index.lock")); err != nil {
			t.Fatal(err)
		}
		abort(r)
		if after := r.state(); after != before {
			t.Errorf("not as before:\n%s\n==\n%s", before, after)
		}
	})
	t.Run("aborted by git", func(t *testing.T) {
		r, before := stopped(t)
		r.git("merge", "--abort")
		abort(r)
		if after := r.state(); after != before {
			t.Errorf("not as before:\n%s\n==\n%s", before, after)
		}
	})
	t.Run("continued", func(t *testing.T) {
		r, _ := stopped(t)
		r.write("clash", "both\n")
		if done, err := r.merger.Continue(t.Context(), r.dir); err != nil || done.Commit == "" {
			t.Fatalf("%+v %v", done, err)
		}
		before := r.state()
		abort(r)
		if after := r.state(); after != before {
			t.Errorf("an abort of nothing changed something:\n%s\n==\n%s", before, after)
		}
	})
}

// TestMergeInPartialClone: what lies outside of a sparse checkout was never fetched, and need not be.
func TestMergeInPartialClone(t *testing.T) {
	r := newRepo(t)
	r.write("out/file", "never fetched\n")
	r.git("add", "-A")
	r.git("commit", "-q", "-m", "outside")
	r.git("config", "uploadpack.allowFilter", "true")
	origin := r.dir
	r.dir = filepath.Join(r.top, "clone")
	r.gitIn(r.top, "clone", "-q", "--filter=blob:none", "--sparse", "file://"+origin, r.dir)
	r.side = filepath.Join(r.top, "other")
	r.git("worktree", "add", "-q", "-b", "beside", r.side)
	for _, dir := range []string{r.side, r.dir} {
		r.writeIn(dir, "double", "the same\n")
	}
	r.commit(r.side, "work")
	r.write("b", "mine\n")
	if what, err := r.merger.Preview(t.Context(), r.dir, r.side); err != nil || what.UpToDate || len(what.Conflicts) > 0 {
		t.Errorf("preview: %+v %v", what, err)
	}
	done, err := r.merger.Merge(t.Context(), r.dir, "beside", "m")
	if err != nil || done.Commit == "" || r.git("status", "--porcelain") != " M b" {
		t.Errorf("%+v %v %q", done, err, r.git("status", "--porcelain"))
	}
	if _, err := os.Lstat(filepath.Join(r.dir, "out")); err == nil {
		t.Error("what is outside was checked out")
	}
}

// TestMergeOnAFullDisk needs a small file system to fill, which only root can make. Git itself resets the worktree
// there, with what was not committed.
func TestMergeOnAFullDisk(t *testing.T) {
	disk := os.Getenv("SMALL_DISK")
	if disk == "" {
		t.Skip("NOT RUN: needs a small file system: mount -t tmpfs -o size=4m tmpfs /mnt/small && SMALL_DISK=/mnt/small go test -run FullDisk ./checkpoint/branch")
	}
	for _, room := range []int{0, 20, 40, 100, 500} { // KB
		t.Run(fmt.Sprint(room), func(t *testing.T) {
			top, err := os.MkdirTemp(disk, "merge-*")
			if err != nil {
				t.Fatal(err)
			}
			defer os.RemoveAll(top)
			r := newRepoIn(t, top)
			noise := make([]byte, 4<<20)
			_, _ = rand.NewChaCha8([32]byte{}).Read(noise)
			r.write("late", "late\n")
			r.write("gone", "gone\n")
			r.git("add", "-A")
			r.git("commit", "-q", "-m", "more")
			r.gitIn(r.side, "reset", "-q", "--hard", "main")
			r.writeIn(r.side, "a", "side\n")
			r.writeIn(r.side, "big1", string(noise[:300<<10]))
			r.writeIn(r.side, "big2", string(noise[300<<10:600<<10]))
			r.commit(r.side, "work")
			r.write("late", "mine\n")
			r.write("b", "mine too\n")
			r.write("loose", "untracked\n")
			if err := os.Remove(filepath.Join(r.dir, "gone")); err != nil {
				t.Fatal(err)
			}
			before := r.state()
			filler := filepath.Join(disk, "filler")
			if err := os.WriteFile(filler, noise, 0o600); err == nil {
				t.Fatal("the file system is larger than 4 MB")
			}
			info, err := os.Stat(filler)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Truncate(filler, info.Size()-int64(room)<<10); err != nil {
				t.Fatal(err)
			}
			_, err = r.merger.Merge(context.Background(), r.dir, "side", "m")
			if err == nil || (room < 40 && !errors.Is(err, thread.ErrDiskFull)) { // later git says that it cannot write, not why
				t.Errorf("a full disk: %v", err)
			}
			if err := os.Remove(filler); err != nil {
				t.Fatal(err)
			}
			r.repair()
			if after := r.state(); after != before {
				t.Errorf("not as before:\n%s\n==\n%s", before, after)
			}
			if done, err := r.merger.Merge(context.Background(), r.dir, "side", "m"); err != nil || done.Commit == "" {
				t.Errorf("with room: %+v %v", done, err)
			}
			if r.read(r.dir, "late") != "mine\n" || r.read(r.dir, "b") != "mine too\n" || r.read(r.dir, "a") != "side\n" {
				t.Error("files are not as they should be")
			}
		})
	}
}
