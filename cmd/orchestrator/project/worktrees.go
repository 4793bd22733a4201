package project

import (
	"fmt"
	"path/filepath"
	"strings"

	"orchestrator/checkpoint/git"
	"orchestrator/thread"
)

// worktreesName is the folder of worktrees in a project's state.
const worktreesName = "worktrees"

// Worktrees is where the worktrees of the project's forks go: below its state, or to a folder of its own in the one
// that the person has set. A folder that searches and tests of the project would see is refused, and so is one that
// every program may write to. Nothing is made.
func (p Project) Worktrees(set string) (string, error) {
	if set == "" {
		return filepath.Join(p.StateDir(), worktreesName), nil
	}
	dir := set
	if rest, ok := strings.CutPrefix(set, "~/"); ok {
		dir = filepath.Join(p.places.Home, rest)
	}
	const remedy = "set `worktrees` in your own configuration to another folder, or leave it out"
	if !filepath.IsAbs(dir) {
		return "", thread.Hint(fmt.Errorf("worktrees = %q is not an absolute path: %w", set, thread.ErrInvalid), remedy)
	}
	dir = filepath.Join(resolved(dir), filepath.Base(p.StateDir()))
	if git.Within(dir, p.Root) {
		err := fmt.Errorf("worktrees = %q lies in the project %s: %w", set, p.Root, thread.ErrInvalid)
		return "", thread.Hint(err, remedy)
	}
	if t := p.places.temporary(dir); t != "" {
		return "", thread.Hint(fmt.Errorf("worktrees = %q is below the temporary folder %s: %w", set, t, ErrExposed), remedy)
	}
	return dir, nil
}
