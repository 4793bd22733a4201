// Package share finds threads that work in the same folder: what one of them writes, restores or merges affects the
// others too.
package share

import "strings"

// Place is where a thread works. Paths are absolute and clean.
type Place struct {
	Dir string
	// Worktree is the root of the worktree that was made for it, "" if it has none.
	Worktree string
}

// Together reports whether two threads of a project work on the same files: in one worktree, or in folders of which one
// contains the other. A worktree's files are its own, even if it is inside a folder of another thread.
func Together(project string, a, b Place) bool {
	if a.Dir == "" || b.Dir == "" { // unknown
		return false
	}
	return b.below(a.root(project)) || a.below(b.root(project))
}

// below reports whether a thread works on files of a folder.
func (p Place) below(root string) bool {
	return within(root, p.Dir) && (p.Worktree == "" || within(p.Worktree, root))
}

// root is the folder whose files belong to a thread: they are stored and restored together.
func (p Place) root(project string) string {
	switch {
	case p.Worktree != "":
		return p.Worktree
	case within(project, p.Dir):
		return project
	default:
		return p.Dir
	}
}

func within(root, path string) bool {
	rest, ok := strings.CutPrefix(path, root)
	return ok && (rest == "" || rest[0] == '/' || strings.HasSuffix(root, "/"))
}
