package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"orchestrator/checkpoint/git"
	"orchestrator/thread"
)

// Bundle writes snapshots, with the history they stand on, as a git bundle. Commits that are no
// snapshots of ours any more are left out; it reports how many were written, and writes nothing when
// there is none.
func (s *Store) Bundle(ctx context.Context, w io.Writer, commits []string) (int, error) {
	in, err := s.open(ctx, s.cfg.Dir)
	if err != nil {
		return 0, fmt.Errorf("bundle snapshots: %w", err)
	}
	refs, err := in.refs(ctx, namespace)
	if err != nil {
		return 0, fmt.Errorf("bundle snapshots: %w", err)
	}
	wanted := map[string]bool{}
	for _, c := range commits {
		wanted[c] = true
	}
	var names strings.Builder
	n := 0
	for ref, oid := range refs {
		if wanted[oid] {
			delete(wanted, oid)
			names.WriteString(ref + "\n")
			n++
		}
	}
	if n == 0 {
		return 0, nil
	}
	_, err = in.theirs(ctx, git.Call{
		Args: []string{"bundle", "create", "--quiet", "-", "--stdin"}, Stdin: strings.NewReader(names.String()), Stdout: w,
	})
	if err != nil {
		return 0, fmt.Errorf("bundle snapshots: %w", err)
	}
	return n, nil
}

// Unbundle takes the snapshots in a bundle file as those of a thread; taking them again changes
// nothing. Git checks every object; one that is malformed, or would write outside of a worktree, is
// refused.
func (s *Store) Unbundle(ctx context.Context, file string, id thread.ID) (int, error) {
	if err := checkID(id); err != nil {
		return 0, fmt.Errorf("unbundle snapshots: %w", err)
	}
	w, err := s.open(ctx, s.cfg.Dir)
	if err != nil {
		return 0, fmt.Errorf("unbundle snapshots: %w", err)
	}
	if info, err := os.Lstat(file); err != nil || !info.Mode().IsRegular() {
		return 0, fmt.Errorf("unbundle snapshots: %s is not a file: %w", file, errors.Join(err, thread.ErrInvalid))
	}
	heads, err := w.theirs(ctx, git.Call{Args: []string{"bundle", "list-heads", file}})
	if err != nil {
		return 0, fmt.Errorf("unbundle snapshots: %w", errors.Join(err, thread.ErrInvalid))
	}
	dir, err := os.MkdirTemp(w.home, "bundle-*")
	if err != nil {
		return 0, fmt.Errorf("unbundle snapshots: %w", err)
	}
	defer os.RemoveAll(dir)
	// No configuration knows this name, as it was read before the name was made: git takes it for the file it is.
	name := filepath.Join(dir, "bundle")
	if file, err = filepath.Abs(file); err == nil {
		err = os.Symlink(file, name)
	}
	if err != nil {
		return 0, fmt.Errorf("unbundle snapshots: %w", err)
	}
	args := []string{"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--end-of-options", name}
	n := 0
	for line := range strings.Lines(string(heads)) {
		if _, ref, ok := strings.Cut(strings.TrimSpace(line), " "); ok && strings.HasPrefix(ref, namespace) {
			n++
			args = append(args, ref+":"+refName(id, n))
		}
	}
	if n == 0 {
		return 0, nil
	}
	_, err = w.theirs(ctx, git.Call{
		Args: args, Durable: true, Env: []string{"GIT_ALLOW_PROTOCOL=file"},
		Config: []string{"fetch.fsckObjects=true", "transfer.fsckObjects=true", "fetch.unpackLimit=1", "gc.auto=0", "maintenance.auto=false"},
	})
	if err != nil {
		return 0, fmt.Errorf("unbundle snapshots: %w", err)
	}
	return n, nil
}
