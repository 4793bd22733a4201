package events

import "orchestrator/thread"

// backlog is how many events a subscriber may fall behind before it loses them.
const backlog = 1024

// subscriber is one reader of the bus. Its fields are guarded by Bus.mu.
type subscriber struct {
	queue []thread.Event
	wake  chan struct{} // holds a token when queue gained something
}

// rouse has the subscriber's pump look at its queue.
func (s *subscriber) rouse() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// take empties the queue.
func (s *subscriber) take() []thread.Event {
	batch := s.queue
	s.queue = nil
	return batch
}
