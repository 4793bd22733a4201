package thread

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"
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

// IsDiskFull reports whether an error is about a full disk or quota, also where nobody has translated it.
func IsDiskFull(err error) bool {
	return errors.Is(err, ErrDiskFull) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// NotReadyError is the reason why a prompt was not typed. Nothing was typed, and the agent's input is unchanged. It is an
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

// UnknownThreadError means that no thread has a name, or that the name is ambiguous, and lists similar names.
type UnknownThreadError struct {
	Name    string
	Nearest []string
	// Many is set if the name is ambiguous: Nearest are the first threads whose names begin with it.
	Many bool
}

func (e *UnknownThreadError) Error() string {
	if e.Many {
		return fmt.Sprintf("%q is ambiguous: it matches %s. Give more of the name", e.Name, strings.Join(e.Nearest, ", "))
	}
	return Sentences(fmt.Sprintf("no thread named %q", e.Name), Meant(e.Nearest, "`orchestrator threads` lists them"))
}

// Unwrap makes it an ErrNotFound.
func (e *UnknownThreadError) Unwrap() error { return ErrNotFound }

// Kindf returns an error of a kind that its text does not name, since the text says it all: "auth has no worktree to set
// up" instead of "…: not possible now".
func Kindf(kind error, format string, args ...any) error {
	return &kindError{err: fmt.Errorf(format, args...), kind: kind}
}

type kindError struct{ err, kind error }

func (e *kindError) Error() string { return e.err.Error() }

// Unwrap returns what the text wraps, and the kind.
func (e *kindError) Unwrap() []error { return []error{e.err, e.kind} }

// HintError is an error with a hint on how to fix it, which follows the error as a sentence of its own.
type HintError struct {
	Err  error
	Hint string
}

func (e *HintError) Error() string { return Sentences(e.Err.Error(), e.Hint) }

// Unwrap returns the error itself.
func (e *HintError) Unwrap() error { return e.Err }

// Hint adds a hint to an error; nil stays nil.
func Hint(err error, hint string) error {
	if err == nil {
		return nil
	}
	return &HintError{Err: err, Hint: hint}
}

// Sentences joins what is wrong and what to do: "no git remote. Add one: git remote add origin URL". A hint that begins
// with a command or an address keeps its small letter.
func Sentences(what, do string) string {
	if what == "" || do == "" {
		return what + do
	}
	if first, _, _ := strings.Cut(do, " "); !strings.Contains(first, "/") && first != "git" && first != "orchestrator" {
		r, n := utf8.DecodeRuneInString(do)
		do = string(unicode.ToUpper(r)) + do[n:]
	}
	if strings.HasSuffix(what, ".") || strings.HasSuffix(what, "?") || strings.HasSuffix(what, "!") {
		return what + " " + do
	}
	return what + ". " + do
}

// Meant asks whether one of some names was meant; where there is none, it says where all are listed.
func Meant(names []string, all string) string {
	if len(names) == 0 {
		return all
	}
	last := len(names) - 1
	if last == 0 {
		return "Did you mean " + names[0] + "?"
	}
	return "Did you mean " + strings.Join(names[:last], ", ") + " or " + names[last] + "?"
}
