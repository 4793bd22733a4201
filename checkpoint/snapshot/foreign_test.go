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
			r.write("a", "a\n")
			r.write(".orchestrator.toml", "agent = 'x'\n")
			r.write("deep/.orchestrator/file", "not at the root\n")
			r.write(top+"/state.db", "conversations\n")
			r.write(top+"/.gitignore", "!*\n")
			r.link(top+"/log", "/etc")
			base := r.commitAll("first")
			r.write(top+"/state.db", "more conversations\n")
			r.write(top+"/untracked", "u\n")
			r.git("init", "-q", filepath.Join(r.dir, top, "repo"))
			r.write("a", "b\n")
			mine := func(files map[string]string) map[string]string {
				files = maps.Clone(files)
				maps.DeleteFunc(files, func(path, _ string) bool { return strings.HasPrefix(path, top+"/") })
				return files
			}
			theirs := func() map[string]string {
				files := r.files(r.dir)
				maps.DeleteFunc(files, func(path, _ string) bool { return !strings.HasPrefix(path, top+"/") })
				return files
			}
			before := theirs()
			snap := r.take(nil)
			r.same("snapshot", r.held(snap), mine(r.files(r.dir)))
			if snap.Files != 1 || len(snap.Skipped) != 0 {
				t.Errorf("it counts %+v", snap)
			}
			diffs, err := r.store.Diff(ctx, r.dir, base, "")
			if err != nil || len(diffs) != 1 || diffs[0].Path != "a" {
				t.Errorf("diff: %+v %v", diffs, err)
			}
			if diffs, err := r.store.Diff(ctx, r.dir, base, snap.Commit); err != nil || len(diffs) != 1 {
				t.Errorf("diff: %+v %v", diffs, err)
			}
			if got := r.store.Describe(ctx, r.dir); got != "1 file changed" {
				t.Errorf("described as %q", got)
			}

			// Restoring touches nothing of it, not even to a commit that holds it.
			r.write("a", "c\n")
			r.restore(snap)
			r.same("what is theirs", theirs(), before)
			whole := snap
			whole.Commit, whole.Tree = base, ""
			r.restore(whole)
			r.same("what is theirs", theirs(), before)
			if b, _ := os.ReadFile(filepath.Join(r.dir, "a")); string(b) != "a\n" {
				t.Errorf("a is %q", b)
			}

			// A fork has what its base has, as git checks it out, and keeps nothing of it.
			fork := r.add("fork", snap)
			if s := r.gitIn(fork.Path, "status", "--porcelain"); s != " M a" {
				t.Errorf("status:\n%s", s)
			}
			r.writeIn(fork.Path, top+"/agent", "planted\n", 0o644)
			saved, err := r.store.Remove(ctx, "t2", fork)
			if err != nil {
				t.Fatal(err)
			}
			r.same("saved", r.held(saved), r.held(snap))
			if kept, _ := filepath.Glob(filepath.Join(r.top, "trees/.trash/*/"+top+"/agent")); len(kept) != 1 {
				t.Error("what it held is lost, and not in the trash")
			}

			// A snapshot of an older build, or an imported one, that holds it is no way in.
			r.git("update-ref", "refs/orchestrator/t9/1", base)
			whole.Tree = r.git("rev-parse", base+"^{tree}")
			whole.Base = base
			planted := r.add("planted", whole)
			again, err := r.store.Take(ctx, "t2", planted.Path, nil)
			if err != nil {
				t.Fatal(err)
			}
			for path := range r.held(again) {
				if strings.HasPrefix(path, top+"/") {
					t.Errorf("held: %s", path)
				}
			}
			if _, err := r.store.Restore(ctx, "t2", planted.Path, again); err != nil {
				t.Error(err)
			}
		})
	}
}
