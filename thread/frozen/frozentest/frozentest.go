// Package frozentest helps to test packages that keep frozen copies.
package frozentest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// Removable lets a folder that holds copies be removed at the end of a test: nobody writes to the folders of a copy, so
// that nobody but root could.
func Removable(t testing.TB, dir string) {
	t.Helper()
	t.Cleanup(func() {
		if err := Open(dir); err != nil {
			t.Error(err)
		}
	})
}

// Open lets its owner write to a folder and to all below it.
func Open(dir string) error {
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			err = os.Chmod(path, 0o700)
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
