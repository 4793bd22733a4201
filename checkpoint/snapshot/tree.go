package snapshot

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"

	"orchestrator/checkpoint/git"
	"orchestrator/thread"
)

// top is a tree with what is to know of its top.
type top struct {
	tree    string // "" where the repository has none
	foreign bool
}

// tops looks at the trees of commits or trees.
func (repo *repository) tops(ctx context.Context, env []string, ids ...string) ([]top, error) {
	var in strings.Builder
	for _, id := range ids {
		in.WriteString(id + "^{tree}\n")
	}
	out, err := repo.ours(ctx, git.Call{Args: []string{"cat-file", "--batch"}, Stdin: strings.NewReader(in.String()), Env: env})
	if err != nil {
		return nil, err
	}
	found := make([]top, len(ids))
	for i := range ids {
		line, rest, ok := bytes.Cut(out, []byte{'\n'})
		head := strings.Fields(string(line))
		switch {
		case !ok || len(head) < 2:
			return nil, fmt.Errorf("git cat-file wrote %q", git.Printable(string(line)))
		case len(head) != 3: // "<id> missing"
			out = rest
			continue
		}
		size, err := strconv.Atoi(head[2])
		if err != nil || head[1] != "tree" || size < 0 || size >= len(rest) {
			return nil, fmt.Errorf("git cat-file wrote %q", git.Printable(string(line)))
		}
		found[i].tree = head[0]
		if found[i].foreign, err = namesForeign(rest[:size], len(head[0])/2); err != nil {
			return nil, err
		}
		out = rest[size+1:]
	}
	return found, nil
}

// namesForeign reads a tree object, "mode name\0id" again and again.
func namesForeign(tree []byte, id int) (bool, error) {
	for len(tree) > 0 {
		head, rest, ok := bytes.Cut(tree, []byte{0})
		_, name, named := bytes.Cut(head, []byte{' '})
		if !ok || !named || len(rest) < id {
			return false, fmt.Errorf("read tree: %w", thread.ErrDamaged)
		}
		if git.IsForeign(string(name)) {
			return true, nil
		}
		tree = rest[id:]
	}
	return false, nil
}

// without returns a tree less what is foreign in it.
func (repo *repository) without(ctx context.Context, env []string, t top) (string, error) {
	if !t.foreign {
		return t.tree, nil
	}
	out, err := repo.ours(ctx, git.Call{Args: []string{"ls-tree", "-z", "--full-tree", t.tree}, Env: env})
	if err != nil {
		return "", err
	}
	var kept bytes.Buffer
	for _, line := range git.Fields(out) {
		_, name, ok := strings.Cut(line, "\t")
		if !ok {
			return "", fmt.Errorf("git ls-tree wrote %q", git.Printable(line))
		}
		if !git.IsForeign(name) {
			kept.WriteString(line + "\x00")
		}
	}
	out, err = repo.ours(ctx, git.Call{Args: []string{"mktree", "-z", "--missing"}, Stdin: &kept, Env: env})
	return strings.TrimSpace(string(out)), err
}

// treeOf returns the tree of a commit or tree, without what is foreign in it; of "" the empty one.
func (repo *repository) treeOf(ctx context.Context, id string) (string, error) {
	return repo.treeOfIn(ctx, nil, id)
}

// treeOfIn does so with further environment.
func (repo *repository) treeOfIn(ctx context.Context, env []string, id string) (string, error) {
	if id == "" {
		out, err := repo.ours(ctx, git.Call{Args: []string{"hash-object", "-t", "tree", "-w", "--stdin"}, Env: env})
		return strings.TrimSpace(string(out)), err
	}
	if !git.IsObjectID(id) {
		return "", fmt.Errorf("%q is no commit: %w", git.Printable(id), thread.ErrInvalid)
	}
	tops, err := repo.tops(ctx, env, id)
	if err != nil {
		return "", err
	}
	if tops[0].tree == "" {
		return "", fmt.Errorf("snapshot %.12s is no longer in the repository: %w", id, thread.ErrNotFound)
	}
	return repo.without(ctx, env, tops[0])
}

// snapshotTree returns a snapshot's tree, without what is foreign in it, and makes sure that it is the one that was stored with it.
func (repo *repository) snapshotTree(ctx context.Context, at thread.Snapshot) (string, error) {
	if !git.IsObjectID(at.Commit) {
		return "", fmt.Errorf("snapshot %q is no commit: %w", git.Printable(at.Commit), thread.ErrInvalid)
	}
	tops, err := repo.tops(ctx, nil, at.Commit)
	switch {
	case err != nil:
		return "", err
	case tops[0].tree == "":
		return "", fmt.Errorf("snapshot %.12s is no longer in the repository: %w", at.Commit, thread.ErrNotFound)
	case at.Tree != "" && at.Tree != tops[0].tree:
		return "", fmt.Errorf("snapshot %.12s holds another tree than was stored with it: %w", at.Commit, thread.ErrDamaged)
	}
	return repo.without(ctx, nil, tops[0])
}

// toFill is what goes into a new worktree.
type toFill struct {
	tree    string // the snapshot's, without what is foreign
	foreign bool   // the base has something foreign, which is checked out as git does it
}

func (repo *repository) toFill(ctx context.Context, at thread.Snapshot) (toFill, error) {
	ids := []string{at.Tree}
	if at.Base != "" {
		ids = append(ids, at.Base)
	}
	tops, err := repo.tops(ctx, nil, ids...)
	if err != nil {
		return toFill{}, err
	}
	if tops[0].tree == "" {
		return toFill{}, fmt.Errorf("snapshot %.12s is no longer in the repository: %w", at.Commit, thread.ErrNotFound)
	}
	tree, err := repo.without(ctx, nil, tops[0])
	return toFill{tree: tree, foreign: len(tops) > 1 && tops[1].foreign}, err
}
