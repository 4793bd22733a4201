package gateway

import (
	"net/url"
	"sync"
	"time"

	"orchestrator/contextmgr/models"
	"orchestrator/thread"
)

// route is the way of one thread.
type route struct {
	id thread.ID
	// observer hears what is carried, from queue.
	observer thread.Observer
	secret   string
	queue    *queue
	bucket   bucket
	told     told
	held     account // guarded by the gateway's budget
	spoken   int64   // main requests so far, for their speech; the queue's
	last     last    // belongs to queue's goroutine

	// mu guards what Route may replace while requests are carried.
	mu        sync.Mutex
	upstreams map[string]*url.URL
	windows   map[string]int64 // that the agent is configured with
	waits     time.Time        // until when the agent was told to wait
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

// mustWait notes that the agent was told not to ask before a time.
func (rt *route) mustWait(until time.Time) {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	rt.waits = until
}

// waiting reports whether the agent was told to wait and the time is not over: when to ask again is its to decide.
func (rt *route) waiting(now time.Time) bool {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	return now.Before(rt.waits)
}

// noticer is an observer that shows people what they should know.
type noticer interface {
	Notice(id thread.ID, level thread.Level, text string)
}

// told notes what people were told of a thread, so that they are not told with every request.
type told struct {
	mu sync.Mutex // a leaf
	at map[string]time.Time
}

// again reports whether something is to be told, at most once in a while; never again where that is 0.
func (t *told) again(what string, now time.Time, while time.Duration) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	last, ok := t.at[what]
	if ok && (while == 0 || now.Sub(last) < while) {
		return false
	}
	if t.at == nil {
		t.at = map[string]time.Time{}
	}
	t.at[what] = now
	return true
}

// notice shows people something about the thread, in order with what else is told of it.
func (rt *route) notice(level thread.Level, text string) {
	if n, ok := rt.observer.(noticer); ok {
		rt.queue.offer(func() { n.Notice(rt.id, level, text) })
	}
}
