package branch

import (
	"context"
	"fmt"
	"strings"

	"orchestrator/checkpoint/git"
)

// Unmerged returns the branches of a repository that have commits which what is checked out in a folder of it does not have.
func (m *Merger) Unmerged(ctx context.Context, dir string) (map[string]bool, error) {
	t, err := m.open(ctx, dir)
	if err != nil {
		return nil, fmt.Errorf("list unmerged branches: %w", err)
	}
	defer t.close()
	out, err := t.run(ctx, git.Call{Args: []string{"for-each-ref", "--format=%(refname)", "--no-merged=HEAD", "--", "refs/heads"}})
	if err != nil {
		return nil, fmt.Errorf("list unmerged branches: %w", err)
	}
	all := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		all[strings.TrimPrefix(strings.TrimSpace(line), "refs/heads/")] = true
	}
	return all, nil
}
