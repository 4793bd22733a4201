package protocol

import (
	"errors"
	"net/http"

	"orchestrator/thread"
)

// Error is the response to a failed call.
type Error struct {
	Code    string   `json:"code"`
	Message string   `json:"message"`
	Nearest []string `json:"nearest,omitempty"`
	// With CodeUnknownThread, Query is the name that was not found, and Many is set if it is ambiguous.
	Query string `json:"query,omitempty"`
	Many  bool   `json:"many,omitempty"`
}

// codes maps the domain's errors to codes on the wire and to HTTP statuses.
func codes() []struct {
	code   string
	status int
	err    error
} {
	return []struct {
		code   string
		status int
		err    error
	}{
		{"not-found", http.StatusNotFound, thread.ErrNotFound},
		{"name-taken", http.StatusConflict, thread.ErrNameTaken},
		{"busy", http.StatusConflict, thread.ErrBusy},
		{"approval", http.StatusConflict, thread.ErrApproval},
		{"not-running", http.StatusConflict, thread.ErrNotRunning},
		{"running", http.StatusConflict, thread.ErrRunning},
		{"no-repository", http.StatusConflict, thread.ErrNoRepository},
		{"damaged", http.StatusInternalServerError, thread.ErrDamaged},
		{"read-only", http.StatusInsufficientStorage, thread.ErrReadOnly},
		{"unreachable", http.StatusServiceUnavailable, thread.ErrUnreachable},
		{"disk-full", http.StatusInsufficientStorage, thread.ErrDiskFull},
		{"unsaved", http.StatusConflict, thread.ErrUnsaved},
		{"conflict", http.StatusConflict, thread.ErrConflict},
		{"limit", http.StatusTooManyRequests, thread.ErrLimit},
		{"unsupported", http.StatusNotImplemented, thread.ErrUnsupported},
		{"invalid", http.StatusBadRequest, thread.ErrInvalid},
		{"refused", http.StatusConflict, thread.ErrRefused},
		{"not-granted", http.StatusForbidden, thread.ErrNotGranted},
		{"expired", http.StatusGone, thread.ErrExpired},
	}
}

const codeUnknownThread = "unknown-thread"

// FromError converts an error of the domain to its wire form and HTTP status.
func FromError(err error) (Error, int) {
	var unknown *thread.UnknownThreadError
	if errors.As(err, &unknown) {
		return Error{
			Code: codeUnknownThread, Message: err.Error(), Nearest: unknown.Nearest, Query: unknown.Name, Many: unknown.Many,
		}, http.StatusNotFound
	}
	for _, c := range codes() {
		if errors.Is(err, c.err) {
			return Error{Code: c.code, Message: err.Error()}, c.status
		}
	}
	return Error{Code: "error", Message: err.Error()}, http.StatusInternalServerError
}

// Err converts it back to an error with the same message that wraps the domain's error.
func (e Error) Err() error {
	if e.Code == codeUnknownThread {
		return &thread.UnknownThreadError{Name: e.Query, Nearest: e.Nearest, Many: e.Many}
	}
	for _, c := range codes() {
		if e.Code == c.code {
			return &remoteError{message: e.Message, is: c.err}
		}
	}
	return errors.New(e.Message)
}

// remoteError is an error from the server that wraps an error of the domain.
type remoteError struct {
	message string
	is      error
}

func (e *remoteError) Error() string { return e.message }
func (e *remoteError) Unwrap() error { return e.is }
