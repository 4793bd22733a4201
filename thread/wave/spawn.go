package wave

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/plaintext"
	"orchestrator/thread/plan"
	"orchestrator/thread/work"
)

// MostSpawned is how many runs an agent of a plan may start at most in a round.
const MostSpawned = 50

// SpawnConfig is what Spawns works with.
type SpawnConfig struct {
	Store  plan.Store
	Record work.Record
	// Start starts a run without a terminal, of which name is the execution's: thread.ErrNameTaken if there is one of that name.
	Start  func(context.Context, thread.NewRequest) (work.Execution, error)
	Cancel func(ctx context.Context, id work.ID, why string) error
	// Thread returns a thread.
	Thread func(context.Context, thread.ID) (thread.Thread, error)
	// May refuses a run that would be more than the one is whose agent asks for it.
	May func(ctx context.Context, by thread.Thread, r thread.NewRequest) error
	Log *slog.Logger
}

// Spawns are the runs that agents of plans start by themselves. How many there are follows from the record: each has a name by
// the round that it comes of and its number in that, and a name is given once. So neither a crash nor asking twice gives an
// agent more than its plan does. They end with the run that started them, and they read nothing of what is handed over.
type Spawns struct {
	cfg SpawnConfig

	mu      sync.Mutex // guards below
	turns   map[thread.Part]*sync.Mutex
	waiting map[work.ID][]chan struct{}
	ended   []work.Execution
	more    chan struct{}
}

// NewSpawns returns the use cases.
func NewSpawns(c SpawnConfig) *Spawns {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return &Spawns{cfg: c, turns: map[thread.Part]*sync.Mutex{}, waiting: map[work.ID][]chan struct{}{}, more: make(chan struct{}, 1)}
}

// SpawnRequest asks for a run.
type SpawnRequest struct {
	Prompt string
	Agent  string      // that of who asks, if empty
	Tier   thread.Tier // likewise
	Writes bool        // it changes files, in a worktree of its own
}

// SpawnName is the name of the n-th run, from 1, that comes of a round.
func SpawnName(of thread.Part, n int) string {
	const longest = 64 // of the names of executions
	name := func(agent string) string { return fmt.Sprintf("%s.%s.%d.%d", of.Task, agent, of.Round, n) }
	if whole := name(of.Agent); len(whole) <= longest {
		return whole
	}
	sum := sha256.Sum256([]byte(of.Agent))
	return name(plaintext.Cut(of.Agent, 20) + "-" + hex.EncodeToString(sum[:4]))
}

// Start starts a run for the agent of a thread.
func (s *Spawns) Start(ctx context.Context, by thread.ID, r SpawnRequest) (work.Execution, error) {
	t, err := s.cfg.Thread(ctx, by)
	if err != nil {
		return work.Execution{}, err
	}
	of := t.Once.Spawn.Of
	if t.Once.Spawn.Depth <= 0 || of.Task == "" {
		return work.Execution{}, thread.Kindf(thread.ErrRefused, "your plan lets you start no runs")
	}
	if strings.TrimSpace(r.Prompt) == "" {
		return work.Execution{}, thread.Kindf(thread.ErrInvalid, "a run needs a prompt")
	}
	defer s.turn(of)()
	if err := s.atWork(ctx, t, "a run that it asked for"); err != nil {
		return work.Execution{}, err
	}
	next := s.request(t, r)
	if err := s.cfg.May(ctx, t, next); err != nil {
		return work.Execution{}, err
	}
	most := min(t.Once.Spawn.Runs, MostSpawned)
	for n := 1; n <= most; n++ {
		next.Execution = SpawnName(of, n)
		switch _, err := s.cfg.Record.Execution(ctx, next.Execution); {
		case err == nil:
			continue
		case !errors.Is(err, thread.ErrNotFound):
			return work.Execution{}, err
		}
		x, err := s.cfg.Start(ctx, next)
		if errors.Is(err, thread.ErrNameTaken) {
			continue
		}
		return x, err
	}
	return work.Execution{}, thread.Kindf(thread.ErrLimit, "all %s that your plan lets %s start %s started", plaintext.Count(most, "run"), of.Agent, isOrAre(most))
}

func isOrAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// turn has those who start runs of a round take turns.
func (s *Spawns) turn(of thread.Part) (end func()) {
	s.mu.Lock()
	m := s.turns[of]
	if m == nil {
		m = &sync.Mutex{}
		s.turns[of] = m
	}
	s.mu.Unlock()
	m.Lock()
	return m.Unlock
}

// atWork refuses what an agent asks for whose run or round is over: what asks then is left of a process that is being ended.
func (s *Spawns) atWork(ctx context.Context, t thread.Thread, what string) error {
	of := t.Once.Spawn.Of
	n, err := s.cfg.Store.Node(ctx, of.Task, of.Agent)
	if err != nil {
		return err
	}
	list, err := s.cfg.Record.Executions(ctx, work.Query{Thread: t.ID, Limit: 1})
	if err != nil {
		return err
	}
	if n.Round == of.Round && n.AtWork() && len(list) > 0 && !list[0].State.Final() {
		return nil
	}
	return Fenced(ctx, s.cfg.Store, of, what)
}

// Fenced refuses what an agent asks for whose round is over, and keeps that it came.
func Fenced(ctx context.Context, store plan.Store, of thread.Part, what string) error {
	text := fmt.Sprintf("%s of round %d came after that was over", what, of.Round)
	if err := store.Note(ctx, of.Task, plan.Event{Node: of.Agent, Kind: plan.EventFenced, Text: text}); err != nil {
		return err
	}
	return thread.Kindf(thread.ErrRefused, "round %d of %s is over: nothing that you ask for counts any more. End now", of.Round, of.Agent)
}

// request returns what the run is asked with: what stands in front of the prompt has no agent take that for a command of its
// own.
func (s *Spawns) request(t thread.Thread, r SpawnRequest) thread.NewRequest {
	spawn := t.Once.Spawn
	spawn.Depth--
	q := thread.NewRequest{
		Agent: cmp.Or(r.Agent, t.Agent), Dir: cmp.Or(t.Once.From, t.Dir), Started: true, By: t.ID,
		Prompt: "You work for another agent, which reads your final message and nothing else.\n\n" + r.Prompt,
		Label:  "for " + spawn.Of.Agent + ": " + plaintext.OneLine(plaintext.Line(r.Prompt), 80),
		Once: thread.Once{
			On: true, ReadOnly: !r.Writes, Asks: t.Once.Asks, Tier: cmp.Or(r.Tier, t.Once.Tier), Type: spawn.Of.Agent, Spawn: spawn,
		},
	}
	q.Given.Scope = q.Label
	if q.Agent == t.Agent && q.Once.Tier == "" {
		q.Model = t.Model
	}
	return q
}

// Of returns the runs that have come of a round so far, in the order of their numbers, with at most that many.
func (s *Spawns) Of(ctx context.Context, of thread.Part, most int) ([]work.Execution, error) {
	var list []work.Execution
	for n := 1; n <= min(most, MostSpawned); n++ {
		x, err := s.cfg.Record.Execution(ctx, SpawnName(of, n))
		if errors.Is(err, thread.ErrNotFound) {
			break
		}
		if err != nil {
			return list, err
		}
		list = append(list, x)
	}
	return list, nil
}

// Find returns a run that a thread's agent has started, by its name.
func (s *Spawns) Find(ctx context.Context, by thread.ID, name string) (work.Execution, error) {
	x, err := s.cfg.Record.Execution(ctx, name)
	if err == nil && (x.By != by || by == "") || errors.Is(err, thread.ErrNotFound) {
		return work.Execution{}, thread.Kindf(thread.ErrNotFound, "you have started no run %s", thread.Excerpt(name))
	}
	return x, err
}

// Wait returns a run once it has ended, or as it is when waiting has taken too long.
func (s *Spawns) Wait(ctx context.Context, id work.ID, limit time.Duration) (work.Execution, error) {
	over := make(chan struct{}, 1)
	s.mu.Lock()
	s.waiting[id] = append(s.waiting[id], over)
	s.mu.Unlock()
	defer s.leave(id, over)
	x, err := s.cfg.Record.Execution(ctx, string(id))
	if err != nil || x.State.Final() {
		return x, err
	}
	stop := time.NewTimer(limit)
	defer stop.Stop()
	select {
	case <-over:
	case <-stop.C:
	case <-ctx.Done():
		return x, ctx.Err()
	}
	return s.cfg.Record.Execution(ctx, string(id))
}

// leave has somebody wait no longer.
func (s *Spawns) leave(id work.ID, over chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.waiting[id]
	for i, c := range list {
		if c == over {
			list = append(list[:i:i], list[i+1:]...)
			break
		}
	}
	if s.waiting[id] = list; len(list) == 0 {
		delete(s.waiting, id)
	}
}

// Ended takes an execution that has ended. It does not block.
func (s *Spawns) Ended(x work.Execution) {
	s.mu.Lock()
	for _, over := range s.waiting[x.ID] {
		select {
		case over <- struct{}{}:
		default:
		}
	}
	if isOver(x) && (x.Part.Task != "" || x.By != "") {
		s.ended = append(s.ended, x)
	}
	s.mu.Unlock()
	select {
	case s.more <- struct{}{}:
	default:
	}
}

// Run has the runs end that agents have started whose own run has ended: at once, and at the start those of earlier servers.
func (s *Spawns) Run(ctx context.Context) error {
	if err := s.sweep(ctx); err != nil && ctx.Err() == nil {
		s.cfg.Log.Warn("look for runs whose agent has ended", "err", err)
	}
	for {
		s.mu.Lock()
		list := s.ended
		s.ended = nil
		s.mu.Unlock()
		for _, x := range list {
			if err := s.end(ctx, x); err != nil && ctx.Err() == nil {
				s.cfg.Log.Warn("end the runs that an agent has started", "execution", x.Name, "err", err)
			}
		}
		select {
		case <-s.more:
		case <-ctx.Done():
			return nil
		}
	}
}

// isOver reports whether an execution has ended for good: one that was lost may go on.
func isOver(x work.Execution) bool { return x.State.Final() && x.State != work.Lost }

// end cancels what the agent of an execution has started and left at work.
func (s *Spawns) end(ctx context.Context, x work.Execution) error {
	t, err := s.cfg.Thread(ctx, x.Thread)
	if err != nil || t.Once.Spawn.Depth <= 0 {
		if errors.Is(err, thread.ErrNotFound) {
			err = nil
		}
		return err
	}
	list, err := s.Of(ctx, t.Once.Spawn.Of, t.Once.Spawn.Runs)
	for _, y := range list {
		if y.By == x.Thread && !y.State.Final() {
			err = errors.Join(err, s.cfg.Cancel(ctx, y.ID, fmt.Sprintf("%s, which started it, is over", x.Name)))
		}
	}
	s.mu.Lock()
	if x.Part == t.Once.Spawn.Of {
		delete(s.turns, x.Part)
	}
	s.mu.Unlock()
	return err
}

// sweep cancels runs whose agent has ended while no server was there.
func (s *Spawns) sweep(ctx context.Context) error {
	q := work.Query{States: work.OpenStates(), Limit: 1000}
	for {
		list, err := s.cfg.Record.Executions(ctx, q)
		if err != nil || len(list) == 0 {
			return err
		}
		for _, y := range list {
			if y.Within == "" || y.By == "" {
				continue
			}
			t, err := s.cfg.Thread(ctx, y.Thread)
			if err != nil || t.Once.Spawn.Of.Task == "" || t.Once.Part.Task != "" {
				continue
			}
			if x, err := s.cfg.Record.Execution(ctx, string(y.Within)); err == nil && isOver(x) {
				if err := s.end(ctx, x); err != nil {
					return err
				}
			}
		}
		q.Before = list[len(list)-1].ID
	}
}
