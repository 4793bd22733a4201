package deliverable

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"orchestrator/checkpoint/git"
	"orchestrator/thread"
	"orchestrator/thread/work"
)

// place is where an execution worked. All folders are without links but for from.
type place struct {
	root string // of the worktree
	dir  string // in which it worked, in root
	from string // dir as the execution has it
	top  string // what is the project's folder in this worktree: paths are shown relative to it
}

// placeOf finds out where a folder is in its worktree, and what the project is there.
func placeOf(project, dir string, found git.Worktree) place {
	p := place{root: found.Root, dir: resolved(dir), from: filepath.Clean(dir), top: found.Root}
	project = resolved(project)
	switch own, err := git.Find(project); {
	case err == nil && own.Common == found.Common:
		if below, err := filepath.Rel(own.Root, project); err == nil && filepath.IsLocal(below) {
			p.top = filepath.Join(found.Root, below)
		}
	case git.Within(found.Root, project): // a repository inside the project
		p.top = project
	}
	return p
}

// entry is a file that somebody named.
type entry struct {
	path  string // in the worktree, with slashes; "" if it may not be read
	shown string
	note  work.FileNote
	size  int64
}

// longestPath is how long the path of a deliverable may be, in bytes.
const longestPath = 1024

// look finds out what is at a path that somebody named, without following a link.
func (p place) look(named string) entry {
	outside := entry{shown: thread.Excerpt(filepath.ToSlash(named)), note: work.FileOutside}
	if named == "" || len(named) > longestPath || strings.ContainsRune(named, 0) {
		return outside
	}
	at := named
	if !filepath.IsAbs(at) {
		at = filepath.Join(p.dir, at)
	} else if below, err := filepath.Rel(p.from, at); err == nil && filepath.IsLocal(below) {
		at = filepath.Join(p.dir, below) // as the execution calls its folder
	}
	below, err := filepath.Rel(p.root, filepath.Clean(at))
	if err != nil || !filepath.IsLocal(below) || below == "." || below == ".git" || strings.HasPrefix(below, ".git/") {
		return outside
	}
	e := p.lookAt(filepath.ToSlash(below))
	if e.note == work.FileOutside {
		e.path = ""
	}
	return e
}

// lookAt is look for a path of the worktree.
func (p place) lookAt(path string) entry {
	e := entry{path: path, shown: p.shown(path)}
	at := p.root
	parts := strings.Split(path, "/")
	for i, part := range parts {
		at = filepath.Join(at, part)
		info, err := os.Lstat(at)
		last := i == len(parts)-1
		switch {
		case errors.Is(err, fs.ErrNotExist):
			e.note = work.FileMissing
			return e
		case err != nil, !last && info.Mode()&fs.ModeSymlink != 0:
			e.note = work.FileOutside
			return e
		case !last && !info.IsDir():
			e.note = work.FileMissing
			return e
		case !last:
		case info.Mode()&fs.ModeSymlink != 0:
			e.note = work.FileSymlink
		case info.IsDir():
			e.note = work.FileFolder
		case !info.Mode().IsRegular():
			e.note = work.FileSpecial
		default:
			e.size = info.Size()
		}
	}
	return e
}

// shown is a path of the worktree as it is recorded: relative to the project, with slashes.
func (p place) shown(path string) string {
	below, err := filepath.Rel(p.top, filepath.Join(p.root, filepath.FromSlash(path)))
	if err != nil {
		return path
	}
	return filepath.ToSlash(below)
}

// resolved returns a folder without links, as it is if it cannot be read.
func resolved(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return filepath.Clean(dir)
}
