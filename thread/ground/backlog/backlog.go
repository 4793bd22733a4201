// Package backlog has readers read at their own pace what others put into their queues without waiting for them.
package backlog

import "context"

// Wake wakes the goroutine that moves a reader's queue to its channel.
type Wake chan struct{}

// NewWake returns a Wake.
func NewWake() Wake { return make(Wake, 1) }

// Notify says that the queue has something new, or that nothing follows. It does not wait.
func (w Wake) Notify() {
	select {
	case w <- struct{}{}:
	default:
	}
}

// Move moves a reader's queue to its channel until ctx ends. take empties the queue; once it is empty and take says that
// nothing follows, that is the end, too.
func Move[E any](ctx context.Context, out chan<- E, wake Wake, take func() (batch []E, over bool)) {
	for {
		batch, over := take()
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
		if over {
			return
		}
		select {
		case <-wake:
		case <-ctx.Done():
			return
		}
	}
}
