package backlog_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"orchestrator/thread/ground/backlog"
)

// queue is a reader's queue.
type queue struct {
	mu    sync.Mutex
	wake  backlog.Wake
	items []int
	over  bool
}

func (q *queue) put(over bool, items ...int) {
	q.mu.Lock()
	q.items, q.over = append(q.items, items...), over
	q.mu.Unlock()
	q.wake.Notify()
	q.wake.Notify() // nobody waits
}

func (q *queue) take() ([]int, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	batch := q.items
	q.items = nil
	return batch, q.over
}

// TestMove: a reader gets all in order, also what is put in while it reads, and the rest after the end.
func TestMove(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, out := &queue{wake: backlog.NewWake()}, make(chan int)
		go func() {
			defer close(out)
			backlog.Move(t.Context(), out, q.wake, q.take)
		}()
		q.put(false, 1, 2)
		got := []int{<-out}
		q.put(false, 3)
		got = append(got, <-out, <-out)
		synctest.Wait()
		q.put(true, 4, 5)
		for i := range out {
			got = append(got, i)
		}
		if !slices.Equal(got, []int{1, 2, 3, 4, 5}) {
			t.Errorf("read %v", got)
		}
	})
}

// TestMoveEnds: who leaves gets nothing more, whether it reads or waits.
func TestMoveEnds(t *testing.T) {
	for name, items := range map[string][]int{"waiting": nil, "in the middle": {1, 2, 3}} {
		synctest.Test(t, func(t *testing.T) {
			ctx, leave := context.WithCancel(t.Context())
			q, out := &queue{wake: backlog.NewWake()}, make(chan int)
			go func() {
				defer close(out)
				backlog.Move(ctx, out, q.wake, q.take)
			}()
			q.put(false, items...)
			synctest.Wait()
			leave()
			synctest.Wait()
			if i, open := <-out; open {
				t.Errorf("%s: it got %d", name, i)
			}
		})
	}
}
