package git

import (
	"path/filepath"
	"strings"
)

// Branch returns the branch that a folder's worktree is on, "" if it is on none or in no repository. It reads a small file
// and runs no program: it is cheap enough to be asked for again and again.
func Branch(dir string) string {
	w, err := Find(dir)
	if err != nil {
		return ""
	}
	head, err := readSmall(filepath.Join(w.GitDir, "HEAD"))
	if err != nil {
		return ""
	}
	branch, ok := strings.CutPrefix(strings.TrimSpace(string(head)), "ref: refs/heads/")
	if !ok {
		return ""
	}
	return branch
}
