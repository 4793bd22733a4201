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

// ContentLeft implements thread.ContentFinder.
func (m *Merger) ContentLeft(ctx context.Context, dir, commit string) ([]thread.LeftOut, error) {
	w, err := git.Find(dir)
	if err != nil {
		return nil, err
	}
	run := func(c git.Call) ([]byte, error) {
		c.Dir, c.Env = w.Root, slices.Concat(w.Env(), []string{"GIT_LITERAL_PATHSPECS=0"}, c.Env)
		return m.git.Run(ctx, c)
	}
	const filter, spec = "filter=lfs", "version https://git-lfs.github.com/spec/"
	uses, err := run(git.Call{OK: []int{1}, Args: []string{"grep", "-l", "-z", "-F", "-e", filter, commit, "--", ":(glob)**/.gitattributes"}})
	if err != nil || len(uses) == 0 {
		return nil, err
	}
	out, err := run(git.Call{OK: []int{1}, Args: []string{"grep", "-l", "-z", "-F", "-e", spec, commit}})
	if err != nil {
		return nil, fmt.Errorf("find the files of git-lfs: %w", err)
	}
	var names []string
	for _, name := range git.Fields(out) {
		names = append(names, strings.TrimPrefix(name, commit+":"))
	}
	if names, err = largeOf(run, m.temp, commit, names); err != nil || len(names) == 0 {
		return nil, err
	}
	storage, err := largeStorage(w.Common, run)
	if err != nil {
		return nil, err
	}
	var left []thread.LeftOut
	for _, name := range names {
		text, err := run(git.Call{Args: []string{"cat-file", "blob", commit + ":" + name}})
		if err != nil {
			return left, fmt.Errorf("read %s: %w", name, err)
		}
		sum := pointer(text)
		if len(sum) < 4 {
			continue // it only looks like one
		}
		if _, err := os.Lstat(filepath.Join(storage, "objects", sum[:2], sum[2:4], sum)); err != nil {
			left = append(left, thread.LeftOut{Kind: thread.LeftContent, Path: name,
				Why: "only its git-lfs pointer came, and its content is not on this machine; git lfs fetch gets it from a remote that has it"})
		}
	}
	return left, nil
}

// largeOf returns those files of a commit whose content git-lfs keeps, by the attributes in the commit.
func largeOf(run func(git.Call) ([]byte, error), temp, commit string, names []string) ([]string, error) {
	if len(names) == 0 {
		return nil, nil
	}
	tmp, err := newScratch(temp)
	if err != nil {
		return nil, fmt.Errorf("find the files of git-lfs: %w", err)
	}
	defer tmp.remove()
	index := []string{"GIT_INDEX_FILE=" + filepath.Join(tmp.dir, "index")}
	_, err = run(git.Call{Env: index, Args: []string{"read-tree", commit}})
	var out []byte
	if err == nil {
		out, err = run(git.Call{Env: index, Args: []string{"check-attr", "-z", "--stdin", "--cached", "filter"},
			Stdin: strings.NewReader(strings.Join(names, "\x00") + "\x00")})
	}
	if err != nil {
		return nil, fmt.Errorf("find the files of git-lfs: %w", err)
	}
	var large []string
	for f := git.Fields(out); len(f) >= 3; f = f[3:] { // name, attribute, value
		if f[2] == "lfs" {
			large = append(large, f[0])
		}
	}
	return large, nil
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
