package pty

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"orchestrator/thread"
	"orchestrator/thread/ground/process"
)

// Host starts processes and collects their ends. There is one per program: it makes the program a subreaper and listens
// to SIGCHLD until Close.
type Host struct {
	table   *table
	signals chan os.Signal
	stop    chan struct{}
	stopped chan struct{}
}

// NewHost makes this process adopt orphans and keeps its descriptors from programs that it starts, including those that
// it was started with, and begins to listen for ends.
func NewHost() *Host { return newHost(endedChildren, wait) }

func newHost(zombies func() []process.Info, wait func(pid int, ws *unix.WaitStatus) (int, error)) *Host {
	h := &Host{
		table:   &table{running: make(map[int]*Process), zombies: zombies, wait: wait},
		signals: make(chan os.Signal, 1),
		stop:    make(chan struct{}), stopped: make(chan struct{}),
	}
	keepDescriptors()
	adoptOrphans()
	signal.Notify(h.signals, syscall.SIGCHLD)
	go h.listen()
	return h
}

// Close stops listening. Processes must be stopped before: their ends are not collected afterwards.
func (h *Host) Close() {
	signal.Stop(h.signals)
	close(h.stop)
	<-h.stopped
}

// listen waits for all ends. Every program that ends sends a signal, git's too, and a look may ask for each process, one for
// orphans for each child: so after a look there is a pause, at the end of which there is one for all signals since, and
// none is asked for if no child waits to be collected: most have been by who started them. The look for orphans asks for
// each process all the same.
func (h *Host) listen() {
	defer close(h.stopped)
	timer := time.NewTimer(0)
	defer timer.Stop()
	fires := time.Now() // the timer; zero if it does not
	var looked time.Time
	orphans := fires              // when to look for them, zero if there is no reason
	var foreign map[int]time.Time // ended session leaders that nothing here started, and since when
	at := func(when time.Time) {
		if fires.IsZero() || when.Before(fires) {
			fires = when
			timer.Reset(time.Until(when))
		}
	}
	for {
		select {
		case <-h.stop:
			return
		case <-h.signals:
			now := time.Now()
			if soon := now.Add(foreignPause); orphans.IsZero() || soon.Before(orphans) {
				orphans = soon
			}
			if soon, pause := now.Add(reapDelay), looked.Add(reapPause); soon.Before(pause) {
				at(pause)
			} else {
				at(soon)
			}
			continue
		case <-timer.C:
			fires = time.Time{}
		}
		looked = time.Now()
		due, some := !orphans.IsZero() && !looked.Before(orphans), anyEnded()
		if due || some {
			h.table.reap()
		}
		if due {
			orphans = time.Time{}
			if !some {
				foreign = nil
			} else if foreign = h.table.reapForeign(foreign); len(foreign) > 0 {
				orphans = looked.Add(foreignGrace)
			}
		}
		if !orphans.IsZero() {
			at(orphans)
		}
	}
}

// Start runs a program.
func (h *Host) Start(spec Spec) (*Process, error) {
	ours, theirs, attr, err := open(spec)
	if err != nil {
		return nil, fmt.Errorf("open terminal or pipes: %w", err)
	}
	defer closeAll(theirs)
	token := thread.NewID[string]() + thread.NewID[string]() // 128 bits
	p := &Process{
		table: h.table, token: token, label: process.NewLabel(cmp.Or(spec.Owner, token)), spec: spec, channel: ours,
		seen:  make(map[int]uint64),
		ended: make(chan struct{}), drained: make(chan struct{}), done: make(chan struct{}),
	}
	p.hurry, p.hasten = context.WithCancel(context.Background())
	attr.Env = append(Unmarked(spec.Env), tokenName+"="+p.token)
	h.table.mu.Lock() // so that its end is not collected before it is known
	proc, err := process.StartLabelled(spec.Path, append([]string{spec.Path}, spec.Args...), attr, p.label)
	if err != nil {
		h.table.mu.Unlock()
		p.hasten()
		ours.drop() // nothing was started on it
		return nil, fmt.Errorf("start %s: %w", spec.Path, err)
	}
	p.pid = proc.Pid
	_ = proc.Release() // the Host waits for it; the handle would keep a descriptor
	h.table.running[p.pid] = p
	h.table.mu.Unlock()
	go func() {
		defer close(p.drained)
		ours.read(spec)
	}()
	go p.finish()
	return p, nil
}

// open returns our end, and how to give the program its own, which the caller closes.
func open(spec Spec) (ours channel, theirs []*os.File, attr *os.ProcAttr, err error) {
	attr = &os.ProcAttr{Dir: spec.Dir, Sys: &syscall.SysProcAttr{Setsid: true}}
	if spec.Piped {
		p, theirs, err := openPipes()
		if err != nil {
			return nil, nil, nil, err
		}
		attr.Files = theirs
		return p, theirs, attr, nil
	}
	t, slave, err := openTerminal(spec.Cols, spec.Rows)
	if err != nil {
		return nil, nil, nil, err
	}
	attr.Files = []*os.File{slave, slave, slave}
	attr.Sys.Setctty = true
	return t, []*os.File{slave}, attr, nil
}

// ByToken returns the running Process with a token, nil if there is none.
func (h *Host) ByToken(token string) *Process { return h.table.byToken(token) }

// Counts returns how many processes belong to each running Process, by their labels.
func (h *Host) Counts() map[*Process]int {
	h.table.mu.Lock()
	byLabel := make(map[process.Label]*Process, len(h.table.running))
	for _, p := range h.table.running {
		byLabel[p.label] = p
	}
	h.table.mu.Unlock()
	counts := make(map[*Process]int, len(byLabel))
	for label, pids := range process.Labelled() {
		if p := byLabel[label]; p != nil {
			counts[p] = len(pids)
		}
	}
	return counts
}
