package snapshot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"orchestrator/checkpoint/git"
	"orchestrator/thread"
)

// Changed returns for each step the paths that differ between its two commits: of snapshots, or of the repository. An
// empty From is nothing at all. A step of which a commit is missing has none. git runs once for all steps, and once for
// each if a commit is missing.
func (s *Store) Changed(ctx context.Context, dir string, steps []thread.FileStep) ([][]string, error) {
	w, err := s.open(ctx, dir)
	if err != nil {
		return nil, fmt.Errorf("list changed files: %w", err)
	}
	out, err := w.changed(ctx, steps)
	var said *git.Error
	if !errors.As(err, &said) {
		return out, err
	}
	out = make([][]string, len(steps))
	for i, st := range steps {
		one, err := w.changed(ctx, []thread.FileStep{st})
		switch {
		case err == nil:
			out[i] = one[0]
		case !errors.As(err, &said):
			return nil, err
		}
	}
	return out, nil
}

// changed lists the paths of steps, and fails if a commit is missing.
func (w files) changed(ctx context.Context, steps []thread.FileStep) ([][]string, error) {
	out := make([][]string, len(steps))
	var in strings.Builder
	for i, st := range steps {
		switch {
		case !isHex(st.To) || st.From != "" && !isHex(st.From):
			return nil, fmt.Errorf("list changed files: commit %q: %w", git.Printable(st.To+" "+st.From), thread.ErrInvalid)
		case st.From == "":
			all, err := w.work.Ours(ctx, git.Call{Args: []string{"ls-tree", "-r", "-z", "--name-only", "--full-tree", st.To}})
			if err != nil {
				return nil, err
			}
			out[i] = git.Fields(all)
		default:
			fmt.Fprintf(&in, "%s %s\n", st.To, st.From) // a commit, and what is taken for its parent
		}
	}
	if in.Len() == 0 {
		return out, nil
	}
	raw, err := w.work.Ours(ctx, git.Call{Stdin: strings.NewReader(in.String()), Args: []string{
		"diff-tree", "--stdin", "--always", "-r", "-z", "--name-only", "--no-renames", "--no-ext-diff", "--no-textconv", "--ignore-submodules=all"}})
	if err != nil {
		return nil, err
	}
	at := -1 // the step whose paths follow
	for _, f := range git.Fields(raw) {
		next := slices.IndexFunc(steps[at+1:], func(st thread.FileStep) bool { return st.To == f && st.From != "" })
		if next >= 0 {
			at += 1 + next
		} else if at >= 0 {
			out[at] = append(out[at], f)
		}
	}
	return out, nil
}

func isHex(id string) bool {
	return len(id) >= 40 && strings.Trim(id, "0123456789abcdef") == ""
}
