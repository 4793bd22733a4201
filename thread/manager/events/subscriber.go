package events

import (
	"orchestrator/thread"
	"orchestrator/thread/ground/backlog"
)

// mostBehind is how many events a subscriber may fall behind before it loses them.
const mostBehind = 1024

// subscriber is one reader of the bus. Its fields are guarded by Bus.mu.
type subscriber struct {
	queue []thread.Event
	wake  backlog.Wake
}

// take empties the queue.
func (s *subscriber) take() []thread.Event {
	batch := s.queue
	s.queue = nil
	return batch
}
