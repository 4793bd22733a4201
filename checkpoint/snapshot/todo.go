package snapshot

import (
	"context"
	"io/fs"
	"path"
	"slices"
	"strings"

	"orchestrator/checkpoint/repository"
	"orchestrator/thread"
)

// todo is the list of steps of a restore.
type todo struct {
	from, to string     // trees
	steps    []todoStep // sorted by path
	left     []thread.Skip
}

// todoStep is one path that differs between the safety snapshot and the target.
type todoStep struct {
	repository.Change
	done bool        // done and not skipped, so a rollback must undo it
	old  fs.FileInfo // what was there when the safety snapshot was taken, nil for nothing
}

// between lists the steps from one tree to another.
func (w files) between(ctx context.Context, from, to string) (*todo, error) {
	changes, err := w.work.Repo.Changes(ctx, nil, from, to)
	if err != nil {
		return nil, err
	}
	t := &todo{}
	for _, c := range changes {
		t.steps = append(t.steps, todoStep{Change: c})
	}
	return t, nil
}

func (t *todo) leave(name, reason string) {
	t.left = append(t.left, thread.Skip{Path: name, Reason: reason})
}

// only drops steps for other paths.
func (t *todo) only(paths []string) {
	names := make(map[string]bool, len(paths))
	for _, p := range paths {
		names[p] = true
	}
	t.steps = slices.DeleteFunc(t.steps, func(st todoStep) bool { return !names[st.Path] })
}

// keepSkipped drops steps for files that the target lacks only because it skipped them.
func (t *todo) keepSkipped(skipped []thread.Skip) {
	if len(skipped) == 0 {
		return
	}
	names := make(map[string]bool, len(skipped))
	for _, sk := range skipped {
		names[strings.TrimSuffix(sk.Path, "/")] = true
	}
	t.steps = slices.DeleteFunc(t.steps, func(st todoStep) bool {
		if st.NewMode != "" {
			return false
		}
		for at := st.Path; at != "."; at = path.Dir(at) {
			if names[at] {
				t.leave(st.Path, "left alone: the snapshot skipped it")
				return true
			}
		}
		return false
	})
}

// parents are the folders that the target needs.
func (t *todo) parents() map[string]bool {
	need := map[string]bool{}
	for _, st := range t.steps {
		if st.NewMode == "" {
			continue
		}
		for dir := path.Dir(st.Path); dir != "." && !need[dir]; dir = path.Dir(dir) {
			need[dir] = true
		}
	}
	return need
}
