package postgres

import (
	"context"
	"sync"
	"time"
)

// again is how often a database that is away is asked whether it is back.
const again = time.Second

// presence knows whether the database answers. Once it did not, all calls fail at once until it does.
type presence struct {
	// ask returns nil if the database answers.
	ask func(context.Context) error

	mu      sync.Mutex // guards all below
	since   time.Time  // it is away, zero if it is not
	here    context.Context
	lost    context.CancelFunc // ends here, and so all calls
	closing context.Context
	close   context.CancelFunc
	asking  sync.WaitGroup
}

func newPresence(ask func(context.Context) error) *presence {
	p := &presence{ask: ask}
	p.closing, p.close = context.WithCancel(context.Background())
	p.here, p.lost = context.WithCancel(context.Background())
	return p
}

// silent has the database count as away, and ends the calls that wait for it.
func (p *presence) silent() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.since.IsZero() || p.closing.Err() != nil {
		return
	}
	p.since = time.Now()
	p.lost()
	p.asking.Go(p.await)
}

// await asks until the database answers.
func (p *presence) await() {
	every := time.NewTicker(again)
	defer every.Stop()
	for {
		select {
		case <-p.closing.Done():
			return
		case <-every.C:
		}
		ctx, cancel := context.WithTimeout(p.closing, silence)
		err := p.ask(ctx)
		cancel()
		if err != nil {
			continue
		}
		p.mu.Lock()
		p.since = time.Time{}
		p.here, p.lost = context.WithCancel(context.Background())
		p.mu.Unlock()
		return
	}
}

// away returns since when the database is away, zero if it is not.
func (p *presence) away() time.Time {
	if p == nil {
		return time.Time{}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.since
}

// bound returns a context that also ends when the database goes away.
func (p *presence) bound(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	p.mu.Lock()
	here := p.here
	p.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, limit)
	stop := context.AfterFunc(here, cancel)
	return ctx, func() { stop(); cancel() }
}

// end stops asking.
func (p *presence) end() {
	p.mu.Lock()
	p.close()
	p.lost()
	p.mu.Unlock()
	p.asking.Wait()
}
