package manager

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"testing"
	"time"

	"orchestrator/checkpoint/checkpointtest/memory"
	"orchestrator/thread"
)

// TestFindByNameCopiesNothing: what finding a thread by its whole name or its id takes does not grow with the threads.
func TestFindByNameCopiesNothing(t *testing.T) {
	for _, n := range []int{10, 5000} {
		m := New(Config{})
		for i := range n {
			m.registry.add(thread.Thread{ID: thread.ID(fmt.Sprintf("id-%04d", i)), Name: fmt.Sprintf("thread-%04d", i)})
		}
		for _, ref := range []string{"thread-0007", "id-0003", " thread-0009 "} {
			if l, err := m.registry.find(ref); err != nil || !(ref == string(l.live.id) || " "+l.live.t.Name+" " == ref || l.live.t.Name == ref) {
				t.Fatalf("%q: %v", ref, err)
			}
			if took := testing.AllocsPerRun(10, func() { _, _ = m.registry.find(ref) }); took > 0 {
				t.Errorf("%d threads: finding %q allocates %v times", n, ref, took)
			}
		}
	}
}

// atRest returns a Manager with one thread, which is in the store only.
func atRest(t *testing.T) (*Manager, thread.ID) {
	t.Helper()
	store, id := memory.New(), thread.NewID[thread.ID]()
	now := time.Now()
	if err := store.CreateThread(t.Context(), thread.Thread{ID: id, Name: "one-0001", Created: now, Updated: now, Archived: now}); err != nil {
		t.Fatal(err)
	}
	return New(Config{Store: store, Agents: noAgents{}, Log: slog.New(slog.DiscardHandler)}), id
}

// use returns a thread, which becomes live.
func use(t *testing.T, m *Manager, id thread.ID) *run {
	t.Helper()
	l, err := m.registry.certain(t.Context(), id)
	if l == nil || err != nil {
		t.Fatalf("thread %s: %v, %v", id, l, err)
	}
	return l
}

// TestRestsAsOne: who holds a thread that is put to rest goes on to use it, everybody else gets the same one meanwhile, and
// memory keeps nothing of it once nobody holds it.
func TestRestsAsOne(t *testing.T) {
	m, id := atRest(t)
	nothing := func(context.Context) error { return nil }
	l := use(t, m, id)
	m.registry.rest(l)
	if m.registry.loaded(id) != nil || m.Held() != 0 {
		t.Fatal("it is live")
	}
	if err := l.live.do(t.Context(), nothing); err != nil || m.registry.loaded(id) != l {
		t.Errorf("who holds it: %v; live is %p, held %p", err, m.registry.loaded(id), l)
	}
	m.registry.rest(l)
	if other := use(t, m, id); other != l {
		t.Error("there are two objects of a thread")
	}
	m.registry.rest(l)
	m.registry.rest(l) // as two that put it to rest at once
	runtime.KeepAlive(l)
	l = nil
	resting := func() int {
		m.registry.index.mu.Lock()
		defer m.registry.index.mu.Unlock()
		return len(m.registry.resting)
	}
	for end := time.Now().Add(10 * time.Second); resting() > 0 && time.Now().Before(end); time.Sleep(time.Millisecond) {
		runtime.GC()
	}
	if n := resting(); n != 0 {
		t.Errorf("%d are kept that nobody holds", n)
	}
	l = use(t, m, id)
	m.registry.rest(l)
	l = use(t, m, id)
	l.forget() // it was purged
	if err := l.live.do(t.Context(), nothing); !errors.Is(err, thread.ErrNotFound) {
		t.Errorf("a purged thread: %v", err)
	}
}

// TestRestsRaced puts a thread to rest and uses it from many sides at once: nobody is told that there is none, and its steps
// stand in one queue, so that none is lost.
func TestRestsRaced(t *testing.T) {
	const sides, rounds = 8, 200
	m, id := atRest(t)
	steps := 0 // written by steps of the thread only
	var all sync.WaitGroup
	for side := range sides {
		all.Go(func() {
			for range rounds {
				l, err := m.registry.certain(context.Background(), id)
				if l == nil || err != nil {
					t.Errorf("there is no thread: %v", err)
					return
				}
				if side%2 == 0 {
					runtime.Gosched()
					if err := l.live.do(context.Background(), func(context.Context) error { m.registry.rest(l); return nil }); err != nil {
						t.Errorf("put to rest: %v", err)
					}
					continue
				}
				if err := l.live.do(context.Background(), func(context.Context) error { steps++; return nil }); err != nil {
					t.Errorf("used: %v", err)
				}
			}
		})
	}
	all.Wait()
	if want := sides / 2 * rounds; steps != want {
		t.Errorf("%d of %d steps", steps, want)
	}
	if err := m.Close(context.Background()); err != nil {
		t.Error(err)
	}
}
