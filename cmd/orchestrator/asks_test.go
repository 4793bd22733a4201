package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/thread"
)

// killedServer is the newest server of a test that kills them.
type killedServer struct {
	t      *testing.T
	r      *rig
	socket string

	mu sync.Mutex // held while there is none; guards cl
	cl *client.Client
}

// client returns a connection to the server that runs.
func (s *killedServer) client() *client.Client {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cl
}

// restart starts a server in the place of one that is gone.
func (s *killedServer) restart() {
	s.r.ok("threads")
	s.cl = client.New(s.socket)
	s.t.Cleanup(func() { s.cl.Close() })
}

// kill kills the server and starts the next.
func (s *killedServer) kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	info, err := s.cl.Info(s.t.Context())
	if err != nil {
		s.t.Error(err)
		return
	}
	if err := syscall.Kill(info.PID, syscall.SIGKILL); err != nil {
		s.t.Error(err)
	}
	await(s.t, "the killed server to be gone", func() bool { return syscall.Kill(info.PID, 0) != nil })
	s.restart()
}

// resume starts every agent that does not run.
func (s *killedServer) resume() {
	cl := s.client()
	all, err := cl.List(s.t.Context())
	if err != nil {
		return
	}
	for _, st := range all {
		if !st.State.State.Live() {
			_, _ = cl.Resume(s.t.Context(), string(st.ID), 0, 0) // or the next time
		}
	}
}

// TestManyAskWhileAllIsKilled sends many prompts to many threads at once, while agents and the server are killed and
// resumed: each prompt that was accepted ends with the answer to itself or with a reason, and nothing with another's.
// ORCHESTRATOR_ASKS=10x20 is ten threads with twenty prompts each.
func TestManyAskWhileAllIsKilled(t *testing.T) {
	manyStarts(t)
	threads, each := 2, 5
	if s := os.Getenv("ORCHESTRATOR_ASKS"); s != "" {
		if _, err := fmt.Sscanf(s, "%dx%d", &threads, &each); err != nil {
			t.Fatal(err)
		}
	}
	r := newRig(t)
	s := &killedServer{t: t, r: r, socket: r.claimed().Socket}
	s.restart()
	begun(t, s.cl, threads)
	var asks sync.WaitGroup
	for _, st := range list(t, s.cl) {
		for n := range each {
			asks.Go(func() {
				text := fmt.Sprintf("run echo %s-%d", st.ID, n)
				for t.Context().Err() == nil {
					if _, err := s.client().Ask(t.Context(), string(st.ID), text); err == nil {
						return
					}
					time.Sleep(50 * time.Millisecond) // its agent or the server is gone: ask again when it is back
				}
			})
		}
	}
	asked := make(chan struct{})
	go func() { asks.Wait(); close(asked) }()
	random := rand.New(rand.NewPCG(3, 4))
	agents, servers := 0, 0
	for all := false; !all || servers < 2 || agents < threads; {
		time.Sleep(time.Duration(100+random.IntN(400)) * time.Millisecond) // somewhere in the middle
		for _, st := range list(t, s.client()) {
			if x := st.Execution; x != nil && x.PID > 0 && random.IntN(3) == 0 && syscall.Kill(x.PID, syscall.SIGKILL) == nil {
				agents++
			}
		}
		if random.IntN(4) == 0 {
			s.kill()
			servers++
		}
		s.resume()
		select {
		case <-asked:
			all = true
		default:
		}
	}
	begin := time.Now()
	for end := begin.Add(time.Duration(threads*each)*3*time.Second + patience); ; {
		open, err := s.client().Prompts(t.Context(), "", true)
		if err == nil && len(open) == 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("these never ended: %+v %v", open, err)
		}
		s.resume()
		time.Sleep(200 * time.Millisecond)
	}
	ends, total := map[thread.PromptState]int{}, 0
	for _, st := range list(t, s.client()) {
		total += ended(t, s.client(), st, each, ends)
	}
	t.Logf("%d prompts, %d agents and %d servers killed: %v; the last ended %v after the last kill", total, agents, servers, ends, time.Since(begin))
}

// ended checks how the prompts of a thread ended.
func ended(t *testing.T, cl *client.Client, st thread.Status, each int, ends map[thread.PromptState]int) int {
	t.Helper()
	prompts, err := cl.Prompts(t.Context(), string(st.ID), false)
	if err != nil {
		t.Fatal(err)
	}
	timeline, err := cl.Timeline(t.Context(), string(st.ID), thread.Page{Turns: true, All: true, Limit: 10_000})
	if err != nil {
		t.Fatal(err)
	}
	turns := map[thread.CheckpointID]thread.Checkpoint{}
	for _, c := range timeline {
		turns[c.ID] = c
	}
	texts := map[string]bool{}
	by := map[thread.CheckpointID]thread.PromptID{}
	for _, p := range prompts {
		if p.From != thread.FromVerb {
			t.Errorf("%s: nobody typed %+v", st.Name, p)
		}
		texts[p.Text] = true
		ends[p.State]++
		switch p.State {
		case thread.PromptAnswered:
			if c := turns[p.Answer]; c.Prompt != p.Text || c.Interrupted || by[p.Answer] != "" {
				t.Errorf("%s: %s %q is answered by %+v, as is %q", st.Name, p.ID, p.Text, c, by[p.Answer])
			}
			by[p.Answer] = p.ID
		case thread.PromptInterrupted, thread.PromptRefused:
			if p.Reason == "" {
				t.Errorf("%s: %q ended without a reason: %+v", st.Name, p.Text, p)
			}
		default:
			t.Errorf("%s: %q is %s (%s)", st.Name, p.Text, p.State, p.Reason)
		}
	}
	if len(texts) != each {
		t.Errorf("%s: %d different prompts of %d were accepted: %v", st.Name, len(texts), each, texts)
	}
	return len(prompts)
}
