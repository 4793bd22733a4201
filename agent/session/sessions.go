package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"orchestrator/agent/pty"
	"orchestrator/agent/vterm"
	"orchestrator/thread"
)

// maxEnded is how many ended sessions are kept for viewing.
const maxEnded = 16

// Sessions starts agents in terminals and finds them by thread. It implements thread.Sessions.
type Sessions struct {
	config Config
	host   *pty.Host
	// turns lets unwatched output through one piece at a time, so that watched output finds a processor.
	turns chan struct{}
	pace  pace

	closing chan struct{} // closed when Close begins

	// mu guards live, ended, closed and counts. It is taken before a Session's lock, never under one.
	mu     sync.Mutex
	live   map[thread.ID]*Session // newest of each thread, ended ones too
	ended  []*Session             // those of live that ended, oldest first
	closed bool
	counts bool // a goroutine runs count
}

// New returns an empty set of sessions. Close stops them.
func New(c Config) *Sessions {
	return &Sessions{
		config: c, host: pty.NewHost(), turns: make(chan struct{}, 1), pace: pace{takeLimit, settled, pressAgain, plainLimit},
		live: make(map[thread.ID]*Session), closing: make(chan struct{}),
	}
}

var _ thread.Sessions = (*Sessions)(nil)

// Start runs an agent, in a terminal of its own unless it has a Dialogue.
func (s *Sessions) Start(ctx context.Context, spec thread.SessionSpec) (thread.Session, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("start session: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, fmt.Errorf("start session: %w", thread.ErrNotRunning)
	}
	if spec.Cols < 1 || spec.Rows < 1 {
		spec.Cols, spec.Rows = 80, 24
	}
	spec.Cols, spec.Rows = vterm.Bound(spec.Cols, spec.Rows)
	if old := s.live[spec.Thread]; old != nil && !old.over() {
		return nil, fmt.Errorf("start session: %w", thread.ErrRunning)
	}
	one := newSession(s.config, spec, s.pace, s.turns)
	program := pty.Spec{
		Path: spec.Launch.Path, Args: spec.Launch.Args, Dir: spec.Launch.Dir,
		Env:   environment(spec.Launch.Env, s.config.Project, spec.Thread, s.config.Foreign, spec.Dialogue == nil),
		Owner: threadVar + "=" + string(spec.Thread),
		Cols:  spec.Cols, Rows: spec.Rows, Output: one.output, Turn: one.turn, Exited: one.exited,
	}
	if spec.Dialogue != nil {
		program.Piped, program.Output, program.Errors = true, one.wrote, one.erred
	}
	p, err := s.host.Start(program)
	if err != nil {
		return nil, fmt.Errorf("start session: %w", err)
	}
	one.started(p)
	go s.finish(one)
	s.forget(spec.Thread)
	s.live[spec.Thread] = one
	if s.config.Processes > 0 && !s.counts {
		s.counts = true
		go s.count(cmp.Or(s.config.CountEvery, countEvery))
	}
	return one, nil
}

// Get returns a thread's session, the running one or the last one that ended; nil if there is none.
func (s *Sessions) Get(id thread.ID) *Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.live[id]
}

// Attach adds a viewer to a thread's terminal, one that only watches if watch is set.
func (s *Sessions) Attach(id thread.ID, cols, rows int, watch bool) (*Viewer, error) {
	one := s.Get(id)
	if one == nil {
		return nil, fmt.Errorf("attach: %w", thread.ErrNotRunning)
	}
	return one.Attach(cols, rows, watch), nil
}

// Caller returns on whose behalf a process acts: agent is set if it was started below an agent or has an agent's token,
// and id is that agent's thread if it runs here. What the kernel knows about the process takes precedence over the
// token. A pid of 0 is a process of which only the token is known.
func (s *Sessions) Caller(pid int, token string) (id thread.ID, agent bool, err error) {
	var p *pty.Process
	if pid > 0 {
		if p, agent, err = s.host.Origin(pid); err != nil {
			return "", true, fmt.Errorf("find out who calls: %w", err)
		}
	}
	if p == nil && token != "" {
		p, agent = s.host.ByToken(token), true
	}
	if p == nil {
		return "", agent, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, one := range s.live {
		if one.proc == p {
			return id, true, nil
		}
	}
	return "", true, nil // it is just being started or replaced
}

// Close stops every agent, with the grace for all of them together.
func (s *Sessions) Close(ctx context.Context, grace time.Duration) error {
	s.mu.Lock()
	if !s.closed {
		close(s.closing)
	}
	s.closed = true
	all := make([]*Session, 0, len(s.live))
	for _, one := range s.live {
		all = append(all, one)
	}
	s.mu.Unlock()
	errs := make([]error, len(all))
	var wg sync.WaitGroup
	for i, one := range all {
		wg.Go(func() { errs[i] = one.Stop(ctx, grace) })
	}
	wg.Wait()
	s.host.Close()
	return errors.Join(errs...)
}

// finish waits for the end of a session.
func (s *Sessions) finish(one *Session) {
	<-one.proc.Done()
	<-one.toldAll
	s.retire(one)
	close(one.done)
}

// retire keeps an ended session for those who want to see how it ended, and removes the oldest.
func (s *Sessions) retire(one *Session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.live[one.thread] != one {
		return // already replaced
	}
	s.ended = append(s.ended, one)
	if len(s.ended) > maxEnded {
		s.forget(s.ended[0].thread)
	}
}

// forget removes a thread's ended session. Sessions.mu is held.
func (s *Sessions) forget(id thread.ID) {
	delete(s.live, id)
	for i, one := range s.ended {
		if one.thread == id {
			s.ended = append(s.ended[:i:i], s.ended[i+1:]...)
			return
		}
	}
}

// sweepGrace is how long left-over agents have before they are killed: their terminals are long gone.
const sweepGrace = 300 * time.Millisecond

// Sweep ends what a killed server left running of threads, and returns how many processes there were. An agent that
// outlives its terminal would keep changing files, and keep its session.
func (s *Sessions) Sweep(ctx context.Context, threads []thread.ID) int {
	entries := make([]string, 0, len(threads))
	for _, id := range threads {
		entries = append(entries, threadVar+"="+string(id))
	}
	return pty.Sweep(ctx, entries, sweepGrace)
}

// countEvery is how often processes are counted. Counting takes about half a millisecond for a thousand.
const countEvery = 2 * time.Second

// count ends the agents that have too many processes, until none runs.
func (s *Sessions) count(every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for s.counted() {
		select {
		case <-tick.C:
		case <-s.closing:
			return
		}
		for p, n := range s.host.Counts() {
			if n > s.config.Processes {
				s.endFor(p, fmt.Sprintf("ended with its %d processes: limits.processes allows %d; "+
					"raise it in the configuration and resume", n, s.config.Processes))
			}
		}
	}
}

// counted reports whether there is something to count; if not, it records that counting ends.
func (s *Sessions) counted() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.live {
		if !one.over() {
			return true
		}
	}
	s.counts = false
	return false
}

// endFor ends the agent that a process belongs to, for a reason.
func (s *Sessions) endFor(p *pty.Process, reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.live {
		if one.proc == p {
			one.end(reason)
		}
	}
}
