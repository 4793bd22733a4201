package frozen

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"orchestrator/thread/private"
)

// maxKept is how many copies a Store keeps when it is opened, the latest used, and maxAge for how long.
const (
	maxKept = 40
	maxAge  = 30 * 24 * time.Hour
)

// Store keeps copies in a folder of ours.
type Store struct {
	folder *private.Folder
	mu     sync.Mutex // held while a copy is made or read
}

// Open opens a store, and removes copies that were not used for long. No program may run in them.
func Open(base string, names ...string) (*Store, error) {
	folder, err := private.Make(base, names...)
	if err != nil {
		return nil, fmt.Errorf("open the copies of what was accepted: %w", err)
	}
	s := &Store{folder: folder}
	if err := s.sweep(); err != nil {
		return nil, errors.Join(fmt.Errorf("remove old copies of what was accepted: %w", err), folder.Close())
	}
	return s, nil
}

// Close closes the store.
func (s *Store) Close() error { return s.folder.Close() }

func (s *Store) sweep() error {
	list, err := s.folder.List()
	if err != nil {
		return err
	}
	type copied struct {
		name string
		used time.Time
	}
	var all []copied
	for _, e := range list {
		info, err := e.Info()
		if err != nil {
			continue
		}
		if !isName(e.Name()) {
			if err := s.remove(e.Name()); err != nil {
				return err
			}
			continue
		}
		all = append(all, copied{e.Name(), info.ModTime()})
	}
	slices.SortFunc(all, func(a, b copied) int { return b.used.Compare(a.used) })
	for i, c := range all {
		if i < maxKept && time.Since(c.used) < maxAge {
			continue
		}
		if err := s.remove(c.name); err != nil {
			return err
		}
	}
	return nil
}

func isName(name string) bool {
	b, err := hex.DecodeString(name)
	return err == nil && len(b) == 20
}

// remove removes a copy, whose folders cannot be written to.
func (s *Store) remove(name string) error {
	top := s.folder.Path(name)
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			return os.Chmod(path, 0o700)
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return s.folder.RemoveAll(name)
}

// Keep returns the folder with a copy of the entries. It is made if it is missing or not whole; if a file is not what its
// entry says, that is ErrChanged and there is no copy.
func (s *Store) Keep(entries []Entry) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := Hash(entries)[:40]
	top := s.folder.Path(name)
	if whole(top, entries) {
		now := time.Now()
		_ = os.Chtimes(top, now, now) // only the order in which copies are removed
		return top, nil
	}
	if err := s.remove(name); err != nil {
		return "", fmt.Errorf("remove a copy that is not whole: %w", err)
	}
	temp := "new-" + rand.Text()
	err := s.write(temp, entries)
	if err == nil {
		err = os.Rename(s.folder.Path(temp), top)
	}
	if err != nil {
		return "", errors.Join(fmt.Errorf("copy what was accepted: %w", err), s.remove(temp))
	}
	if !whole(top, entries) {
		return "", fmt.Errorf("copy what was accepted: %w", ErrChanged)
	}
	return top, nil
}

func (s *Store) write(temp string, entries []Entry) error {
	top := s.folder.Path(temp)
	if err := os.Mkdir(top, 0o700); err != nil {
		return err
	}
	folders := map[string]bool{top: true}
	for _, e := range entries {
		to := filepath.Join(top, filepath.FromSlash(e.Path))
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return err
		}
		for at := filepath.Dir(to); !folders[at]; at = filepath.Dir(at) {
			folders[at] = true
		}
		if err := e.writeTo(to); err != nil {
			return err
		}
	}
	for folder := range folders {
		if err := os.Chmod(folder, 0o500); err != nil {
			return err
		}
	}
	return nil
}

// writeTo writes one entry, and checks what was written.
func (e Entry) writeTo(to string) error {
	if e.Link != "" {
		return os.Symlink(filepath.FromSlash(e.Link), to)
	}
	in, _, err := open(e.from)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ELOOP) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, errIrregular) {
		return fmt.Errorf("%s: %w", e.Path, ErrChanged)
	}
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	h := sha256.New()
	n, err := io.Copy(io.MultiWriter(out, h), io.LimitReader(in, e.Size+1))
	if err == nil && (n != e.Size || hex.EncodeToString(h.Sum(nil)) != e.Sum) {
		err = fmt.Errorf("%s: %w", e.Path, ErrChanged)
	}
	if err == nil {
		err = out.Chmod(e.mode())
	}
	return errors.Join(err, out.Close())
}

func (e Entry) mode() fs.FileMode {
	if e.Exec {
		return 0o500
	}
	return 0o400
}

// whole reports whether a copy holds exactly the entries. It reads everything.
func whole(top string, entries []Entry) bool {
	left := make(map[string]Entry, len(entries))
	for _, e := range entries {
		left[e.Path] = e
	}
	err := filepath.WalkDir(top, func(at string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(top, at)
		if err != nil {
			return err
		}
		e, ok := left[filepath.ToSlash(rel)]
		if !ok {
			return errMore
		}
		delete(left, e.Path)
		return e.sameAs(at)
	})
	return err == nil && len(left) == 0
}

var errMore = errors.New("there is something else")

// sameAs compares what is at a path with the entry.
func (e Entry) sameAs(at string) error {
	if e.Link != "" {
		text, err := os.Readlink(at)
		if err == nil && text != filepath.FromSlash(e.Link) {
			err = ErrChanged
		}
		return err
	}
	file, info, err := open(at)
	if err != nil {
		return err
	}
	defer file.Close()
	sum, _, err := hashOf(file, e.Size)
	if err == nil && (sum != e.Sum || info.Mode().Perm() != e.mode()) {
		err = ErrChanged
	}
	return err
}

// Path returns where an entry of a copy is.
func Path(top, rel string) string {
	return filepath.Join(top, filepath.FromSlash(strings.TrimPrefix(rel, "/")))
}
