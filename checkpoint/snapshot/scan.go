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
	"sync"

	"golang.org/x/sys/unix"

	"orchestrator/checkpoint/git"
	"orchestrator/checkpoint/repository"
	"orchestrator/thread"
)

// scan is the difference of the worktree from the private index.
type scan struct {
	remove []string // entries whose file is gone, or now ignored
	add    []string // files that are new or may have changed
	skip   []thread.Skip
}

func (s scan) empty() bool { return len(s.remove) == 0 && len(s.add) == 0 }

// lists are the outputs of git, each from its own run.
type lists struct {
	changed []change // differ from the private index
	others  []string // in neither index and not ignored; a folder ends with a slash: a repository
	ours    []string // in the private index, but ignored
	theirs  []string // in the person's index, but ignored
}

type change struct {
	status  byte
	oldMode string
	path    string
}

// scan compares the worktree with an index of ours (env selects it). limit is the largest file to include, 0 for none.
func (w files) scan(ctx context.Context, env []string, limit int64) (scan, error) {
	l, err := w.list(ctx, env)
	if err != nil {
		return scan{}, err
	}
	var s scan
	see := func(path string, repository bool) {
		keep, reason := w.look(path, repository, limit)
		switch {
		case keep:
			s.add = append(s.add, path)
		case reason != "":
			s.skip = append(s.skip, thread.Skip{Path: path, Reason: reason})
		}
	}
	tracked := make(map[string]bool, len(l.theirs))
	for _, path := range l.theirs {
		tracked[path] = true
	}
	for _, path := range l.ours {
		if !tracked[path] {
			s.remove = append(s.remove, path) // it became ignored: no longer ours to store
		}
		delete(tracked, path)
	}
	gone := make(map[string]bool, len(s.remove))
	for _, path := range s.remove {
		gone[path] = true
	}
	for _, c := range l.changed {
		if gone[c.path] {
			continue
		}
		before := len(s.add)
		if c.status != 'D' {
			see(c.path, c.oldMode == repository.ModeRepo)
		}
		if len(s.add) == before {
			s.remove = append(s.remove, c.path)
		}
	}
	filled, files, err := w.filled(ctx, env)
	if err != nil {
		return scan{}, err
	}
	s.remove = append(s.remove, filled...)
	for _, path := range files {
		see(path, false)
	}
	submodules, err := w.submodules(ctx, l.others)
	if err != nil {
		return scan{}, err
	}
	for _, path := range l.others {
		if w.mine(path) {
			continue
		}
		if name := strings.TrimSuffix(path, "/"); submodules[name] {
			see(name, true)
			continue
		}
		see(path, false)
	}
	for _, path := range l.theirs {
		if tracked[path] { // ignored, but the person added it by force, and we have not yet
			see(path, false)
		}
	}
	slices.SortFunc(s.skip, func(a, b thread.Skip) int { return strings.Compare(a.Path, b.Path) })
	return s, nil
}

func (w files) list(ctx context.Context, env []string) (lists, error) {
	var l lists
	var errs [4]error
	var wg sync.WaitGroup
	names := func(into *[]string, at *error, run func(context.Context, git.Call) ([]byte, error), args ...string) {
		wg.Go(func() {
			out, err := run(ctx, git.Call{Args: args, Env: env})
			*into, *at = git.Fields(out), err
		})
	}
	wg.Go(func() {
		out, err := w.work.Ours(ctx, git.Call{
			Args: []string{"diff-files", "--raw", "-z", "--no-renames", "--ignore-submodules=dirty"}, Env: env,
		})
		if err == nil {
			l.changed, err = parseRaw(out)
		}
		errs[0] = err
	})
	names(&l.others, &errs[1], w.work.Ours, "ls-files", "-z", "--others", "--exclude-standard", "--exclude=/"+git.Foreign)
	names(&l.ours, &errs[2], w.work.Ours, "ls-files", "-z", "--cached", "--ignored", "--exclude-standard")
	wg.Go(func() {
		out, err := w.work.Theirs(ctx, git.Call{Args: []string{"ls-files", "-z", "--cached", "--ignored", "--exclude-standard"}})
		l.theirs, errs[3] = slices.Compact(git.Fields(out)), err // an unmerged path is listed up to three times
	})
	wg.Wait()
	return l, errors.Join(errs[:]...)
}

// parseRaw parses `diff-files --raw -z --no-renames`: ":mode mode oid oid status\0path\0".
func parseRaw(out []byte) ([]change, error) {
	f := git.Fields(out)
	if len(f)%2 != 0 {
		return nil, fmt.Errorf("git diff-files wrote %d fields", len(f))
	}
	changes := make([]change, 0, len(f)/2)
	for i := 0; i < len(f); i += 2 {
		head := strings.Fields(strings.TrimPrefix(f[i], ":"))
		if len(head) != 5 {
			return nil, fmt.Errorf("git diff-files wrote %q", git.Printable(f[i]))
		}
		changes = append(changes, change{status: head[4][0], oldMode: head[0], path: f[i+1]})
	}
	return changes, nil
}

// look returns whether a path is to be stored, or why it cannot be; neither if it is gone again.
func (w files) look(path string, repository bool, limit int64) (keep bool, reason string) {
	if git.IsForeign(path) {
		return false, ""
	}
	if strings.HasSuffix(path, "/") {
		return false, "another git repository"
	}
	if reservedName(path) {
		return false, "git refuses the name"
	}
	abs := filepath.Join(w.work.Git.Root, path)
	info, err := os.Lstat(abs)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) {
		return false, ""
	}
	if err != nil {
		return false, "cannot be read"
	}
	switch mode := info.Mode(); {
	case mode.IsDir():
		return repository, "" // a submodule's place; the files of another folder are listed themselves
	case mode&fs.ModeSymlink != 0:
		return true, ""
	case !mode.IsRegular():
		return false, "not a regular file"
	case limit > 0 && info.Size() > limit:
		return false, fmt.Sprintf("larger than %s", thread.Bytes(limit))
	case unix.Faccessat(unix.AT_FDCWD, abs, unix.R_OK, unix.AT_EACCESS) != nil:
		return false, "cannot be read"
	}
	return true, ""
}

// reservedName reports whether a part of the path means .git on some file system; git stores no such name.
func reservedName(path string) bool {
	for part := range strings.SplitSeq(path, "/") {
		name, _, _ := strings.Cut(strings.ToLower(part), ":")
		name = strings.TrimRight(name, " .")
		if name == ".git" || name == "git~1" {
			return true
		}
	}
	return false
}
