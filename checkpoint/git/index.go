package git

import (
	"fmt"
	"io"
	"os"
	"syscall"
)

// CopyIndex copies an index file and keeps its time: git uses it to tell which entries may have changed in the same
// tick.
func CopyIndex(from, to string) error {
	src, err := os.OpenFile(from, os.O_RDONLY|syscall.O_NONBLOCK, 0) // without blocking at a pipe
	if err != nil {
		return err
	}
	defer src.Close()
	info, err := src.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("copy the index %s: not a file: %w", from, ErrForeign)
	}
	dst, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	if cerr := dst.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	return os.Chtimes(to, info.ModTime(), info.ModTime())
}
