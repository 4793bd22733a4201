package worktree

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"orchestrator/checkpoint/disk"
	"orchestrator/checkpoint/git"
	"orchestrator/checkpoint/repository"
	"orchestrator/thread"
	"orchestrator/thread/ground/atomicfile"
	"orchestrator/thread/private"
)

// ErrNotOurs means that a worktree was not made by Add.
var ErrNotOurs = errors.New("the worktree was not made by orchestrator")

// marker is the file in a worktree's part of the repository that names our record of it. The repository's word alone is
// not trusted: a copy of the project has the markers, and not the records.
const marker = "orchestrator.json"

// mark is the marker's content.
type mark struct {
	ID string `json:"id"`
}

// record is our record of a worktree that Add made.
type record struct {
	ID     string    `json:"id"`   // the marker's
	Name   string    `json:"name"` // of the worktree's part of the repository
	Root   string    `json:"root"` // its last known path
	Thread thread.ID `json:"thread"`
	Branch string    `json:"branch"`
	Base   string    `json:"base,omitempty"`
	Commit string    `json:"commit"` // the snapshot it was created from
	// Reused is set if the branch was there before: what it has may be an earlier worktree's work, and stays.
	Reused bool `json:"reused,omitempty"`
	// Settled is set once the files of that snapshot are synced.
	Settled bool `json:"settled,omitempty"`
}

const recordFile = "made.json"

// check refuses a record that we cannot have written.
func (r record) check() error {
	switch {
	case repository.CheckID(thread.ID(r.ID)) != nil, repository.CheckID(r.Thread) != nil, !disk.IsName(r.Name),
		!filepath.IsAbs(r.Root), filepath.Clean(r.Root) != r.Root, !repository.OurBranch(r.Branch),
		r.Base != "" && !git.IsObjectID(r.Base), !git.IsObjectID(r.Commit):
		return fmt.Errorf("record of a worktree: %w", thread.ErrDamaged)
	}
	return nil
}

// droppable returns the branch that ends with the worktree if it never left its base, "" if it stays.
func (r record) droppable() string {
	if r.Reused {
		return ""
	}
	return r.Branch
}

// recordAt reads the record in a worktree's state folder; fs.ErrNotExist if there is none.
func recordAt(home string) (record, error) {
	var r record
	b, err := disk.ReadSmall(filepath.Join(home, recordFile))
	if err != nil {
		return r, err
	}
	if json.Unmarshal(b, &r) != nil {
		return r, fmt.Errorf("record of a worktree: %w", thread.ErrDamaged)
	}
	return r, r.check()
}

// keepRecord writes a record, durably.
func keepRecord(home string, r record) error {
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(home, recordFile), b, true)
}

// recordOf returns the record of the worktree whose part of the repository has a name. ErrNotOurs says that Add did not
// make it, or that another one has its name now.
func recordOf(repo *repository.Repository, name string) (record, error) {
	gitDir := repo.Part(name)
	r, err := recordAt(filepath.Join(repo.CommonState(), disk.Short(name)))
	if errors.Is(err, fs.ErrNotExist) {
		return r, fmt.Errorf("%s: %w", gitDir, ErrNotOurs)
	}
	if err != nil {
		return r, err
	}
	var m mark
	b, err := disk.ReadSmall(filepath.Join(gitDir, marker))
	if err != nil || json.Unmarshal(b, &m) != nil || m.ID != r.ID || r.Name != name {
		return r, fmt.Errorf("%s: %w", gitDir, ErrNotOurs)
	}
	return r, nil
}

// keepMarker writes the marker into the worktree's part of the repository.
func keepMarker(w *repository.Worktree, r record) error {
	return atomicfile.Write(filepath.Join(w.Git.GitDir, marker), []byte(`{"id":"`+r.ID+`"}`+"\n"), true)
}

// branchFile is the file of a worktree's branch in the repository, unless it is packed.
func branchFile(common string, r record) string {
	return filepath.Join(common, "refs/heads", filepath.FromSlash(r.Branch))
}

// keepBranch makes sure that a worktree's branch exists: one that is lost or points to nothing is set to the last
// commit in its reflog, or to HEAD at the thread's last snapshot.
func keepBranch(ctx context.Context, repo *repository.Repository, r record) error {
	ref := "refs/heads/" + r.Branch
	at, err := repo.Resolve(ctx, ref)
	if err != nil || r.Base == "" {
		return err
	}
	b, err := disk.ReadSmall(branchFile(repo.Git.Common, r))
	odd := err == nil && !repository.IsRef(b) || errors.Is(err, private.ErrTooLarge) // git reads its beginning
	if at != "" && !odd {
		return nil
	}
	base := r.Base
	if last, err := newest(ctx, repo, r.Thread); err == nil && last != "" {
		if parent, err := repo.Resolve(ctx, last+"^1"); err == nil && parent != "" {
			base = parent
		}
	}
	if logged, err := repo.Resolve(ctx, lastLogged(repo, ref)); err == nil && logged != "" {
		base = logged
	}
	if at != "" {
		base = at
	}
	if err := repo.DropBad(ctx, ref); err != nil {
		return err
	}
	return repo.UpdateRefs(ctx, "create "+ref+"\x00"+base+"\x00")
}
