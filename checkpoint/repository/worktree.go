package repository

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

// Worktree is one worktree of a repository, with our state for it: what is taken of its files, and written to them. Of
// the state it has, besides what Access has,
//
//	home/index     the private index: the last snapshot's files with their stat data
//	home/meta.json what the private index holds, as long as it is referenced; missing while it may not be trusted
type Worktree struct {
	*Access
	Repo *Repository
}

// Config says what a worktree is reached with, and where our state for it lies.
type Config struct {
	Git   *git.Git
	Locks *Locks
	State string // the folder of all our state, by its real path
	Key   string // what the repository is called there
	Home  string // the folder of this worktree there
	Below string // where the project holds the repository, "" for its own and for one that lies elsewhere
	Trees string // the folder with our worktrees, by its real path
}

// At reaches a worktree and its repository. It touches nothing yet.
func At(found git.Worktree, cfg Config) *Worktree {
	a := &Access{Worktree: found, Home: cfg.Home, git: cfg.Git, locks: cfg.Locks, below: cfg.Below}
	return &Worktree{Access: a, Repo: &Repository{
		Access: a, Journals: Journals{state: cfg.State, repository: cfg.Key}, State: cfg.State, Trees: cfg.Trees,
	}}
}

// Name is what a worktree's part of its repository is called, "" for the main one.
func Name(w git.Worktree) string {
	if !w.Linked() {
		return ""
	}
	return filepath.Base(w.GitDir)
}

// Name is the name of the worktree's part of the repository, "" for the main one.
func (w *Worktree) Name() string { return Name(w.Access.Worktree) }

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

// Holds returns the content of the private index; false if it cannot be trusted.
func (w *Worktree) Holds() (Held, bool) {
	var h Held
	b, err := os.ReadFile(w.meta())
	if err != nil || json.Unmarshal(b, &h) != nil || !git.IsObjectID(h.Commit) || !git.IsObjectID(h.Tree) {
		return Held{}, false
	}
	return h, true
}

// Hold writes what the private index holds.
func (w *Worktree) Hold(h Held) error {
	b, err := json.Marshal(h)
	if err != nil {
		return err
	}
	return disk.Write(w.meta(), b, false)
}

// Distrust makes the next snapshot build the private index again unless this one ends well: what it names may
// be kept by no ref, and the person's git may prune it.
func (w *Worktree) Distrust() error {
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
		return "", fmt.Errorf("HEAD of %s is not a commit: %w", w.Root, thread.ErrDamaged)
	}
	return "", nil
}
