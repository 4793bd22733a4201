package state

import (
	"strings"
	"time"
	"unicode"

	"orchestrator/thread"
)

// maxDetail is the size limit of an agent's text that is kept, in bytes.
const maxDetail = 200

// FromStatus converts a program status report (OSC 7501): a state, the kind of blocker, a message. The second result is
// false if it indicates nothing; an empty State withdraws the last report.
func FromStatus(state, kind, message string, at time.Time) (thread.Evidence, bool) {
	e := thread.Evidence{Source: thread.SourceHook, At: at, Detail: "OSC 7501 " + Clean(state)}
	switch state {
	case "idle":
		e.State = thread.StateIdle
	case "working":
		e.State = thread.StateWorking
	case "blocked":
		switch kind {
		case "permission", "":
			e.State = thread.StateApproval
		case "auth":
			e.State = thread.StateUnauthorised
		default:
			e.State = thread.StateQuestion
		}
	case "done":
		e.State = thread.StateDone
	case "error":
		e.State = thread.StateFailed // the cause is not reported
	case "clear":
	default:
		return thread.Evidence{}, false
	}
	if k := Clean(kind); k != "" {
		e.Detail += " " + k
	}
	if m := Clean(message); m != "" {
		e.Detail += ": " + m
	}
	return e, true
}

// Clean sanitizes an agent's text for display: one line, printable, short.
func Clean(s string) string {
	var b strings.Builder
	for _, r := range s {
		if b.Len() >= maxDetail {
			break
		}
		switch {
		case unicode.IsSpace(r):
			b.WriteByte(' ')
		case unicode.IsPrint(r):
			b.WriteRune(r)
		}
	}
	return strings.TrimSpace(b.String())
}
