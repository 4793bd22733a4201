package git

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Ignored lists the files of dir's worktree that match patterns in .gitignore syntax and are ignored by the repository,
// relative to its root. Files of another repository inside it are left out.
func (g *Git) Ignored(ctx context.Context, dir string, patterns []string) ([]string, error) {
	w, err := Find(dir)
	if err == nil {
		err = w.Sound()
	}
	if err != nil {
		return nil, err
	}
	list := func(excludes ...string) ([]string, error) {
		args := append([]string{"ls-files", "-z", "--others", "--ignored"}, excludes...)
		out, err := g.Run(ctx, Call{Dir: w.Root, Env: w.Env(), Args: args})
		if err != nil {
			return nil, fmt.Errorf("list ignored files: %w", err)
		}
		return strings.FieldsFunc(string(out), func(r rune) bool { return r == 0 }), nil
	}
	var own []string
	for _, p := range patterns {
		own = append(own, "--exclude="+p)
	}
	matches, err := list(own...)
	if err != nil || len(matches) == 0 {
		return nil, err
	}
	all, err := list("--exclude-standard")
	if err != nil {
		return nil, err
	}
	ignored := make(map[string]bool, len(all))
	for _, name := range all {
		ignored[name] = true
	}
	return slices.DeleteFunc(matches, func(name string) bool {
		return !ignored[name] || strings.HasSuffix(name, "/")
	}), nil
}
