package gateway

import (
	"fmt"
	"log/slog"
	"sync"
)

// maxLoose is how many things that no budget counts may wait to be told about one thread: refusals, notices.
// What comes after that is lost rather than held forever.
const maxLoose = 4096

// queue tells an observer about one thread, one thing after the other, away from the streams.
// Its goroutine lives only while there is something to tell.
type queue struct {
	calls *calls
	log   *slog.Logger

	// mu guards what follows; it is a leaf and never held while something is told.
	mu      sync.Mutex
	todo    []func()
	running bool
	loose   int
	lost    int
}

func newQueue(c *calls, log *slog.Logger) *queue { return &queue{calls: c, log: log} }

// add takes something to tell that the budget of bytes counts. The caller is counted in calls itself, so that they
// cannot reach zero in between.
func (q *queue) add(tell func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.push(tell)
}

// offer takes something small to tell, unless too much waits.
func (q *queue) offer(tell func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.loose >= maxLoose {
		if q.lost++; q.lost == 1 {
			q.log.Error("observer is far behind, reports are lost")
		}
		return
	}
	q.loose++
	q.push(func() {
		q.mu.Lock()
		q.loose--
		q.mu.Unlock()
		tell()
	})
}

// push adds to what is to be told. The caller holds mu.
func (q *queue) push(tell func()) {
	q.todo = append(q.todo, tell)
	if !q.running {
		q.running = true
		q.calls.Add(1)
		go q.run()
	}
}

func (q *queue) run() {
	defer q.calls.Done()
	for {
		q.mu.Lock()
		if len(q.todo) == 0 {
			q.running, q.todo = false, nil
			q.mu.Unlock()
			return
		}
		tell := q.todo[0]
		q.todo[0] = nil
		q.todo = q.todo[1:]
		q.mu.Unlock()
		q.tell(tell)
	}
}

func (q *queue) tell(fn func()) {
	defer func() {
		if p := recover(); p != nil {
			// The value may quote what was carried: only its type is safe to write down.
			q.log.Error("observer panicked", "type", fmt.Sprintf("%T", p))
		}
	}()
	fn()
}
