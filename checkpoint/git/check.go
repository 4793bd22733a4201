package git

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"orchestrator/thread"
)

// Check asks git itself whether the worktree may be used: its owner, its version, bare or not. A worktree that would
// block git forever is refused before.
func (g *Git) Check(ctx context.Context, w Worktree) error {
	if err := w.Sound(); err != nil {
		return fmt.Errorf("check repository: %w", err)
	}
	if err := w.Unlinked(); err != nil {
		return fmt.Errorf("check repository: %w", err)
	}
	limited, cancel := context.WithTimeout(ctx, g.readLimit)
	defer cancel()
	out, err := g.Line(limited, Call{Dir: w.Root, Args: []string{"rev-parse", "--is-inside-work-tree"}})
	var said *Error
	switch {
	case errors.As(err, &said) && strings.Contains(said.Stderr, "dubious ownership"):
		return thread.Hint(fmt.Errorf("check repository %s: %w", w.Root, ErrOwner),
			"run git config --global --add safe.directory "+w.Root)
	case errors.As(err, &said) && strings.Contains(said.Stderr, "must be run in a work tree"):
		return w.bare()
	case err != nil:
		return fmt.Errorf("check repository: %w", err)
	case out != "true":
		return w.bare()
	}
	return nil
}

// bare says that git takes a worktree for a bare repository, and what helps.
func (w Worktree) bare() error {
	hint := elsewhere(w.Common)
	if w.Linked() { // core.bare of the repository counts in its worktrees where each has a configuration of its own
		hint = fmt.Sprintf("run git -C %s config --worktree core.bare false", Printable(w.Root))
	}
	return thread.Hint(fmt.Errorf("check repository %s: %w", w.Root, ErrBare), hint)
}
