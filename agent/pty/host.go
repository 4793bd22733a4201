package pty

import (
	"errors"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// foreignGrace is how long an ended child that leads a session of its own and that no Process knows
// is left alone: another part of this program may have started it and be about to wait for it.
const foreignGrace = 10 * time.Second

// Host starts processes and learns of their ends. One a program: it makes the program a subreaper
// and listens to SIGCHLD until Close.
type Host struct {
	signals chan os.Signal
	stop    chan struct{}
	stopped chan struct{}

	// scanMu lets one at a time look through all processes. It is held over reads of /proc and taken
	// before mu.
	scanMu sync.Mutex

	// mu guards running and foreign. A pid in running is not reaped by anyone but this Host while mu
	// is held, so it can be signalled without meeting another process. No lock is taken under it.
	mu      sync.Mutex
	running map[int]*Process
	foreign map[int]time.Time // ended session leaders that nobody here started, since when
}

// NewHost makes this process adopt orphans and keep its descriptors to itself, those that it was started
// with too, and begins to listen for ends.
func NewHost() *Host {
	h := &Host{
		signals: make(chan os.Signal, 1),
		stop:    make(chan struct{}), stopped: make(chan struct{}),
		running: make(map[int]*Process), foreign: make(map[int]time.Time),
	}
	keepDescriptors()
	adoptOrphans()
	signal.Notify(h.signals, syscall.SIGCHLD)
	go h.listen()
	return h
}

// Close stops listening. Processes must be stopped before: their ends are not learnt afterwards.
func (h *Host) Close() {
	signal.Stop(h.signals)
	close(h.stop)
	<-h.stopped
}

// listen is the owner of all waiting.
func (h *Host) listen() {
	defer close(h.stopped)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-h.stop:
			return
		case <-h.signals:
		case <-timer.C:
		}
		h.reap()
		if h.reapForeign() {
			timer.Reset(foreignGrace)
		}
	}
}

// reap collects the processes that ended and tells them.
func (h *Host) reap() {
	type end struct {
		p    *Process
		code int
	}
	var ends []end
	h.mu.Lock()
	for pid, p := range h.running {
		var ws unix.WaitStatus
		got, err := wait(pid, &ws)
		if err == nil && got != pid {
			continue // runs on
		}
		delete(h.running, pid)
		code := -1 // somebody else waited for it
		if err == nil {
			code = exitCode(ws)
		}
		ends = append(ends, end{p, code})
	}
	h.mu.Unlock()
	for _, e := range ends {
		e.p.leaderEnded(e.code)
	}
}

// reapForeign collects orphans that came to us and ended. It reports whether some are left for later.
func (h *Host) reapForeign() bool {
	now := time.Now()
	zombies := endedChildren()
	h.mu.Lock()
	defer h.mu.Unlock()
	later := make(map[int]time.Time)
	for _, z := range zombies {
		if _, ours := h.running[z.pid]; ours || z.sid == ownSession() {
			continue // a Process, or a plain child that its starter waits for
		}
		if z.pid == z.sid {
			since, known := h.foreign[z.pid]
			if !known {
				since = now
			}
			if now.Sub(since) < foreignGrace {
				later[z.pid] = since
				continue
			}
		}
		var ws unix.WaitStatus
		_, _ = wait(z.pid, &ws) // an error means that somebody was faster
	}
	h.foreign = later
	return len(later) > 0
}

// reapNow collects ended strays of a Process at once.
func (h *Host) reapNow(pids []int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, pid := range pids {
		if _, ours := h.running[pid]; ours {
			continue
		}
		var ws unix.WaitStatus
		_, _ = wait(pid, &ws) // not our child, or not ended: nothing to collect
	}
}

// wait asks for one child's end without waiting.
func wait(pid int, ws *unix.WaitStatus) (int, error) {
	for {
		got, err := unix.Wait4(pid, ws, unix.WNOHANG, nil)
		if !errors.Is(err, unix.EINTR) {
			return got, err
		}
	}
}

// exitCode is what a shell would show: the code, or 128+signal.
func exitCode(ws unix.WaitStatus) int {
	if ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return ws.ExitStatus()
}
