package snapshot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"orchestrator/checkpoint/disk"
	"orchestrator/checkpoint/git"
	"orchestrator/thread"
)

// worktree is one worktree of a repository, with our state for it: what is taken of its files, and written to them. Of
// the state it has, besides what access has,
//
//	home/index     the private index: the last snapshot's files with their stat data
//	home/meta.json what the private index holds, as long as it is referenced; missing while it may not be trusted
type worktree struct {
	*access
	repo *repository
}

// name is what the worktree's part of the repository is called, "" for the main one.
func (w *worktree) name() string {
	if !w.Linked() {
		return ""
	}
	return filepath.Base(w.GitDir)
}

func (w *worktree) meta() string { return filepath.Join(w.home, "meta.json") }

// held is what the private index holds, written once a ref keeps it.
type held struct {
	Thread thread.ID `json:"thread"`
	Ref    string    `json:"ref"`
	Commit string    `json:"commit"`
	Tree   string    `json:"tree"`
	Base   string    `json:"base"`
	About  About     `json:"about,omitzero"`
}

// holds returns what the private index holds; false when it may not be trusted.
func (w *worktree) holds() (held, bool) {
	var h held
	b, err := os.ReadFile(w.meta())
	if err != nil || json.Unmarshal(b, &h) != nil || !git.IsObjectID(h.Commit) || !git.IsObjectID(h.Tree) {
		return held{}, false
	}
	return h, true
}

func (w *worktree) hold(h held) error {
	b, err := json.Marshal(h)
	if err != nil {
		return err
	}
	return disk.Write(w.meta(), b, false)
}

// distrust makes the next snapshot build the private index anew unless this one ends well: what it names may
// be kept by no ref, and the person's git may prune it.
func (w *worktree) distrust() error {
	if err := os.Remove(w.meta()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// head returns the commit that HEAD stands at, empty on an unborn branch.
func (w *worktree) head(ctx context.Context) (string, error) {
	at, err := w.repo.resolve(ctx, "HEAD")
	if err != nil || at != "" {
		return at, err
	}
	if _, err := w.theirs(ctx, git.Call{Args: []string{"symbolic-ref", "-q", "HEAD"}}); err != nil {
		return "", fmt.Errorf("HEAD of %s names no commit: %w", w.Root, thread.ErrDamaged)
	}
	return "", nil
}

// keepMarker writes the marker into the worktree's part of the repository.
func (w *worktree) keepMarker(r record) error {
	return disk.Write(filepath.Join(w.GitDir, marker), []byte(`{"id":"`+r.ID+`"}`+"\n"), true)
}

// syncPart brings to the disk what makes a folder a worktree: git syncs none of it.
func (w *worktree) syncPart() error {
	for _, path := range []string{
		filepath.Join(w.Root, ".git"), filepath.Join(w.GitDir, "HEAD"), filepath.Join(w.GitDir, "commondir"),
		filepath.Join(w.GitDir, "gitdir"), filepath.Join(w.GitDir, "index"),
		w.Root, filepath.Dir(w.Root), w.GitDir, filepath.Dir(w.GitDir), w.home, filepath.Dir(w.home),
	} {
		if err := disk.SyncDir(path); err != nil && !errors.Is(err, fs.ErrNotExist) { // the index of an unborn branch
			return fmt.Errorf("sync worktree: %w", err)
		}
	}
	return nil
}

// settle syncs the files of a new worktree and notes in its record that they are on the disk. Where it fails, Repair
// looks after them.
func (w *worktree) settle(ctx context.Context) {
	if disk.SyncTree(w.Root) != nil {
		return
	}
	unlock, err := w.lock(ctx)
	if err != nil {
		return // it was removed
	}
	defer unlock()
	if r, err := recordAt(w.home); err == nil && r.Name == w.name() {
		r.Settled = true
		_ = keepRecord(w.home, r)
	}
}
