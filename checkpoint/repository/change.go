package repository

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"orchestrator/checkpoint/git"
)

// Change is one path that differs between two trees.
type Change struct {
	Path    string
	OldMode string // "" if the first tree has nothing
	NewMode string // "" if the second tree has nothing
	OldOID  string
	NewOID  string
}

// Changes lists the changes from one tree to another, sorted by path, with additional environment for git.
func (repo *Repository) Changes(ctx context.Context, env []string, from, to string) ([]Change, error) {
	if from == to {
		return nil, nil
	}
	out, err := repo.Ours(ctx, git.Call{Args: []string{
		"diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", "--end-of-options", from, to, "--",
	}, Env: env})
	if err != nil {
		return nil, err
	}
	var list []Change
	f := git.Fields(out)
	for i := 0; i+1 < len(f); i += 2 {
		head := strings.Fields(strings.TrimPrefix(f[i], ":"))
		if len(head) != 5 {
			return nil, fmt.Errorf("git diff-tree wrote %q", git.Printable(f[i]))
		}
		c := Change{Path: f[i+1], OldMode: head[0], NewMode: head[1], OldOID: head[2], NewOID: head[3]}
		if c.OldMode == "000000" {
			c.OldMode = ""
		}
		if c.NewMode == "000000" {
			c.NewMode = ""
		}
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	return list, nil
}
