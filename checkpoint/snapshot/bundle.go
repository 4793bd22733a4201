package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"orchestrator/checkpoint/git"
	"orchestrator/checkpoint/repository"
	"orchestrator/thread"
)

// Bundle writes snapshots, with their history, as a git bundle. Commits that are no longer snapshots of ours are left
// out; it returns how many were written, and writes nothing if there are none.
func (s *Store) Bundle(ctx context.Context, w io.Writer, commits []string) (int, error) {
	in, err := s.found.OpenProject(ctx)
	if err != nil {
		return 0, fmt.Errorf("bundle snapshots: %w", err)
	}
	refs, err := in.Repo.Refs(ctx, repository.Namespace)
	if err != nil {
		return 0, fmt.Errorf("bundle snapshots: %w", err)
	}
	wanted := map[string]bool{}
	for _, c := range commits {
		wanted[c] = true
	}
	var names []string
	for ref, oid := range refs {
		if wanted[oid] {
			delete(wanted, oid)
			names = append(names, ref)
		}
	}
	if err := bundle(ctx, in.Repo, w, names); err != nil {
		return 0, fmt.Errorf("bundle snapshots: %w", err)
	}
	return len(names), nil
}

// bundle writes refs as a git bundle, nothing if there are none.
func bundle(ctx context.Context, repo *repository.Repository, to io.Writer, refs []string) error {
	if len(refs) == 0 {
		return nil
	}
	_, err := repo.Theirs(ctx, git.Call{
		Args:  []string{"bundle", "create", "--quiet", "-", "--stdin"},
		Stdin: strings.NewReader(strings.Join(refs, "\n") + "\n"), Stdout: to,
	})
	return err
}

// Unbundle imports the snapshots in a bundle file as those of a thread; importing them again changes nothing. Git
// checks every object; a malformed one, or one that would write outside of a worktree, is refused.
func (s *Store) Unbundle(ctx context.Context, file string, id thread.ID) (int, error) {
	if err := repository.CheckID(id); err != nil {
		return 0, fmt.Errorf("unbundle snapshots: %w", err)
	}
	taken := 0
	n, err := s.fetch(ctx, file, func(string) string { taken++; return repository.RefName(id, taken) })
	if err != nil {
		return 0, fmt.Errorf("unbundle snapshots: %w", err)
	}
	return n, nil
}

// fetch imports refs of ours from a bundle file; as returns the name for each, "" to ignore it.
func (s *Store) fetch(ctx context.Context, file string, as func(ref string) string) (int, error) {
	in, err := s.found.OpenProject(ctx)
	if err != nil {
		return 0, err
	}
	return fetch(ctx, in.Repo, file, as)
}

func fetch(ctx context.Context, repo *repository.Repository, file string, as func(ref string) string) (int, error) {
	if info, err := os.Lstat(file); err != nil || !info.Mode().IsRegular() {
		return 0, fmt.Errorf("%s is not a file: %w", file, errors.Join(err, thread.ErrInvalid))
	}
	heads, err := repo.Theirs(ctx, git.Call{Args: []string{"bundle", "list-heads", file}})
	if err != nil {
		return 0, errors.Join(err, thread.ErrInvalid)
	}
	dir, err := os.MkdirTemp(repo.Home, "bundle-*")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	// No configuration contains this name, since it was read before the name was chosen: git takes it for the file it is.
	name := filepath.Join(dir, "bundle")
	if file, err = filepath.Abs(file); err == nil {
		err = os.Symlink(file, name)
	}
	if err != nil {
		return 0, err
	}
	args := []string{"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules",
		"--end-of-options", name}
	var specs []string
	for line := range strings.Lines(string(heads)) {
		if _, ref, ok := strings.Cut(strings.TrimSpace(line), " "); ok && strings.HasPrefix(ref, repository.Namespace) {
			if to := as(ref); to != "" {
				specs = append(specs, ref+":"+to)
			}
		}
	}
	if len(specs) == 0 {
		return 0, nil
	}
	var in io.Reader
	if len(specs) > mostArgs {
		in = strings.NewReader(strings.Join(specs, "\n") + "\n")
		args = slices.Insert(args, 1, "--stdin")
	} else {
		args = append(args, specs...)
	}
	_, err = repo.Theirs(ctx, git.Call{
		Args: args, Stdin: in, Durable: true, Env: []string{"GIT_ALLOW_PROTOCOL=file"},
		Config: []string{"fetch.fsckObjects=true", "transfer.fsckObjects=true", "fetch.unpackLimit=1", "gc.auto=0",
			"maintenance.auto=false"},
	})
	if err != nil {
		return 0, err
	}
	return len(specs), nil
}

// mostArgs is how many refs git is given as arguments; more go through standard input, which git 2.29 reads.
const mostArgs = 1000

// Save writes all snapshots of all threads, with their history, as a git bundle. It returns the number of refs, and
// writes nothing if there are none.
func (s *Store) Save(ctx context.Context, w io.Writer) (int, error) {
	in, err := s.found.OpenProject(ctx)
	if err != nil {
		return 0, fmt.Errorf("save snapshots: %w", err)
	}
	refs, err := in.Repo.Refs(ctx, repository.Namespace)
	if err != nil {
		return 0, fmt.Errorf("save snapshots: %w", err)
	}
	names := make([]string, 0, len(refs))
	for ref := range refs {
		names = append(names, ref)
	}
	if err := bundle(ctx, in.Repo, w, names); err != nil {
		return 0, fmt.Errorf("save snapshots: %w", err)
	}
	return len(refs), nil
}

// Load imports the snapshots of some threads from a bundle file under their original refs; loading them again changes
// nothing. Git checks every object, as in Unbundle.
func (s *Store) Load(ctx context.Context, file string, ids []thread.ID) (int, error) {
	wanted := map[thread.ID]bool{}
	for _, id := range ids {
		if err := repository.CheckID(id); err != nil {
			return 0, fmt.Errorf("load snapshots: %w", err)
		}
		wanted[id] = true
	}
	n, err := s.fetch(ctx, file, func(ref string) string {
		id, _, _ := strings.Cut(strings.TrimPrefix(ref, repository.Namespace), "/")
		n := repository.RefNumber(ref)
		if !wanted[thread.ID(id)] || n == 0 || ref != repository.RefName(thread.ID(id), n) {
			return ""
		}
		return ref
	})
	if err != nil {
		return 0, fmt.Errorf("load snapshots: %w", err)
	}
	return n, nil
}
