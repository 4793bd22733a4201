package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// nameWork is the record of work, in the file and in the folder where it is assembled or unpacked.
const nameWork = "work"

// writeWork writes the record of work into a file of a folder and returns its path, "" if there is none.
func writeWork(ctx context.Context, dir string, write func(context.Context, io.Writer) (bool, error)) (string, error) {
	if write == nil {
		return "", nil
	}
	name := filepath.Join(dir, nameWork)
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return "", err
	}
	there, err := write(ctx, f)
	if err = errors.Join(err, f.Close()); err != nil || !there {
		return "", err
	}
	return name, nil
}

// readWork has the record of work read that was unpacked into a folder, if there is one.
func readWork(dir string, read func(f *os.File, size int64) error) error {
	f, err := os.Open(filepath.Join(dir, nameWork))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil {
		err = read(f, info.Size())
	}
	if err != nil {
		return fmt.Errorf("entry %q: %w", nameWork, err)
	}
	return nil
}
