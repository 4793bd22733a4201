package manager

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"orchestrator/thread"
)

// subDir moves dir from one root to another; to the root itself if it is not below the first.
func subDir(from, dir, to string) string {
	rel, err := filepath.Rel(from, dir)
	if err != nil || !filepath.IsLocal(rel) {
		return to
	}
	moved := filepath.Join(to, rel)
	if info, err := os.Stat(moved); err != nil || !info.IsDir() {
		return to
	}
	return moved
}

// places returns where a folder is, and where it was if it is one of the project's and the project has moved.
func (m *core) places(dir string) []string {
	all := []string{dir}
	if rel, err := filepath.Rel(m.cfg.Project, dir); err == nil && filepath.IsLocal(rel) {
		for _, was := range m.cfg.Moved {
			all = append(all, filepath.Join(was, rel))
		}
	}
	return all
}

// checkPlace refuses a folder in which no agent may work.
func (m *core) checkPlace(dir string) error {
	if m.cfg.Place == nil {
		return nil
	}
	return m.cfg.Place(dir)
}

// leftOut tells what an operation left out, also on the screen. What cannot be found out is logged.
func (m *core) leftOut(ctx context.Context, op thread.Operation, id thread.ID, dir, from string) []thread.LeftOut {
	f, ok := m.cfg.Merges.(thread.LeftOutFinder)
	if !ok {
		return nil
	}
	left, err := f.LeftOut(ctx, op, dir, from)
	if err != nil {
		m.cfg.Log.Warn("find out what was left out", "operation", string(op), "thread", string(id), "err", err)
	}
	if op != thread.OpDryRun { // who asked is told
		m.tellLeftOut(op, id, left)
	}
	return left
}

// tellLeftOut tells on the screen what an operation left out.
func (m *core) tellLeftOut(op thread.Operation, id thread.ID, left []thread.LeftOut) {
	for i, l := range left {
		if i == tellAtMost {
			m.notice(id, thread.LevelInfo, "%s leaves out %d more", op, len(left)-i)
			return
		}
		m.notice(id, thread.LevelInfo, "%s leaves out %s", op, l)
	}
}

// skipped tells which files an operation left out because a snapshot does not have them, also on the screen, but for
// those below what is already known to be left out. dir is the folder that the operation made or changed.
func (m *core) skipped(op thread.Operation, id thread.ID, dir string, files []thread.Skip, known []thread.LeftOut) []thread.LeftOut {
	named := map[string]bool{}
	for _, l := range known {
		named[l.Path] = true
	}
	var left []thread.LeftOut
	for _, k := range files {
		path := strings.TrimSuffix(k.Path, "/")
		if named[path] {
			continue
		}
		named[path] = true
		_, err := os.Lstat(filepath.Join(dir, path))
		left = append(left, thread.LeftOut{Kind: thread.LeftFile, Path: path, Why: k.Reason + ": " + skippedWords(op, err == nil)})
	}
	m.tellLeftOut(op, id, left)
	return left
}

// skippedWords says what becomes of a file that a snapshot does not have.
func skippedWords(op thread.Operation, there bool) string {
	switch {
	case op == thread.OpRewind && there:
		return "it stays as it is now"
	case op == thread.OpRewind:
		return "it is not brought back"
	case there:
		return "it is here as it was committed, or as it was"
	}
	return "it is not here; copy it if it is needed"
}

// within reports whether a path is a folder or lies below it.
func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// worktreeMadeFor finds a worktree that was made for a thread.
func (m *core) worktreeMadeFor(ctx context.Context, id thread.ID) (thread.Worktree, bool, error) {
	made, err := m.worktreesMade(ctx)
	w, ok := made[id]
	return w, ok, err
}

// worktreesMade returns the worktrees that were made for threads.
func (m *core) worktreesMade(ctx context.Context) (map[thread.ID]thread.Worktree, error) {
	f, ok := m.cfg.Worktrees.(thread.WorktreeFinder)
	if !ok {
		return nil, nil
	}
	made, err := f.Made(ctx)
	if errors.Is(err, thread.ErrNoRepository) {
		return nil, nil
	}
	return made, err
}

// forgetFiles drops the snapshots of a purged thread.
func (m *core) forgetFiles(ctx context.Context, id thread.ID) error {
	if m.cfg.Worktrees == nil {
		return nil
	}
	if err := m.cfg.Worktrees.Drop(ctx, id); err != nil && !errors.Is(err, thread.ErrNoRepository) {
		return fmt.Errorf("drop the snapshots: %w", err)
	}
	return nil
}

// madeWorktrees returns the worktrees that were made for threads.
type madeWorktrees func() (map[thread.ID]thread.Worktree, error)

// location returns where a thread's worktree and folder are now. made is asked if its worktree is not where it was.
func (m *core) location(t thread.Thread, made madeWorktrees) (thread.Worktree, string) {
	if t.Worktree.Path != "" {
		if _, err := os.Lstat(t.Worktree.Path); err == nil {
			return t.Worktree, t.Dir
		}
		all, err := made()
		found, ok := all[t.ID]
		if err != nil || !ok || found.Path == t.Worktree.Path {
			return t.Worktree, t.Dir // missing: resuming the thread recreates it
		}
		w := t.Worktree
		w.Path = found.Path
		return w, subDir(t.Worktree.Path, t.Dir, w.Path)
	}
	if _, err := os.Lstat(t.Dir); err == nil && within(t.Dir, m.cfg.Project) {
		return t.Worktree, t.Dir
	}
	for _, was := range m.cfg.Moved {
		here := within(t.Dir, m.cfg.Project) && within(m.cfg.Project, was) // a folder of today's that is gone
		if within(t.Dir, was) && !here {
			return t.Worktree, subDir(was, t.Dir, m.cfg.Project)
		}
	}
	return t.Worktree, t.Dir
}
