package gateway

import (
	"net/url"
	"sync"
	"time"

	"orchestrator/contextmgr/models"
	"orchestrator/contextmgr/wire"
	"orchestrator/thread"
)

// route is the route of one thread.
type route struct {
	id thread.ID
	// observer gets its reports from queue.
	observer thread.Observer
	secret   string
	queue    *queue
	bucket   bucket
	shown    notices
	held     account // guarded by the gateway's memory
	spoken   int64   // number of main requests so far, for their text; the queue's
	last     last    // belongs to queue's goroutine
	sender   sender
	caches   caches

	// mu guards what Route may replace while requests are forwarded.
	mu        sync.Mutex
	upstreams map[string]*url.URL
	windows   map[string]int64 // as configured for the agent
	out       *way
	plain     bool      // see thread.RouteSpec
	patient   bool      // likewise
	waits     time.Time // until when the agent must wait
}

// purpose returns what a request is for. Small requests are side requests of the agents that make such; those of another
// program are what it says to its model about a prompt.
func (rt *route) purpose(q wire.Request) wire.Purpose {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	if rt.plain && q.Purpose == wire.PurposeOther && q.Fresh {
		return wire.PurposeMain
	}
	return q.Purpose
}

func (rt *route) window(t models.Table, model string, long bool, used int64) int64 {
	rt.mu.Lock()
	agents := rt.windows // replaced, never changed
	rt.mu.Unlock()
	return t.Window(model, long, used, agents)
}

func (rt *route) upstream(name string) *url.URL {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	return rt.upstreams[name]
}

// way is how the thread's requests leave this machine.
func (rt *route) way() *way {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	return rt.out
}

// patience is how long a request waits for a limit of ours that its program would take for the end: programs give one up
// after five minutes.
const patience = 3 * time.Minute

// patience is how long a request waits for a limit of ours at least before it is refused.
func (rt *route) patience() time.Duration {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	if rt.patient {
		return patience
	}
	return 0
}

// mustWait records that the agent was told not to retry before a time.
func (rt *route) mustWait(until time.Time) {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	rt.waits = until
}

// waiting reports whether the agent was told to wait and the time is not over: it then decides itself when to retry.
func (rt *route) waiting(now time.Time) bool {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	return now.Before(rt.waits)
}

// notices records the notices about a thread, so that they are not repeated with every request.
type notices struct {
	mu sync.Mutex // a leaf
	at map[string]time.Time
}

// due reports whether a notice may be shown: at most once in a while, and only once ever if while is 0.
func (n *notices) due(what string, now time.Time, while time.Duration) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	last, ok := n.at[what]
	if ok && (while == 0 || now.Sub(last) < while) {
		return false
	}
	if n.at == nil {
		n.at = map[string]time.Time{}
	}
	n.at[what] = now
	return true
}

// notice shows people something about the thread, in order with its other reports.
func (rt *route) notice(level thread.Level, text string) {
	rt.queue.offer(func() { rt.observer.Notice(rt.id, level, text) })
}
