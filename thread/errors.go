package thread

import (
	"errors"
	"fmt"
	"strings"
)

// The errors that callers tell apart. Adapters translate their own into these.
var (
	ErrNotFound     = errors.New("not found")
	ErrNameTaken    = errors.New("name is taken")
	ErrBusy         = errors.New("agent is working")
	ErrApproval     = errors.New("agent waits for an approval")
	ErrTyped        = errors.New("it was typed but not sent")
	ErrNotRunning   = errors.New("agent is not running")
	ErrRunning      = errors.New("agent is running")
	ErrNoRepository = errors.New("not a git repository")
	ErrDamaged      = errors.New("stored data is damaged")
	ErrReadOnly     = errors.New("store is read-only")
	ErrDiskFull     = errors.New("disk is full")
	ErrUnreachable  = errors.New("store cannot be reached")
	ErrUnsaved      = errors.New("answers of agents are not saved")
	ErrConflict     = errors.New("merge has conflicts")
	ErrLimit        = errors.New("limit reached")
	ErrUnsupported  = errors.New("not supported")
	ErrInvalid      = errors.New("invalid")
	ErrRefused      = errors.New("not possible now") // asked rightly, but not as things are
	ErrNotGranted   = errors.New("not granted")
)

// NotReadyError says why a prompt was not typed: nothing was, and what stands in the agent's input is untouched. It
// is an ErrBusy.
type NotReadyError struct {
	// Reason is for people: "a menu of the agent is open".
	Reason string
	// Person is set where only the person can change it: a draft, a menu.
	Person bool
}

func (e *NotReadyError) Error() string { return "agent does not wait for a prompt: " + e.Reason }

// Is makes it an ErrBusy.
func (e *NotReadyError) Is(target error) bool { return target == ErrBusy }

// UnknownThreadError says that no thread has a name, or more than one may, and which come near.
type UnknownThreadError struct {
	Name    string
	Nearest []string
	// Many is set where several threads' names begin with it: Nearest are the first of them.
	Many bool
}

func (e *UnknownThreadError) Error() string {
	switch {
	case e.Many:
		return fmt.Sprintf("several threads are meant by %q: %s; give more of the name", e.Name, strings.Join(e.Nearest, ", "))
	case len(e.Nearest) == 0:
		return fmt.Sprintf("no thread is called %q; `orchestrator threads` lists them", e.Name)
	}
	return fmt.Sprintf("no thread is called %q; near: %s", e.Name, strings.Join(e.Nearest, ", "))
}

// Unwrap makes it an ErrNotFound.
func (e *UnknownThreadError) Unwrap() error { return ErrNotFound }

// HintError is an error with what a person can do about it.
type HintError struct {
	Err  error
	Hint string
}

func (e *HintError) Error() string { return e.Err.Error() + " (" + e.Hint + ")" }

// Unwrap returns the error itself.
func (e *HintError) Unwrap() error { return e.Err }

// Hint adds what a person can do to an error; nil stays nil.
func Hint(err error, hint string) error {
	if err == nil {
		return nil
	}
	return &HintError{Err: err, Hint: hint}
}
