package project

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"orchestrator/checkpoint/git"
	"orchestrator/thread/private"
)

// ground is what a project's folder is found to be.
type ground struct {
	root   string
	rootAt place
	// gitDir is the git directory that belongs to this folder alone: the common one of the main worktree, a
	// submodule's own, a linked worktree's part where there is no main one. It is "" where there is none of ours.
	gitDir string
	gitAt  place
	mark   string // what gitDir carries, "" where that is not a mark
	odd    string // why the file of the mark's name does not hold one; "" where there is no file
	fixed  bool   // that file is not ours to replace
	// refused is set where there is a git directory that cannot be used.
	refused bool
}

// look finds out what a folder is. w is its worktree, empty without one.
func look(root string, w git.Worktree, refused bool) (ground, error) {
	g := ground{root: root, rootAt: devOf(root), refused: refused}
	if !g.rootAt.known() {
		return g, fmt.Errorf("find the project's folder: %s: %w", root, fs.ErrNotExist)
	}
	if w.Root == "" {
		return g, nil
	}
	dir, err := filepath.EvalSymlinks(gitDirOf(w))
	if err != nil {
		return g, fmt.Errorf("find the git directory: %w", err)
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return g, fmt.Errorf("find the git directory: %w", err)
	}
	if st, ok := info.Sys().(*syscall.Stat_t); !ok || int(st.Uid) != os.Geteuid() {
		return g, nil // somebody else's: the path says which project it is
	}
	g.gitDir, g.gitAt = dir, placeOf(dir, info)
	g.readMark()
	return g, nil
}

// gitDirOf is the git directory that belongs to a worktree's folder alone.
func gitDirOf(w git.Worktree) string {
	if w.Linked() {
		return w.GitDir
	}
	return w.Common
}

// again looks at the same folder again.
func (g ground) again() ground {
	if g.gitDir != "" {
		g.mark, g.odd, g.fixed = "", "", false
		g.readMark()
	}
	return g
}

// readMark reads the git directory's mark. Only a regular file of this user with exactly a mark in it counts.
func (g *ground) readMark() {
	path := filepath.Join(g.gitDir, markName)
	content, err := private.ReadRegular(path, maxMark)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return
	case err == nil:
		if mark := strings.TrimSuffix(string(content), "\n"); isMark(mark) {
			g.mark = mark
			return
		}
		g.odd = "it holds no id"
	default:
		var known *private.Error
		if !errors.As(err, &known) {
			known = &private.Error{Err: err}
		}
		g.odd = known.Err.Error()
		if errors.Is(err, private.ErrTooLarge) {
			g.odd = "it is too large for an id"
		}
	}
	info, err := os.Lstat(path)
	if err != nil {
		g.fixed = true
		return
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	g.fixed = !info.Mode().IsRegular() || !ok || int(st.Uid) != os.Geteuid()
}
