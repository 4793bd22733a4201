package pty

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"orchestrator/thread/ground/process"
)

const (
	// drainTime is how long to wait for the output of an ended program while something that it left behind keeps its
	// terminal open.
	drainTime = 300 * time.Millisecond
	// strayGrace is the time between SIGTERM and SIGKILL for processes that outlive an exit.
	strayGrace = time.Second
	// killWait is how long to wait for ends after SIGKILL: a process in the kernel's D state ends later.
	killWait = 5 * time.Second
)

// Stop asks the program's group to end, kills it after the grace or when ctx ends, and returns when nothing is left.
func (p *Process) Stop(ctx context.Context, grace time.Duration) error {
	p.look() // while ancestry still shows what belongs to it
	timer := time.NewTimer(grace)
	defer timer.Stop()
	p.table.signalGroup(p, unix.SIGTERM)
	p.table.signalGroup(p, unix.SIGCONT) // a stopped group does not handle SIGTERM
	select {
	case <-p.ended:
	case <-timer.C:
		p.clear(0)
	case <-ctx.Done():
		p.clear(0)
	}
	end := time.NewTimer(killWait + strayGrace + drainTime)
	defer end.Stop()
	select {
	case <-p.done:
		return nil
	case <-end.C:
		return fmt.Errorf("stop process %d: it does not end on SIGKILL", p.pid)
	}
}

// finish waits for the program's end, and ends its output and what it left behind.
func (p *Process) finish() {
	<-p.ended
	timer := time.NewTimer(drainTime)
	select {
	case <-p.drained:
	case <-timer.C: // something it started keeps the terminal open
		p.terminal.stopReading()
	}
	timer.Stop()
	p.terminal.hangUp() // for the processes that are left
	<-p.drained
	if p.spec.Exited != nil {
		p.spec.Exited(p.code)
	}
	p.clear(strayGrace)
	close(p.done)
}

// look records what belongs to the process.
func (p *Process) look() {
	p.stopMu.Lock()
	defer p.stopMu.Unlock()
	p.remains(p.seen)
}

// clear ends everything that belongs to the process: SIGTERM, the grace, SIGKILL until nothing is found.
func (p *Process) clear(grace time.Duration) {
	p.stopMu.Lock()
	defer p.stopMu.Unlock()
	process.End(context.Background(), grace, func() []process.Info {
		if grace == 0 {
			p.table.signalGroup(p, unix.SIGKILL)
		}
		left := p.remains(p.seen)
		p.table.reapStrays(left)
		return left
	})
}
