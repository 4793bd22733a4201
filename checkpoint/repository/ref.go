package repository

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"orchestrator/checkpoint/disk"
	"orchestrator/checkpoint/git"
	"orchestrator/thread"
	"orchestrator/thread/private"
)

// SkipTaken skips numbers whose file or lock file exists: a damaged ref that git does not list, the lock of a killed
// git, or one of another git that is about to take the number.
func (repo *Repository) SkipTaken(id thread.ID, n int) int {
	for ; ; n++ {
		file := filepath.Join(repo.Git.Common, RefName(id, n))
		_, err := os.Lstat(file)
		_, lockErr := os.Lstat(file + ".lock")
		if err != nil && lockErr != nil {
			return n
		}
	}
}

// Refs returns the refs below prefixes with their targets.
func (repo *Repository) Refs(ctx context.Context, prefixes ...string) (map[string]string, error) {
	args := []string{"for-each-ref", "--format=%(objectname) %(refname)", "--"}
	out, err := repo.Theirs(ctx, git.Call{Args: append(args, prefixes...)})
	if err != nil {
		return nil, err
	}
	refs := map[string]string{}
	for line := range strings.Lines(string(out)) {
		oid, ref, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if ok {
			refs[ref] = oid
		}
	}
	return refs, nil
}

// UpdateRefs runs one transaction of `update-ref --stdin -z`.
func (repo *Repository) UpdateRefs(ctx context.Context, lines string) error {
	_, err := repo.Theirs(ctx, git.Call{
		Args: []string{"update-ref", "--no-deref", "--stdin", "-z"}, Stdin: strings.NewReader(lines), Durable: true,
	})
	return err
}

// IsRef reports whether the content of a ref's file is valid.
func IsRef(b []byte) bool {
	s := strings.TrimSpace(string(b))
	return git.IsObjectID(s) || strings.HasPrefix(s, "ref: ")
}

// Resolve returns the commit of a ref, "" if there is none.
func (repo *Repository) Resolve(ctx context.Context, ref string) (string, error) {
	out, err := repo.Theirs(ctx, git.Call{
		Args: []string{"rev-parse", "--verify", "--quiet", "--end-of-options", ref + "^{commit}"}, OK: []int{1},
	})
	at := strings.TrimSpace(string(out))
	if err != nil || !git.IsObjectID(at) {
		return "", err
	}
	return at, nil
}

// HollowRefs returns the refs below a prefix whose file is invalid.
func (repo *Repository) HollowRefs(prefix string) ([]string, error) {
	top, err := disk.OpenFolder(filepath.Join(repo.Git.Common, "refs"))
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
		b, err := disk.ReadSmall(filepath.Join(repo.Git.Common, "refs", path))
		if err != nil && !errors.Is(err, private.ErrNotRegular) && !errors.Is(err, private.ErrTooLarge) {
			return nil // just removed, or not ours to read: git will report it
		}
		if err != nil || !IsRef(b) {
			bad = append(bad, "refs/"+path)
		}
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read refs: %w", err)
	}
	return bad, nil
}

// BadRefs returns the refs below a prefix that are damaged.
func (repo *Repository) BadRefs(ctx context.Context, prefix string) ([]string, error) {
	bad, err := repo.HollowRefs(prefix)
	if err != nil {
		return nil, err
	}
	refs, err := repo.Refs(ctx, prefix)
	if err != nil || len(refs) == 0 {
		return bad, err
	}
	names := make([]string, 0, len(refs))
	var in strings.Builder
	for ref, commit := range refs {
		names = append(names, ref)
		in.WriteString(commit + "\n")
	}
	out, err := repo.Ours(ctx, git.Call{
		Args: []string{"cat-file", "--batch-check=%(objecttype)"}, Stdin: strings.NewReader(in.String()),
	})
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

// DropBad removes a damaged ref of ours.
func (repo *Repository) DropBad(ctx context.Context, ref string) error {
	if err := repo.DropHollow(ref); err != nil {
		return err
	}
	refs, err := repo.Refs(ctx, ref)
	if err != nil || refs[ref] == "" {
		return err
	}
	err = repo.UpdateRefs(ctx, "delete "+ref+"\x00"+refs[ref]+"\x00")
	var said *git.Error
	if errors.As(err, &said) && os.Remove(filepath.Join(repo.Git.Common, ref)) == nil {
		return nil // git does not touch a ref that points to nothing
	}
	return err
}

// DropHollow removes the file of a ref of ours that has no id, so that the ref can be recreated.
func (repo *Repository) DropHollow(ref string) error {
	file := filepath.Join(repo.Git.Common, filepath.FromSlash(ref))
	b, err := disk.ReadSmall(file)
	if errors.Is(err, fs.ErrNotExist) || err == nil && IsRef(b) {
		return nil
	}
	if err != nil && !errors.Is(err, private.ErrNotRegular) && !errors.Is(err, private.ErrTooLarge) {
		return err
	}
	return disk.RemoveIn(filepath.Dir(file), filepath.Base(file))
}
