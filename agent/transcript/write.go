package transcript

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"orchestrator/thread"
)

// Write makes the file at path below root hold data. A file that holds the data already, with or
// without more behind it, is left alone. One that holds a part of the data, or something else
// and not more, is copied below keep and replaced. One that holds something else and more is
// thread.ErrConflict: nothing is changed.
func Write(root, name string, data []byte, keep string) error {
	if !filepath.IsLocal(name) {
		return fmt.Errorf("write transcript %q: %w", name, thread.ErrInvalid)
	}
	if err := os.MkdirAll(root, 0o700); err != nil {
		return fmt.Errorf("write transcript: %w", err)
	}
	dir, err := os.OpenRoot(root)
	if err != nil {
		return fmt.Errorf("write transcript: %w", err)
	}
	defer dir.Close()
	old, err := Whole(root, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return fmt.Errorf("write transcript %s: %w", name, err)
	case bytes.HasPrefix(old, data):
		return nil
	case len(old) > len(data):
		return fmt.Errorf("transcript %s has other content and more (%d bytes, %d stored): %w", name, len(old), len(data), thread.ErrConflict)
	default:
		if err := keepCopy(keep, path.Base(name), old); err != nil {
			return fmt.Errorf("keep old transcript: %w", err)
		}
		return replace(dir, name, data, false)
	}
	return replace(dir, name, data, true)
}

// keepCopy writes what is about to be replaced to a new file of its own.
func keepCopy(keep, name string, data []byte) error {
	if keep == "" {
		return errors.New("no folder for the copy")
	}
	folder := filepath.Join(keep, "replaced")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(folder, name+"."+random()), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return finish(f, data)
}

// replace writes a file beside the one meant and puts it in its place; fresh fails when there is one.
func replace(dir *os.Root, name string, data []byte, fresh bool) error {
	if err := dir.MkdirAll(path.Dir(name), 0o700); err != nil {
		return fmt.Errorf("write transcript: %w", err)
	}
	temp := path.Join(path.Dir(name), ".orchestrator-"+random()+".tmp")
	f, err := dir.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("write transcript: %w", err)
	}
	defer dir.Remove(temp) // a leftover; gone already after a rename
	if err := finish(f, data); err != nil {
		return fmt.Errorf("write transcript %s: %w", name, err)
	}
	if fresh {
		err = dir.Link(temp, name)
	} else {
		err = dir.Rename(temp, name)
	}
	if err != nil {
		return fmt.Errorf("write transcript %s: %w", name, err)
	}
	return syncDir(dir, path.Dir(name))
}

func finish(f *os.File, data []byte) error {
	_, err := f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

func syncDir(dir *os.Root, name string) error {
	d, err := dir.Open(name)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

func random() string {
	var b [6]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}
