package private

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// ReadRegular returns a regular file of at most limit bytes that anybody may have created: never a link, a pipe, a
// device or a folder, and without blocking.
func ReadRegular(path string, limit int64) ([]byte, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	switch {
	case errors.Is(err, syscall.ELOOP), errors.Is(err, syscall.EMLINK):
		return nil, &Error{Path: path, Err: fmt.Errorf("%w: a link", ErrNotRegular)}
	case errors.Is(err, syscall.ENXIO):
		return nil, &Error{Path: path, Err: fmt.Errorf("%w: a socket or a pipe", ErrNotRegular)}
	case err != nil:
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &Error{Path: path, Err: fmt.Errorf("%w: %s", ErrNotRegular, kindOf(info))}
	}
	return readAll(file, path, limit)
}

func readAll(file *os.File, path string, limit int64) ([]byte, error) {
	content, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err != nil {
		return nil, &Error{Path: path, Err: err}
	}
	if int64(len(content)) > limit {
		return nil, &Error{Path: path, Err: fmt.Errorf("%w: more than %d bytes", ErrTooLarge, limit)}
	}
	return content, nil
}

func kindOf(info fs.FileInfo) string {
	switch mode := info.Mode(); {
	case mode&fs.ModeSymlink != 0:
		return "a link"
	case mode.IsDir():
		return "a folder"
	case mode.IsRegular():
		return "a file"
	case mode&fs.ModeNamedPipe != 0:
		return "a pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	default:
		return "a device"
	}
}
