package branch_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"orchestrator/checkpoint/branch"
	"orchestrator/thread"
)

func TestMerge(t *testing.T) {
	r := newRepo(t)
	ctx := context.Background()
	r.writeIn(r.side, "a", "1\n2\n3\n4\n")
	r.commit(r.side, "work")
	r.write("unrelated", "untracked in the target")
	r.write("b", "changed in the target, not committed\n")
	before := r.state()
	what, err := r.merger.Preview(ctx, r.dir, r.side)
	if err != nil || what.UpToDate || len(what.Conflicts) > 0 {
		t.Errorf("preview %+v %v", what, err)
	}
	if r.state() != before {
		t.Error("a preview changed something")
	}
	if all, why, err := r.merger.Reachable(ctx, r.side, r.dir); all || why != "1 commit is not merged" || err != nil {
		t.Errorf("reachable: %v %q %v", all, why, err)
	}
	done, err := r.merger.Merge(ctx, r.dir, "side", "Merge side\n\n- details")
	if err != nil || done.Commit != r.git("rev-parse", "main") || len(done.Conflicts) > 0 {
		t.Fatalf("%+v %v", done, err)
	}
	if r.git("show", "-s", "--format=%s|%P", "HEAD") !=
		"Merge side|"+r.git("rev-parse", "main^1", "side~0")[:40]+" "+r.git("rev-parse", "side") {
		t.Errorf("merge commit: %s", r.git("show", "-s", "--format=%s|%P", "HEAD"))
	}
	if r.read(r.dir, "a") != "1\n2\n3\n4\n" || r.read(r.dir, "b") != "changed in the target, not committed\n" {
		t.Error("files are not as they should be")
	}
	again, err := r.merger.Merge(ctx, r.dir, "side", "again")
	if err != nil || !again.UpToDate {
		t.Errorf("%+v %v", again, err)
	}
	if all, why, err := r.merger.Reachable(ctx, r.side, r.dir); !all || err != nil {
		t.Errorf("reachable: %v %q %v", all, why, err)
	}
	r.writeIn(r.side, "loose", "x")
	if all, why, err := r.merger.Reachable(ctx, r.side, r.dir); all || why != "1 file is not committed" || err != nil {
		t.Errorf("reachable: %v %q %v", all, why, err)
	}
}

func TestMergeRefusesToOverwrite(t *testing.T) {
	for name, tc := range map[string]struct {
		fork, target func(*repo)
		file         string
	}{
		"a changed file": {
			func(r *repo) { r.writeIn(r.side, "a", "side\n") }, func(r *repo) { r.write("a", "mine\n") }, "a"},
		"a staged file": {
			func(r *repo) { r.writeIn(r.side, "a", "side\n") }, func(r *repo) { r.write("a", "mine\n"); r.git("add", "a") }, "a"},
		"an untracked file": {
			func(r *repo) { r.writeIn(r.side, "new", "side\n") }, func(r *repo) { r.write("new", "mine\n") }, "new"},
		"an ignored file": {
			func(r *repo) { r.writeIn(r.side, "x.env", "side\n"); r.gitIn(r.side, "add", "-f", "x.env") },
			func(r *repo) { r.write("x.env", "MY SECRET\n") }, "x.env"},
		"an ignored file where a folder goes": {
			func(r *repo) { r.writeIn(r.side, "d.env/f", "side\n"); r.gitIn(r.side, "add", "-f", "d.env") },
			func(r *repo) { r.write("d.env", "MY SECRET\n") }, "d.env/f"},
		"a folder with ignored files where a file goes": {
			func(r *repo) { r.writeIn(r.side, "d", "side\n") }, func(r *repo) { r.write("d/x.env", "MY SECRET\n") }, "d"},
		"a file deleted there, changed here": {
			func(r *repo) { _ = os.Remove(filepath.Join(r.side, "b")) }, func(r *repo) { r.write("b", "mine\n") }, "b"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t)
			tc.fork(r)
			r.commit(r.side, "work")
			tc.target(r)
			before := r.state()
			_, err := r.merger.Merge(context.Background(), r.dir, "side", "m")
			var dirty *branch.DirtyError
			if !errors.As(err, &dirty) || !slices.Contains(dirty.Files, tc.file) || !errors.Is(err, thread.ErrConflict) {
				t.Errorf("err = %v", err)
			}
			if _, err := r.merger.Preview(context.Background(), r.dir, r.side); !errors.As(err, &dirty) {
				t.Errorf("preview: %v", err)
			}
			if after := r.state(); after != before {
				t.Errorf("touched:\n%s\n==\n%s", before, after)
			}
		})
	}
}

func conflict(t *testing.T) *repo {
	t.Helper()
	r := newRepo(t)
	r.writeIn(r.side, "a", "1\nside\n3\n")
	r.writeIn(r.side, "b", "side\n")
	r.commit(r.side, "side")
	r.write("a", "1\nmain\n3\n")
	if err := os.Remove(filepath.Join(r.dir, "b")); err != nil {
		t.Fatal(err)
	}
	r.commit(r.dir, "main")
	return r
}

func TestConflicts(t *testing.T) {
	r := conflict(t)
	ctx := context.Background()
	r.write("notes", "not committed\n")
	before := r.state()
	want := []string{"a", "b"}
	if what, err := r.merger.Preview(ctx, r.dir, r.side); err != nil || !slices.Equal(what.Conflicts, want) {
		t.Errorf("preview %+v %v", what, err)
	}
	if r.state() != before {
		t.Error("a preview changed something")
	}
	got, err := r.merger.Merge(ctx, r.dir, "side", "m")
	if err != nil || !slices.Equal(got.Conflicts, want) || got.Commit != "" {
		t.Fatalf("%+v %v", got, err)
	}
	if in, err := r.merger.InProgress(ctx, r.dir); !in || err != nil {
		t.Errorf("in progress: %v %v", in, err)
	}
	if _, err := r.merger.Merge(ctx, r.dir, "side", "m"); !errors.Is(err, thread.ErrConflict) {
		t.Errorf("a second merge: %v", err)
	}
	if _, err := r.merger.Commit(ctx, r.dir, "m"); !errors.Is(err, thread.ErrConflict) {
		t.Errorf("a commit in the middle: %v", err)
	}
	if err := r.merger.Abort(ctx, r.dir); err != nil {
		t.Fatal(err)
	}
	if after := r.state(); after != before {
		t.Errorf("an abort leaves something:\n%s\n==\n%s", before, after)
	}
	if err := r.merger.Abort(ctx, r.dir); err != nil {
		t.Errorf("a second abort: %v", err)
	}
	if _, err := r.merger.Continue(ctx, r.dir); !errors.Is(err, thread.ErrRefused) {
		t.Errorf("continue without a merge: %v", err)
	}
}

func TestContinue(t *testing.T) {
	r := conflict(t)
	ctx := context.Background()
	if _, err := r.merger.Merge(ctx, r.dir, "side", "The merge\n\nof both"); err != nil {
		t.Fatal(err)
	}
	open, err := r.merger.Continue(ctx, r.dir)
	if err != nil || !slices.Equal(open.Conflicts, []string{"a", "b"}) {
		t.Errorf("%+v %v", open, err)
	}
	r.write("a", "1\nboth\n3\n") // no marks any more: resolved
	open, err = r.merger.Continue(ctx, r.dir)
	if err != nil || !slices.Equal(open.Conflicts, []string{"b"}) {
		t.Errorf("a file that one side deleted has no marks and is not resolved: %+v %v", open, err)
	}
	r.git("rm", "-q", "--cached", "b")
	done, err := r.merger.Continue(ctx, r.dir)
	if err != nil || done.Commit != r.git("rev-parse", "main") ||
		r.git("show", "-s", "--format=%B") != "The merge\n\nof both\n" {
		t.Errorf("%+v %v %q", done, err, r.git("show", "-s", "--format=%B"))
	}
	if r.git("show", "HEAD:a") != "1\nboth\n3" {
		t.Errorf("a = %q", r.git("show", "HEAD:a"))
	}
}
