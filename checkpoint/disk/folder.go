package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"orchestrator/thread"
)

// RemoveIn removes something in a folder, with everything below it. It reaches neither the folder nor anything in it
// through a link: of a link it removes the link.
func RemoveIn(dir, name string) error {
	if !IsName(name) {
		return fmt.Errorf("remove %q: %w", name, thread.ErrInvalid)
	}
	at, err := OpenFolder(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer at.Close()
	if err = at.RemoveAll(name); errors.Is(err, fs.ErrPermission) { // an agent removed the permission
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

// OpenFolder opens a folder that is not itself a link.
func OpenFolder(dir string) (*os.Root, error) {
	parent, err := os.OpenRoot(filepath.Dir(dir))
	if err != nil {
		return nil, err
	}
	defer parent.Close()
	return step(parent, filepath.Base(dir), false)
}

// SizeIn returns the total size of the files below a name in a folder, following no link; it is informational and never
// fails.
func SizeIn(dir, name string) (size int64) {
	at, err := OpenFolder(dir)
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
