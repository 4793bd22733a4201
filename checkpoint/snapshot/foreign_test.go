package snapshot_test

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestForeignFolder has a repository that tracks a folder .orchestrator, with links and a .gitignore that would show
// all of it, and an agent that writes into it: no snapshot holds it, no restore touches it, no diff names it.
func TestForeignFolder(t *testing.T) {
	for name, top := range map[string]string{"as it is": ".orchestrator", "in capitals": ".ORCHESTRATOR"} {
		t.Run(name, func(t *testing.T) {
			r := isolate(t)
			ctx := context.Background()
			r.Write("a", "a\n")
			r.Write(".orchestrator.toml", "agent = 'x'\n")
			r.Write("deep/.orchestrator/file", "not at the root\n")
			r.Write(top+"/state.db", "conversations\n")
			r.Write(top+"/.gitignore", "!*\n")
			r.Link(top+"/log", "/etc")
			base := r.CommitAll("first")
			r.Write(top+"/state.db", "more conversations\n")
			r.Write(top+"/untracked", "u\n")
			r.Git("init", "-q", filepath.Join(r.Dir, top, "repo"))
			r.Write("a", "b\n")
			mine := func(files map[string]string) map[string]string {
				files = maps.Clone(files)
				maps.DeleteFunc(files, func(path, _ string) bool { return strings.HasPrefix(path, top+"/") })
				return files
			}
			theirs := func() map[string]string {
				files := r.Files(r.Dir)
				maps.DeleteFunc(files, func(path, _ string) bool { return !strings.HasPrefix(path, top+"/") })
				return files
			}
			before := theirs()
			snap := r.Take(nil)
			r.Same("snapshot", r.Held(snap), mine(r.Files(r.Dir)))
			if snap.Files != 1 || len(snap.Skipped) != 0 {
				t.Errorf("it counts %+v", snap)
			}
			diffs, err := r.Store.Diff(ctx, r.Dir, base, "")
			if err != nil || len(diffs) != 1 || diffs[0].Path != "a" {
				t.Errorf("diff: %+v %v", diffs, err)
			}
			if diffs, err := r.Store.Diff(ctx, r.Dir, base, snap.Commit); err != nil || len(diffs) != 1 {
				t.Errorf("diff: %+v %v", diffs, err)
			}
			if got := r.Store.Describe(ctx, r.Dir); got != "1 file changed" {
				t.Errorf("described as %q", got)
			}

			// Restoring touches nothing of it, not even to a commit that holds it.
			r.Write("a", "c\n")
			r.Restore(snap)
			r.Same("what is theirs", theirs(), before)
			whole := snap
			whole.Commit, whole.Tree = base, ""
			r.Restore(whole)
			r.Same("what is theirs", theirs(), before)
			if b, _ := os.ReadFile(filepath.Join(r.Dir, "a")); string(b) != "a\n" {
				t.Errorf("a is %q", b)
			}

			// A fork has what its base has, as git checks it out, and keeps nothing of it.
			fork := r.Add("fork", snap)
			if s := r.GitIn(fork.Path, "status", "--porcelain"); s != " M a" {
				t.Errorf("status:\n%s", s)
			}
			r.WriteIn(fork.Path, top+"/agent", "planted\n", 0o644)
			saved, err := r.Store.Remove(ctx, "t2", fork)
			if err != nil {
				t.Fatal(err)
			}
			r.Same("saved", r.Held(saved), r.Held(snap))
			if kept, _ := filepath.Glob(filepath.Join(r.Top, "trees/.trash/*/"+top+"/agent")); len(kept) != 1 {
				t.Error("what it held is lost, and not in the trash")
			}

			// A snapshot of an older build, or an imported one, that holds it is no way in.
			r.Git("update-ref", "refs/orchestrator/t9/1", base)
			whole.Tree = r.Git("rev-parse", base+"^{tree}")
			whole.Base = base
			planted := r.Add("planted", whole)
			again, err := r.Store.Take(ctx, "t2", planted.Path, nil)
			if err != nil {
				t.Fatal(err)
			}
			for path := range r.Held(again) {
				if strings.HasPrefix(path, top+"/") {
					t.Errorf("held: %s", path)
				}
			}
			if _, err := r.Store.Restore(ctx, "t2", planted.Path, again); err != nil {
				t.Error(err)
			}
		})
	}
}
