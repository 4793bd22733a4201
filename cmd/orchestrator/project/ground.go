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

// markName is the file with a project's mark in its git directory.
const markName = "orchestrator-id"

// maxMark is more than a mark and its line end take.
const maxMark = 64

// ground is what a project's folder is found to be.
type ground struct {
	root   string
	rootAt place
	// gitDir is the git directory that belongs to this folder alone: the common one of the main worktree, a
	// submodule's own, a linked worktree's part where there is no main one. It is "" where there is none of ours.
	gitDir string
	gitAt  place
	mark   string // what gitDir carries, "" where that is no mark
	odd    string // why what lies at the mark's name is none; "" where nothing lies there
	fixed  bool   // what lies there is not ours to replace
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
	dir := w.Common
	if w.Linked() {
		dir = w.GitDir
	}
	dir, err := filepath.EvalSymlinks(dir)
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

// again looks once more at the same folder.
func (g ground) again() ground {
	if g.gitDir != "" {
		g.mark, g.odd, g.fixed = "", "", false
		g.readMark()
	}
	return g
}

// readMark reads the git directory's mark. What is no regular file of this user with exactly a mark in it is none.
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

// markFor is the mark under which a state is to be known here, "" where it is known by the project's path alone;
// missing tells that it has to be written.
func (g ground) markFor(s state, d decision) (mark string, missing bool) {
	want := s.Mark
	if want == "" {
		want = s.ID
	}
	switch {
	case g.gitDir == "" || d.shared:
		return "", false
	case g.mark == want:
		return want, false
	case g.mark != "" && !d.replace && s.Mark != "":
		return s.Mark, false // it is somebody else's, who knows the repository by another path
	case g.mark != "" && !d.replace:
		return g.mark, false // it is another home's, whose states we do not see
	case g.fixed:
		return "", false
	default:
		return want, true
	}
}

// writeMark puts a mark into a git directory, whole and durable or not at all; it replaces a regular file and
// nothing else.
func writeMark(gitDir, mark string) error {
	root, err := os.OpenRoot(gitDir)
	if err != nil {
		return fmt.Errorf("write the project's id: %w", err)
	}
	defer root.Close()
	temp := markName + ".new-" + newMark()[:8]
	f, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("write the project's id: %w", err)
	}
	_, err = f.WriteString(mark + "\n")
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		if info, look := root.Lstat(markName); look == nil && !info.Mode().IsRegular() {
			err = fmt.Errorf("%s is not a file", filepath.Join(gitDir, markName))
		} else {
			err = root.Rename(temp, markName)
		}
	}
	if err != nil {
		root.Remove(temp)
		return fmt.Errorf("write the project's id: %w", err)
	}
	if dir, err := root.Open("."); err == nil {
		_ = dir.Sync() // best effort: without its name the state is found by the place
		dir.Close()
	}
	return nil
}
