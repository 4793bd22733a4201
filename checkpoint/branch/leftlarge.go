package branch

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"orchestrator/checkpoint/git"
	"orchestrator/thread"
)

// contentLeft returns the files of git-lfs whose content an operation did not bring: their pointers alone are there.
func (m *Merger) contentLeft(ctx context.Context, op thread.Operation, w git.Worktree, from string) ([]thread.LeftOut, error) {
	if op == thread.OpPush {
		return m.notUploaded(ctx, w, from)
	}
	paths, err := m.largeFiles(ctx, w)
	if err != nil {
		return nil, err
	}
	var left []thread.LeftOut
	for _, path := range paths {
		if pointer(readStart(w.Root, path)) == "" || from != "" && pointer(readStart(from, path)) != "" {
			continue // its content is here, or is nowhere
		}
		left = append(left, thread.LeftOut{Kind: thread.LeftContent, Path: path,
			Why: "only its git-lfs pointer is here; git lfs pull there fetches its content"})
	}
	return left, nil
}

// notUploaded returns the files of git-lfs that a branch changed since a commit, all of them if it is "", whose content
// a push of it does not upload.
func (m *Merger) notUploaded(ctx context.Context, w git.Worktree, since string) ([]thread.LeftOut, error) {
	own, err := m.git.ReadOwn(ctx, w)
	if err != nil {
		return nil, err
	}
	paths, err := m.largeFiles(ctx, w)
	if err != nil || len(paths) == 0 {
		return nil, err
	}
	run := func(c git.Call) ([]byte, error) {
		c.Dir, c.Env = w.Root, w.Env()
		return m.git.Run(ctx, c)
	}
	if since != "" {
		out, err := run(git.Call{Args: []string{"diff-tree", "-r", "--name-only", "-z", "--no-renames", since, "HEAD"}})
		if err != nil {
			return nil, fmt.Errorf("find what the branch changed: %w", err)
		}
		changed := map[string]bool{}
		for _, path := range git.Fields(out) {
			changed[path] = true
		}
		paths = slices.DeleteFunc(paths, func(path string) bool { return !changed[path] })
	}
	storage, err := largeStorage(w.Common, run)
	if err != nil {
		return nil, err
	}
	var left []thread.LeftOut
	for _, path := range paths {
		text, code, err := m.git.RunCode(ctx, git.Call{
			Dir: w.Root, Env: w.Env(), Args: []string{"cat-file", "blob", "HEAD:" + path}, OK: []int{128},
		})
		if err != nil {
			return left, fmt.Errorf("read %s: %w", path, err)
		}
		sum := pointer(text)
		if code != 0 || len(sum) < 4 {
			continue // committed with its content
		}
		why := ""
		if _, err := os.Lstat(filepath.Join(storage, "objects", sum[:2], sum[2:4], sum)); err != nil {
			why = "its content is not on this machine and was not uploaded"
		} else if !own.LFS() {
			why = "git-lfs is not set up, so that its content was not uploaded; git lfs install and git lfs push do it"
		}
		if why != "" {
			left = append(left, thread.LeftOut{Kind: thread.LeftContent, Path: path, Why: why})
		}
	}
	return left, nil
}

// largeFiles returns the files of a worktree whose content git-lfs keeps.
func (m *Merger) largeFiles(ctx context.Context, w git.Worktree) ([]string, error) {
	out, err := m.git.Run(ctx, git.Call{
		Dir: w.Root, Env: append(w.Env(), "GIT_LITERAL_PATHSPECS=0"), Args: []string{"ls-files", "-z", "--", ":(attr:filter=lfs)"},
	})
	if err != nil {
		return nil, fmt.Errorf("find the files of git-lfs: %w", err)
	}
	return slices.Compact(git.Fields(out)), nil
}

// largeStorage is the folder of git-lfs for a repository.
func largeStorage(common string, run func(git.Call) ([]byte, error)) (string, error) {
	out, err := run(git.Call{OK: []int{1}, Args: []string{"config", "--type=path", "--get", "lfs.storage"}})
	if err != nil {
		return "", fmt.Errorf("find the folder of git-lfs: %w", err)
	}
	dir := strings.TrimSuffix(string(out), "\n")
	switch {
	case dir == "":
		return filepath.Join(common, "lfs"), nil
	case filepath.IsAbs(dir):
		return dir, nil
	}
	return filepath.Join(common, dir), nil
}

// mostPointer is above the size of any pointer.
const mostPointer = 1 << 10

// readStart reads the beginning of a regular file below a folder, "" if there is none.
func readStart(root, path string) []byte {
	name := filepath.Join(root, path)
	if info, err := os.Lstat(name); err != nil || !info.Mode().IsRegular() || info.Size() > mostPointer {
		return nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, mostPointer))
	if err != nil {
		return nil
	}
	return b
}

// pointer returns the sum in a pointer of git-lfs, "" if it is none.
func pointer(text []byte) string {
	if len(text) > mostPointer || !bytes.HasPrefix(text, []byte("version https://git-lfs.github.com/spec/")) {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if sum, ok := strings.CutPrefix(strings.TrimSpace(line), "oid sha256:"); ok && !strings.ContainsAny(sum, "/.") {
			return sum
		}
	}
	return ""
}
