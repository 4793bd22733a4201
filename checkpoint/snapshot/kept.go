package snapshot

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"orchestrator/checkpoint/git"
	"orchestrator/thread"
)

// Kept says which commits the refs of each thread keep.
func (s *Store) Kept(ctx context.Context) (map[thread.ID]map[string]bool, error) {
	kept := map[thread.ID]map[string]bool{}
	err := s.finder.each(ctx, func(repo *repository) error {
		refs, err := repo.refs(ctx, namespace)
		for ref, commit := range refs {
			name, _, _ := strings.Cut(strings.TrimPrefix(ref, namespace), "/")
			id := thread.ID(name)
			if kept[id] == nil {
				kept[id] = map[string]bool{}
			}
			kept[id][commit] = true
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("look which snapshots are kept: %w", err)
	}
	return kept, nil
}

// Size returns how many bytes our refs keep in the repository beyond what its own branches and tags do.
func (s *Store) Size(ctx context.Context) (int64, error) {
	var total int64
	err := s.finder.each(ctx, func(repo *repository) error {
		out, err := repo.theirs(ctx, git.Call{Args: []string{
			"rev-list", "--disk-usage", "--objects", "--glob=" + namespace + "*", "--not", "--branches", "--tags", "--remotes",
		}})
		if err != nil {
			return fmt.Errorf("size of snapshots: %w", err)
		}
		n, err := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
		total += n
		return err
	})
	return total, err
}

// Drop forgets the snapshots of a purged thread, in every repository that one was taken in. What another thread
// keeps too stays; git itself frees the rest in time.
func (s *Store) Drop(ctx context.Context, id thread.ID) error {
	if err := checkID(id); err != nil {
		return fmt.Errorf("drop snapshots: %w", err)
	}
	return s.finder.each(ctx, func(repo *repository) error {
		bad, err := repo.hollowRefs(namespace + string(id) + "/")
		for _, ref := range bad {
			err = errors.Join(err, repo.dropHollow(ref))
		}
		if err != nil {
			return fmt.Errorf("drop snapshots: %w", err)
		}
		refs, err := repo.refs(ctx, namespace+string(id)+"/")
		if err != nil {
			return fmt.Errorf("drop snapshots: %w", err)
		}
		var lines strings.Builder
		for ref, commit := range refs {
			lines.WriteString("delete " + ref + "\x00" + commit + "\x00")
		}
		if lines.Len() == 0 {
			return nil
		}
		if err := repo.updateRefs(ctx, lines.String()); err != nil {
			return fmt.Errorf("drop snapshots: %w", err)
		}
		return nil
	})
}
