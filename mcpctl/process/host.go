package process

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	ground "orchestrator/thread/ground/process"
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
	counts  bool // processes are counted
	closed  bool
	ends    sync.WaitGroup

	limit   int // of the processes of a program; 0 means none
	every   time.Duration
	closing chan struct{}
}

// New ends what an earlier, killed Host of a state folder left behind, and returns a new one. A program that has more
// processes than the limit, including all that it starts, is ended; 0 means no limit. They are counted on Linux only.
func New(dir string, limit int) (*Host, error) {
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
		folder: f, lock: held, running: make(map[*Process]bool), limit: limit, every: countEvery, closing: make(chan struct{}),
		waits: waits{afterEOF: 2 * time.Second, afterTerm: time.Second},
	}
	if h.record, err = readRecord(f); err == nil {
		if !h.record.Unused { // else there is nothing to look for among all processes of the system
			h.record.sweep()
		}
		h.record.Boot, h.record.Leaders, h.record.Unused = ground.Boot(), nil, true
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
	if r.Boot == ground.Boot() {
		for _, l := range r.Leaders {
			if p, ok := ground.Look(l.PID); ok && p.Start == l.Start {
				groups[l.PID] = true
			}
		}
	}
	prefix := markName + "=" + r.Mark + "."
	return end(groups, func(l ground.Label) bool { return l.Owner(r.Mark) },
		func(entry string) bool { return strings.HasPrefix(entry, prefix) })
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
	if h.unnoted || h.record.Unused { // the mark must be known, and said to be used, before anything has it
		h.record.Unused = false
		if err := h.record.write(h.folder); err != nil {
			h.record.Unused = true
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
	label := ground.NewLabel(h.record.Mark)
	program, err := h.starter.start(path, append([]string{s.Command}, s.Args...), &os.ProcAttr{
		Dir: s.Dir, Env: marked(s.Env, mark), Files: theirs, Sys: attributes(),
	}, label)
	if err != nil {
		closeAll(ours)
		return nil, fmt.Errorf("start the server: %w", err)
	}
	h.guard.tell("+", program.Pid, label)
	p := adopt(program, mark, label, h.waits, ours[0], ours[1], ours[2], s.Log)
	h.running[p] = true
	h.ends.Go(func() {
		<-p.exited
		h.mu.Lock()
		h.guard.tell("-", p.pid, 0)
		h.mu.Unlock()
		<-p.done
		h.mu.Lock()
		h.guard.tell("x", 0, label)
		delete(h.running, p)
		h.mu.Unlock()
	})
	if h.limit > 0 && !h.counts {
		h.counts = true
		h.ends.Go(h.count)
	}
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
		if seen, ok := ground.Look(p.pid); ok {
			h.record.Leaders = append(h.record.Leaders, start{PID: p.pid, Start: seen.Start})
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

// Memory returns the resident bytes of each running program with what it has started, by its pid.
func (h *Host) Memory() map[int]int64 {
	h.mu.Lock()
	running := slices.Collect(maps.Keys(h.running))
	h.mu.Unlock()
	page := int64(os.Getpagesize())
	all := make(map[int]int64)
	labelled := ground.Labelled()
	for _, p := range running {
		pids := labelled[p.label]
		if !slices.Contains(pids, p.pid) { // it has no label here
			pids = []int{p.pid}
		}
		for _, pid := range pids {
			if seen, ok := ground.Look(pid); ok {
				all[p.pid] += int64(seen.Pages) * page
			}
		}
	}
	return all
}

// countEvery is how often the processes of programs are counted while one runs.
const countEvery = 2 * time.Second

// count ends programs that have more processes than they may, until none runs.
func (h *Host) count() {
	tick := time.NewTicker(h.every)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-h.closing:
			return
		}
		labelled := ground.Labelled()
		h.mu.Lock()
		if len(h.running) == 0 {
			h.counts = false
			h.mu.Unlock()
			return
		}
		for p := range h.running {
			if n := len(labelled[p.label]); n > h.limit {
				p.endFor(fmt.Sprintf("ended with its %d processes: limits.processes allows %d", n, h.limit))
			}
		}
		h.mu.Unlock()
	}
}

// Close stops every program, and returns when nothing is left.
func (h *Host) Close() error {
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return nil
	}
	h.closed = true
	close(h.closing)
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
