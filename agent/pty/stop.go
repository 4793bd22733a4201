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

// Stop asks the program's group to end, kills it and what it left behind after the grace or when ctx ends, and returns
// when nothing is left.
func (p *Process) Stop(ctx context.Context, grace time.Duration) error {
	p.look() // while ancestry still shows what belongs to it
	timer := time.NewTimer(grace)
	defer timer.Stop()
	p.table.signalGroup(p, unix.SIGTERM)
	p.table.signalGroup(p, unix.SIGCONT) // a stopped group does not handle SIGTERM
	select {
	case <-p.done:
		return nil
	case <-timer.C:
	case <-ctx.Done():
	}
	p.hasten()
	p.clear(0)
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
	case <-timer.C: // something it started keeps the other end open
		p.channel.stopReading()
	case <-p.hurry.Done():
		p.channel.stopReading()
	}
	timer.Stop()
	p.channel.hangUp() // for the processes that are left
	<-p.drained
	if p.spec.Piped { // what it has done is looked at next, and nothing of it must go on
		p.clear(strayGrace)
		p.exited()
	} else {
		p.exited()
		p.clear(strayGrace)
	}
	p.hasten()
	close(p.done)
}

// exited reports the program's end.
func (p *Process) exited() {
	if p.spec.Exited != nil {
		p.spec.Exited(p.code)
	}
}

// look records what belongs to the process, unless that is being ended already.
func (p *Process) look() {
	if p.stopMu.TryLock() {
		defer p.stopMu.Unlock()
		p.remains(p.seen)
	}
}

// clear ends everything that belongs to the process: SIGTERM, the grace, at most until there is a hurry, and SIGKILL until
// nothing is found.
func (p *Process) clear(grace time.Duration) {
	p.stopMu.Lock()
	defer p.stopMu.Unlock()
	if grace > 0 {
		process.End(p.hurry, grace, p.left)
		if p.hurry.Err() == nil {
			return
		}
	}
	process.End(context.Background(), 0, func() []process.Info {
		p.table.signalGroup(p, unix.SIGKILL)
		return p.left()
	})
}

// left returns what is left of the process, and collects what has ended of it. stopMu is held.
func (p *Process) left() []process.Info {
	left := p.remains(p.seen)
	p.table.reapStrays(left)
	return left
}
