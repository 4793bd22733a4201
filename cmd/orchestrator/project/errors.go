package project

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"orchestrator/thread"
	"orchestrator/thread/private"
)

// The reasons for which a project has no state to use.
var (
	// ErrUndecided means that it cannot be told whether a state belongs to this project: the person says so.
	ErrUndecided = errors.New("it is not clear which threads belong to this folder")
	// ErrMoved means that a server still runs for the place where the project was.
	ErrMoved = errors.New("the project was moved while its server runs")
	// ErrWide means that the project is a folder with much else in it, which the person has not accepted yet.
	ErrWide = errors.New("this folder needs your confirmation before it becomes a project")
	// ErrExposed means that our files would be where an agent may write.
	ErrExposed = errors.New("orchestrator's files would be where agents may write")
)

// hint adds what a person can do about a file or folder that cannot be used.
func hint(err error) error {
	var with *thread.HintError
	if err == nil || errors.As(err, &with) {
		return err
	}
	var at *private.Error
	path := "the state folder"
	if errors.As(err, &at) {
		path = at.Path
	}
	switch {
	case at != nil && at.Remedy != "":
		return err // it says so
	case errors.Is(err, syscall.ENOTDIR), errors.Is(err, fs.ErrExist):
		return thread.Hint(err, "move the file "+path+" away: a folder of orchestrator's goes there")
	case errors.Is(err, syscall.EROFS):
		return thread.Hint(fmt.Errorf("%w: %w", thread.ErrReadOnly, err),
			"have the file system of "+path+" mounted so that it can be written, or set XDG_STATE_HOME to a folder elsewhere")
	case errors.Is(err, fs.ErrPermission):
		return thread.Hint(fmt.Errorf("%w: %w", thread.ErrReadOnly, err),
			"make "+path+" or the folder it goes to writable for you, or set XDG_STATE_HOME to a folder elsewhere")
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return thread.Hint(fmt.Errorf("%w: %w", thread.ErrDiskFull, err), "free some space on the disk of "+path)
	default:
		return err
	}
}
