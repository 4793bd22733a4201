package repository

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"orchestrator/checkpoint/git"
	"orchestrator/thread"
	"orchestrator/thread/ground/atomicfile"
)

// Worktree is one worktree of a repository, with our state for it. Besides the state of Access it has
//
//	home/index     the private index: the last snapshot's files with their stat data
//	home/meta.json what the private index contains, while a ref keeps it; missing while it cannot be trusted
type Worktree struct {
	*Access
	Repo *Repository
}

// Config describes how a worktree is reached, and where our state for it is.
type Config struct {
	Git   *git.Git
	Locks *Locks
	State string // the folder of all our state, without symbolic links
	Key   string // the name of the repository there
	Home  string // the folder of this worktree there
	Below string // path of the repository in the project, "" for its own and for one elsewhere
	Trees string // the folder with our worktrees, without symbolic links
}

// At returns a worktree and its repository. It touches nothing yet.
func At(found git.Worktree, cfg Config) *Worktree {
	a := &Access{Git: found, Home: cfg.Home, git: cfg.Git, locks: cfg.Locks, below: cfg.Below}
	return &Worktree{Access: a, Repo: &Repository{
		Access: a, Journals: Journals{state: cfg.State, repository: cfg.Key}, State: cfg.State, Trees: cfg.Trees,
	}}
}

// Name is the name of a worktree's part of its repository, "" for the main one.
func Name(w git.Worktree) string {
	if !w.Linked() {
		return ""
	}
	return filepath.Base(w.GitDir)
}

// Name is the name of the worktree's part of the repository, "" for the main one.
func (w *Worktree) Name() string { return Name(w.Access.Git) }

func (w *Worktree) meta() string { return filepath.Join(w.Home, "meta.json") }

// Held is the content of the private index, written once a ref keeps it.
type Held struct {
	Thread thread.ID `json:"thread"`
	Ref    string    `json:"ref"`
	Commit string    `json:"commit"`
	Tree   string    `json:"tree"`
	Base   string    `json:"base"`
	About  About     `json:"about,omitzero"`
}

// Holds returns the content of the private index; false if it cannot be trusted, or is damaged or missing.
func (w *Worktree) Holds() (Held, bool) {
	var h Held
	b, err := os.ReadFile(w.meta())
	if err != nil || json.Unmarshal(b, &h) != nil || !git.IsObjectID(h.Commit) || !git.IsObjectID(h.Tree) || git.DamagedIndex(w.Index(), true) {
		return Held{}, false
	}
	return h, true
}

// Hold records what the private index contains.
func (w *Worktree) Hold(h Held) error {
	b, err := json.Marshal(h)
	if err != nil {
		return err
	}
	return atomicfile.Write(w.meta(), b, false)
}

// Invalidate makes the next snapshot rebuild the private index unless this one succeeds: no ref may keep its objects,
// and the person's git may prune them.
func (w *Worktree) Invalidate() error {
	if err := os.Remove(w.meta()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Head returns the commit of HEAD, "" on an unborn branch.
func (w *Worktree) Head(ctx context.Context) (string, error) {
	at, err := w.Repo.Resolve(ctx, "HEAD")
	if err != nil || at != "" {
		return at, err
	}
	if _, err := w.Theirs(ctx, git.Call{Args: []string{"symbolic-ref", "-q", "HEAD"}}); err != nil {
		return "", fmt.Errorf("HEAD of %s is not a commit: %w", w.Git.Root, thread.ErrDamaged)
	}
	return "", nil
}
