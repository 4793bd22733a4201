package snapshot_test

import (
	"path/filepath"
	"testing"
)

// TestPartialClone: files outside of a sparse checkout were never fetched, and never are by us.
func TestPartialClone(t *testing.T) {
	r := isolate(t)
	r.Write("in/a", "a\n")
	r.Write("out/b", "b\n")
	r.CommitAll("first")
	r.Git("config", "uploadpack.allowFilter", "true")
	origin := r.Dir
	r.Dir = filepath.Join(r.Top, "clone")
	r.GitIn(r.Top, "clone", "-q", "--filter=blob:none", "--sparse", "file://"+origin, r.Dir)
	r.Git("sparse-checkout", "set", "in")
	r.Store = r.Open(0)
	r.Write("in/new", "n\n")
	r.Write("out/own", "o\n") // git cannot say what else is in out without the blob
	snap := r.Take(nil)
	if snap.Files != 2 || len(snap.Skipped) > 0 {
		t.Errorf("snapshot %+v", snap)
	}

	wt := r.Add("fork", snap)
	r.Same("fork", r.Files(wt.Path), map[string]string{"in/a": "a\n", "in/new": "n\n", "out/own": "o\n"})
	if s := r.GitIn(wt.Path, "status", "--porcelain", "-uall"); s != "?? in/new\n?? out/own" {
		t.Errorf("status of the fork: %q", s)
	}
	again, err := r.Store.Take(t.Context(), "t2", wt.Path, &snap)
	if err != nil || again.Tree != snap.Tree {
		t.Errorf("the fork's own snapshot: %+v %v", again, err)
	}
	r.WriteIn(wt.Path, "in/a", "changed\n", 0o644)
	if saved, err := r.Store.Remove(t.Context(), "t2", wt); err != nil || saved.Tree == snap.Tree {
		t.Errorf("removed: %+v %v", saved, err)
	}

	// What is not here changes upstream.
	r.WriteIn(origin, "out/b", "another\n", 0o644)
	r.GitIn(origin, "commit", "-q", "-a", "-m", "second")
	r.Git("pull", "-q", "--ff-only")
	r.Write("in/new", "newer\n")
	next := r.Take(&snap)
	if next.Base == snap.Base || next.Files != 2 {
		t.Errorf("after a pull: %+v", next)
	}
	if safety := r.Restore(snap); len(safety.Skipped) != 1 || safety.Skipped[0].Path != "out/b" {
		t.Errorf("what could not be restored: %+v", safety.Skipped)
	}
	r.Same("restored", r.Files(r.Dir), map[string]string{"in/a": "a\n", "in/new": "n\n", "out/own": "o\n"})
	if after := r.Take(nil); r.Git("ls-tree", after.Commit, "out/b") != r.Git("ls-tree", "HEAD", "out/b") {
		t.Errorf("out/b is lost: %+v", after)
	}
}
