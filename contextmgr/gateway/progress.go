package gateway

import (
	"net/http"
	"net/http/httptrace"
	"sync"
	"time"

	"orchestrator/thread"
)

// progress reports the stages of a request before its end: no connection or no answer for a while, and the beginning of
// an answer after such a delay or after an attempt that failed.
type progress struct {
	rt *route

	// mu guards what follows; it is a leaf.
	mu        sync.Mutex
	timer     *time.Timer
	connected bool
	announced bool      // the request's start was reported
	answering time.Time // when a successful answer began; zero before
	done      bool      // answered, or ended

	// These belong to the queue's goroutine.
	main  bool // it is the thread's main request
	again bool // it repeats a request that failed
	slow  bool // it was reported that there is no answer
}

// start begins to watch a request that is being sent: late is called when it may be slow.
func (p *progress) start(connectSlow time.Duration, late func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.timer = time.AfterFunc(connectSlow, late)
}

// traced returns the request with a trace that records when it has a connection.
func (p *progress) traced(out *http.Request) *http.Request {
	return out.WithContext(httptrace.WithClientTrace(out.Context(), &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.connected = true
		},
	}))
}

// late reports whether an answer is overdue, and what is missing. If there is a connection and more time left, it
// resets the timer to the end of that time.
func (p *progress) late(more time.Duration) (stage thread.Stage, none bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.done:
		return stage, false
	case !p.connected:
		return thread.StageUnconnected, true
	case more > 0:
		p.timer.Reset(more)
		return stage, false
	}
	return thread.StageSilent, true
}

// tellLate queues the report that there is no answer. The request's start was reported before.
func (p *progress) tellLate(stage thread.Stage, now time.Time) {
	p.rt.queue.add(func() {
		p.mu.Lock()
		done := p.done
		p.mu.Unlock()
		if done || !p.main {
			return
		}
		p.slow = true
		p.rt.observer.RequestReached(p.rt.id, stage, now)
	})
}

// answered records the status of the answer that begins.
func (p *progress) answered(status int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done = true
	p.timer.Stop()
	if status >= 300 {
		return
	}
	p.answering = time.Now()
	if p.announced {
		p.rt.queue.add(p.tell)
	}
}

// reached reports whether there was a connection.
func (p *progress) reached() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.connected
}

// over ends the observation.
func (p *progress) over() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done = true
	p.timer.Stop()
}

// began records, in the queue's goroutine, that the request's start was reported.
func (p *progress) began(main, again bool) {
	p.main, p.again = main, again
	p.mu.Lock()
	p.announced = true
	answers := !p.answering.IsZero()
	p.mu.Unlock()
	if answers {
		p.tell()
	}
}

// tell reports that the answer has begun, if that is news. It runs in the queue's goroutine.
func (p *progress) tell() {
	if (p.again || p.slow) && p.main {
		p.rt.observer.RequestReached(p.rt.id, thread.StageAnswering, p.answering)
	}
}
