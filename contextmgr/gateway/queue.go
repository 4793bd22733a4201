package gateway

import (
	"fmt"
	"log/slog"
	"sync"
)

// maxLoose is the number of reports about one thread, such as refusals and notices, that may wait without being counted
// in memory. More are dropped rather than held forever.
const maxLoose = 4096

// queue reports to an observer about one thread, one report after the other, apart from the streams. Its goroutine
// lives only while there is something to report.
type queue struct {
	calls *calls
	log   *slog.Logger

	// mu guards the rest; it is a leaf and never held during a report.
	mu      sync.Mutex
	todo    []func()
	running bool
	loose   int
	lost    int
}

func newQueue(c *calls, log *slog.Logger) *queue { return &queue{calls: c, log: log} }

// add queues a report whose bytes are counted in memory. The caller itself is counted in calls, so that they cannot
// reach zero in between.
func (q *queue) add(tell func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.push(tell)
}

// offer queues a small report, unless too many wait.
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

// push adds a report to the queue. The caller holds mu.
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
			// The value may quote the traffic: only its type is safe to log.
			q.log.Error("observer panicked", "type", fmt.Sprintf("%T", p))
		}
	}()
	fn()
}
