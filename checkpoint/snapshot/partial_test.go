package snapshot_test

import (
	"path/filepath"
	"testing"
)

// TestPartialClone: files outside of a sparse checkout were never fetched, and never are by us.
func TestPartialClone(t *testing.T) {
	r := isolate(t)
	r.write("in/a", "a\n")
	r.write("out/b", "b\n")
	r.commitAll("first")
	r.git("config", "uploadpack.allowFilter", "true")
	origin := r.dir
	r.dir = filepath.Join(r.top, "clone")
	r.gitIn(r.top, "clone", "-q", "--filter=blob:none", "--sparse", "file://"+origin, r.dir)
	r.git("sparse-checkout", "set", "in")
	r.store = r.open(0)
	r.write("in/new", "n\n")
	r.write("out/own", "o\n") // git cannot say what else is in out without the blob
	snap := r.take(nil)
	if snap.Files != 2 || len(snap.Skipped) > 0 {
		t.Errorf("snapshot %+v", snap)
	}

	wt := r.add("fork", snap)
	r.same("fork", r.files(wt.Path), map[string]string{"in/a": "a\n", "in/new": "n\n", "out/own": "o\n"})
	if s := r.gitIn(wt.Path, "status", "--porcelain", "-uall"); s != "?? in/new\n?? out/own" {
		t.Errorf("status of the fork: %q", s)
	}
	again, err := r.store.Take(t.Context(), "t2", wt.Path, &snap)
	if err != nil || again.Tree != snap.Tree {
		t.Errorf("the fork's own snapshot: %+v %v", again, err)
	}
	r.writeIn(wt.Path, "in/a", "changed\n", 0o644)
	if saved, err := r.store.Remove(t.Context(), "t2", wt); err != nil || saved.Tree == snap.Tree {
		t.Errorf("removed: %+v %v", saved, err)
	}

	// What is not here changes upstream.
	r.writeIn(origin, "out/b", "another\n", 0o644)
	r.gitIn(origin, "commit", "-q", "-a", "-m", "second")
	r.git("pull", "-q", "--ff-only")
	r.write("in/new", "newer\n")
	next := r.take(&snap)
	if next.Base == snap.Base || next.Files != 2 {
		t.Errorf("after a pull: %+v", next)
	}
	if safety := r.restore(snap); len(safety.Skipped) != 1 || safety.Skipped[0].Path != "out/b" {
		t.Errorf("what could not be restored: %+v", safety.Skipped)
	}
	r.same("restored", r.files(r.dir), map[string]string{"in/a": "a\n", "in/new": "n\n", "out/own": "o\n"})
	if after := r.take(nil); r.git("ls-tree", after.Commit, "out/b") != r.git("ls-tree", "HEAD", "out/b") {
		t.Errorf("out/b is lost: %+v", after)
	}
}
