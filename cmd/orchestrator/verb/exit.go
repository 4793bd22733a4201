package verb

import (
	"errors"
	"fmt"

	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/cmd/orchestrator/project"
	"orchestrator/thread"
)

// usageError is an error in the command line.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }

func (e *usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error {
	return &usageError{err: fmt.Errorf(format, args...)}
}

// silentError carries an exit code for an error that was already reported.
type silentError struct{ code int }

func (e *silentError) Error() string { return fmt.Sprintf("exit %d", e.code) }

// agentError means that an agent has not done what it was asked.
type agentError struct{ what string }

func (e *agentError) Error() string { return e.what }

// exitCode returns the exit code for an error.
func exitCode(err error) int {
	var usage *usageError
	var silent *silentError
	var agent *agentError
	switch {
	case errors.As(err, &silent):
		return silent.code
	case errors.As(err, &agent):
		return exitcode.Agent
	case errors.As(err, &usage), errors.Is(err, thread.ErrInvalid):
		return exitcode.Usage
	case errors.Is(err, thread.ErrNotFound), errors.Is(err, thread.ErrExpired):
		return exitcode.NotFound
	case errors.Is(err, thread.ErrBusy), errors.Is(err, thread.ErrApproval), errors.Is(err, thread.ErrUnsaved),
		errors.Is(err, thread.ErrConflict),
		errors.Is(err, thread.ErrLimit), errors.Is(err, thread.ErrRunning), errors.Is(err, thread.ErrNotRunning),
		errors.Is(err, project.ErrServed),
		errors.Is(err, project.ErrUndecided), errors.Is(err, project.ErrMoved), errors.Is(err, project.ErrWide),
		errors.Is(err, project.ErrExposed),
		errors.Is(err, thread.ErrNotGranted), errors.Is(err, thread.ErrUnreachable), errors.Is(err, thread.ErrRefused),
		errors.Is(err, thread.ErrNameTaken):
		return exitcode.Refused
	default:
		return exitcode.Error
	}
}

// errNoTerminal is the error of the screen without a terminal.
var errNoTerminal = errors.New("the screen needs a terminal. Verbs work without one: `orchestrator --help`")
