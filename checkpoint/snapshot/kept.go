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

// Kept returns the commits that the refs of each thread keep.
func (s *Store) Kept(ctx context.Context) (map[thread.ID]map[string]bool, error) {
	kept := map[thread.ID]map[string]bool{}
	err := s.found.Each(ctx, func(repo *repository.Repository) error {
		refs, err := repo.Refs(ctx, repository.Namespace)
		for ref, commit := range refs {
			name, _, _ := strings.Cut(strings.TrimPrefix(ref, repository.Namespace), "/")
			id := thread.ID(name)
			if kept[id] == nil {
				kept[id] = map[string]bool{}
			}
			kept[id][commit] = true
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list kept snapshots: %w", err)
	}
	return kept, nil
}

// Size returns how many bytes our refs keep in the repository beyond its own branches and tags.
func (s *Store) Size(ctx context.Context) (int64, error) {
	var total int64
	err := s.found.Each(ctx, func(repo *repository.Repository) error {
		out, err := repo.Theirs(ctx, git.Call{Args: []string{
			"rev-list", "--disk-usage", "--objects", "--glob=" + repository.Namespace + "*",
			"--not", "--branches", "--tags", "--remotes",
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

// Drop deletes the snapshots of a purged thread, in every repository where one was taken. What another thread keeps too
// stays; git itself frees the rest eventually.
func (s *Store) Drop(ctx context.Context, id thread.ID) error {
	if err := repository.CheckID(id); err != nil {
		return fmt.Errorf("drop snapshots: %w", err)
	}
	return s.found.Each(ctx, func(repo *repository.Repository) error {
		bad, err := repo.HollowRefs(repository.Namespace + string(id) + "/")
		for _, ref := range bad {
			err = errors.Join(err, repo.DropHollow(ref))
		}
		if err != nil {
			return fmt.Errorf("drop snapshots: %w", err)
		}
		refs, err := repo.Refs(ctx, repository.Namespace+string(id)+"/")
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
		if err := repo.UpdateRefs(ctx, lines.String()); err != nil {
			return fmt.Errorf("drop snapshots: %w", err)
		}
		return nil
	})
}
