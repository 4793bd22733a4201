package manager_test

import (
	"context"
	"fmt"
	"sync"

	"orchestrator/thread"
)

// worktrees keeps folders' contents as strings: the snapshot's tree is the content itself.
type worktrees struct {
	mu      sync.Mutex // guards the fields
	root    string
	content map[string]string // by folder
	removed map[string]bool
	made    map[thread.ID]thread.Worktree
	fail    error
	adding  func(thread.ID) // called while a worktree is made
	fuse    *fuse           // a new one for each run
	takes   int
	commits map[string]string // content by commit
	dropped []string          // branches
	moved   bool              // branches are not where the snapshots are
}

func (w *worktrees) set(dir, content string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.init()
	w.content[dir] = content
}

// fails has everything fail from now on, nothing if err is nil.
func (w *worktrees) fails(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fail = err
}

func (w *worktrees) get(dir string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.content[dir]
}

func (w *worktrees) init() {
	if w.content == nil {
		w.content, w.removed, w.commits = map[string]string{}, map[string]bool{}, map[string]string{}
		w.made = map[thread.ID]thread.Worktree{}
	}
}

func (w *worktrees) Take(_ context.Context, id thread.ID, dir string, prev *thread.Snapshot) (thread.Snapshot, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.init()
	if w.fail != nil {
		return thread.Snapshot{}, w.fail
	}
	w.takes++
	c := w.content[dir]
	if prev != nil && prev.Tree == c {
		return *prev, nil
	}
	commit := fmt.Sprintf("%s-%d", id, w.takes)
	w.commits[commit] = c
	return thread.Snapshot{Commit: commit, Tree: c, Base: "base", Files: 1}, nil
}

func (w *worktrees) Add(_ context.Context, id thread.ID, _, name string, at thread.Snapshot) (thread.Worktree, error) {
	if w.adding != nil {
		w.adding(id)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.init()
	if w.fail != nil {
		return thread.Worktree{}, w.fail
	}
	if w.moved {
		return thread.Worktree{}, fmt.Errorf("branch orchestrator/%s points to another commit: %w", name, thread.ErrNameTaken)
	}
	path := w.root + "/wt-" + name
	if err := mkdir(path); err != nil {
		return thread.Worktree{}, err
	}
	w.content[path] = w.commits[at.Commit]
	delete(w.removed, path)
	w.made[id] = thread.Worktree{Path: path, Branch: "orchestrator/" + name, Base: at.Base}
	return w.made[id], nil
}

func (w *worktrees) Remove(_ context.Context, id thread.ID, t thread.Worktree) (thread.Snapshot, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.init()
	w.commits["saved-"+string(id)] = w.content[t.Path]
	w.removed[t.Path] = true
	delete(w.content, t.Path)
	return thread.Snapshot{Commit: "saved-" + string(id)}, rmdir(t.Path)
}

func (w *worktrees) RestoreOnly(ctx context.Context, id thread.ID, dir string, at thread.Snapshot, _ []string) (thread.Snapshot, error) {
	return w.Restore(ctx, id, dir, at)
}

func (w *worktrees) Restore(_ context.Context, id thread.ID, dir string, at thread.Snapshot) (thread.Snapshot, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.init()
	old := w.content[dir]
	w.takes++
	commit := fmt.Sprintf("safety-%s-%d", id, w.takes)
	w.commits[commit] = old
	w.content[dir] = w.commits[at.Commit]
	return thread.Snapshot{Commit: commit, Tree: old}, nil
}

// DropBranch implements thread.BranchDropper.
func (w *worktrees) DropBranch(_ context.Context, t thread.Worktree) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.dropped = append(w.dropped, t.Branch)
	return nil
}

func (w *worktrees) Drop(context.Context, thread.ID) error         { return nil }
func (w *worktrees) Repair(context.Context) ([]string, error)      { return nil, nil }
func (w *worktrees) Describe(_ context.Context, dir string) string { return "clean" }
