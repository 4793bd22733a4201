package backup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// work writes the record of work into a file and returns its path, "" if there is none.
func (b Backup) work(ctx context.Context) (string, error) {
	if b.Work == nil {
		return "", nil
	}
	name := filepath.Join(b.Dir, nameWork)
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return "", err
	}
	there, err := b.Work(ctx, f)
	if err = errors.Join(err, f.Close()); err != nil || !there {
		return "", err
	}
	return name, nil
}

// layoutOf returns the oldest layout that has what a backup has.
func layoutOf(parts []part, recorded string) int {
	switch {
	case recorded != "":
		return layout
	case len(parts) > 0:
		return carried
	default:
		return plain
	}
}

// checkWork has the record of work read, if there is one.
func (r Restore) checkWork() error {
	f, err := os.Open(filepath.Join(r.Dir, nameWork))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && r.CheckWork != nil {
		err = r.CheckWork(f)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("entry %q: %w", nameWork, err)
	}
	return nil
}

// work has the record of work imported, if there is one.
func (r Restore) work(ctx context.Context, whole bool) error {
	if r.Work == nil {
		return nil
	}
	f, err := os.Open(filepath.Join(r.Dir, nameWork))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil {
		err = r.Work(ctx, f, info.Size(), whole)
	}
	return err
}
