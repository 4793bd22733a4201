package branch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"orchestrator/checkpoint/git"
	"orchestrator/thread"
)

// trial is a merge without a worktree; its objects are deleted with it.
type trial struct {
	scratch
	env       []string
	result    string // tree
	conflicts []string
	changes   map[string]change // the merge's changes to the files of HEAD
}

// change is the change of one path, as git's modes and objects. A mode is absent if there is no file.
type change struct {
	fromMode, toMode string
	to               string
}

const absent = "000000"

func (tr *trial) close() {
	if tr != nil {
		tr.remove()
	}
}

// trial creates a trial.
func (t tree) trial() (*trial, error) {
	s, err := newScratch(t.temp)
	if err != nil {
		return nil, err
	}
	return &trial{scratch: s, env: []string{
		"GIT_OBJECT_DIRECTORY=" + s.dir,
		"GIT_ALTERNATE_OBJECT_DIRECTORIES=" + git.Alternate(filepath.Join(t.Common, "objects")),
	}}, nil
}

// try merges a commit into head, the worktree's own, without touching the worktree.
func (t tree) try(ctx context.Context, head, tip string) (*trial, error) {
	tr, err := t.trial()
	if err != nil {
		return nil, err
	}
	if err := t.fill(ctx, tr, head, tip); err != nil {
		tr.close()
		return nil, err
	}
	return tr, nil
}

func (t tree) fill(ctx context.Context, tr *trial, head, tip string) error {
	out, code, err := t.code(ctx, git.Call{
		// The names appear in conflict marks: use the ones that git merge writes.
		Args: []string{"merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", "--end-of-options", "HEAD", tip},
		OK:   []int{1, 129}, Env: tr.env,
	})
	var said *git.Error
	if errors.As(err, &said) && strings.Contains(said.Stderr, "unrelated histories") {
		err = thread.Hint(
			thread.Kindf(thread.ErrRefused, "the branch has no common history with the one in %s", t.Root),
			"rebase it first, in its own folder: git rebase --root --onto "+head)
	}
	if err == nil && code == 129 {
		err = thread.Hint(fmt.Errorf("this version of git cannot preview a merge: %w", thread.ErrUnsupported),
			"install git 2.38 or newer")
	}
	if err != nil {
		return err
	}
	names := git.Fields(bytes.TrimSuffix(out, []byte{0}))
	if len(names) > 0 {
		tr.result = strings.TrimSpace(names[0])
	}
	if code == 1 && len(names) > 1 {
		tr.conflicts = names[1:]
	}
	tr.changes, err = t.changes(ctx, tr.env, head, tr.result)
	return err
}

// changes compares two trees.
func (t tree) changes(ctx context.Context, env []string, from, to string) (map[string]change, error) {
	out, err := t.run(ctx, git.Call{Args: []string{
		"diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", "--end-of-options", from, to, "--",
	}, Env: env})
	if err != nil {
		return nil, err
	}
	found := map[string]change{}
	f := git.Fields(out)
	for i := 0; i+1 < len(f); i += 2 {
		if c := strings.Fields(strings.TrimPrefix(f[i], ":")); len(c) == 5 {
			found[f[i+1]] = change{fromMode: c[0], toMode: c[1], to: c[3]}
		}
	}
	return found, nil
}
