package project

import (
	"errors"
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
		return "", thread.Hint(thread.Kindf(thread.ErrInvalid, "worktrees = %q is not an absolute path", set), remedy)
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

// CheckPlace refuses a folder as the place where an agent works: one in a git directory, and one outside of the
// project, which is somebody else's. Other worktrees of the repository are the project's.
func (p Project) CheckPlace(dir string) error {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return fmt.Errorf("find the folder %s: %w", dir, err)
	}
	w, err := git.Find(real)
	var hint *thread.HintError
	switch {
	case errors.Is(err, git.ErrBare) && errors.As(err, &hint):
		return thread.Hint(thread.Kindf(thread.ErrInvalid, "no agent works in %s, which is in a git directory", dir), hint.Hint)
	case git.Within(real, p.Root):
		return nil
	case err == nil && p.here.gitDir != "" && devOf(w.Common).same(p.commonAt(), false):
		return nil
	default:
		return thread.Hint(thread.Kindf(thread.ErrInvalid, "%s is outside of the project %s", dir, p.Root),
			"go to that folder and start orchestrator there")
	}
}

// commonAt is the place of the repository that the project's worktrees share.
func (p Project) commonAt() place {
	w, err := git.Find(p.Root)
	if err != nil {
		return place{}
	}
	return devOf(w.Common)
}
