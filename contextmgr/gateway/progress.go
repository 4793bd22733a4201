package gateway

import (
	"hash/maphash"
	"net/http"
	"net/http/httptrace"
	"sync"
	"time"

	"orchestrator/contextmgr/wire"
	"orchestrator/thread"
)

// progress tells what becomes of a request before it ends, where that is news: no connection or no answer for a
// while, and that an answer has begun after all or after an attempt that failed.
type progress struct {
	o *observation

	// mu guards what follows; it is a leaf.
	mu        sync.Mutex
	timer     *time.Timer
	connected bool
	announced bool      // the request's start was told
	answering time.Time // since when it is answered well; zero before
	done      bool      // answered, or ended

	// These belong to the queue's goroutine.
	again bool // it repeats a request that failed
	slow  bool // it was told that there is no answer
}

// await begins to watch a request that is on its way.
func (g *Gateway) await(o *observation) *progress {
	p := &progress{o: o}
	p.timer = time.AfterFunc(g.opts.ConnectSlow, p.late)
	return p
}

// traced returns a request that tells when it has a connection.
func (o *observation) traced(out *http.Request) *http.Request {
	if o == nil {
		return out
	}
	p := o.progress
	return out.WithContext(httptrace.WithClientTrace(out.Context(), &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.connected = true
	}}))
}

// late is the timer: there is no answer yet.
func (p *progress) late() {
	p.mu.Lock()
	stage, more := thread.StageSilent, p.o.g.opts.AnswerSlow-time.Since(p.o.started)
	switch {
	case p.done:
		p.mu.Unlock()
		return
	case !p.connected:
		stage = thread.StageUnconnected
	case more > 0:
		p.timer.Reset(more)
		p.mu.Unlock()
		return
	}
	p.mu.Unlock()
	g := p.o.g
	if !g.enter() {
		return
	}
	defer g.calls.Done()
	p.o.announce()
	now := time.Now()
	p.o.rt.queue.add(func() {
		p.mu.Lock()
		done := p.done
		p.mu.Unlock()
		if done || p.o.request.Purpose != wire.PurposeMain {
			return
		}
		p.slow = true
		g.observer.RequestReached(p.o.rt.id, stage, now)
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
		p.o.rt.queue.add(p.tell)
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

// began is told by the queue's goroutine that the request's start was told.
func (p *progress) began(again bool) {
	p.again = again
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
	if (p.again || p.slow) && p.o.request.Purpose == wire.PurposeMain {
		p.o.g.observer.RequestReached(p.o.rt.id, thread.StageAnswering, p.answering)
	}
}

// last is what a thread's newest main request asked for, if it failed. It belongs to the queue's goroutine.
type last struct {
	seed   maphash.Seed
	failed bool
	asked  uint64
}

// key identifies what a conversation asks for by its length and its newest message: agents repeat a failed request as
// it was, whatever else they change around it.
func (l *last) key(items []thread.Item) uint64 {
	if len(items) == 0 {
		return 0
	}
	if l.seed == (maphash.Seed{}) {
		l.seed = maphash.MakeSeed()
	}
	return maphash.Bytes(l.seed, items[len(items)-1].Raw) + uint64(len(items))
}

// again reports whether a request asks for what the one before it asked for in vain. One that could not be read is
// taken for a repetition.
func (l *last) again(items []thread.Item) bool {
	return l.failed && (len(items) == 0 || l.asked == 0 || l.key(items) == l.asked)
}

// ended notes how the newest main request ended.
func (l *last) ended(e thread.Exchange) {
	l.failed = e.Status >= 300 || e.Interrupted || e.Fault != thread.FaultNone
	l.asked = 0
	if l.failed {
		l.asked = l.key(e.Items)
	}
}
