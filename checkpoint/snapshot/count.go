package snapshot

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"orchestrator/checkpoint/git"
	"orchestrator/checkpoint/repository"
	"orchestrator/thread"
)

// count fills in how a snapshot differs from the previous one, or from its base if there is none.
func count(ctx context.Context, repo *repository.Repository, snap *thread.Snapshot, prev *thread.Snapshot) error {
	before := snap.Base
	if prev != nil {
		if prev.Tree == snap.Tree {
			return nil
		}
		before = prev.Tree
	}
	before, err := repo.TreeOf(ctx, nil, before)
	if err != nil {
		return err
	}
	stats, err := numstat(ctx, repo, nil, before, snap.Tree)
	var said *git.Error
	if repo.Settings.Partial && errors.As(err, &said) { // lines of missing files cannot be counted
		list, err := repo.Changes(ctx, nil, before, snap.Tree)
		if err == nil {
			snap.Files = len(list)
		}
		return err
	}
	if err != nil {
		return err
	}
	for _, st := range stats {
		snap.Files++
		snap.Insertions += st.ins
		snap.Deletions += st.del
	}
	return nil
}

// stat is one file's line counts.
type stat struct {
	path     string
	oldPath  string // set for renames
	ins, del int
	binary   bool
}

func numstat(
	ctx context.Context, repo *repository.Repository, env []string, from, to string, args ...string,
) ([]stat, error) {
	if from == to {
		return nil, nil
	}
	call := append([]string{
		"diff-tree", "-r", "-z", "--numstat", "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty",
	}, args...)
	out, err := repo.Ours(ctx, git.Call{Args: append(call, "--end-of-options", from, to, "--"), Env: env})
	if err != nil {
		return nil, err
	}
	return parseNumstat(out)
}

// parseNumstat parses "ins\tdel\tpath\0", and for renames "ins\tdel\t\0old\0new\0".
func parseNumstat(out []byte) ([]stat, error) {
	var stats []stat
	f := git.Fields(out)
	for i := 0; i < len(f); i++ {
		part := strings.SplitN(f[i], "\t", 3)
		if len(part) != 3 {
			return nil, fmt.Errorf("git diff-tree wrote %q", git.Printable(f[i]))
		}
		st := stat{path: part[2], binary: part[0] == "-"}
		if !st.binary {
			var err1, err2 error
			st.ins, err1 = strconv.Atoi(part[0])
			st.del, err2 = strconv.Atoi(part[1])
			if err1 != nil || err2 != nil {
				return nil, fmt.Errorf("git diff-tree wrote %q", git.Printable(f[i]))
			}
		}
		if st.path == "" {
			if i+2 >= len(f) {
				return nil, fmt.Errorf("git diff-tree wrote %q", git.Printable(f[i]))
			}
			st.oldPath, st.path = f[i+1], f[i+2]
			i += 2
		}
		stats = append(stats, st)
	}
	return stats, nil
}
