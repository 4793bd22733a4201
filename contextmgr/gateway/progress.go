package gateway

import (
	"net/http"
	"net/http/httptrace"
	"sync"
	"time"

	"orchestrator/thread"
)

// progress tells what becomes of a request before it ends, where that is news: no connection or no answer for a
// while, and that an answer has begun after all or after an attempt that failed.
type progress struct {
	rt *route

	// mu guards what follows; it is a leaf.
	mu        sync.Mutex
	timer     *time.Timer
	connected bool
	announced bool      // the request's start was told
	answering time.Time // since when it is answered well; zero before
	done      bool      // answered, or ended

	// These belong to the queue's goroutine.
	main  bool // it is the thread's own
	again bool // it repeats a request that failed
	slow  bool // it was told that there is no answer
}

// start begins to watch a request that is on its way: late is called when it may be slow.
func (p *progress) start(connectSlow time.Duration, late func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.timer = time.AfterFunc(connectSlow, late)
}

// traced returns a request that tells when it has a connection.
func (p *progress) traced(out *http.Request) *http.Request {
	return out.WithContext(httptrace.WithClientTrace(out.Context(), &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.connected = true
		},
	}))
}

// late reports whether an answer is missing that should be there, and what it lacks. With a connection, and more time
// left, it sets the timer to that.
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

// tellLate has the observer told that there is no answer. The request's start was announced before.
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

// answered takes the status of the answer that begins.
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

// over ends the watching.
func (p *progress) over() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done = true
	p.timer.Stop()
}

// began notes, in the queue's goroutine, that the request's start was told.
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

// tell says that the answer has begun, where that is news. It runs in the queue's goroutine.
func (p *progress) tell() {
	if (p.again || p.slow) && p.main {
		p.rt.observer.RequestReached(p.rt.id, thread.StageAnswering, p.answering)
	}
}
