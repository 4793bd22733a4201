package repository

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"

	"orchestrator/checkpoint/git"
	"orchestrator/thread"
)

// Top is a tree with facts about its top level.
type Top struct {
	Tree    string // "" if the repository has none
	Foreign bool   // it contains a folder that is not ours to keep
}

// Tops reads the trees of commits or trees, with further environment for git.
func (repo *Repository) Tops(ctx context.Context, env []string, ids ...string) ([]Top, error) {
	var in strings.Builder
	for _, id := range ids {
		in.WriteString(id + "^{tree}\n")
	}
	out, err := repo.Ours(ctx, git.Call{
		Args: []string{"cat-file", "--batch"}, Stdin: strings.NewReader(in.String()), Env: env,
	})
	if err != nil {
		return nil, err
	}
	found := make([]Top, len(ids))
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
		found[i].Tree = head[0]
		if found[i].Foreign, err = namesForeign(rest[:size], len(head[0])/2); err != nil {
			return nil, err
		}
		out = rest[size+1:]
	}
	return found, nil
}

// namesForeign parses a tree object, a sequence of "mode name\0id".
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

// WithoutForeign returns a tree without the foreign folder in it.
func (repo *Repository) WithoutForeign(ctx context.Context, env []string, t Top) (string, error) {
	if !t.Foreign {
		return t.Tree, nil
	}
	out, err := repo.Ours(ctx, git.Call{Args: []string{"ls-tree", "-z", "--full-tree", t.Tree}, Env: env})
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
	out, err = repo.Ours(ctx, git.Call{Args: []string{"mktree", "-z", "--missing"}, Stdin: &kept, Env: env})
	return strings.TrimSpace(string(out)), err
}

// TreeOf returns the tree of a commit or tree, without the foreign folder; for "" the empty one.
func (repo *Repository) TreeOf(ctx context.Context, env []string, id string) (string, error) {
	if id == "" {
		out, err := repo.Ours(ctx, git.Call{Args: []string{"hash-object", "-t", "tree", "-w", "--stdin"}, Env: env})
		return strings.TrimSpace(string(out)), err
	}
	if !git.IsObjectID(id) {
		return "", thread.Kindf(thread.ErrInvalid, "%q is not a commit", git.Printable(id))
	}
	tops, err := repo.Tops(ctx, env, id)
	if err != nil {
		return "", err
	}
	if tops[0].Tree == "" {
		return "", fmt.Errorf("snapshot %.12s is no longer in the repository: %w", id, thread.ErrNotFound)
	}
	return repo.WithoutForeign(ctx, env, tops[0])
}

// SnapshotTree returns a snapshot's tree, without the foreign folder, and makes sure that it is the one that was
// stored
// with it.
func (repo *Repository) SnapshotTree(ctx context.Context, at thread.Snapshot) (string, error) {
	if !git.IsObjectID(at.Commit) {
		return "", thread.Kindf(thread.ErrInvalid, "snapshot %q is not a commit", git.Printable(at.Commit))
	}
	tops, err := repo.Tops(ctx, nil, at.Commit)
	switch {
	case err != nil:
		return "", err
	case tops[0].Tree == "":
		return "", fmt.Errorf("snapshot %.12s is no longer in the repository: %w", at.Commit, thread.ErrNotFound)
	case at.Tree != "" && at.Tree != tops[0].Tree:
		return "", fmt.Errorf("snapshot %.12s does not match its stored tree: %w", at.Commit, thread.ErrDamaged)
	}
	return repo.WithoutForeign(ctx, nil, tops[0])
}
