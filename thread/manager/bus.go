package manager

import (
	"context"
	"sync"

	"orchestrator/thread"
)

// backlog is how many events a subscriber may fall behind before it loses them.
const backlog = 1024

// bus tells events to subscribers. Publishing never blocks: a subscriber that falls behind loses
// its backlog and sees from the next event's Seq that there was a gap. Those that follow one thread hear its events
// and what its model says in one order; see follow.go.
type bus struct {
	mu     sync.Mutex // guards all below; taken last, after Manager.mu
	seq    int64
	subs   map[*subscriber]struct{}
	follow followers
	closed bool
}

// subscriber is one reader of the bus. Its fields are guarded by bus.mu.
type subscriber struct {
	queue []thread.Event
	wake  chan struct{} // holds a token when queue gained something
}

// publish gives the event its Seq and hands it to every subscriber.
func (b *bus) publish(e thread.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return
	}
	b.seq++
	e.Seq = b.seq
	if e.Status != nil {
		e.Status.Seq = b.seq
	}
	for s := range b.subs {
		if len(s.queue) >= backlog {
			s.queue = nil
		}
		s.queue = append(s.queue, e)
		s.rouse()
	}
	b.follow.publish(e)
}

// rouse has the subscriber's pump look at its queue.
func (s *subscriber) rouse() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// newest is the number of the newest event; 0 before the first.
func (b *bus) newest() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.seq
}

// subscribe returns a channel of what is published from now on, closed when ctx or the bus ends.
func (b *bus) subscribe(ctx context.Context) <-chan thread.Event {
	out := make(chan thread.Event)
	s := &subscriber{wake: make(chan struct{}, 1)}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		close(out)
		return out
	}
	if b.subs == nil {
		b.subs = make(map[*subscriber]struct{})
	}
	b.subs[s] = struct{}{}
	go b.pump(ctx, s, out)
	return out
}

// pump moves a subscriber's events to its channel until ctx or the bus ends.
func (b *bus) pump(ctx context.Context, s *subscriber, out chan<- thread.Event) {
	defer close(out)
	defer func() {
		b.mu.Lock()
		delete(b.subs, s)
		b.mu.Unlock()
	}()
	for {
		b.mu.Lock()
		batch := s.queue
		s.queue = nil
		closed := b.closed
		b.mu.Unlock()
		for _, e := range batch {
			select {
			case out <- e:
			case <-ctx.Done():
				return
			}
		}
		if len(batch) > 0 {
			continue
		}
		if closed {
			return
		}
		select {
		case <-s.wake:
		case <-ctx.Done():
			return
		}
	}
}

// close ends all subscribers once they have read what they were told.
func (b *bus) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	for s := range b.subs {
		s.rouse()
	}
	b.follow.rouse()
}
