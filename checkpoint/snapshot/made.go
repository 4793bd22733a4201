package snapshot

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"orchestrator/checkpoint/git"
	"orchestrator/thread"
	"orchestrator/thread/private"
)

// marker says in a worktree's part of the repository which record of ours it belongs to. What the repository says
// alone counts for nothing: a copy of the project has the markers, and not the records.
const marker = "orchestrator.json"

// mark is the marker's content.
type mark struct {
	ID string `json:"id"`
}

// record is what our state records about a worktree that Add made.
type record struct {
	ID     string    `json:"id"`   // the marker's
	Name   string    `json:"name"` // of the worktree's part of the repository
	Root   string    `json:"root"` // where it was last
	Thread thread.ID `json:"thread"`
	Branch string    `json:"branch"`
	Base   string    `json:"base,omitempty"`
	Commit string    `json:"commit"` // the snapshot it began with
	// Settled is set once the files of that snapshot are synced.
	Settled bool `json:"settled,omitempty"`
}

const (
	recordFile = "made.json"
	// smallFile is the most bytes that a small file of ours or of git's may have.
	smallFile = 64 << 10
)

// check refuses what no record of ours says.
func (r record) check() error {
	switch {
	case !threadName().MatchString(r.ID), checkID(r.Thread) != nil, !plainName(r.Name),
		!filepath.IsAbs(r.Root), filepath.Clean(r.Root) != r.Root, !ourBranch(r.Branch), r.Base != "" && !git.IsObjectID(r.Base), !git.IsObjectID(r.Commit):
		return fmt.Errorf("record of a worktree: %w", thread.ErrDamaged)
	}
	return nil
}

// plainName reports whether s names something in a folder, and nowhere else.
func plainName(s string) bool {
	return s != "" && s != "." && s != ".." && !strings.ContainsAny(s, "/\x00")
}

// ourBranch reports whether Add makes branches of that name.
func ourBranch(name string) bool {
	rest, ok := strings.CutPrefix(name, branchPrefix)
	return ok && !strings.Contains(rest, "/") && git.CheckBranch(name) == nil
}

// recordAt reads the record in a worktree's state folder; fs.ErrNotExist where there is none.
func recordAt(home string) (record, error) {
	var r record
	b, err := private.ReadRegular(filepath.Join(home, recordFile), smallFile)
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
	return writeFile(filepath.Join(home, recordFile), b, true)
}

// recordOf returns the record of the worktree whose part of the repository has a name. ErrNotOurs says that Add did not
// make it, or that another one has its name by now.
func (w *worktree) recordOf(name string) (record, error) {
	gitDir := w.part(name)
	r, err := recordAt(filepath.Join(w.commonState(), short(name)))
	if errors.Is(err, fs.ErrNotExist) {
		return r, fmt.Errorf("%s: %w", gitDir, ErrNotOurs)
	}
	if err != nil {
		return r, err
	}
	var m mark
	b, err := private.ReadRegular(filepath.Join(gitDir, marker), smallFile)
	if err != nil || json.Unmarshal(b, &m) != nil || m.ID != r.ID || r.Name != name {
		return r, fmt.Errorf("%s: %w", gitDir, ErrNotOurs)
	}
	return r, nil
}

// name is what the worktree's part of the repository is called, "" for the main one.
func (w *worktree) name() string {
	if !w.Linked() {
		return ""
	}
	return filepath.Base(w.GitDir)
}

// part is where the repository keeps its part of a worktree.
func (w *worktree) part(name string) string { return filepath.Join(w.Common, "worktrees", name) }

// records returns what our state records about the worktrees of a repository; damaged names what cannot be read.
func (s *Store) records(repository string) (all []record, damaged []string, err error) {
	dir := filepath.Join(s.cfg.State, repository)
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	for _, e := range entries {
		r, err := recordAt(filepath.Join(dir, e.Name()))
		switch {
		case err == nil && short(r.Name) == e.Name():
			all = append(all, r)
		case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, unix.ENOTDIR):
			damaged = append(damaged, filepath.Join(dir, e.Name(), recordFile))
		}
	}
	return all, damaged, nil
}
