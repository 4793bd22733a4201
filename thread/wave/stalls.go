package wave

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/plan"
	"orchestrator/thread/work"
)

// StallConfig is what Stalls works with.
type StallConfig struct {
	Store plan.Store
	// Busy reports whether an execution waits for its model. Files returns what tells the state of a thread's files apart from
	// others; false if that is not known.
	Busy  func(work.ID) bool
	Files func(context.Context, thread.ID) (string, bool)
	// Stuck takes why the agent of a round is taken to be stuck, once, and "" when it is not any more.
	Stuck func(of thread.Part, why string)
	Now   func() time.Time
	Log   *slog.Logger
}

// Stalls watches the agents of plans while they work. What is watched is in memory only: after a restart it begins again, and a
// server that was away has heard nothing, which is nobody's silence.
type Stalls struct {
	cfg StallConfig

	mu  sync.Mutex // guards below
	all map[work.ID]*watched
}

// watched is an execution of a plan's agent that has a process.
type watched struct {
	id     work.ID
	part   thread.Part
	thread thread.ID
	state  work.State
	watch  *plan.Watch // nil until its plan was read
	early  []thread.RunEvent
	told   bool
}

const (
	// lookEvery is how often the agents are looked at.
	lookEvery = 5 * time.Second
	// mostEarly is how much of what an agent reports is kept until its plan was read.
	mostEarly = 1000
)

// NewStalls returns the use case.
func NewStalls(c StallConfig) *Stalls {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return &Stalls{cfg: c, all: map[work.ID]*watched{}}
}

// Stands takes that an execution has another state. It does not block.
func (s *Stalls) Stands(x work.Execution) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.all[x.ID]
	switch {
	case x.Part.Task == "":
	case !x.State.Holds():
		delete(s.all, x.ID)
	case w == nil:
		s.all[x.ID] = &watched{id: x.ID, part: x.Part, thread: x.Thread, state: x.State}
	default:
		w.state = x.State
	}
}

// Heard takes what an execution reports. It does not block.
func (s *Stalls) Heard(id work.ID, e thread.RunEvent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.all[id]
	switch {
	case w == nil:
	case w.watch != nil:
		w.watch.Report(e)
	case len(w.early) < mostEarly:
		w.early = append(w.early, e)
	}
}

// Run watches until ctx ends.
func (s *Stalls) Run(ctx context.Context) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			s.look(ctx)
		}
	}
}

// look looks at all of them.
func (s *Stalls) look(ctx context.Context) {
	s.mu.Lock()
	list := make([]*watched, 0, len(s.all))
	for _, w := range s.all {
		list = append(list, w)
	}
	s.mu.Unlock()
	for _, w := range list {
		if err := s.begin(ctx, w); err != nil {
			if ctx.Err() == nil && !errors.Is(err, thread.ErrNotFound) {
				s.cfg.Log.Warn("watch an agent of a plan", "task", w.part.Task, "agent", w.part.Agent, "err", err)
			}
			continue
		}
		s.lookAt(ctx, w)
	}
}

// begin reads what the plan says of an agent, once.
func (s *Stalls) begin(ctx context.Context, w *watched) error {
	s.mu.Lock()
	known := w.watch != nil
	s.mu.Unlock()
	if known {
		return nil
	}
	t, err := s.cfg.Store.Task(ctx, w.part.Task)
	if err != nil {
		return err
	}
	var stall plan.Stall
	writes := false
	if t.Plan != nil {
		stall = t.Plan.Stall
		writes = slices.ContainsFunc(t.Plan.Agents, func(a plan.Agent) bool { return a.Name == w.part.Agent && len(a.Writes) > 0 })
	}
	watch := plan.NewWatch(stall, writes)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range w.early {
		watch.Report(e)
	}
	w.watch, w.early = watch, nil
	return nil
}

// lookAt looks at one, and tells if it is stuck, or is not any more.
func (s *Stalls) lookAt(ctx context.Context, w *watched) {
	s.mu.Lock()
	doubts := w.watch.Doubts()
	s.mu.Unlock()
	if files, known := "", false; doubts {
		if files, known = s.cfg.Files(ctx, w.thread); known {
			s.mu.Lock()
			w.watch.Files(files)
			s.mu.Unlock()
		}
	}
	busy := s.cfg.Busy(w.id)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all[w.id] != w {
		return // it has ended meanwhile
	}
	if w.state != work.Running { // it is being started, or waits for a person
		w.watch.Report(thread.RunEvent{Kind: thread.RunNotice})
	}
	why := w.watch.Look(s.cfg.Now(), busy)
	if (why != "") != w.told {
		w.told = why != ""
		s.cfg.Stuck(w.part, why)
	}
}
