package gittest

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

// Init makes a folder a repository as `git init -b main` does there, without the sample hooks and without starting git
// again.
func Init(t T, dir string) {
	t.Helper()
	files, err := fresh()
	if err != nil {
		t.Fatalf("prepare a repository: %v", err)
	}
	for _, f := range files {
		path := filepath.Join(dir, ".git", f.name)
		if f.folder {
			err = os.MkdirAll(path, 0o755)
		} else {
			err = os.WriteFile(path, f.content, 0o644)
		}
		if err != nil {
			t.Fatalf("make a repository: %v", err)
		}
	}
}

// Head returns the commit of the branch that is checked out in a folder.
func Head(t T, env []string, dir string) string {
	t.Helper()
	if head, err := os.ReadFile(filepath.Join(dir, ".git", "HEAD")); err == nil {
		if ref, ok := strings.CutPrefix(strings.TrimSpace(string(head)), "ref: "); ok {
			if at, err := os.ReadFile(filepath.Join(dir, ".git", ref)); err == nil {
				return strings.TrimSpace(string(at))
			}
		}
	}
	return Run(t, env, dir, "rev-parse", "HEAD")
}

// file is a file or folder of a fresh repository.
type file struct {
	name    string // below .git
	folder  bool
	content []byte
}

// fresh is what git itself makes of an empty folder.
var fresh = sync.OnceValues(func() (files []file, err error) {
	top, err := os.MkdirTemp("", "fresh-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(top)
	cmd := exec.Command("git", "init", "-q", "-b", "main", top)
	cmd.Env = append(os.Environ(), Env(top)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("git init: %w: %s", err, out)
	}
	made := filepath.Join(top, ".git")
	err = filepath.WalkDir(made, func(path string, d fs.DirEntry, err error) error {
		if err != nil || strings.HasSuffix(path, ".sample") {
			return err
		}
		f := file{folder: d.IsDir()}
		if f.name, err = filepath.Rel(made, path); err == nil && !f.folder {
			f.content, err = os.ReadFile(path)
		}
		files = append(files, f)
		return err
	})
	return files, err
})
