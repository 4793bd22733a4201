// Package api is what the server of a project and its clients say to each other: JSON requests
// over a unix socket, server-sent events for what happens, a WebSocket for terminal bytes.
//
// Every call is POST Prefix + name with a JSON body; the answer is JSON, an Error with a status
// of 400 and up otherwise. Version changes when an older side would misread a newer one.
package api

import (
	"errors"
	"net/http"

	"orchestrator/thread"
	"orchestrator/thread/ledger"
)

// Version of the protocol.
const Version = 2

// Prefix of all paths.
const Prefix = "/v1/"

// Info is the answer to "info": who serves.
type Info struct {
	Protocol int    `json:"protocol"`
	Version  string `json:"version"` // of the program
	Build    string `json:"build"`   // of the program
	PID      int    `json:"pid"`
	Project  string `json:"project"`
	StateDir string `json:"stateDir"`
	Store    string `json:"store"`
	// Sizes are lines about what is stored and what it takes; only when they were asked for.
	Sizes []string `json:"sizes,omitempty"`
	// Account is what was spent lately and what providers said of their limits; only with Sizes.
	Account *ledger.Account `json:"account,omitempty"`
	// Problems are what the server found at its start and people should know.
	Problems []string `json:"problems,omitempty"`
	// Notices are what every verb names: what the store found damaged and nobody has dismissed, and a store that
	// cannot be reached, the weightiest last. They are among Problems too.
	Notices []string `json:"notices,omitempty"`
	// Found is what the server found at its start and set right or could not: the verb that started it names it. It is
	// among Problems too.
	Found   []string `json:"found,omitempty"`
	Running int      `json:"running"`
	// Seq is the number of the newest event.
	Seq int64 `json:"seq,omitempty"`
	// NoRepository is set where forks share one folder.
	NoRepository bool `json:"noRepository,omitempty"`
}

// StopRequest asks the server to end. With Force it ends although answers cannot be saved.
type StopRequest struct {
	Force bool `json:"force,omitempty"`
}

// StopReport says what became of answers that the store refused.
type StopReport struct {
	Spooled int `json:"spooled"` // kept, and stored at the next start
	Lost    int `json:"lost"`
}

// AskInfo asks who serves; Sizes takes a while.
type AskInfo struct {
	Sizes bool `json:"sizes,omitempty"`
}

// Ref names a thread, and what else a small call needs.
type Ref struct {
	Thread string `json:"thread"`
	Name   string `json:"name,omitempty"`
	Text   string `json:"text,omitempty"`
	On     bool   `json:"on,omitempty"`
	At     string `json:"at,omitempty"`
	Cols   int    `json:"cols,omitempty"`
	Rows   int    `json:"rows,omitempty"`
}

// Ask is a prompt for a thread's agent.
type Ask struct {
	Thread string `json:"thread"`
	Text   string `json:"text"`
}

// Prompts asks for the prompts of a thread, of all threads where it is empty; Open leaves out those that are over.
type Prompts struct {
	Thread string `json:"thread,omitempty"`
	Open   bool   `json:"open,omitempty"`
	Limit  int    `json:"limit,omitempty"` // 200 when 0
}

// Prompt names a prompt, the thread that it must be one of where that is set, and the text that it is to have.
type Prompt struct {
	Thread string          `json:"thread,omitempty"`
	ID     thread.PromptID `json:"id"`
	Text   string          `json:"text,omitempty"`
}

// Timeline asks for a page of a thread's checkpoints.
type Timeline struct {
	Thread string      `json:"thread"`
	Page   thread.Page `json:"page"`
}

// Find asks for what holds words.
type Find struct {
	Query string `json:"query"`
	Limit int    `json:"limit"`
}

// May asks whether the caller may do an operation; Thread is set where it concerns one.
type May struct {
	Op     string `json:"op"`
	Thread string `json:"thread,omitempty"`
}

// SetGrants changes what a thread's agent may do.
type SetGrants struct {
	Thread string         `json:"thread"`
	Add    []thread.Grant `json:"add,omitempty"`
	Remove []thread.Grant `json:"remove,omitempty"`
}

// Grants is what a thread's agent may do, beyond looking at its own thread.
type Grants struct {
	Thread string         `json:"thread"`
	Grants []thread.Grant `json:"grants"`
}

// TokenHeader carries the token of an agent that the client runs below.
const TokenHeader = "Orchestrator-Token"

// Size of a terminal, as clients tell it in a text frame.
type Size struct {
	Cols int `json:"cols"`
	Rows int `json:"rows"`
}

// Error is a call that was refused.
type Error struct {
	Code    string   `json:"code"`
	Message string   `json:"message"`
	Nearest []string `json:"nearest,omitempty"`
	// Query is the name that was not found, with CodeUnknownThread; Many is set where it means several.
	Query string `json:"query,omitempty"`
	Many  bool   `json:"many,omitempty"`
}

// codes joins the domain's errors to what goes over the wire and to HTTP statuses.
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
	}
}

const codeUnknownThread = "unknown-thread"

// FromError translates an error of the domain for the wire, with its HTTP status.
func FromError(err error) (Error, int) {
	var unknown *thread.UnknownThreadError
	if errors.As(err, &unknown) {
		return Error{Code: codeUnknownThread, Message: err.Error(), Nearest: unknown.Nearest, Query: unknown.Name, Many: unknown.Many}, http.StatusNotFound
	}
	for _, c := range codes() {
		if errors.Is(err, c.err) {
			return Error{Code: c.code, Message: err.Error()}, c.status
		}
	}
	return Error{Code: "error", Message: err.Error()}, http.StatusInternalServerError
}

// Err translates it back: the message as it came, and the domain's error under it.
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

// remoteError is an error of the server with the domain's error it stands for.
type remoteError struct {
	message string
	is      error
}

func (e *remoteError) Error() string { return e.message }
func (e *remoteError) Unwrap() error { return e.is }
