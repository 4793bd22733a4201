package snapshot_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/checkpoint/git/gittest"
)

// TestNoProgramAnywhere does all that is done with snapshots in a repository whose own configuration, hooks
// and attributes name a program wherever git knows a place for one.
func TestNoProgramAnywhere(t *testing.T) {
	r := newRepo(t, t.TempDir())
	ctx := context.Background()
	r.write("a", "1\n")
	r.write(".gitattributes", "* filter=evil merge=evil diff=evil\n")
	r.commitAll("first")
	canary, ran := gittest.Canary(t, r.top)
	gittest.PlantHooks(t, filepath.Join(r.dir, ".git"), canary)
	text, err := os.ReadFile(filepath.Join(r.dir, ".git/config"))
	if err != nil {
		t.Fatal(err)
	}
	evil := strings.Builder{}
	evil.Write(text)
	evil.WriteString(gittest.ConfigHooks(canary))
	for _, keys := range [][]string{gittest.Converts, gittest.Connects, gittest.Ignored} {
		for _, key := range keys {
			evil.WriteString(gittest.Line(key, canary))
		}
	}
	bundle := filepath.Join(r.top, "bundle")
	// A bundle's name may be that of a remote.
	evil.WriteString(gittest.Line("remote."+bundle+".url", r.top+"/nowhere") + gittest.Line("remote."+bundle+".uploadpack", canary))
	evil.WriteString(gittest.Line("url.ext::"+canary+".insteadOf", r.top) + "[fetch]\n\trecurseSubmodules = true\n")
	r.write(".git/config", evil.String())
	r.write("a", "2\n")
	r.write("new", "n\n")
	snap := r.take(nil)
	r.write("a", "3\n")
	second := r.take(&snap)
	made, err := r.store.Add(ctx, "t2", r.dir, "fork", snap)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.store.Diff(ctx, r.dir, snap.Commit, second.Commit); err != nil {
		t.Error(err)
	}
	if _, err := r.store.Restore(ctx, "t1", r.dir, snap); err != nil {
		t.Error(err)
	}
	f, err := os.Create(bundle)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := r.store.Bundle(ctx, f, []string{snap.Commit}); err != nil || n != 1 {
		t.Errorf("bundle: %d %v", n, err)
	}
	f.Close()
	if n, err := r.store.Unbundle(ctx, bundle, "t3"); err != nil || n != 1 {
		t.Errorf("unbundle: %d %v", n, err)
	}
	if _, err := r.store.Remove(ctx, "t2", made); err != nil {
		t.Error(err)
	}
	if n := ran(); n > 0 {
		b, _ := os.ReadFile(filepath.Join(r.top, "canary-ran"))
		t.Errorf("%d programs ran:\n%s", n, b)
	}
}
