package manager

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"orchestrator/thread"
	exec "orchestrator/thread/work"
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
func (c *Config) places(dir string) []string {
	all := []string{dir}
	if rel, err := filepath.Rel(c.Project, dir); err == nil && filepath.IsLocal(rel) {
		for _, was := range c.Moved {
			all = append(all, filepath.Join(was, rel))
		}
	}
	return all
}

// checkPlace refuses a folder in which no agent may work.
func (c *Config) checkPlace(dir string) error {
	if c.Place == nil {
		return nil
	}
	return c.Place(dir)
}

// within reports whether a path is a folder or lies below it.
func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// staysIn refuses to start what an agent asked for in a folder of the project, or of its worktree, from which a link leads
// out: it was no link when it was asked for, and was replaced while it waited.
func staysIn(l *run, x exec.Execution) error {
	t := l.live.thread()
	if x.By == "" {
		return nil
	}
	at, err := filepath.EvalSymlinks(t.Dir)
	if err != nil {
		return fmt.Errorf("folder %s: %w", t.Dir, err)
	}
	for _, root := range []string{l.cfg.Project, t.Worktree.Path} {
		if root == "" || !within(t.Dir, root) {
			continue
		}
		real, err := filepath.EvalSymlinks(root)
		if err != nil {
			return fmt.Errorf("folder %s: %w", root, err)
		}
		if !within(at, real) {
			return thread.Kindf(thread.ErrNotGranted, "a link in folder %s leads out of the project, to %s", t.Dir, at)
		}
	}
	return nil
}

// worktreeMadeFor finds a worktree that was made for a thread.
func (c *Config) worktreeMadeFor(ctx context.Context, id thread.ID) (thread.Worktree, bool, error) {
	made, err := c.worktreesMade(ctx)
	w, ok := made[id]
	return w, ok, err
}

// worktreesMade returns the worktrees that were made for threads.
func (c *Config) worktreesMade(ctx context.Context) (map[thread.ID]thread.Worktree, error) {
	f, ok := c.Worktrees.(thread.WorktreeFinder)
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
func (c *Config) forgetFiles(ctx context.Context, id thread.ID) error {
	if c.Worktrees == nil {
		return nil
	}
	if err := c.Worktrees.Drop(ctx, id); err != nil && !errors.Is(err, thread.ErrNoRepository) {
		return fmt.Errorf("drop the snapshots: %w", err)
	}
	return nil
}

// madeWorktrees returns the worktrees that were made for threads.
type madeWorktrees func() (map[thread.ID]thread.Worktree, error)

// location returns where a thread's worktree and folder are now. made is asked if its worktree is not where it was.
func (c *Config) location(t thread.Thread, made madeWorktrees) (thread.Worktree, string) {
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
	if _, err := os.Lstat(t.Dir); err == nil && within(t.Dir, c.Project) {
		return t.Worktree, t.Dir
	}
	for _, was := range c.Moved {
		here := within(t.Dir, c.Project) && within(c.Project, was) // a folder of today's that is gone
		if within(t.Dir, was) && !here {
			return t.Worktree, subDir(was, t.Dir, c.Project)
		}
	}
	return t.Worktree, t.Dir
}

// origin returns the person's folder that a thread's is a copy of, "" if it is none.
func origin(l *run, t thread.Thread) string {
	if t.Worktree.Path != "" {
		return subDir(t.Worktree.Path, home(t), l.cfg.Project)
	}
	return t.Once.From
}
