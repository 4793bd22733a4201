package manager

import (
	"sync"
)

// queue runs functions one after the other in a goroutine that lives while there are any.
type queue struct {
	begin func() bool // counts the goroutine in; false if nothing may start any more
	done  func()      // counts it out

	mu      sync.Mutex // guards the fields below
	steps   []func()
	running bool
}

// enqueue adds a step; false if nothing may start any more.
func (q *queue) enqueue(step func()) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.running {
		if !q.begin() {
			return false
		}
		q.running = true
		go q.work()
	}
	q.steps = append(q.steps, step)
	return true
}

// work runs the queue until it is empty.
func (q *queue) work() {
	defer q.done()
	for {
		q.mu.Lock()
		if len(q.steps) == 0 {
			q.steps, q.running = nil, false
			q.mu.Unlock()
			return
		}
		step := q.steps[0]
		q.steps[0] = nil // release the memory it refers to
		q.steps = q.steps[1:]
		q.mu.Unlock()
		step()
	}
}
