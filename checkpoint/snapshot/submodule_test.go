package snapshot_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestSubmoduleThatIsFilledLater: a submodule is in the snapshots from when its files come, however its place looked
// when it was first seen.
func TestSubmoduleThatIsFilledLater(t *testing.T) {
	const place = "vendor/lib"
	prepared := isolate(t)
	lib := filepath.Join(prepared.Top, "lib")
	prepared.Git("init", "-q", "-b", "main", lib)
	prepared.WriteIn(lib, "l", "l", 0o644)
	prepared.GitIn(lib, "add", "l")
	prepared.GitIn(lib, "commit", "-q", "-m", "lib")
	prepared.Git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", lib, place)
	prepared.CommitAll("first")
	prepared.Git("submodule", "--quiet", "deinit", "--all")
	for name, before := range map[string]func(r *repo, place string){
		"empty":    func(*repo, string) {},
		"missing":  func(r *repo, dir string) { r.rmdir(dir) },
		"no place": func(r *repo, dir string) { r.rmdir(dir); r.rmdir(filepath.Dir(dir)) },
	} {
		for kind, fill := range map[string]func(r *repo, dir string) map[string]string{
			"checked out": func(r *repo, dir string) map[string]string {
				r.Git("-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init")
				return map[string]string{place: "repo " + r.GitIn(dir, "rev-parse", "HEAD")}
			},
			"moved on": func(r *repo, dir string) map[string]string {
				r.Git("-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init")
				r.GitIn(dir, "commit", "-q", "--allow-empty", "-m", "on")
				return map[string]string{place: "repo " + r.GitIn(dir, "rev-parse", "HEAD")}
			},
			"without a repository": func(r *repo, dir string) map[string]string {
				r.WriteIn(dir, "l", "l", 0o644)
				r.WriteIn(dir, "d/m", "m", 0o644)
				return map[string]string{place + "/l": "l", place + "/d/m": "m"}
			},
		} {
			t.Run(name+", "+kind, func(t *testing.T) {
				t.Parallel()
				r := isolate(t)
				if err := errors.Join(os.RemoveAll(r.Dir), os.CopyFS(r.Dir, os.DirFS(prepared.Dir))); err != nil {
					t.Fatal(err)
				}
				dir := filepath.Join(r.Dir, place)
				before(r, dir)
				first := r.Take(nil)
				r.Take(&first)
				want := fill(r, dir)
				second := r.Take(&first)
				got := r.Held(second)
				for path, content := range want {
					if got[path] != content {
						t.Errorf("%s = %q, want %q; held %q, skipped %+v; first %q", path, got[path], content, got, second.Skipped,
							r.Held(first))
					}
				}
				if again := r.Take(&second); again.Tree != second.Tree {
					t.Errorf("and then %q", r.Held(again))
				}
				if kind != "without a repository" {
					return
				}
				r.Restore(first)
				if left, err := os.ReadDir(dir); len(left) > 0 || err != nil && !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("after going back %v lie there: %v", left, err)
				}
				r.Restore(second)
				r.Same("brought again", r.Files(dir), map[string]string{"l": "l", "d/m": "m"})
			})
		}
	}
}

func (r *repo) rmdir(dir string) {
	r.Helper()
	if err := os.Remove(dir); err != nil {
		r.Fatal(err)
	}
}
