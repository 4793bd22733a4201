package ledger

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/plaintext"
	"orchestrator/thread/secret"
	"orchestrator/thread/work"
)

// maxText is the longest text that is kept in full.
const maxText = 1 << 20

// whole returns a text as it is stored in full.
func whole(s string) string { return secret.Redact(plaintext.Cut(strings.TrimSpace(s), maxText)) }

// maxKey is the longest id of a CLI that is kept as it is.
const maxKey = 128

// keyOf returns a CLI's id as it is stored: one that has other bytes than such ids have, or is long, stands there by its
// hash.
func keyOf(raw string) string {
	odd := strings.ContainsFunc(raw, func(r rune) bool {
		return !(r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || strings.ContainsRune("-_.:/@#", r))
	})
	if odd || len(raw) > maxKey {
		return "sha256:" + hashed(raw)
	}
	return raw
}

func hashed(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:8])
}

// word returns a CLI's word as it is stored.
func word(s string) string { return plaintext.Short(thread.Excerpt(strings.TrimSpace(s)), 100) }

// native is a sub-agent.
type native struct {
	row      work.Execution
	open     int       // requests in progress
	answered bool      // the model has answered it
	rests    time.Time // since when its last answer may have been its final one; the zero time if it was not
	failed   string    // how its newest request failed, "" if it did not
	said     string    // its last answer, once it may be its final one
	given    bool
	seen     bool // a request of it came through the gateway; else what its CLI tells is all that is known
}

// newNative returns a sub-agent that was first seen at a time, of a process that is recorded as an execution.
func newNative(of work.Execution, process thread.ExecutionID, raw string, at time.Time) *native {
	return &native{row: work.Execution{
		ID: work.ID(hashed("native", string(process), raw)), Kind: work.KindNative, Thread: of.Thread, Agent: of.Agent, Process: process,
		State: work.Running, Created: at, Started: at, Parent: of.ID, Key: keyOf(raw), Session: of.Session, Task: of.Task, Dir: of.Dir,
		By: of.By, Host: of.Host, User: of.User, Server: of.Server, Claimed: true,
	}}
}

// named takes what it is called, unless that is known.
func (n *native) named(kind, model string) {
	n.row.Type, n.row.Model = cmp.Or(n.row.Type, word(kind)), cmp.Or(word(model), n.row.Model)
}

// asked takes what it was asked, unless that is known. It returns it as it is stored.
func (n *native) asked(prompt string) string {
	if n.given || strings.TrimSpace(prompt) == "" {
		return ""
	}
	n.given = true
	prompt = whole(prompt)
	n.row.Scope = thread.Excerpt(prompt)
	return prompt
}

// began takes the beginning of a request.
func (n *native) began(model string) {
	n.open++
	n.seen, n.row.Claimed, n.rests, n.failed = true, false, time.Time{}, ""
	n.named("", model)
}

// ended takes the end of a request.
func (n *native) ended(e thread.Exchange, calls bool) {
	if e.Sub.Told {
		if e.Sub.First { // the whole file again
			n.row.Usage = thread.Usage{}
		}
	} else {
		n.open = max(0, n.open-1)
		n.seen, n.row.Claimed = true, false
	}
	n.named("", e.Model)
	n.row.Usage = n.row.Usage.Add(e.Usage)
	if e.Answer == nil && !e.Sub.Told || e.Interrupted || e.Status >= 300 {
		if e.Fault != thread.FaultAgent { // else the agent has left, which its end says
			n.failed = cmp.Or(e.Err, fmt.Sprintf("status %d", e.Status))
		}
		return
	}
	n.answered, n.failed = true, ""
	if calls {
		return
	}
	n.rests = e.Ended
	if !e.Sub.Told || !n.row.State.Final() || n.row.Answer == "" { // else its hook has told it
		n.says(e.Text)
	}
}

// says takes what may be its final message.
func (n *native) says(text string) {
	if text = whole(text); text != "" {
		n.said, n.row.Answer = text, thread.Excerpt(text)
	}
}

// final returns the whole text of its final message, which is not kept longer than until it is stored.
func (n *native) final() string {
	said := n.said
	n.said = ""
	return said
}

// end ends it, unless it has ended.
func (n *native) end(state work.State, why string, at time.Time) {
	if n.row.State.Final() {
		return
	}
	n.row.State, n.row.Reason, n.row.Ended = state, thread.Excerpt(why), at
	if n.row.Ended.Before(n.row.Started) {
		n.row.Ended = n.row.Started // a clock was set back
	}
}

// over ends it with its process: as what it has said last, or as why says.
func (n *native) over(state work.State, why string, at time.Time) {
	switch {
	case !n.rests.IsZero() && n.open == 0:
		n.end(work.Completed, "", n.rests)
	case n.failed != "" && n.open == 0:
		n.end(work.Failed, "its last request to the model failed: "+n.failed, at)
	default:
		n.end(state, why, at)
	}
}
