package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"orchestrator/checkpoint/git"
	"orchestrator/thread"
	"orchestrator/thread/failpoint"
)

// ErrChanged says that files changed while they were being restored. What was restored so far is taken back.
var ErrChanged = errors.New("a file changed meanwhile")

// Restore makes the worktree that dir lies in hold exactly what a snapshot holds, as far as files are not ignored,
// and returns the safety snapshot of what was there before: restoring that undoes it. What had to be left as it is
// (an ignored file in the way, a submodule, a file the snapshot skipped) is named in the safety snapshot's Skipped.
// Branch, HEAD and index stay as they are.
func (s *Store) Restore(ctx context.Context, id thread.ID, dir string, at thread.Snapshot) (thread.Snapshot, error) {
	return s.restoreTo(ctx, id, dir, at, nil)
}

// RestoreOnly is Restore for some paths alone; all others stay as they are. Paths that the snapshot and the worktree
// have alike are no error.
func (s *Store) RestoreOnly(ctx context.Context, id thread.ID, dir string, at thread.Snapshot, paths []string) (thread.Snapshot, error) {
	return s.restoreTo(ctx, id, dir, at, &paths)
}

func (s *Store) restoreTo(ctx context.Context, id thread.ID, dir string, at thread.Snapshot, only *[]string) (thread.Snapshot, error) {
	if err := checkID(id); err != nil {
		return thread.Snapshot{}, fmt.Errorf("restore snapshot: %w", err)
	}
	w, err := s.open(ctx, dir)
	if err != nil {
		return thread.Snapshot{}, fmt.Errorf("restore snapshot: %w", err)
	}
	safety, err := s.restore(ctx, w, op{Kind: opRestore, Thread: id, Worktree: w.name(), Target: &at, Only: only}, at)
	if err != nil {
		return safety, fmt.Errorf("restore snapshot: %w", err)
	}
	return safety, nil
}

// restore sets the files to at. An op with an id is one that goes on.
func (s *Store) restore(ctx context.Context, w *worktree, o op, at thread.Snapshot) (thread.Snapshot, error) {
	unlock, err := w.lock(ctx)
	if err != nil {
		return thread.Snapshot{}, err
	}
	defer unlock()
	target, err := w.snapshotTree(ctx, at)
	if err != nil {
		return thread.Snapshot{}, err
	}
	where, err := openPlace(w.Root)
	if err != nil {
		return thread.Snapshot{}, err
	}
	defer where.close()
	safety, todo, err := s.settle(ctx, w, where, o, target)
	if err != nil {
		return thread.Snapshot{}, err
	}
	failpoint.Hit("snapshot.restore.saved")
	todo.from, todo.to = safety.Tree, target
	j, err := w.begin(o)
	if err != nil {
		return safety, err
	}
	failpoint.Hit("snapshot.restore.begun")
	if o.Only != nil {
		todo.only(*o.Only)
	}
	todo.spare(at.Skipped)
	err = w.carryOut(ctx, where, todo)
	if err == nil {
		err = syncTree(w.Root)
	}
	if err != nil {
		return safety, w.giveUp(ctx, where, j, todo, err)
	}
	failpoint.Hit("snapshot.restore.written")
	safety.Skipped = append(safety.Skipped, todo.left...)
	return safety, j.end()
}

// snapshotTree returns a snapshot's tree, without what is foreign in it, and makes sure that it is the one that was stored with it.
func (w *worktree) snapshotTree(ctx context.Context, at thread.Snapshot) (string, error) {
	if !git.IsObjectID(at.Commit) {
		return "", fmt.Errorf("snapshot %q is no commit: %w", git.Printable(at.Commit), thread.ErrInvalid)
	}
	tops, err := w.tops(ctx, nil, at.Commit)
	switch {
	case err != nil:
		return "", err
	case tops[0].tree == "":
		return "", fmt.Errorf("snapshot %.12s is no longer in the repository: %w", at.Commit, thread.ErrNotFound)
	case at.Tree != "" && at.Tree != tops[0].tree:
		return "", fmt.Errorf("snapshot %.12s holds another tree than was stored with it: %w", at.Commit, thread.ErrDamaged)
	}
	return w.without(ctx, nil, tops[0])
}

// giveUp ends a restore that failed. What it did is taken back, so that no file is lost and none comes as a surprise
// later; where that fails too, or where it went on with one that had been cut off, the journal stays.
func (w *worktree) giveUp(ctx context.Context, where *place, j *journal, t *todo, why error) error {
	ctx = context.WithoutCancel(ctx) // it may be what failed
	if err := w.reverse(ctx, where, t); err != nil {
		j.leave()
		return errors.Join(why, fmt.Errorf("take back what was restored: %w", err))
	}
	if j.again {
		j.leave()
		return why
	}
	return errors.Join(why, j.end())
}

// reverse takes back the steps that were done, and only those.
func (w *worktree) reverse(ctx context.Context, where *place, t *todo) error {
	done := map[string]bool{}
	for _, st := range t.steps {
		if st.done {
			done[st.path] = true
		}
	}
	back, err := w.between(ctx, t.to, t.from)
	if err != nil {
		return err
	}
	back.steps = slices.DeleteFunc(back.steps, func(st todoStep) bool { return !done[st.path] })
	for i := range back.steps {
		st := &back.steps[i]
		if st.old, err = where.lstat(st.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return w.carryOut(ctx, where, back)
}

// settle takes the safety snapshot and makes sure that the files it is about are still as it holds them.
func (s *Store) settle(ctx context.Context, w *worktree, where *place, o op, target string) (thread.Snapshot, *todo, error) {
	order := order{thread: o.Thread, limit: s.cfg.Limit, note: "before restoring"}
	safety, err := s.take(ctx, w, order)
	if err != nil {
		return safety, nil, fmt.Errorf("save what is there: %w", err)
	}
	for range tries {
		list, err := w.between(ctx, safety.Tree, target)
		if err != nil {
			return safety, nil, err
		}
		for i := range list.steps {
			if st := &list.steps[i]; st.oldMode != "" {
				if st.old, err = where.lstat(st.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
					return safety, nil, err
				}
			}
		}
		again, err := s.take(ctx, w, order)
		if err != nil {
			return safety, nil, fmt.Errorf("save what is there: %w", err)
		}
		if again.Tree == safety.Tree {
			return safety, list, nil
		}
		safety = again
	}
	return safety, nil, fmt.Errorf("save what is there: files keep changing, is the agent still working: %w", ErrChanged)
}

// todo is what a restore has to do.
type todo struct {
	from, to string     // trees
	steps    []todoStep // sorted by path
	left     []thread.Skip
}

// todoStep is one path that differs.
type todoStep struct {
	path    string
	oldMode string // "" where the safety snapshot has nothing
	newMode string // "" where the target has nothing
	oid     string // of the target
	oldOID  string
	done    bool        // carried out and not left, so that it would have to be taken back
	old     fs.FileInfo // what stood there when the safety snapshot was taken, nil for nothing
}

// between lists what leads from one tree to another.
func (w *worktree) between(ctx context.Context, from, to string) (*todo, error) {
	return w.betweenIn(ctx, nil, from, to)
}

// betweenIn does so with further environment.
func (w *worktree) betweenIn(ctx context.Context, env []string, from, to string) (*todo, error) {
	out, err := w.ours(ctx, git.Call{Args: []string{
		"diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", "--end-of-options", from, to, "--",
	}, Env: env})
	if err != nil {
		return nil, err
	}
	t := &todo{}
	f := split(out)
	for i := 0; i+1 < len(f); i += 2 {
		head := strings.Fields(strings.TrimPrefix(f[i], ":"))
		if len(head) != 5 {
			return nil, fmt.Errorf("git diff-tree wrote %q", git.Printable(f[i]))
		}
		st := todoStep{path: f[i+1], oldMode: head[0], newMode: head[1], oid: head[3], oldOID: head[2]}
		if st.oldMode == "000000" {
			st.oldMode = ""
		}
		if st.newMode == "000000" {
			st.newMode = ""
		}
		t.steps = append(t.steps, st)
	}
	slices.SortFunc(t.steps, func(a, b todoStep) int { return strings.Compare(a.path, b.path) })
	return t, nil
}

func (t *todo) leave(name, reason string) {
	t.left = append(t.left, thread.Skip{Path: name, Reason: reason})
}

// only takes out what is not about some paths.
func (t *todo) only(paths []string) {
	names := make(map[string]bool, len(paths))
	for _, p := range paths {
		names[p] = true
	}
	t.steps = slices.DeleteFunc(t.steps, func(st todoStep) bool { return !names[st.path] })
}

// spare takes out what the target does not hold only because it skipped it.
func (t *todo) spare(skipped []thread.Skip) {
	if len(skipped) == 0 {
		return
	}
	names := make(map[string]bool, len(skipped))
	for _, sk := range skipped {
		names[strings.TrimSuffix(sk.Path, "/")] = true
	}
	t.steps = slices.DeleteFunc(t.steps, func(st todoStep) bool {
		if st.newMode != "" {
			return false
		}
		for at := st.path; at != "."; at = path.Dir(at) {
			if names[at] {
				t.leave(st.path, "left as it is: the snapshot skipped it")
				return true
			}
		}
		return false
	})
}

// parents are the folders that the target needs.
func (t *todo) parents() map[string]bool {
	need := map[string]bool{}
	for _, st := range t.steps {
		if st.newMode == "" {
			continue
		}
		for dir := path.Dir(st.path); dir != "." && !need[dir]; dir = path.Dir(dir) {
			need[dir] = true
		}
	}
	return need
}
