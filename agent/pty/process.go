package pty

import (
	"context"
	"fmt"
	"sync"

	"golang.org/x/sys/unix"

	"orchestrator/thread/ground/process"
)

// Process is a running program.
type Process struct {
	table   *table
	pid     int
	token   string        // in its environment and no other
	label   process.Label // passed on by the kernel
	spec    Spec
	channel channel

	code    int             // valid once ended is closed
	ended   chan struct{}   // closed when the program itself has ended
	drained chan struct{}   // closed when its output has ended
	done    chan struct{}   // closed when nothing is left
	hurry   context.Context // ends when what the program left behind has no more time
	hasten  context.CancelFunc

	// stopMu guards seen and serialises the killing of what is left. It is held while waiting and taken first.
	stopMu sync.Mutex
	seen   map[int]uint64 // processes known to belong to it: pid to start
}

// Token returns the secret in the environment of the program and of what it starts.
func (p *Process) Token() string { return p.token }

// PID returns the program's process id, which is its group's and session's too.
func (p *Process) PID() int { return p.pid }

// Done is closed when the program has ended and nothing of it is left.
func (p *Process) Done() <-chan struct{} { return p.done }

// Resize sets the terminal's size.
func (p *Process) Resize(cols, rows int) error {
	if err := p.channel.setSize(cols, rows); err != nil {
		return fmt.Errorf("resize terminal: %w", err)
	}
	return nil
}

// Unread reports whether the program has printed what Output has not handled yet, so that its screen is not the newest.
func (p *Process) Unread() bool { return p.channel.unread() }

// Write sends input. It does not block: what the program does not read now is kept, up to a limit, and sent in order as
// it reads.
func (p *Process) Write(b []byte) error {
	if err := p.channel.write(b); err != nil {
		return fmt.Errorf("write to program: %w", err)
	}
	return nil
}

// CloseInput ends the input of a piped program, after what was written.
func (p *Process) CloseInput() error {
	if err := p.channel.closeInput(); err != nil {
		return fmt.Errorf("close input of program: %w", err)
	}
	return nil
}

// Interrupt sends the program's group the signal of ctrl+c.
func (p *Process) Interrupt() { p.table.signalGroup(p, unix.SIGINT) }

// table contains the processes of a Host whose ends have not been collected yet.
type table struct {
	// scanMu serialises scans of all processes. It is held while /proc is read and taken before mu.
	scanMu sync.Mutex

	// mu guards running. While mu is held, only its Host can reap a pid in running, so the pid can be signalled without
	// hitting another process. No lock is taken under it.
	mu      sync.Mutex
	running map[int]*Process
	zombies func() []process.Info // the children that have ended and were not waited for
	wait    func(pid int, ws *unix.WaitStatus) (int, error)
}

// holds reports whether the end of a process has not been collected yet.
func (t *table) holds(p *Process) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.running[p.pid] == p
}

// byToken returns the running Process with a token, nil if there is none.
func (t *table) byToken(token string) *Process {
	return t.search(func(p *Process) bool { return token != "" && p.token == token })
}

// search finds a running Process; without a table there is none.
func (t *table) search(is func(*Process) bool) *Process {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range t.running {
		if is(p) {
			return p
		}
	}
	return nil
}

// signalGroup signals a program's group while the program is known to run.
func (t *table) signalGroup(p *Process, sig unix.Signal) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.running[p.pid] == p {
		_ = unix.Kill(-p.pid, sig) // it may already be gone
	}
}
