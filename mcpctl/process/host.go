package process

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"orchestrator/thread/private"
)

// ErrClosed is why nothing is started any more.
var ErrClosed = errors.New("servers are not started any more")

// Host starts programs and knows what it has started. There is one at a time for a state folder.
type Host struct {
	folder  *private.Folder
	lock    *os.File
	starter *starter
	waits   waits

	mu      sync.Mutex // guards the fields below; held while a program is started and recorded
	record  record
	guard   *guard
	unnoted bool // the record could not be written: nothing is started before it is
	running map[*Process]bool
	started int
	closed  bool
	ends    sync.WaitGroup
}

// New ends what an earlier, killed Host of a state folder left behind, and returns a new one.
func New(dir string) (*Host, error) {
	f, err := private.Make(dir)
	if err != nil {
		return nil, fmt.Errorf("open the folder of server processes: %w", err)
	}
	held, err := lock(f)
	if err != nil {
		f.Close()
		return nil, err
	}
	h := &Host{
		folder: f, lock: held, running: make(map[*Process]bool),
		waits: waits{afterEOF: 2 * time.Second, afterTerm: time.Second},
	}
	if h.record, err = readRecord(f); err == nil {
		h.record.sweep()
		h.record.Boot, h.record.Leaders = bootID(), nil
		h.unnoted = h.record.write(f) != nil // on a full disk, for example
	}
	if err != nil {
		held.Close()
		f.Close()
		return nil, err
	}
	h.starter = newStarter()
	return h, nil
}

// sweep kills what is left of earlier Hosts and returns how many processes that were.
func (r record) sweep() int {
	groups := make(map[int]bool)
	if r.Boot == bootID() {
		for _, l := range r.Leaders {
			if p, ok := readProc(l.PID); ok && p.start == l.Start {
				groups[l.PID] = true
			}
		}
	}
	prefix := markName + "=" + r.Mark + "."
	return killAll(func(p proc) bool {
		return groups[p.pgrp] || marks(p.pid, func(entry string) bool { return strings.HasPrefix(entry, prefix) })
	})
}

// Start starts a program.
func (h *Host) Start(s Spec) (*Process, error) {
	path, err := Find(s.Command, s.Dir, s.Env)
	if err != nil {
		return nil, fmt.Errorf("start the server: %w", err)
	}
	ours, theirs, err := pipes()
	if err != nil {
		return nil, fmt.Errorf("start the server: %w", err)
	}
	defer closeAll(theirs)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		closeAll(ours)
		return nil, ErrClosed
	}
	if h.unnoted { // the mark must be known before anything has it
		if err := h.record.write(h.folder); err != nil {
			closeAll(ours)
			return nil, fmt.Errorf("start the server: %w", err)
		}
		h.unnoted = false
	}
	if h.guard == nil {
		h.guard = newGuard(h.record.Mark)
	}
	h.started++
	mark := fmt.Sprintf("%s.%d-%d", h.record.Mark, os.Getpid(), h.started)
	program, err := h.starter.start(path, append([]string{s.Command}, s.Args...), &os.ProcAttr{
		Dir: s.Dir, Env: marked(s.Env, mark), Files: theirs, Sys: attributes(),
	})
	if err != nil {
		closeAll(ours)
		return nil, fmt.Errorf("start the server: %w", err)
	}
	h.guard.tell("+", program.Pid)
	p := adopt(program, mark, h.waits, ours[0], ours[1], ours[2], s.Log)
	h.running[p] = true
	h.ends.Go(func() {
		<-p.exited
		h.mu.Lock()
		h.guard.tell("-", p.pid)
		h.mu.Unlock()
		<-p.done
		h.mu.Lock()
		delete(h.running, p)
		h.mu.Unlock()
	})
	if err := h.note(); err != nil {
		p.signal(unix.SIGKILL)
		return nil, fmt.Errorf("start the server: %w", err)
	}
	return p, nil
}

// note records what runs. Callers hold mu.
func (h *Host) note() error {
	h.record.Leaders = nil
	for p := range h.running {
		if seen, ok := readProc(p.pid); ok {
			h.record.Leaders = append(h.record.Leaders, start{PID: p.pid, Start: seen.start})
		}
	}
	return h.record.write(h.folder)
}

// pipes makes the standard streams of a program: our ends, and its own.
func pipes() (ours, theirs []*os.File, err error) {
	for i := range 3 {
		r, w, err := os.Pipe()
		if err != nil {
			closeAll(ours)
			closeAll(theirs)
			return nil, nil, err
		}
		if i == 0 {
			r, w = w, r
		}
		ours, theirs = append(ours, r), append(theirs, w)
	}
	return ours, theirs, nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}

// Memory returns the resident bytes of each process group.
func (h *Host) Memory() map[int]int64 {
	groups := make(map[int]int64)
	page := int64(os.Getpagesize())
	for _, p := range allProcs() {
		groups[p.pgrp] += int64(p.pages) * page
	}
	return groups
}

// Close stops every program, and returns when nothing is left.
func (h *Host) Close() error {
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return nil
	}
	h.closed = true
	var stops sync.WaitGroup
	for p := range h.running {
		stops.Go(p.Stop)
	}
	h.mu.Unlock()
	stops.Wait()
	h.ends.Wait()
	h.starter.close()
	h.guard.close()
	err := h.lock.Close()
	return errors.Join(err, h.folder.Close())
}
