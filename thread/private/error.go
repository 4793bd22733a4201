package private

import (
	"errors"
	"fmt"

	"orchestrator/thread"
)

// ErrNotOurs means that a path is not a file or folder of this user alone.
var ErrNotOurs = errors.New("not private to this user")

// ErrTooLarge means that a file is larger than its limit.
var ErrTooLarge = errors.New("file too large")

// ErrNotRegular means that a path is not a regular file.
var ErrNotRegular = errors.New("not a regular file")

// Error is an error about a path, with a remedy.
type Error struct {
	Path   string
	Err    error
	Remedy string
}

func (e *Error) Error() string {
	if e.Remedy == "" {
		return fmt.Sprintf("%s: %v", e.Path, e.Err)
	}
	return thread.Sentences(fmt.Sprintf("%s: %v", e.Path, e.Err), e.Remedy)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// notOurs returns the error for a path that is refused.
func notOurs(path, remedy, format string, args ...any) error {
	return &Error{Path: path, Err: fmt.Errorf("%w: %s", ErrNotOurs, fmt.Sprintf(format, args...)), Remedy: remedy}
}
