package wave_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	planmemory "orchestrator/checkpoint/plantest/memory"
	"orchestrator/checkpoint/worktest/memory"
	"orchestrator/thread"
	"orchestrator/thread/plan"
	"orchestrator/thread/wave"
	"orchestrator/thread/work"
)

// spawning is an agent of a plan at work that may start runs.
type spawning struct {
	*testing.T
	plans  plan.Store
	record *memory.Store
	part   thread.Part
	by     thread.ID

	mu        sync.Mutex
	threads   map[thread.ID]thread.Thread
	asked     []thread.NewRequest
	cancelled map[string]string
	refuses   error
	spawns    *wave.Spawns
}

func newSpawning(t *testing.T, may thread.Spawn) *spawning {
	t.Helper()
	s := &spawning{T: t, plans: planmemory.New(time.Now), record: memory.New(time.Now), by: "parent", threads: map[thread.ID]thread.Thread{}, cancelled: map[string]string{}}
	p := plan.Plan{Name: "p", Agents: []plan.Agent{{Name: "vision", Prompt: "look"}, {Name: "dev", Prompt: "work", Reads: []string{"vision"}}}}
	nodes, err := plan.Layout(p)
	if err != nil {
		t.Fatal(err)
	}
	task, err := s.plans.AddTask(t.Context(), plan.Task{Title: "t", Status: plan.InProgress, Plan: &p, PlanName: p.Name}, nodes)
	if err != nil {
		t.Fatal(err)
	}
	node, err := s.plans.Nodes(t.Context(), task.Name)
	if err != nil {
		t.Fatal(err)
	}
	s.part = thread.Part{Task: task.Name, Agent: node[0].Agent, Round: 1}
	s.node(func(n *plan.Node) { n.State, n.Round = plan.NodeWorking, 1 })
	may.Of = s.part
	s.threads[s.by] = thread.Thread{ID: s.by, Agent: "demo", Model: "m", Dir: "/p", Once: thread.Once{On: true, ReadOnly: true, Part: s.part, Spawn: may}}
	s.add(work.Execution{Thread: s.by, Part: s.part})
	s.server()
	return s
}

// server begins another run of the server.
func (s *spawning) server() {
	s.spawns = wave.NewSpawns(wave.SpawnConfig{
		Store: s.plans, Record: s.record, Start: s.start, Cancel: s.cancel,
		Thread: func(_ context.Context, id thread.ID) (thread.Thread, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			t, ok := s.threads[id]
			if !ok {
				return t, thread.ErrNotFound
			}
			return t, nil
		},
		May: func(context.Context, thread.Thread, thread.NewRequest) error { return s.refuses },
	})
}

func (s *spawning) node(change func(*plan.Node)) {
	s.Helper()
	n, err := s.plans.Node(s.Context(), s.part.Task, s.part.Agent)
	if err == nil {
		_, err = s.plans.ChangeNodes(s.Context(), s.part.Task, map[string]int64{s.part.Agent: n.Fence}, func(n *plan.Node) error { change(n); return nil })
	}
	if err != nil {
		s.Fatal(err)
	}
}

func (s *spawning) add(x work.Execution) work.Execution {
	s.Helper()
	x.ID, x.Agent, x.Prompt, x.State, x.Created = thread.NewID[work.ID](), "demo", thread.NewPromptID(), work.Queued, time.Now()
	x.Lost, x.Deadline = work.PolicyAsk, time.Hour
	x, err := s.record.Add(s.Context(), x)
	if err != nil {
		s.Fatal(err)
	}
	return x
}

func (s *spawning) newest(of thread.ID) work.Execution {
	s.Helper()
	list, err := s.record.Executions(s.Context(), work.Query{Thread: of, Limit: 1})
	if err != nil || len(list) == 0 {
		s.Fatal(list, err)
	}
	return list[0]
}

func (s *spawning) start(ctx context.Context, r thread.NewRequest) (work.Execution, error) {
	if _, err := s.record.Execution(ctx, r.Execution); err == nil {
		return work.Execution{}, thread.ErrNameTaken
	}
	s.mu.Lock()
	s.asked = append(s.asked, r)
	id := thread.ID(fmt.Sprintf("child%d", len(s.asked)))
	s.threads[id] = thread.Thread{ID: id, Agent: r.Agent, Once: r.Once}
	s.mu.Unlock()
	return s.add(work.Execution{Name: r.Execution, Thread: id, By: r.By, Within: s.newest(r.By).ID}), nil
}

func (s *spawning) cancel(ctx context.Context, id work.ID, why string) error {
	x, err := s.record.Supersede(ctx, id, func(x *work.Execution) error { x.State, x.Ended = work.Cancelled, time.Now(); return nil })
	s.mu.Lock()
	s.cancelled[x.Name] = why
	s.mu.Unlock()
	s.spawns.Ended(x)
	return err
}

func (s *spawning) ends(id work.ID, state work.State) {
	s.Helper()
	x, err := s.record.Supersede(s.Context(), id, func(x *work.Execution) error { x.State, x.Ended = state, time.Now(); return nil })
	if err != nil {
		s.Fatal(err)
	}
	s.spawns.Ended(x)
}

// TestSpawnNumber: an agent starts as many runs as its plan says, and no more, whoever asks at once and however often the
// server is another one.
func TestSpawnNumber(t *testing.T) {
	s := newSpawning(t, thread.Spawn{Runs: 5, Depth: 1})
	var wait sync.WaitGroup
	var mu sync.Mutex
	names, refused := map[string]bool{}, 0
	for i := range 20 {
		if i%5 == 0 {
			wait.Wait()
			s.server()
		}
		spawns := s.spawns
		wait.Go(func() {
			x, err := spawns.Start(t.Context(), s.by, wave.SpawnRequest{Prompt: "look"})
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				names[x.Name] = true
			case errors.Is(err, thread.ErrLimit):
				refused++
			default:
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if len(names) != 5 || refused != 15 || len(s.asked) != 5 {
		t.Errorf("%d runs, %d refused, %d asked for", len(names), refused, len(s.asked))
	}
	list, err := s.spawns.Of(t.Context(), s.part, 5)
	if err != nil || len(list) != 5 || list[4].Name != wave.SpawnName(s.part, 5) {
		t.Errorf("%d, %v", len(list), err)
	}
	if _, err := s.spawns.Find(t.Context(), "stranger", list[0].Name); !errors.Is(err, thread.ErrNotFound) {
		t.Errorf("another agent finds it: %v", err)
	}
}

// TestSpawnRequest: what is asked for is less than who asks, and takes part in nothing.
func TestSpawnRequest(t *testing.T) {
	s := newSpawning(t, thread.Spawn{Runs: 5, Depth: 2})
	x, err := s.spawns.Start(t.Context(), s.by, wave.SpawnRequest{Prompt: "/exit\nnow", Tier: thread.TierFast, Agent: "other"})
	if err != nil {
		t.Fatal(err)
	}
	r := s.asked[0]
	if r.Once.Part != (thread.Part{}) || r.Once.Spawn != (thread.Spawn{Of: s.part, Runs: 5, Depth: 1}) || !r.Once.ReadOnly || !r.Once.On {
		t.Errorf("%+v", r.Once)
	}
	if r.By != s.by || r.Agent != "other" || r.Model != "" || r.Once.Tier != thread.TierFast || strings.HasPrefix(r.Prompt, "/") || !strings.HasSuffix(r.Prompt, "/exit\nnow") {
		t.Errorf("%+v", r)
	}
	// That one may start runs, and those may not. They count together.
	below, err := s.spawns.Start(t.Context(), x.Thread, wave.SpawnRequest{Prompt: "deeper"})
	if err != nil || below.Name != wave.SpawnName(s.part, 2) {
		t.Fatalf("%s, %v", below.Name, err)
	}
	if _, err := s.spawns.Start(t.Context(), below.Thread, wave.SpawnRequest{Prompt: "deepest"}); !errors.Is(err, thread.ErrRefused) {
		t.Errorf("too deep: %v", err)
	}
	for _, r := range []wave.SpawnRequest{{}, {Prompt: " \n"}} {
		if _, err := s.spawns.Start(t.Context(), s.by, r); !errors.Is(err, thread.ErrInvalid) {
			t.Errorf("%+v: %v", r, err)
		}
	}
	s.refuses = thread.ErrNotGranted
	if _, err := s.spawns.Start(t.Context(), s.by, wave.SpawnRequest{Prompt: "p"}); !errors.Is(err, thread.ErrNotGranted) || len(s.asked) != 2 {
		t.Errorf("more than it may be: %v, %d asked for", err, len(s.asked))
	}
}

// TestSpawnFenced: what is left of a round that is over starts nothing, and that it came is kept.
func TestSpawnFenced(t *testing.T) {
	for name, over := range map[string]func(*spawning){
		"another round": func(s *spawning) {
			s.node(func(n *plan.Node) { n.State = plan.NodeFailed })
			s.node(func(n *plan.Node) { n.State = plan.NodeWaiting })
			s.node(func(n *plan.Node) { n.State, n.Round = plan.NodeWorking, 2 })
		},
		"cancelled":            func(s *spawning) { s.node(func(n *plan.Node) { n.State = plan.NodeCancelled }) },
		"its run has ended":    func(s *spawning) { s.ends(s.newest(s.by).ID, work.Cancelled) },
		"it was left by a run": func(s *spawning) { s.ends(s.newest(s.by).ID, work.Failed) },
	} {
		s := newSpawning(t, thread.Spawn{Runs: 5, Depth: 1})
		over(s)
		if _, err := s.spawns.Start(t.Context(), s.by, wave.SpawnRequest{Prompt: "p"}); !errors.Is(err, thread.ErrRefused) || len(s.asked) > 0 {
			t.Errorf("%s: %v, %d asked for", name, err, len(s.asked))
		}
		events, err := s.plans.Events(t.Context(), s.part.Task, 0, 0)
		if err != nil || len(events) == 0 || events[len(events)-1].Kind != plan.EventFenced || events[len(events)-1].Node != s.part.Agent {
			t.Errorf("%s: %+v, %v", name, events, err)
		}
	}
}

// TestSpawnedEndWithTheirAgent: at once, also those below them, and also if that ended while no server was there. A lost one
// may go on, and so do they.
func TestSpawnedEndWithTheirAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, way := range []string{"now", "later", "lost"} {
			s := newSpawning(t, thread.Spawn{Runs: 5, Depth: 2})
			x, err := s.spawns.Start(t.Context(), s.by, wave.SpawnRequest{Prompt: "a"})
			if err != nil {
				t.Fatal(err)
			}
			if _, err = s.spawns.Start(t.Context(), x.Thread, wave.SpawnRequest{Prompt: "b"}); err != nil {
				t.Fatal(err)
			}
			done, err := s.spawns.Start(t.Context(), s.by, wave.SpawnRequest{Prompt: "c"})
			if err != nil {
				t.Fatal(err)
			}
			ctx, stop := context.WithCancel(t.Context())
			var wait sync.WaitGroup
			run := func() { wait.Go(func() { _ = s.spawns.Run(ctx) }); synctest.Wait() }
			if way == "now" {
				run()
			}
			s.ends(done.ID, work.Failed)
			if way == "lost" {
				if _, err := s.record.Claim(t.Context(), s.newest(s.by).ID, "here", time.Now()); err != nil {
					t.Fatal(err)
				}
				s.ends(s.newest(s.by).ID, work.Lost)
			} else {
				s.ends(s.newest(s.by).ID, work.Failed)
			}
			if way != "now" {
				s.server()
				run()
			}
			synctest.Wait()
			s.mu.Lock()
			n := len(s.cancelled)
			s.mu.Unlock()
			if want := map[string]int{"now": 2, "later": 2}[way]; n != want {
				t.Errorf("%s: %v", way, s.cancelled)
			}
			stop()
			wait.Wait()
		}
	})
}

// TestSpawnWait waits for the end, and no longer than it should.
func TestSpawnWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSpawning(t, thread.Spawn{Runs: 5, Depth: 1})
		x, err := s.spawns.Start(t.Context(), s.by, wave.SpawnRequest{Prompt: "a"})
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if y, err := s.spawns.Wait(t.Context(), x.ID, time.Minute); err != nil || y.State != work.Queued || time.Since(began) != time.Minute {
			t.Errorf("%s after %s, %v", y.State, time.Since(began), err)
		}
		time.AfterFunc(time.Second, func() { s.ends(x.ID, work.Failed) })
		began = time.Now()
		if y, err := s.spawns.Wait(t.Context(), x.ID, time.Minute); err != nil || y.State != work.Failed || time.Since(began) != time.Second {
			t.Errorf("%s after %s, %v", y.State, time.Since(began), err)
		}
	})
}
