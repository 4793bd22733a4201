package branch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"orchestrator/checkpoint/git"
	"orchestrator/thread"
)

// tree is a worktree to work in, with its repository's configuration at the time it was opened.
type tree struct {
	git.Worktree
	git     *git.Git
	temp    string
	own     *git.Own
	refused bool     // the programs in own were not accepted
	view    scratch  // the repository as git sees it
	frozen  []string // environment that makes git use view
	env     []string // where a preview writes objects and an index; nil otherwise
	note    *os.File // locked while the worktree is ours alone; nil otherwise
}

func (m *Merger) open(ctx context.Context, dir string) (tree, error) {
	w, err := git.Find(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return tree{}, fmt.Errorf("%w: %w", err, thread.ErrNotFound)
	}
	if err != nil {
		return tree{}, err
	}
	if err := m.git.Check(ctx, w); err != nil {
		return tree{}, err
	}
	own, err := m.git.ReadOwn(ctx, w)
	if err != nil {
		return tree{}, err
	}
	t := tree{Worktree: w, git: m.git, temp: m.temp, own: own}
	t.refused = len(own.Content()) > 0 && (m.accepted == nil || !m.accepted(own.Place(), own.Content()))
	if t.view, err = newScratch(m.state); err != nil {
		return tree{}, err
	}
	if t.frozen, err = own.Freeze(t.view.dir, !t.refused); err != nil {
		t.close()
		return tree{}, err
	}
	return t, nil
}

// close removes the view, and unlocks the worktree.
func (t tree) close() {
	t.view.remove()
	if t.note != nil {
		t.note.Close()
	}
}

func (t tree) run(ctx context.Context, c git.Call) ([]byte, error) {
	out, _, err := t.code(ctx, c)
	return out, err
}

func (t tree) code(ctx context.Context, c git.Call) ([]byte, int, error) {
	c.Dir, c.Env = t.Root, slices.Concat(t.frozen, t.env, c.Env)
	for _, held := range []*os.File{t.note, t.view.lock} { // a git that outlives us needs both
		if held != nil {
			c.Hold = append(c.Hold, held)
		}
	}
	c.Durable = c.Durable && t.env == nil
	return t.git.RunCode(ctx, c)
}

func (t tree) line(ctx context.Context, args ...string) (string, error) {
	out, err := t.run(ctx, git.Call{Args: args})
	return strings.TrimSpace(string(out)), err
}

// commit returns the commit of a branch name, a full ref or a commit id.
func (t tree) commit(ctx context.Context, name string) (string, error) {
	ref := name
	switch {
	case name == "HEAD" || git.IsObjectID(name):
	case strings.HasPrefix(name, "refs/"):
		if err := git.CheckBranch(strings.TrimPrefix(name, "refs/")); err != nil {
			return "", err
		}
	default:
		if err := git.CheckBranch(name); err != nil {
			return "", err
		}
		ref = "refs/heads/" + name
	}
	out, code, err := t.code(ctx, git.Call{
		Args: []string{"rev-parse", "--verify", "--quiet", "--end-of-options", ref + "^{commit}"}, OK: []int{1, 128},
	})
	if err == nil && code != 0 {
		err = fmt.Errorf("%s has no commit: %w", name, thread.ErrNotFound)
	}
	return strings.TrimSpace(string(out)), err
}

func (t tree) names(ctx context.Context, args ...string) (map[string]bool, error) {
	out, err := t.run(ctx, git.Call{Args: args})
	if err != nil {
		return nil, err
	}
	found := map[string]bool{}
	for _, name := range git.Fields(out) {
		found[name] = true
	}
	return found, nil
}

// unmerged returns the paths with conflicts.
func (t tree) unmerged(ctx context.Context) ([]string, error) {
	out, err := t.run(ctx, git.Call{Args: []string{
		"diff", "--name-only", "--diff-filter=U", "-z", "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty",
	}})
	if err != nil {
		return nil, err
	}
	names := git.Fields(out)
	slices.Sort(names)
	return slices.Compact(names), nil
}

// inProgress names the operation in progress in a worktree, "" for none.
func (t tree) inProgress() string {
	for _, st := range []struct{ file, what string }{
		{"MERGE_HEAD", "merge"}, {"rebase-merge", "rebase"}, {"rebase-apply", "rebase"},
		{"CHERRY_PICK_HEAD", "cherry-pick"}, {"REVERT_HEAD", "revert"},
	} {
		if _, err := os.Lstat(filepath.Join(t.GitDir, st.file)); err == nil {
			return st.what
		}
	}
	return ""
}

// unlocked refuses a worktree whose index is locked by another git; git itself checks it for some commands only.
func (t tree) unlocked() error {
	lock := filepath.Join(t.GitDir, "index.lock")
	if _, err := os.Lstat(lock); err != nil {
		return nil
	}
	return thread.Hint(&atWorkError{dir: t.Root}, "try again; remove "+lock+" if no git is running")
}

// atWorkError is a thread.ErrBusy.
type atWorkError struct{ dir string }

func (e *atWorkError) Error() string {
	return "another git process is running in " + e.dir + ", or was killed there"
}
func (e *atWorkError) Unwrap() error { return thread.ErrBusy }
