package project

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"orchestrator/checkpoint/git"
)

// kind of a decision.
type kind int

const (
	isNew kind = iota
	isFound
	isMoved
	isAlias // the same folder under another path: the state's root is used
	isCopy
	isUndecided
)

// decision is the state that is a project's, and why.
type decision struct {
	kind  kind
	state state
	// write is set where the record or the mark has to be brought up to date.
	write bool
	// replace is set where this state's mark replaces another one.
	replace bool
	// shared is set where another folder has the same git directory, so that its mark says nothing.
	shared      bool
	notices     []string
	why, remedy string // for isUndecided
}

// match decides which state belongs to a folder. A state is taken without asking only where its place is the same: the
// path with the git directory's mark or inode, or the git directory's inode with its mark. What is at the path where a
// project was says nothing about where it is now.
func match(all []state, here ground) decision {
	var good []state
	for _, s := range all {
		if s.bad == nil {
			good = append(good, s)
		}
	}
	if s, ok := exact(good, here); ok {
		d := decision{kind: isFound, state: s}
		if here.gitDir != "" && here.mark == "" && s.Mark != "" {
			d.write = true // the mark was lost
			if here.odd != "" {
				d.notices = append(d.notices, here.oddNotice())
			}
		}
		d.write = d.write && !here.fixed || s.RootAt != here.rootAt || s.GitAt != here.gitAt
		return d
	}
	shared := false
	for _, find := range []func(all, good []state, here ground) (d decision, shared, ok bool){marked, placed} {
		d, other, ok := find(all, good, here)
		if ok {
			return d
		}
		shared = shared || other
	}
	if d, ok := byPath(good, here); ok {
		d.shared = shared
		return d
	}
	if s, ok := unread(all, here); ok {
		return undecided(s, fmt.Sprintf("%s may hold its threads, and cannot be read: %v", s.folder, s.bad), here.root)
	}
	d := decision{kind: isNew, write: true, shared: shared}
	if here.odd != "" {
		d.notices = append(d.notices, here.oddNotice())
	}
	for _, s := range good {
		if string(s.Root) == here.root {
			what := "another repository now than the one"
			if s.GitDir == "" {
				what = "another folder now than the one"
			}
			d.notices = append(d.notices, fmt.Sprintf("%s is %s whose threads %s holds: "+
				"`orchestrator adopt %s` continues with them", here.root, what, s.folder, s.folder))
		}
	}
	return d
}

// unread finds a state whose record cannot be read and that, by its name, may be a folder's.
func unread(all []state, here ground) (state, bool) {
	called := func(folder string) string { return folder[:strings.LastIndexByte(folder, '-')] }
	for _, s := range all {
		if s.bad != nil && s.used && called(s.folder) == called(folderName(here.root, newMark())) {
			return s, true
		}
	}
	return state{}, false
}

func (g ground) oddNotice() string {
	return fmt.Sprintf("%s/%s is not what orchestrator wrote there: %s", g.gitDir, markName, g.odd)
}

// exact finds the state of this path and this git directory.
func exact(good []state, here ground) (state, bool) {
	for _, s := range good {
		if string(s.Root) != here.root {
			continue
		}
		if s.Mark == "" && s.GitDir == "" && here.gitDir == "" && !s.GitAt.known() &&
			(!here.replaces(s) || !slices.ContainsFunc(good, here.isRoot)) {
			return s, true
		}
		// A disk's number may have changed: then its inodes alone are no proof against another mark.
		if s.GitAt.same(here.gitAt, true) &&
			(s.GitAt.Device == here.gitAt.Device || s.Mark == "" || here.mark == "" || s.Mark == here.mark) {
			return s, true
		}
	}
	return state{}, false
}

// marked looks for the state that the git directory's mark names. shared tells that it is another folder's, which
// has the same git directory.
func marked(all, good []state, here ground) (d decision, shared, ok bool) {
	if here.mark == "" {
		return decision{}, false, false
	}
	var named *state
	for i := range good {
		if good[i].Mark != here.mark {
			continue
		}
		if string(good[i].Root) == here.root { // another git directory with the same mark: put back from a backup
			return decision{kind: isFound, state: good[i], write: true}, false, true
		}
		if named == nil || good[i].GitAt.same(here.gitAt, false) {
			named = &good[i]
		}
	}
	if named == nil {
		for _, s := range all {
			if s.bad != nil && strings.HasSuffix(s.folder, "-"+here.mark[:8]) {
				why := fmt.Sprintf("the threads are in %s, which cannot be read: %v", s.folder, s.bad)
				return undecided(s, why, here.root), false, true
			}
		}
		return decision{}, false, false
	}
	s := *named
	if s.GitAt.same(here.gitAt, false) {
		return here.sameRepository(s)
	}
	if real, err := filepath.EvalSymlinks(string(s.Root)); err == nil && real == here.root {
		return moved(s), false, true // to another disk, with a link left behind
	}
	if s.Root == "" || s.isThere() {
		return copyOf(s), false, true
	}
	why := fmt.Sprintf("this repository carries the id of %s, which is not there now "+
		"(moved to another disk, deleted, or its disk is not mounted)", s.Root)
	return undecided(s, why, here.root), false, true
}

// placed looks for a state of this git directory that no mark tells of: it could not be written, or was lost.
func placed(_, good []state, here ground) (d decision, shared, ok bool) {
	for _, s := range good {
		ours := here.isRoot(s) || git.Within(here.gitDir, here.root) // and not just a way to the same git directory
		if ours && s.Mark != here.mark && s.GitAt.Born != 0 && s.GitAt.same(here.gitAt, false) {
			d, shared, ok = here.sameRepository(s)
			d.shared = slices.ContainsFunc(good, func(s state) bool { return here.mark != "" && s.Mark == here.mark })
			return d, shared, ok
		}
	}
	return decision{}, false, false
}

// sameRepository decides about a state whose git directory is this folder's.
func (g ground) sameRepository(s state) (d decision, shared, ok bool) {
	root := string(s.Root)
	real, err := filepath.EvalSymlinks(root)
	switch {
	case err == nil && real == root && devOf(root).same(g.rootAt, false):
		return decision{kind: isAlias, state: s}, false, true
	case err == nil && real == root && !g.isRoot(s) && leads(root, g.gitAt):
		// Two folders lead to one git directory, as when a submodule's folder is copied.
		return decision{}, true, false
	default:
		return moved(s), false, true
	}
}

// isThere reports whether the repository that a state is of is still where the state has it.
func (s state) isThere() bool {
	at := devOf(string(s.GitDir))
	if !at.known() || at.same(s.GitAt, true) {
		return at.known()
	}
	now := ground{gitDir: string(s.GitDir)}
	now.readMark() // put back there from a backup
	return now.mark != "" && now.mark == s.Mark
}

// isRoot reports whether the folder is certainly the one that was a state's root, wherever that is now.
func (g ground) isRoot(s state) bool { return s.RootAt.Born != 0 && s.RootAt.same(g.rootAt, false) }

// replaces reports whether the folder is certainly another one than a state's root was.
func (g ground) replaces(s state) bool {
	return s.RootAt.Born != 0 && g.rootAt.Born != 0 && !s.RootAt.same(g.rootAt, true)
}

// leads reports whether a folder is still the root of the repository with a git directory.
func leads(root string, gitAt place) bool {
	w, err := git.Find(root)
	return err == nil && w.Root == root && devOf(gitDirOf(w)).same(gitAt, false)
}

// moved is a decision for a project that is not where its state has it, whatever is there now.
func moved(s state) decision {
	notice := fmt.Sprintf("the project was moved from %s: its threads continue here", s.Root)
	if info, err := os.Lstat(string(s.Root)); err == nil && info.Mode()&fs.ModeSymlink == 0 {
		notice += fmt.Sprintf(" (what is at %s now is something else)", s.Root)
	}
	return decision{kind: isMoved, state: s, write: true, notices: []string{notice}}
}

func copyOf(s state) decision {
	d := decision{kind: isCopy, state: s, write: true, replace: true}
	of := string(s.Root)
	if of == "" {
		of = "another project"
	}
	d.notices = []string{fmt.Sprintf("this repository is a copy of %s: it starts with no threads "+
		"(`orchestrator adopt %s` would take those of %s)", of, s.folder, of)}
	return d
}

func undecided(s state, why, root string) decision {
	return decision{kind: isUndecided, state: s, why: why, remedy: fmt.Sprintf(
		"`orchestrator adopt %s` continues with its threads in %s, `orchestrator adopt --new` starts without them",
		s.folder, root)}
}

// byPath looks for the state of a folder that no git directory tells.
func byPath(good []state, here ground) (decision, bool) {
	for _, s := range good {
		if string(s.Root) != here.root {
			continue
		}
		switch {
		case s.Mark == "" && s.GitDir == "" && here.replaces(s) &&
			(here.gitDir != "" || slices.ContainsFunc(good, here.isRoot)):
			continue // another project's folder is here now
		case s.Mark == "" && s.GitDir == "":
			// It had no repository, or none of ours, and has one now.
			d := decision{kind: isFound, state: s, write: true}
			if here.odd != "" {
				d.notices = append(d.notices, here.oddNotice())
			}
			return d, true
		case here.refused, here.gitDir == "" && exists(here.root+"/.git"):
			return decision{kind: isFound, state: s}, true // it is there and cannot be used now; Project.Refused says why
		case here.gitDir == "":
			why := "the repository of " + here.root + " is gone (its disk is not mounted, or .git was removed)"
			return undecided(s, why, here.root), true
		}
	}
	if here.gitDir != "" {
		return decision{}, false
	}
	for _, s := range good {
		if s.Mark != "" || s.GitDir != "" || !here.isRoot(s) {
			continue
		}
		switch real, err := filepath.EvalSymlinks(string(s.Root)); {
		case err == nil && real == here.root: // the person left a link
			return moved(s), true
		case err == nil && real == string(s.Root) && devOf(real).same(here.rootAt, false):
			return decision{kind: isAlias, state: s}, true
		default:
			return undecided(s, fmt.Sprintf("the folder seems to be the one that was at %s", s.Root), here.root), true
		}
	}
	return decision{}, false
}

// markFor is the mark by which a state is known here, "" where it is known by the project's path alone; missing means
// that it has to be written.
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
		return s.Mark, false // it belongs to somebody else, who knows the repository by another path
	case g.mark != "" && !d.replace:
		return g.mark, false // it belongs to another home, whose states we do not see
	case g.fixed:
		return "", false
	default:
		return want, true
	}
}
