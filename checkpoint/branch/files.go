package branch

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"orchestrator/checkpoint/git"
)

// lstat returns what is at a path of the worktree; nil for nothing, also if one of its folders is a link or a file: the
// target of such a link is not part of the worktree.
func lstat(root *os.Root, path string) (fs.FileInfo, error) {
	for i, c := range path {
		if c != '/' {
			continue
		}
		info, err := root.Lstat(path[:i])
		if errors.Is(err, fs.ErrNotExist) || (err == nil && !info.IsDir()) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
	}
	info, err := root.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return info, err
}

// alreadyMerged names the paths whose content is already what the merge would write.
func (t tree) alreadyMerged(ctx context.Context, tr *trial, paths []string) (map[string]bool, error) {
	if tr == nil || len(paths) == 0 {
		return nil, nil
	}
	root, err := os.OpenRoot(t.Root)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	same := map[string]bool{}
	var plain, links []string
	for _, path := range paths {
		c, changes := tr.changes[path]
		info, err := lstat(root, path)
		switch {
		case err != nil:
			return nil, err
		case !changes:
		case c.toMode == absent:
			same[path] = info == nil
		case info == nil || modeOf(info) != c.toMode:
		case c.toMode == linkMode:
			links = append(links, path)
		case !strings.HasPrefix(path, `"`) && !strings.Contains(path, "\n"): // such a name cannot be queried
			plain = append(plain, path)
		}
	}
	if err := t.hash(ctx, tr, plain, same); err != nil || len(links) == 0 {
		return same, err
	}
	merged, err := t.write(ctx, tr, tr.result, links)
	if err != nil {
		return nil, err
	}
	defer merged.Close()
	for _, path := range links {
		info, err := lstat(root, path)
		same[path] = err == nil && info != nil && begins(root, merged, path, info)
	}
	return same, nil
}

// hash compares files with what the merge would write, as git would store them.
func (t tree) hash(ctx context.Context, tr *trial, paths []string, same map[string]bool) error {
	if len(paths) == 0 {
		return nil
	}
	out, err := t.run(ctx, git.Call{
		Args: []string{"hash-object", "--stdin-paths"}, Stdin: strings.NewReader(strings.Join(paths, "\n") + "\n"),
	})
	if err != nil {
		return err
	}
	for i, id := range strings.Fields(string(out)) {
		same[paths[i]] = id == tr.changes[paths[i]].to
	}
	return nil
}

const linkMode = "120000"

// modeOf is the mode that git stores a file with, "" for one that it does not store.
func modeOf(info fs.FileInfo) string {
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return linkMode
	case !info.Mode().IsRegular():
		return ""
	case info.Mode()&0o100 != 0:
		return "100755"
	}
	return "100644"
}

// resetFiles resets files to a commit, in index and worktree; files that the commit lacks are removed. What a person
// put in the place of a file's folder, or a folder in the place of a file, stays.
func (t tree) resetFiles(ctx context.Context, head string, paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	root, err := os.OpenRoot(t.Root)
	if err != nil {
		return err
	}
	defer root.Close()
	known, err := t.names(ctx, "ls-tree", "-r", "-z", "--name-only", "--full-tree", head)
	if err != nil {
		return err
	}
	back, gone := []string{}, []string{}
	for _, path := range paths {
		if known[path] {
			back = append(back, path)
		} else {
			gone = append(gone, path)
		}
	}
	if err := t.unlist(ctx, root, gone); err != nil {
		return err
	}
	return t.restore(ctx, head, back, "--staged", "--worktree")
}

// restore has git restore files from a tree if nothing else is in their way.
func (t tree) restore(ctx context.Context, source string, paths []string, where ...string) error {
	root, err := os.OpenRoot(t.Root)
	if err != nil {
		return err
	}
	defer root.Close()
	paths = slices.DeleteFunc(paths, func(path string) bool { return !free(root, path) })
	if len(paths) == 0 {
		return nil
	}
	_, err = t.run(ctx, git.Call{
		Args: append([]string{"restore", "--quiet", "--source=" + source, "--pathspec-from-file=-", "--pathspec-file-nul"},
			where...),
		Stdin:   list(paths),
		Durable: true,
	})
	return err
}

// save stores a commit's tree with some files of the worktree, "" for no files.
func (t tree) save(ctx context.Context, head string, paths map[string]bool) (string, error) {
	if len(paths) == 0 {
		return "", nil
	}
	tmp, err := newScratch(t.temp)
	if err != nil {
		return "", err
	}
	defer tmp.remove()
	root, err := os.OpenRoot(t.Root)
	if err != nil {
		return "", err
	}
	defer root.Close()
	var gone, there []string
	for path := range paths {
		info, err := lstat(root, path)
		if err != nil {
			return "", err
		}
		if info == nil || info.IsDir() {
			gone = append(gone, path)
		} else {
			there = append(there, path)
		}
	}
	env := []string{"GIT_INDEX_FILE=" + filepath.Join(tmp.dir, "index")}
	for _, c := range []git.Call{
		{Args: []string{"read-tree", head}},
		{Args: []string{"update-index", "-z", "--force-remove", "--stdin"}, Stdin: list(gone)},
		{Args: []string{"update-index", "-z", "--add", "--replace", "--stdin"}, Stdin: list(there), Durable: true},
	} {
		c.Env = env
		if _, err := t.run(ctx, c); err != nil {
			return "", err
		}
	}
	// Files that a partial clone never fetched may be missing: they are the commit's, and what was added exists.
	out, err := t.run(ctx, git.Call{Args: []string{"write-tree", "--missing-ok"}, Env: env, Durable: true})
	return strings.TrimSpace(string(out)), err
}

// list is paths as git reads them.
func list(paths []string) io.Reader {
	return strings.NewReader(strings.Join(append(slices.Clone(paths), ""), "\x00"))
}

// unlist removes files from the worktree, the folders that become empty, and then from the index: in this order,
// because the disk may be full.
func (t tree) unlist(ctx context.Context, root *os.Root, paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	for _, path := range paths {
		info, err := lstat(root, path)
		if err != nil {
			return err
		}
		if info == nil || info.IsDir() {
			continue
		}
		if err := root.Remove(path); err != nil {
			return err
		}
		for dir := filepath.Dir(path); dir != "." && root.Remove(dir) == nil; dir = filepath.Dir(dir) {
		}
	}
	_, err := t.run(ctx, git.Call{
		Args: []string{"update-index", "-z", "--force-remove", "--stdin"}, Stdin: list(paths), Durable: true,
	})
	return err
}

// free reports whether a file can be written at a path without removing anything.
func free(root *os.Root, path string) bool {
	for dir := filepath.Dir(path); dir != "."; dir = filepath.Dir(dir) {
		if info, err := root.Lstat(dir); err == nil && !info.IsDir() {
			return false
		}
	}
	info, err := lstat(root, path)
	return err == nil && (info == nil || !info.IsDir())
}

// torn names the paths of a killed merge that contain nobody's own work: no file, the file of one of the two sides, or
// the beginning of one.
func (t tree) torn(ctx context.Context, head string, tr *trial) ([]string, error) {
	root, err := os.OpenRoot(t.Root)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var before, after []string
	for path, c := range tr.changes {
		if isFile(c.fromMode) {
			before = append(before, path)
		}
		if isFile(c.toMode) {
			after = append(after, path)
		}
	}
	old, err := t.write(ctx, tr, head, before)
	if err != nil {
		return nil, err
	}
	defer old.Close()
	merged, err := t.write(ctx, tr, tr.result, after)
	if err != nil {
		return nil, err
	}
	defer merged.Close()
	var torn []string
	for path, c := range tr.changes {
		if c.fromMode != absent && !isFile(c.fromMode) || c.toMode != absent && !isFile(c.toMode) {
			continue
		}
		info, err := lstat(root, path)
		if err != nil {
			return nil, err
		}
		// A folder may be empty once its torn files are removed; resetFiles checks again.
		if info == nil || info.IsDir() || begins(root, old, path, info) || begins(root, merged, path, info) {
			torn = append(torn, path)
		}
	}
	slices.Sort(torn)
	return torn, nil
}

// isFile reports whether a mode is that of a file or a link; anything else is another repository, which a merge leaves
// alone.
func isFile(mode string) bool { return strings.HasPrefix(mode, "100") || mode == linkMode }

// write writes files of a tree into a folder of the trial, as git would into the worktree.
func (t tree) write(ctx context.Context, tr *trial, treeish string, paths []string) (*os.Root, error) {
	dir, err := os.MkdirTemp(tr.dir, "files-*")
	if err != nil {
		return nil, err
	}
	env := append(slices.Clone(tr.env), "GIT_INDEX_FILE="+dir+".index")
	if _, err := t.run(ctx, git.Call{Args: []string{"read-tree", treeish}, Env: env}); err != nil {
		return nil, err
	}
	_, err = t.run(ctx, git.Call{
		Args: []string{"checkout-index", "-q", "-z", "--stdin", "--prefix=" + dir + "/"}, Env: env,
		Stdin: list(paths),
	})
	if err != nil {
		return nil, err
	}
	return os.OpenRoot(dir)
}

// begins reports whether the file at a path is the one of another folder, or the beginning of it.
func begins(root, other *os.Root, path string, info fs.FileInfo) bool {
	whole, err := lstat(other, path)
	if err != nil || whole == nil || whole.Mode().Type() != info.Mode().Type() {
		return false
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		a, aerr := root.Readlink(path)
		b, berr := other.Readlink(path)
		return aerr == nil && berr == nil && a == b
	}
	if !info.Mode().IsRegular() || info.Size() > whole.Size() {
		return false
	}
	a, err := root.Open(path)
	if err != nil {
		return false
	}
	defer a.Close()
	b, err := other.Open(path)
	if err != nil {
		return false
	}
	defer b.Close()
	return beginsWith(b, a)
}

// beginsWith reports whether one file begins with all of another.
func beginsWith(whole, part io.Reader) bool {
	w := bufio.NewReader(whole)
	buf, other := make([]byte, 64<<10), make([]byte, 64<<10)
	for {
		n, err := part.Read(buf)
		if _, werr := io.ReadFull(w, other[:n]); werr != nil || !bytes.Equal(buf[:n], other[:n]) {
			return false
		}
		if errors.Is(err, io.EOF) {
			return true
		}
		if err != nil {
			return false
		}
	}
}
