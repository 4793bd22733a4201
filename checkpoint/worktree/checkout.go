package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"orchestrator/checkpoint/git"
	"orchestrator/checkpoint/repository"
	"orchestrator/thread"
)

// contents describes what to put into a new worktree.
type contents struct {
	tree    string // the snapshot's, without the foreign folder
	foreign bool   // the base has a foreign folder, which is checked out as git does it
}

// contentsOf returns what to put into a worktree for a snapshot.
func contentsOf(ctx context.Context, repo *repository.Repository, at thread.Snapshot) (contents, error) {
	ids := []string{at.Tree}
	if at.Base != "" {
		ids = append(ids, at.Base)
	}
	tops, err := repo.Tops(ctx, nil, ids...)
	if err != nil {
		return contents{}, err
	}
	if tops[0].Tree == "" {
		return contents{}, fmt.Errorf("snapshot %.12s is no longer in the repository: %w", at.Commit, thread.ErrNotFound)
	}
	tree, err := repo.WithoutForeign(ctx, nil, tops[0])
	return contents{tree: tree, foreign: len(tops) > 1 && tops[1].Foreign}, err
}

// checkOut writes a tree's files into an empty worktree, byte for byte, and fills the private index.
func checkOut(ctx context.Context, w *repository.Worktree, tree string) error {
	for _, name := range []string{w.Index(), w.Index() + ".lock"} {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	update := "-m"
	if w.Settings.Partial {
		if err := leaveOutMissing(ctx, w, tree); err != nil {
			return err
		}
		update = "--reset" // writes what is in the index and not on disk
	}
	_, err := w.Ours(ctx, git.Call{
		Args:   []string{"read-tree", update, "-u", tree},
		Config: []string{"checkout.workers=0", "checkout.thresholdForParallelism=200"},
	})
	return err
}

// leaveOutMissing fills the private index and marks the files that a partial clone never fetched as not checked out,
// which they are not where the snapshot was taken either.
func leaveOutMissing(ctx context.Context, w *repository.Worktree, tree string) error {
	if _, err := w.Ours(ctx, git.Call{Args: []string{"read-tree", tree}}); err != nil {
		return err
	}
	out, err := w.Ours(ctx, git.Call{Args: []string{"ls-files", "-v", "-s", "-z"}})
	if err != nil {
		return err
	}
	entries, err := repository.ParseEntries(out)
	if err != nil {
		return err
	}
	var oids []string
	for _, e := range entries {
		if e.Mode != repository.ModeRepo {
			oids = append(oids, e.OID)
		}
	}
	lacks, err := w.Repo.Missing(ctx, oids)
	if err != nil {
		return err
	}
	var missing strings.Builder
	for _, e := range entries {
		if lacks[e.OID] {
			missing.WriteString(e.Path + "\x00")
		}
	}
	if missing.Len() == 0 {
		return nil
	}
	_, err = w.Ours(ctx, git.Call{
		Args: []string{"update-index", "-z", "--skip-worktree", "--stdin"}, Stdin: strings.NewReader(missing.String()),
	})
	return err
}

// startIndex gives the worktree its own index: the base's entries, with stat data where the file is the base's.
func startIndex(ctx context.Context, w *repository.Worktree, files contents, at thread.Snapshot) error {
	if at.Base == "" {
		return nil
	}
	index := filepath.Join(w.Git.GitDir, "index")
	if err := git.CopyIndex(w.Index(), index); err != nil {
		return err
	}
	// Through our own git folder: git compares contents if times are inconclusive, and must not filter them.
	_, err := w.Ours(ctx, git.Call{Args: []string{"read-tree", "-m", at.Base}, Env: []string{"GIT_INDEX_FILE=" + index}})
	if err != nil || len(at.Skipped) == 0 && !files.foreign {
		return err
	}
	return writeSkipped(ctx, w, files.tree, at)
}

// writeSkipped writes the base's version of tracked files that the snapshot skipped or that we do not store: they would
// look deleted.
func writeSkipped(ctx context.Context, w *repository.Worktree, tree string, at thread.Snapshot) error {
	skipped := map[string]bool{}
	for _, sk := range at.Skipped {
		skipped[sk.Path] = true
	}
	list, err := w.Repo.Changes(ctx, nil, tree, at.Base)
	if err != nil {
		return err
	}
	var in strings.Builder
	for _, c := range list {
		if c.OldMode == "" && c.NewMode != repository.ModeRepo && (skipped[c.Path] || git.IsForeign(c.Path)) {
			in.WriteString(c.Path + "\x00")
		}
	}
	if in.Len() == 0 {
		return nil
	}
	_, err = w.Ours(ctx, git.Call{
		Args: []string{"checkout-index", "-u", "-z", "--stdin"}, Stdin: strings.NewReader(in.String()),
		Env: []string{"GIT_INDEX_FILE=" + filepath.Join(w.Git.GitDir, "index")},
	})
	return err
}
