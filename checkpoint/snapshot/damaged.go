package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"orchestrator/checkpoint/git"
	"orchestrator/thread"
	"orchestrator/thread/private"
)

// isRef reports whether a ref's file leads anywhere.
func isRef(b []byte) bool {
	s := strings.TrimSpace(string(b))
	return git.IsObjectID(s) || strings.HasPrefix(s, "ref: ")
}

// Damaged names the threads of which some snapshot's ref is empty, is no ref, or leads to a commit that the repository
// lacks. git passes over the first two with a warning, and refuses to clean up at the third.
func (s *Store) Damaged(ctx context.Context) ([]thread.ID, error) {
	var ids []thread.ID
	err := s.each(ctx, func(w *worktree) error {
		bad, err := w.badRefs(ctx, namespace)
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

// Kept says which commits the refs of each thread keep.
func (s *Store) Kept(ctx context.Context) (map[thread.ID]map[string]bool, error) {
	kept := map[thread.ID]map[string]bool{}
	err := s.each(ctx, func(w *worktree) error {
		refs, err := w.refs(ctx, namespace)
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

// Mend takes a thread's damaged refs away and makes one for each of its commits that the repository still has and no
// ref keeps. commits are those that its checkpoints name. It says what it did, and what is lost.
func (s *Store) Mend(ctx context.Context, id thread.ID, commits []string) (string, error) {
	if err := checkID(id); err != nil {
		return "", fmt.Errorf("mend snapshots: %w", err)
	}
	gone, kept := 0, 0
	lost := slices.Compact(slices.Sorted(slices.Values(slices.DeleteFunc(slices.Clone(commits),
		func(c string) bool { return !git.IsObjectID(c) }))))
	err := s.each(ctx, func(w *worktree) error {
		bad, err := w.badRefs(ctx, namespace+string(id)+"/")
		if err != nil {
			return err
		}
		for _, ref := range bad {
			if err := w.dropBad(ctx, ref); err != nil {
				return err
			}
		}
		gone += len(bad)
		refs, err := w.refs(ctx, namespace+string(id)+"/")
		if err != nil {
			return err
		}
		tops, err := w.tops(ctx, nil, lost...)
		if err != nil {
			return err
		}
		var left []string
		for i, commit := range lost {
			switch {
			case tops[i].tree == "":
				left = append(left, commit)
			case !slices.Contains(values(refs), commit):
				if _, err := s.addRef(ctx, w, id, commit); err != nil {
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

// badRefs returns the refs below a prefix that are damaged.
func (w *worktree) badRefs(ctx context.Context, prefix string) ([]string, error) {
	bad, err := w.hollowRefs(prefix)
	if err != nil {
		return nil, err
	}
	refs, err := w.refs(ctx, prefix)
	if err != nil || len(refs) == 0 {
		return bad, err
	}
	names := make([]string, 0, len(refs))
	var in strings.Builder
	for ref, commit := range refs {
		names = append(names, ref)
		in.WriteString(commit + "\n")
	}
	out, err := w.ours(ctx, git.Call{Args: []string{"cat-file", "--batch-check=%(objecttype)"}, Stdin: strings.NewReader(in.String())})
	if err != nil {
		return nil, err
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(lines) != len(names) {
		return nil, fmt.Errorf("git cat-file wrote %d lines for %d objects", len(lines), len(names))
	}
	for i, name := range names {
		if lines[i] != "commit" {
			bad = append(bad, name)
		}
	}
	slices.Sort(bad)
	return bad, nil
}

// hollowRefs returns the refs below a prefix whose file leads nowhere.
func (w *worktree) hollowRefs(prefix string) ([]string, error) {
	top, err := openFolder(filepath.Join(w.Common, "refs"))
	if err != nil {
		return nil, fmt.Errorf("read refs: %w", err)
	}
	defer top.Close()
	var bad []string
	start := strings.TrimSuffix(strings.TrimPrefix(prefix, "refs/"), "/")
	err = fs.WalkDir(top.FS(), start, func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case d.IsDir() || strings.HasSuffix(path, ".lock"):
			return nil
		}
		b, err := private.ReadRegular(filepath.Join(w.Common, "refs", path), smallFile)
		if err != nil && !errors.Is(err, private.ErrNotRegular) && !errors.Is(err, private.ErrTooLarge) {
			return nil // just removed, or not ours to read: git will say
		}
		if err != nil || !isRef(b) {
			bad = append(bad, "refs/"+path)
		}
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read refs: %w", err)
	}
	return bad, nil
}

// dropBad takes a damaged ref of ours away.
func (w *worktree) dropBad(ctx context.Context, ref string) error {
	if err := w.dropHollow(ref); err != nil {
		return err
	}
	refs, err := w.refs(ctx, ref)
	if err != nil || refs[ref] == "" {
		return err
	}
	err = w.updateRefs(ctx, "delete "+ref+"\x00"+refs[ref]+"\x00")
	var said *git.Error
	if errors.As(err, &said) && os.Remove(filepath.Join(w.Common, ref)) == nil {
		return nil // git will not touch what leads to nothing
	}
	return err
}
