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
	r.Write("a", "1\n")
	r.Write(".gitattributes", "* filter=evil merge=evil diff=evil\n")
	r.CommitAll("first")
	canary, ran := gittest.Canary(t, r.Top)
	gittest.PlantHooks(t, filepath.Join(r.Dir, ".git"), canary)
	text, err := os.ReadFile(filepath.Join(r.Dir, ".git/config"))
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
	bundle := filepath.Join(r.Top, "bundle")
	// A bundle's name may be that of a remote.
	evil.WriteString(gittest.Line("remote."+bundle+".url", r.Top+"/nowhere") +
		gittest.Line("remote."+bundle+".uploadpack", canary))
	evil.WriteString(gittest.Line("url.ext::"+canary+".insteadOf", r.Top) + "[fetch]\n\trecurseSubmodules = true\n")
	r.Write(".git/config", evil.String())
	r.Write("a", "2\n")
	r.Write("new", "n\n")
	snap := r.Take(nil)
	r.Write("a", "3\n")
	second := r.Take(&snap)
	made, err := r.Store.Add(ctx, "t2", r.Dir, "fork", snap)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Store.Diff(ctx, r.Dir, snap.Commit, second.Commit); err != nil {
		t.Error(err)
	}
	if _, err := r.Store.Restore(ctx, "t1", r.Dir, snap); err != nil {
		t.Error(err)
	}
	f, err := os.Create(bundle)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := r.Store.Bundle(ctx, f, []string{snap.Commit}); err != nil || n != 1 {
		t.Errorf("bundle: %d %v", n, err)
	}
	f.Close()
	if n, err := r.Store.Unbundle(ctx, bundle, "t3"); err != nil || n != 1 {
		t.Errorf("unbundle: %d %v", n, err)
	}
	if _, err := r.Store.Remove(ctx, "t2", made); err != nil {
		t.Error(err)
	}
	if n := ran(); n > 0 {
		b, _ := os.ReadFile(filepath.Join(r.Top, "canary-ran"))
		t.Errorf("%d programs ran:\n%s", n, b)
	}
}
