package pty

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"

	"orchestrator/thread/ground/process"
)

// foreignGrace is how long an ended child is left alone that leads its own session and belongs to no known Process:
// another part of this program may have started it and be about to wait for it.
const foreignGrace = 10 * time.Second

// foreignPause is how long orphans that have ended may stay.
const foreignPause = 2 * time.Second

// reapDelay is how long whoever started a program has to collect its end before there is a look.
const reapDelay = 5 * time.Millisecond

// reapPause is how long after one look for ended processes the next one is.
const reapPause = 50 * time.Millisecond

// reap collects the processes that ended and reports them.
func (t *table) reap() {
	type end struct {
		p    *Process
		code int
	}
	var ends []end
	t.mu.Lock()
	for pid, p := range t.running {
		var ws unix.WaitStatus
		got, err := t.wait(pid, &ws)
		if err == nil && got != pid {
			continue // still running
		}
		delete(t.running, pid)
		code := -1 // it was waited for elsewhere
		if err == nil {
			code = exitCode(ws)
		}
		ends = append(ends, end{p, code})
	}
	t.mu.Unlock()
	for _, e := range ends {
		e.p.code = e.code
		close(e.p.ended)
	}
}

// reapForeign collects orphans that were reparented to us and have ended. It gets the session leaders that it left for
// later, with the time of each, and returns those that it leaves now.
func (t *table) reapForeign(left map[int]time.Time) (later map[int]time.Time) {
	now := time.Now()
	zombies := t.zombies()
	t.mu.Lock()
	defer t.mu.Unlock()
	later = make(map[int]time.Time)
	for _, z := range zombies {
		if _, ours := t.running[z.PID]; ours || z.Session == ownSession() {
			continue // a Process, or an ordinary child that its starter waits for
		}
		if z.PID == z.Session {
			since, known := left[z.PID]
			if !known {
				since = now
			}
			if now.Sub(since) < foreignGrace {
				later[z.PID] = since
				continue
			}
		}
		var ws unix.WaitStatus
		_, _ = t.wait(z.PID, &ws) // an error means that it was waited for elsewhere
	}
	return later
}

// reapStrays collects ended strays of a Process at once.
func (t *table) reapStrays(left []process.Info) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, q := range left {
		if _, ours := t.running[q.PID]; q.Ended && !ours {
			var ws unix.WaitStatus
			_, _ = t.wait(q.PID, &ws) // an error means that it is not our child
		}
	}
}

// wait polls one child's end without blocking.
func wait(pid int, ws *unix.WaitStatus) (int, error) {
	for {
		got, err := unix.Wait4(pid, ws, unix.WNOHANG, nil)
		if !errors.Is(err, unix.EINTR) {
			return got, err
		}
	}
}

// exitCode is the code that a shell would report: the exit code, or 128+signal.
func exitCode(ws unix.WaitStatus) int {
	if ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return ws.ExitStatus()
}
