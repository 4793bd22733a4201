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
	"orchestrator/thread/ground/atomicfile"
)

// Write writes data to the file at path below root. A file that already begins with the data is left alone. One that
// contains a part of the data, or something else that is not longer, is copied below keep and replaced. One that
// contains something else and is longer is thread.ErrConflict: nothing is changed.
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
	old, err := ReadAll(root, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return fmt.Errorf("write transcript %s: %w", name, err)
	case bytes.HasPrefix(old, data):
		return nil
	case len(old) > len(data):
		return fmt.Errorf("transcript %s differs from the stored one and is longer (%d bytes, %d stored): %w", name, len(old),
			len(data), thread.ErrConflict)
	default:
		if err := keepCopy(keep, path.Base(name), old); err != nil {
			return fmt.Errorf("back up the old transcript: %w", err)
		}
		return replace(dir, name, data, false)
	}
	return replace(dir, name, data, true)
}

// keepCopy writes the content that is about to be replaced to a new file.
func keepCopy(keep, name string, data []byte) error {
	if keep == "" {
		return errors.New("no folder for the copy")
	}
	folder := filepath.Join(keep, "replaced")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(folder, name+"."+random()), data, true)
}

// replace writes a file; with fresh, it fails if name exists.
func replace(dir *os.Root, name string, data []byte, fresh bool) error {
	write := atomicfile.Below
	if fresh {
		write = atomicfile.New
	}
	err := dir.MkdirAll(path.Dir(name), 0o700)
	if err == nil {
		err = write(dir, name, data, 0o600, true)
	}
	if err != nil {
		return fmt.Errorf("write transcript %s: %w", name, err)
	}
	return nil
}

func random() string {
	var b [6]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}
