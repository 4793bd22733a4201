package pty

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"orchestrator/thread/ground/process"
)

// errMoving means that a process could not be examined because it, or one of its ancestors, ended in the meantime.
var errMoving = errors.New("it ended, or its parents change")

// traces is how often a process whose parents change is examined.
const traces = 20

// Origin returns where a process comes from: the running Process it belongs to, nil if there is none, and whether it
// was started below any Process at all: one of this Host, one that has ended, or one of another Host. It uses the
// label, the ancestors with their groups and sessions, and the environments. An error means that nothing is known,
// because the process is gone.
func (h *Host) Origin(pid int) (p *Process, below bool, err error) { return h.table.origin(pid) }

// Below reports whether a process was started below a Process of any Host.
func Below(pid int) (bool, error) {
	_, below, err := (*table)(nil).origin(pid)
	return below, err
}

// origin is Origin; without a table, no Process is known.
func (t *table) origin(pid int) (p *Process, below bool, err error) {
	if t != nil && pid == os.Getpid() {
		return nil, false, nil
	}
	for range traces {
		p, below, err = t.trace(pid)
		if err == nil || !errors.Is(err, errMoving) {
			break
		}
	}
	if err != nil {
		return nil, true, fmt.Errorf("look where process %d comes from: %w", pid, err)
	}
	return p, below, nil
}

// trace follows a process's ancestors once.
func (t *table) trace(pid int) (found *Process, below bool, err error) {
	q, ok := process.Look(pid)
	if !ok || q.Ended {
		return nil, true, errMoving
	}
	for {
		if t != nil && q.PID == os.Getpid() {
			return nil, true, nil // an orphan that was reparented to us
		}
		p, marked, host := t.claims(q)
		if p != nil {
			return p, true, nil
		}
		below = below || marked || host && q.PID != pid // a Host is not below itself
		if q.Parent <= 1 {
			return nil, below, nil
		}
		parent, ok := process.Look(q.Parent)
		if !ok || parent.Start > q.Start { // it ended, and its number may have been reused
			return nil, true, errMoving
		}
		q = parent
	}
}

// claims returns to which Process one process belongs, whether it is marked by any, and as a Host or what one started.
func (t *table) claims(q process.Info) (p *Process, marked, host bool) {
	label := process.LabelOf(q.PID)
	tokens, host := marks(q.PID)
	p = t.search(func(p *Process) bool {
		return label != 0 && p.label == label || p.pid == q.PID || p.pid == q.Session || p.pid == q.Group
	})
	for _, token := range tokens {
		if p == nil {
			p = t.byToken(token)
		}
	}
	return p, label != 0 || len(tokens) > 0, host
}

// marks returns the tokens in the environment of a process, and whether it is a Host's.
func marks(pid int) (tokens []string, host bool) {
	process.Environ(pid, func(kv string) bool {
		if v, ok := strings.CutPrefix(kv, tokenName+"="); ok {
			tokens = append(tokens, v)
		}
		host = host || strings.HasPrefix(kv, hostName+"=")
		return true
	})
	return tokens, host
}
