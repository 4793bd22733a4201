package thread

import (
	"errors"
	"fmt"
	"strings"
)

// The errors that callers distinguish. Adapters translate their own errors into these.
var (
	ErrNotFound     = errors.New("not found")
	ErrNameTaken    = errors.New("name already exists")
	ErrBusy         = errors.New("agent is working")
	ErrApproval     = errors.New("agent is waiting for approval")
	ErrTyped        = errors.New("typed but not sent")
	ErrNoReaction   = errors.New("typed; the program has shown no reaction")
	ErrSent         = errors.New("sent, and nothing shows that it was taken")
	ErrNotRunning   = errors.New("agent is not running")
	ErrRunning      = errors.New("agent is running")
	ErrNoRepository = errors.New("not a git repository")
	ErrDamaged      = errors.New("stored data is damaged")
	ErrReadOnly     = errors.New("store is read-only")
	ErrDiskFull     = errors.New("disk is full")
	ErrUnreachable  = errors.New("store cannot be reached")
	ErrUnsaved      = errors.New("agents' answers are not saved")
	ErrConflict     = errors.New("merge has conflicts")
	ErrLimit        = errors.New("limit reached")
	ErrUnsupported  = errors.New("not supported")
	ErrInvalid      = errors.New("invalid")
	ErrRefused      = errors.New("not possible now") // a valid request that the current state does not allow
	ErrNotGranted   = errors.New("not granted")
	ErrExpired      = errors.New("expired")
)

// NotReadyError says why a prompt was not typed. Nothing was typed, and the agent's input is unchanged. It is an
// ErrBusy.
type NotReadyError struct {
	// Reason is for people: "a menu is open".
	Reason string
	// Person is set if only the person can change it: a draft, an open menu.
	Person bool
}

func (e *NotReadyError) Error() string { return "agent is not ready for a prompt: " + e.Reason }

// Is makes it an ErrBusy.
func (e *NotReadyError) Is(target error) bool { return target == ErrBusy }

// UnknownThreadError says that no thread has a name, or that the name is ambiguous, and lists similar names.
type UnknownThreadError struct {
	Name    string
	Nearest []string
	// Many is set if the name is ambiguous: Nearest are the first threads whose names begin with it.
	Many bool
}

func (e *UnknownThreadError) Error() string {
	switch {
	case e.Many:
		return fmt.Sprintf("%q is ambiguous: it matches %s; give more of the name",
			e.Name, strings.Join(e.Nearest, ", "))
	case len(e.Nearest) == 0:
		return fmt.Sprintf("no thread named %q; list them with `orchestrator threads`", e.Name)
	}
	return fmt.Sprintf("no thread named %q; did you mean %s?", e.Name, strings.Join(e.Nearest, ", "))
}

// Unwrap makes it an ErrNotFound.
func (e *UnknownThreadError) Unwrap() error { return ErrNotFound }

// HintError is an error with a hint on how to fix it.
type HintError struct {
	Err  error
	Hint string
}

func (e *HintError) Error() string { return e.Err.Error() + " (" + e.Hint + ")" }

// Unwrap returns the error itself.
func (e *HintError) Unwrap() error { return e.Err }

// Hint adds a hint to an error; nil stays nil.
func Hint(err error, hint string) error {
	if err == nil {
		return nil
	}
	return &HintError{Err: err, Hint: hint}
}
