package main

import (
	"errors"
	"fmt"

	"orchestrator/cmd/orchestrator/project"
	"orchestrator/thread"
)

// The exit codes; the README lists them.
const (
	exitOK       = 0
	exitError    = 1 // anything else that went wrong
	exitUsage    = 2 // the command line is wrong
	exitNotFound = 3 // what was named is not there: a thread, turn, agent, file
	exitRefused  = 4 // not now: busy, waits for an approval, conflicts, limits; not granted to an agent
	exitAgent    = 5 // the agent did not finish its answer
)

// usageError is a command line that cannot be understood.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }

func (e *usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error {
	return &usageError{err: fmt.Errorf(format, args...)}
}

// silentError carries an exit code for what was said already.
type silentError struct{ code int }

func (e *silentError) Error() string { return fmt.Sprintf("exit %d", e.code) }

// exitCode sorts errors for scripts.
func exitCode(err error) int {
	var usage *usageError
	var silent *silentError
	switch {
	case errors.As(err, &silent):
		return silent.code
	case errors.As(err, &usage), errors.Is(err, thread.ErrInvalid):
		return exitUsage
	case errors.Is(err, thread.ErrNotFound):
		return exitNotFound
	case errors.Is(err, thread.ErrBusy), errors.Is(err, thread.ErrApproval), errors.Is(err, thread.ErrUnsaved),
		errors.Is(err, thread.ErrConflict),
		errors.Is(err, thread.ErrLimit), errors.Is(err, thread.ErrRunning), errors.Is(err, thread.ErrNotRunning),
		errors.Is(err, project.ErrServed),
		errors.Is(err, project.ErrUndecided), errors.Is(err, project.ErrMoved), errors.Is(err, project.ErrWide),
		errors.Is(err, project.ErrExposed),
		errors.Is(err, thread.ErrNotGranted), errors.Is(err, thread.ErrUnreachable), errors.Is(err, thread.ErrRefused),
		errors.Is(err, thread.ErrNameTaken):
		return exitRefused
	default:
		return exitError
	}
}

// errNoTerminal is what the screen says where there is none.
var errNoTerminal = errors.New("the screen needs a terminal: `orchestrator threads` and the other verbs work without one (`orchestrator --help`)")
