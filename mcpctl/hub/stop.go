package hub

import (
	"context"
	"time"
)

// stop ends the server, whatever it is doing, and returns when nothing of it is left. A closed backend is never started
// again.
func (b *backend) stop(reason string, closing, kill bool) {
	b.mu.Lock()
	b.closed = b.closed || closing
	a, s := b.attempt, b.session
	b.mu.Unlock()
	if a != nil {
		a.cancel()
		<-a.done
		b.mu.Lock()
		s = b.session // it may just have become ready
		b.mu.Unlock()
	}
	if s != nil {
		s.end(reason, true, kill)
		b.lost(s)
	}
}

// restart ends the server, forgets how often it has failed, and starts it again if it ran or was to run.
func (b *backend) restart(ctx context.Context) error {
	b.mu.Lock()
	cold := b.session == nil && b.attempt == nil && b.status == Cold
	b.mu.Unlock()
	b.stop("it was restarted", false, false)
	b.mu.Lock()
	b.well()
	b.ends, b.refused, b.next = nil, nil, time.Time{}
	b.mu.Unlock()
	if cold {
		return nil
	}
	_, err := b.ready(ctx)
	return err
}
