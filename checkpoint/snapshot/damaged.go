package snapshot

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"orchestrator/checkpoint/git"
	"orchestrator/checkpoint/repository"
	"orchestrator/thread"
)

// Damaged names the threads with a snapshot ref that is empty, invalid, or points to a commit that the repository
// lacks. Git skips the first two with a warning, and refuses to clean up at the third.
func (s *Store) Damaged(ctx context.Context) ([]thread.ID, error) {
	var ids []thread.ID
	err := s.found.Each(ctx, func(repo *repository.Repository) error {
		bad, err := repo.BadRefs(ctx, repository.Namespace)
		for _, ref := range bad {
			id, _, _ := strings.Cut(strings.TrimPrefix(ref, repository.Namespace), "/")
			if repository.CheckID(thread.ID(id)) == nil && !slices.Contains(ids, thread.ID(id)) {
				ids = append(ids, thread.ID(id))
			}
		}
		return err
	})
	if err != nil {
		return ids, fmt.Errorf("find damaged snapshots: %w", err)
	}
	slices.Sort(ids)
	return ids, nil
}

// RepairRefs removes a thread's damaged refs and creates one for each of its commits that the repository still has and
// no ref keeps. commits are those that its checkpoints name. It returns what it did, and what is lost.
func (s *Store) RepairRefs(ctx context.Context, id thread.ID, commits []string) (string, error) {
	if err := repository.CheckID(id); err != nil {
		return "", fmt.Errorf("repair snapshot refs: %w", err)
	}
	gone, kept := 0, 0
	lost := slices.Compact(slices.Sorted(slices.Values(slices.DeleteFunc(slices.Clone(commits),
		func(c string) bool { return !git.IsObjectID(c) }))))
	err := s.found.Each(ctx, func(repo *repository.Repository) error {
		bad, err := repo.BadRefs(ctx, repository.Namespace+string(id)+"/")
		if err != nil {
			return err
		}
		for _, ref := range bad {
			if err := repo.DropBad(ctx, ref); err != nil {
				return err
			}
		}
		gone += len(bad)
		refs, err := repo.Refs(ctx, repository.Namespace+string(id)+"/")
		if err != nil {
			return err
		}
		tops, err := repo.Tops(ctx, nil, lost...)
		if err != nil {
			return err
		}
		var left []string
		for i, commit := range lost {
			switch {
			case tops[i].Tree == "":
				left = append(left, commit)
			case !slices.Contains(values(refs), commit):
				if _, err := s.numbers.add(ctx, repo, id, commit); err != nil {
					return err
				}
				kept++
			}
		}
		lost = left
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("repair snapshot refs of thread %s: %w", id, err)
	}
	said := fmt.Sprintf("%s damaged; %s restored", counted(gone, "snapshot ref was", "snapshot refs were"),
		counted(kept, "snapshot is", "snapshots are"))
	if len(lost) > 0 {
		said += fmt.Sprintf("; %s lost: %s", counted(len(lost), "snapshot is", "snapshots are"), git.PrintableList(lost))
	}
	return said, nil
}

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func values(refs map[string]string) []string {
	list := make([]string, 0, len(refs))
	for _, commit := range refs {
		list = append(list, commit)
	}
	return list
}
