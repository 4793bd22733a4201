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
	case err != nil:
		return fmt.Errorf("check repository: %w", err)
	case out != "true":
		return fmt.Errorf("check repository %s: %w", w.Root, ErrBare)
	}
	return nil
}
