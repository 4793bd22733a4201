package snapshot

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"orchestrator/checkpoint/git"
	"orchestrator/thread"
)

// Damaged names the threads of which some snapshot's ref is empty, is no ref, or leads to a commit that the repository
// lacks. git passes over the first two with a warning, and refuses to clean up at the third.
func (s *Store) Damaged(ctx context.Context) ([]thread.ID, error) {
	var ids []thread.ID
	err := s.finder.each(ctx, func(repo *repository) error {
		bad, err := repo.badRefs(ctx, namespace)
		for _, ref := range bad {
			id, _, _ := strings.Cut(strings.TrimPrefix(ref, namespace), "/")
			if checkID(thread.ID(id)) == nil && !slices.Contains(ids, thread.ID(id)) {
				ids = append(ids, thread.ID(id))
			}
		}
		return err
	})
	if err != nil {
		return ids, fmt.Errorf("look for damaged snapshots: %w", err)
	}
	slices.Sort(ids)
	return ids, nil
}

// RepairRefs takes a thread's damaged refs away and makes one for each of its commits that the repository still has and no
// ref keeps. commits are those that its checkpoints name. It says what it did, and what is lost.
func (s *Store) RepairRefs(ctx context.Context, id thread.ID, commits []string) (string, error) {
	if err := checkID(id); err != nil {
		return "", fmt.Errorf("mend snapshots: %w", err)
	}
	gone, kept := 0, 0
	lost := slices.Compact(slices.Sorted(slices.Values(slices.DeleteFunc(slices.Clone(commits),
		func(c string) bool { return !git.IsObjectID(c) }))))
	err := s.finder.each(ctx, func(repo *repository) error {
		bad, err := repo.badRefs(ctx, namespace+string(id)+"/")
		if err != nil {
			return err
		}
		for _, ref := range bad {
			if err := repo.dropBad(ctx, ref); err != nil {
				return err
			}
		}
		gone += len(bad)
		refs, err := repo.refs(ctx, namespace+string(id)+"/")
		if err != nil {
			return err
		}
		tops, err := repo.tops(ctx, nil, lost...)
		if err != nil {
			return err
		}
		var left []string
		for i, commit := range lost {
			switch {
			case tops[i].tree == "":
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
		return "", fmt.Errorf("mend snapshots of thread %s: %w", id, err)
	}
	said := fmt.Sprintf("%s damaged; %s kept again", counted(gone, "snapshot ref was", "snapshot refs were"),
		counted(kept, "snapshot is", "snapshots are"))
	if len(lost) > 0 {
		said += fmt.Sprintf("; %s lost: %s", counted(len(lost), "snapshot is", "snapshots are"), listed(lost))
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
