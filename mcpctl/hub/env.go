package hub

import (
	"context"
	"sync"
)

// startsAtOnce is how many servers are started at once.
const startsAtOnce = 4

// env is what the servers of a hub have in common.
type env struct {
	config Config
	ctx    context.Context // ends with the hub
	cancel context.CancelFunc
	turns  chan struct{} // one entry for each server that is being started
	work   sync.WaitGroup

	mu     sync.Mutex // guards the fields below; held for moments
	posts  []func()
	posted chan struct{} // has an entry if there are posts
}

func newEnv(cfg Config) *env {
	e := &env{config: cfg.withDefaults(), turns: make(chan struct{}, startsAtOnce), posted: make(chan struct{}, 1)}
	e.ctx, e.cancel = context.WithCancel(context.Background())
	return e
}

// post has something told to the owner, after everything that was posted before.
func (e *env) post(tell func()) {
	e.mu.Lock()
	e.posts = append(e.posts, tell)
	e.mu.Unlock()
	select {
	case e.posted <- struct{}{}:
	default:
	}
}

// deliver tells what is posted until stop is closed, and then the rest.
func (e *env) deliver(stop <-chan struct{}) {
	for ended := false; ; {
		e.mu.Lock()
		posts := e.posts
		e.posts = nil
		e.mu.Unlock()
		for _, tell := range posts {
			tell()
		}
		if len(posts) > 0 {
			continue
		}
		if ended {
			return
		}
		select {
		case <-e.posted:
		case <-stop:
			ended = true
		}
	}
}
