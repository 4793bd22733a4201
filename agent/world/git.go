package world

import (
	"os"
	"path/filepath"
	"strings"
)

// Repository returns the root of the working tree that a folder is in, and that of the repository's main one, which it
// is the same as unless it is a worktree; "" if the folder is in none.
func Repository(dir string) (root, main string) {
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		entry := filepath.Join(at, ".git")
		info, err := os.Lstat(entry)
		switch {
		case err == nil && info.IsDir():
			return at, at
		case err == nil && info.Mode().IsRegular():
			return at, mainOf(at, entry)
		case at == filepath.Dir(at):
			return "", ""
		}
	}
}

// mainOf returns the root of the main working tree of a worktree, by its .git file.
func mainOf(root, entry string) string {
	raw, _, err := Read(entry)
	if err != nil {
		return root
	}
	gitDir, ok := strings.CutPrefix(strings.TrimSpace(string(raw)), "gitdir:")
	if !ok {
		return root
	}
	gitDir = absolute(root, strings.TrimSpace(gitDir))
	raw, ok, err = Read(filepath.Join(gitDir, "commondir"))
	if err != nil || !ok {
		return root // a submodule
	}
	common := absolute(gitDir, strings.TrimSpace(string(raw)))
	if filepath.Base(common) != ".git" {
		return root // a bare repository
	}
	return filepath.Dir(common)
}

// absolute returns a path that may be relative to a folder.
func absolute(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}
