package setup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"orchestrator/thread"
	"orchestrator/thread/private"
)

// includeName is the file of patterns, in the project's root.
const includeName = ".worktreeinclude"

// Limits on what is copied into one worktree.
const (
	maxInclude  = 64 << 10
	maxPatterns = 500
	maxFiles    = 2000
	maxBytes    = 100 << 20
)

// copyIgnored copies the files that match the project's patterns and the agent's own.
func (s *Setup) copyIgnored(ctx context.Context, t thread.Thread, say func(thread.Level, string)) {
	var patterns []string
	if s.cfg.Local != nil {
		patterns = slices.Clone(s.cfg.Local(t.Agent))
	}
	own, odd, err := readPatterns(filepath.Join(s.cfg.Project, includeName))
	if err != nil {
		say(thread.LevelWarn, fmt.Sprintf("%s ignored: %v", includeName, err))
	}
	for _, line := range odd {
		say(thread.LevelWarn, fmt.Sprintf("%s: %s", includeName, line))
	}
	if patterns = append(patterns, own...); len(patterns) == 0 || s.cfg.Ignored == nil {
		return
	}
	names, err := s.cfg.Ignored(ctx, s.cfg.Project, patterns)
	if err != nil {
		say(thread.LevelWarn, fmt.Sprintf("%s: ignored files not copied: %v", t.Name, err))
		return
	}
	names = slices.DeleteFunc(names, func(name string) bool { return s.isOwn(name) })
	n, skipped, err := copyFiles(s.cfg.Project, t.Worktree.Path, names)
	switch {
	case err != nil:
		say(thread.LevelWarn, fmt.Sprintf("%s: not all ignored files copied: %v", t.Name, err))
	case n > 0:
		say(thread.LevelInfo, fmt.Sprintf("%s: %s copied from %s", t.Name, counted(n, "ignored file"), s.cfg.Project))
	}
	if len(skipped) > 0 {
		say(thread.LevelWarn, fmt.Sprintf("%s: %s not copied: %s",
			t.Name, counted(len(skipped), "file"), strings.Join(skipped[:min(3, len(skipped))], "; ")))
	}
}

// isOwn reports whether a file of the project is in a folder of ours.
func (s *Setup) isOwn(name string) bool {
	if name == ".orchestrator" || strings.HasPrefix(name, ".orchestrator/") {
		return true
	}
	abs := filepath.Join(s.cfg.Project, name)
	return slices.ContainsFunc(s.cfg.Own, func(dir string) bool {
		rel, err := filepath.Rel(dir, abs)
		return err == nil && filepath.IsLocal(rel)
	})
}

// readPatterns reads a file of patterns; odd describes invalid lines, for people.
func readPatterns(file string) (patterns, odd []string, err error) {
	content, err := private.ReadRegular(file, maxInclude)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	n := 0
	for line := range strings.Lines(string(content)) {
		n++
		line = strings.TrimRight(line, "\r\n")
		if trimmed := strings.TrimRight(line, " \t"); !strings.HasSuffix(trimmed, `\`) {
			line = trimmed
		}
		switch pattern := strings.TrimPrefix(line, "!"); {
		case pattern == "" || strings.HasPrefix(line, "#"):
		case slices.Contains(strings.Split(pattern, "/"), ".."):
			odd = append(odd, fmt.Sprintf("line %d points outside the project: only files in it are copied", n))
		case strings.Trim(pattern, "/") == "":
			odd = append(odd, fmt.Sprintf("line %d names the project itself; use * for all ignored files", n))
		case strings.ContainsRune(line, 0):
			odd = append(odd, fmt.Sprintf("line %d is not text", n))
		case len(patterns) == maxPatterns:
			return nil, nil, thread.Kindf(thread.ErrInvalid, "more than %d patterns", maxPatterns)
		default:
			patterns = append(patterns, line)
		}
	}
	return patterns, odd, nil
}

// copyFiles copies files that do not exist yet from one folder to another; skipped says why files were not copied.
// Exceeding a limit is an error before the first file is copied.
func copyFiles(from, to string, names []string) (n int, skipped []string, err error) {
	src, err := os.OpenRoot(from)
	if err != nil {
		return 0, nil, err
	}
	defer src.Close()
	dst, err := os.OpenRoot(to)
	if err != nil {
		return 0, nil, err
	}
	defer dst.Close()
	var total int64
	var good []string
	for _, name := range names {
		info, err := statRegular(src, name)
		if err != nil {
			skipped = append(skipped, fmt.Sprintf("%s: %v", name, err))
			continue
		}
		total += info.Size()
		good = append(good, name)
	}
	if len(good) > maxFiles || total > maxBytes {
		return 0, nil, thread.Hint(fmt.Errorf("%d files with %d MB exceed the limit of %d files with %d MB, none copied: %w",
			len(good), total>>20, maxFiles, maxBytes>>20, thread.ErrLimit),
			"include fewer in "+includeName+", or copy them in the setup command")
	}
	room := int64(maxBytes)
	for _, name := range good {
		size, err := copyFile(src, dst, name, room)
		switch {
		case errors.Is(err, fs.ErrExist):
		case err != nil && errors.Is(err, syscall.ENOSPC):
			return n, skipped, err
		case err != nil:
			skipped = append(skipped, fmt.Sprintf("%s: %v", name, err))
		default:
			n++
			room -= size
		}
	}
	return n, skipped, nil
}

var errLink = errors.New("a symbolic link, or inside one")

// statRegular returns the info of a regular file whose path contains no link.
func statRegular(root *os.Root, name string) (fs.FileInfo, error) {
	if !filepath.IsLocal(name) {
		return nil, errors.New("outside the project")
	}
	for i, c := range name {
		if c != '/' {
			continue
		}
		info, err := root.Lstat(name[:i])
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			return nil, errLink
		}
	}
	info, err := root.Lstat(name)
	switch {
	case err != nil:
		return nil, err
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, errLink
	case !info.Mode().IsRegular():
		return nil, errors.New("not a regular file")
	}
	return info, nil
}

// copyFile copies one file, and leaves nothing if it cannot be copied completely.
func copyFile(src, dst *os.Root, name string, room int64) (int64, error) {
	was, err := statRegular(src, name)
	if err != nil {
		return 0, err
	}
	in, err := src.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	if info, err := in.Stat(); err != nil || !os.SameFile(was, info) {
		return 0, errors.Join(errors.New("changed while being copied"), err)
	}
	if err := mkdirs(dst, path.Dir(name)); err != nil {
		return 0, err
	}
	out, err := dst.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, was.Mode().Perm())
	if err != nil {
		return 0, err
	}
	size, err := io.Copy(out, io.LimitReader(in, room+1))
	if err == nil && size > room {
		err = errors.New("grew beyond the limit")
	}
	if cerr := out.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		dst.Remove(name)
		return 0, err
	}
	return size, nil
}

// mkdirs creates the folders of a file; a link in their place is refused.
func mkdirs(root *os.Root, dir string) error {
	if dir == "." {
		return nil
	}
	if err := mkdirs(root, path.Dir(dir)); err != nil {
		return err
	}
	err := root.Mkdir(dir, 0o755)
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := root.Lstat(dir)
	if err == nil && !info.IsDir() {
		err = errLink
	}
	return err
}

// counted formats a count with its noun: "1 file", "2 files".
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
