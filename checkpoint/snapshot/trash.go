package snapshot

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/pattern"
	"orchestrator/thread/private"
)

// trashFolder lies in the folder of our worktrees.
const trashFolder = ".trash"

const trashTime = "20060102T150405"

// trashName is what removed worktrees are called: when, six digits, and their own name.
var trashName = pattern.Lazy(`^[0-9]{8}T[0-9]{6}-[0-9a-f]{6}-[^/\x00]{1,200}$`)

func nameInTrash(of string, now time.Time) string {
	return now.UTC().Format(trashTime) + "-" + thread.NewID[string]()[:6] + "-" + of[:min(len(of), 200)]
}

// removeIn removes what has a name in a folder, with all below it. It reaches neither the folder nor anything in it
// through a link: of a link it removes the link.
func removeIn(dir, name string) error {
	if !plainName(name) {
		return fmt.Errorf("remove %q: %w", name, thread.ErrInvalid)
	}
	at, err := openFolder(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer at.Close()
	if err = at.RemoveAll(name); errors.Is(err, fs.ErrPermission) { // an agent took away the right to
		_ = fs.WalkDir(at.FS(), filepath.ToSlash(name), func(path string, d fs.DirEntry, _ error) error {
			if d != nil && d.IsDir() {
				_ = at.Chmod(path, 0o700)
			}
			return nil
		})
		err = at.RemoveAll(name)
	}
	return err
}

// openFolder opens a folder that is no link itself.
func openFolder(dir string) (*os.Root, error) {
	parent, err := os.OpenRoot(filepath.Dir(dir))
	if err != nil {
		return nil, err
	}
	defer parent.Close()
	return step(parent, filepath.Base(dir), false)
}

// EmptyTrash deletes what Remove moved aside before a time, and returns how many bytes were freed.
func (s *Store) EmptyTrash(before time.Time) (int64, error) {
	freed, err := s.emptyTrash(before)
	if err != nil {
		return freed, fmt.Errorf("empty trash: %w", err)
	}
	return freed, nil
}

func (s *Store) emptyTrash(before time.Time) (freed int64, err error) {
	trees := resolved(s.cfg.Worktrees)
	trash, err := private.Open(trees, trashFolder)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer trash.Close()
	entries, err := trash.List()
	if err != nil {
		return 0, err
	}
	for _, e := range entries {
		at, _, _ := strings.Cut(e.Name(), "-")
		moved, err := time.Parse(trashTime, at)
		if err != nil || !trashName().MatchString(e.Name()) || !moved.Before(before) {
			continue
		}
		freed += sizeIn(trash.Path(), e.Name())
		if err := removeIn(trash.Path(), e.Name()); err != nil {
			return freed, err
		}
	}
	return freed, nil
}

// sizeIn counts the bytes of the files below a name in a folder, through no link; it is a courtesy and never fails.
func sizeIn(dir, name string) (size int64) {
	at, err := openFolder(dir)
	if err != nil {
		return 0
	}
	defer at.Close()
	_ = fs.WalkDir(at.FS(), name, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil
		}
		if info, err := d.Info(); err == nil {
			size += info.Size()
		}
		return nil
	})
	return size
}
