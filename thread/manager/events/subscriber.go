package events

import "orchestrator/thread"

// backlog is how many events a subscriber may fall behind before it loses them.
const backlog = 1024

// subscriber is one reader of the bus. Its fields are guarded by Bus.mu.
type subscriber struct {
	queue []thread.Event
	wake  chan struct{} // holds a token when queue has something new
}

// notify wakes the subscriber's pump.
func (s *subscriber) notify() {
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
