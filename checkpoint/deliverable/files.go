package deliverable

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"orchestrator/checkpoint/git"
	"orchestrator/checkpoint/repository"
	"orchestrator/checkpoint/snapshot"
	"orchestrator/checkpoint/worktree"
	"orchestrator/thread"
	"orchestrator/thread/record"
	"orchestrator/thread/work"
)

// Files tells how files have changed.
type Files struct {
	lines   snapshot.Counter
	trees   *worktree.Finder
	project string
}

var (
	_ record.Files   = (*Files)(nil)
	_ record.Lineage = (*Files)(nil)
)

// New returns the Files of a project's folder.
func New(lines snapshot.Counter, trees *worktree.Finder, project string) *Files {
	return &Files{lines: lines, trees: trees, project: project}
}

// Holds reports whether a folder is one of the project's, or of a worktree of its repository.
func (f *Files) Holds(dir string) bool {
	project := resolved(f.project)
	if git.Within(resolved(dir), project) {
		return true
	}
	found, err := git.Find(dir)
	if err != nil {
		return false
	}
	own, err := git.Find(project)
	return err == nil && own.Common == found.Common
}

// Base returns the commit of HEAD in a folder; "" if there is none, or no repository, or if it is not the project's.
func (f *Files) Base(ctx context.Context, dir string) (string, error) {
	if !f.Holds(dir) {
		return "", nil
	}
	w, err := f.trees.Open(ctx, dir)
	if errors.Is(err, thread.ErrNoRepository) || errors.Is(err, git.ErrBare) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("find the base of %s: %w", dir, err)
	}
	return w.Head(ctx)
}

// Follows reports whether a commit has all of the history of another; of a snapshot the commit counts that it was taken on.
func (f *Files) Follows(ctx context.Context, commit, other string) (follows, known bool) {
	w, err := f.trees.Open(ctx, f.project)
	if err != nil {
		return false, false
	}
	var heads [2]string
	for i, c := range []string{commit, other} {
		if heads[i], err = takenOn(ctx, w, c); err != nil || heads[i] == "" {
			return false, false
		}
	}
	out, err := w.Theirs(ctx, git.Call{Args: []string{"merge-base", "--", heads[0], heads[1]}, OK: []int{1}})
	return err == nil && strings.TrimSpace(string(out)) == heads[1], err == nil
}

// takenOn returns the commit that a snapshot of ours was taken on, "" for none; any other commit is that itself.
func takenOn(ctx context.Context, w *repository.Worktree, commit string) (string, error) {
	if !git.IsObjectID(commit) {
		return "", nil
	}
	out, err := w.Theirs(ctx, git.Call{Args: []string{"log", "-1", "--format=%ae %P", commit, "--"}})
	if err != nil {
		return "", err
	}
	by, parents, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	if by != "orchestrator@localhost" {
		return commit, nil
	}
	return parents, nil
}

// Deliverables returns how files have changed, by path; those that are named in the order in which they are named.
func (f *Files) Deliverables(ctx context.Context, q record.FileQuery) ([]work.Deliverable, error) {
	if len(q.Paths) > record.MostDeliverables {
		return nil, thread.Kindf(thread.ErrLimit, "%d deliverables: at most %d at once", len(q.Paths), record.MostDeliverables)
	}
	if !f.Holds(q.Dir) {
		return foreign(q), nil
	}
	found, err := git.Find(q.Dir)
	if errors.Is(err, thread.ErrNoRepository) || errors.Is(err, git.ErrBare) {
		return f.unversioned(q), nil
	}
	if err != nil {
		return nil, err
	}
	p := placeOf(f.project, q.Dir, found)
	var named []entry
	for _, path := range q.Paths {
		named = append(named, p.look(path))
	}
	var lines snapshot.Lines
	baseless := q.Unbased
	if !baseless {
		lines, err = f.lines.Count(ctx, q.Dir, q.From, q.To, pathsOf(named), record.MostDeliverables)
		baseless = errors.Is(err, thread.ErrNotFound) && len(q.Paths) > 0
	}
	if baseless { // the commit is gone, or not known: what is there is told all the same
		lines, err = f.lines.Count(ctx, q.Dir, "", q.To, pathsOf(named), record.MostDeliverables)
	}
	if err != nil {
		return nil, err
	}
	a := answer{place: p, base: q.From, lines: lines, live: q.To == "", baseless: baseless}
	switch {
	case len(q.Paths) > 0:
	case baseless:
		return nil, thread.Kindf(thread.ErrNotFound, "it is not known what the files were before: name those that it made")
	default:
		all, more := a.all()
		if more > 0 && q.Cut != nil {
			q.Cut(more)
		}
		return all, nil
	}
	return a.named(named), nil
}

// pathsOf returns the paths in the repository of those entries that may be read.
func pathsOf(entries []entry) []string {
	var paths []string
	for _, e := range entries {
		if e.path != "" {
			paths = append(paths, e.path)
		}
	}
	return paths
}

// answer makes deliverables of what was counted.
type answer struct {
	place
	base     string
	lines    snapshot.Lines
	live     bool
	baseless bool
}

// all returns everything that differs, and how many files more there are.
func (a answer) all() (out []work.Deliverable, more int) {
	large := map[string]bool{}
	for _, s := range a.lines.Skipped {
		if e := a.lookAt(s.Path); a.live && e.note == "" && e.size > 0 {
			large[s.Path] = true
			out = append(out, work.Deliverable{Path: a.shown(s.Path), Base: a.base, What: work.FileTooLarge, Bytes: e.size})
		}
	}
	for _, l := range a.lines.Files {
		if !large[l.Path] { // it is not gone, as it would seem
			out = append(out, a.deliverable(l))
		}
	}
	slices.SortFunc(out, func(x, y work.Deliverable) int { return cmp.Compare(x.Path, y.Path) })
	kept := min(len(out), record.MostDeliverables)
	return out[:kept], len(out) - kept + max(0, a.lines.Total-len(a.lines.Files))
}

// named returns what somebody named.
func (a answer) named(entries []entry) []work.Deliverable {
	byPath := map[string]snapshot.FileLines{}
	for _, l := range a.lines.Files {
		byPath[l.Path] = l
	}
	skipped := map[string]bool{}
	for _, s := range a.lines.Skipped {
		skipped[s.Path] = true
	}
	var out []work.Deliverable
	seen := map[string]bool{}
	add := func(d work.Deliverable) {
		if !seen[d.Path] && len(out) < record.MostDeliverables {
			seen[d.Path] = true
			out = append(out, d)
		}
	}
	for _, e := range entries {
		l, counted := byPath[e.path]
		switch {
		case e.path == "":
			add(work.Deliverable{Path: e.shown, What: e.note})
		case skipped[e.path] && a.live && e.note == "":
			add(work.Deliverable{Path: e.shown, Base: a.base, What: work.FileTooLarge, Bytes: e.size})
		case counted:
			add(a.deliverable(l))
		case e.note == work.FileFolder || e.note == work.FileMissing && !a.live:
			differs := false
			for _, l := range a.lines.Files {
				if git.Within(l.Path, e.path) && l.Status != 0 {
					differs = true
					add(a.deliverable(l))
				}
			}
			if !differs {
				add(work.Deliverable{Path: e.shown, Base: a.base, What: e.note})
			}
		case e.note != "":
			add(work.Deliverable{Path: e.shown, Base: a.base, What: e.note, Bytes: e.size})
		case a.live:
			add(work.Deliverable{Path: e.shown, Base: a.base, What: work.FileIgnored, Bytes: e.size})
		default:
			add(work.Deliverable{Path: e.shown, Base: a.base, What: work.FileMissing})
		}
	}
	return out
}

// deliverable is a file that git has.
func (a answer) deliverable(l snapshot.FileLines) work.Deliverable {
	d := work.Deliverable{Path: a.shown(l.Path), Base: a.base, Blob: l.Blob, Bytes: l.Bytes}
	if l.OldPath != "" {
		d.From = a.shown(l.OldPath)
	}
	switch {
	case l.Mode == repository.ModeRepo:
		d.What, d.Bytes = work.FileSubmodule, 0
	case l.Mode == repository.ModeLink:
		d.What = work.FileSymlink
	case l.Binary:
		d.What = work.FileBinary
	case a.baseless:
		d.What = work.FileNoBase
	default:
		d.Added, d.Modified, d.Deleted = l.Added, l.Modified, l.Deleted
	}
	if l.Status == 'D' {
		d.What, d.Deleted = work.FileDeleted, l.Deleted
	}
	return d
}

// foreign returns what may be told of files in a folder that is not the project's: that they were named.
func foreign(q record.FileQuery) []work.Deliverable {
	var out []work.Deliverable
	for _, path := range q.Paths {
		out = append(out, work.Deliverable{Path: thread.Excerpt(filepath.ToSlash(path)), What: work.FileOutside})
	}
	return out
}

// unversioned returns what can be told of files without a repository: their sizes.
func (f *Files) unversioned(q record.FileQuery) []work.Deliverable {
	root := resolved(f.project)
	p := place{root: root, dir: resolved(q.Dir), top: root, from: filepath.Clean(q.Dir)}
	var out []work.Deliverable
	for _, path := range q.Paths {
		e := p.look(path)
		out = append(out, work.Deliverable{Path: e.shown, What: cmp.Or(e.note, work.FileNoGit), Bytes: e.size})
	}
	return out
}
