package world

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"

	"orchestrator/agent/launch"
	"orchestrator/thread"
)

// largest is the size of the largest file that configures an agent.
const largest = 64 << 20

// Read reads a file that configures an agent; false if there is none. What is not a readable file of a sensible size is
// an error: what would be in it is not known.
func Read(path string) ([]byte, bool, error) {
	// A named pipe would be waited for.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, Unreadable(path, err)
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, false, Unreadable(path, err)
	case isNull(info):
		return nil, true, nil // as good as an empty file
	case !info.Mode().IsRegular():
		return nil, false, Unreadable(path, errors.New("not a file"))
	}
	raw, err := io.ReadAll(io.LimitReader(f, largest+1))
	if err == nil && len(raw) > largest {
		err = fmt.Errorf("larger than %s", thread.Bytes(largest))
	}
	if err != nil {
		return nil, false, Unreadable(path, err)
	}
	return bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf")), true, nil
}

// isNull reports whether a file is the one that is always empty.
func isNull(info fs.FileInfo) bool {
	null, err := os.Stat(os.DevNull)
	return err == nil && os.SameFile(null, info)
}

// Unreadable is the error for a file without which it is not known where an agent's requests would go.
func Unreadable(path string, cause error) error {
	var at *fs.PathError
	if errors.As(cause, &at) {
		cause = at.Err
	}
	return thread.Hint(fmt.Errorf("%s cannot be read, and it may say where the model is: %w", path, cause),
		"mend the file, or start the agent without the gateway (--no-gateway)")
}

// ReadJSON reads JSON; false if there is none. An empty file is as good as none.
func ReadJSON(path string, v any) (bool, error) { return readJSON(path, v, false) }

// ReadJSONC is ReadJSON for a file that may contain comments and trailing commas.
func ReadJSONC(path string, v any) (bool, error) { return readJSON(path, v, true) }

func readJSON(path string, v any, comments bool) (bool, error) {
	raw, ok, err := Read(path)
	if err != nil || !ok {
		return false, err
	}
	if comments {
		raw = launch.StripComments(raw)
	}
	if len(bytes.TrimSpace(raw)) == 0 {
		return false, nil
	}
	if err := json.Unmarshal(raw, v); err != nil {
		return false, Unreadable(path, fmt.Errorf("not valid JSON: %w", err))
	}
	return true, nil
}
