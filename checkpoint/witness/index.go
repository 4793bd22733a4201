package witness

import (
	"crypto/sha1" //nolint:gosec // git's
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// tick is longer than the clock of any file system may stand still: a file that was written so shortly before it was
// looked at may change without its times telling.
const tick = 100 * time.Millisecond

// entry is what is known of a file, a link or a folder.
type entry struct {
	mode  fs.FileMode
	ino   uint64
	size  int64
	mtime int64
	ctime int64
	link  string // the target of a link
	// sum is the content of a file, as git names it or as "sha256:…"; "" if it is not known.
	sum string
	// fresh is set if its times may not tell a change.
	fresh bool
}

// index is a folder at a time, by slash-separated path.
type index map[string]entry

// lookAt reads a folder with everything below it, following no link. It opens no file.
func lookAt(root string) (index, error) {
	now := time.Now().Add(-tick).UnixNano()
	at := index{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && path != root {
			return nil // gone in the meantime
		}
		if err != nil && (path == root || !errors.Is(err, fs.ErrPermission)) {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		e, err := look(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		e.fresh = e.ctime >= now
		at[filepath.ToSlash(rel)] = e
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("look at %s: %w", root, err)
	}
	return at, nil
}

func look(path string) (entry, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return entry{}, err
	}
	e := entry{mode: info.Mode()}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && !info.IsDir() {
		e.ino, e.mtime, e.ctime = st.Ino, st.Mtim.Nano(), st.Ctim.Nano()
	}
	switch {
	case info.Mode().IsRegular():
		e.size = info.Size()
	case info.Mode()&fs.ModeSymlink != 0:
		e.link, err = os.Readlink(path)
	}
	return e, err
}

// since returns what differs from an earlier time, sorted. What it has read and found to be the same, or to be new, it
// keeps in now.
func (now index) since(root string, was index) ([]string, error) {
	dir, err := os.OpenRoot(root)
	if err != nil {
		return nil, fmt.Errorf("compare %s: %w", root, err)
	}
	defer dir.Close()
	var changed []string
	for path := range was {
		if _, there := now[path]; !there {
			changed = append(changed, path)
		}
	}
	for path, e := range now {
		old, there := was[path]
		same := there && e.mode == old.mode && e.size == old.size && e.link == old.link
		if same && e.mode.IsRegular() {
			if e, same, err = content(dir, path, e, old); err != nil {
				return nil, err
			}
			now[path] = e
		}
		if !same {
			changed = append(changed, path)
		}
	}
	slices.Sort(changed)
	return changed, nil
}

// content reports whether a file of the same size has the content that it had. It returns what is known of it now.
func content(dir *os.Root, path string, e, old entry) (entry, bool, error) {
	if !old.fresh && e.ino == old.ino && e.mtime == old.mtime && e.ctime == old.ctime {
		e.sum = old.sum
		return e, true, nil
	}
	if old.sum == "" {
		return e, false, nil // nobody has read it: it was changed before
	}
	sum, err := sumOf(dir, path, old.sum, e.size)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || errors.Is(err, errNoFile) {
		return e, false, nil
	}
	if e.sum = ""; sum == old.sum {
		e.sum = sum
	}
	return e, sum == old.sum, err
}

// errNoFile means that something else is in the place of a file.
var errNoFile = errors.New("not a file")

// sumOf returns the sum of a file's content, of the kind that another one is.
func sumOf(dir *os.Root, path, like string, size int64) (string, error) {
	// Without waiting for somebody to write, if it has become a pipe.
	f, err := dir.OpenFile(filepath.FromSlash(path), os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW, 0)
	if errors.Is(err, unix.ELOOP) {
		return "", errNoFile
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return "", errors.Join(err, errNoFile)
	}
	var h hash.Hash
	prefix := ""
	switch {
	case strings.HasPrefix(like, ours):
		h, prefix = sha256.New(), ours
	case len(like) == 2*sha256.Size:
		h = sha256.New()
	default:
		h = sha1.New() //nolint:gosec // git's
	}
	if prefix == "" {
		fmt.Fprintf(h, "blob %d\x00", size)
	}
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return prefix + hex.EncodeToString(h.Sum(nil)), nil
}

// ours begins a sum that is not git's.
const ours = "sha256:"

// learn gives each file the sum of its content: git's where it is known, else its own, which is read.
func (now index) learn(root string, blobs map[string]string) error {
	dir, err := os.OpenRoot(root)
	if err != nil {
		return fmt.Errorf("read %s: %w", root, err)
	}
	defer dir.Close()
	for path, e := range now {
		if !e.mode.IsRegular() {
			continue
		}
		if e.sum = blobs[path]; e.sum == "" {
			if e.sum, err = sumOf(dir, path, ours, e.size); err != nil {
				return fmt.Errorf("read %s: %w", path, err)
			}
		}
		now[path] = e
	}
	return nil
}
