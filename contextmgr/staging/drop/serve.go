package drop

import (
	"context"
	"sync"
	"time"

	"orchestrator/thread"
)

// Pace is how often folders are looked at.
type Pace struct {
	// Threads is how often Serve asks whose folders there are, and Folder how often it looks into one.
	Threads, Folder time.Duration
	// Longest is the longest pause that an agent can bring about in its own folder by what it puts there.
	Longest time.Duration
}

// share is how much longer than a look that found nothing the pause after it is.
const share = 20

// Serve takes for threads until the context ends. Each has a worker of its own: however much one hands over, and whatever
// it puts into its folder, no other waits for it. homes returns the folders of those that hand data over now.
func (k Taker) Serve(ctx context.Context, pace Pace, homes func() map[thread.ID]string) {
	var workers sync.WaitGroup
	defer workers.Wait()
	ctx, end := context.WithCancel(ctx)
	defer end()
	ended := make(chan thread.ID)
	cancels := map[thread.ID]context.CancelFunc{}
	look := time.NewTicker(pace.Threads)
	defer look.Stop()
	for {
		now := homes()
		for id, home := range now {
			if cancels[id] != nil {
				continue
			}
			own, cancel := context.WithCancel(ctx)
			cancels[id] = cancel
			workers.Go(func() {
				k.serve(own, pace, home, id)
				select {
				case ended <- id:
				case <-ctx.Done():
				}
			})
		}
		for id, cancel := range cancels {
			if _, there := now[id]; !there {
				cancel()
			}
		}
		for waiting := true; waiting; {
			select {
			case <-ctx.Done():
				return
			case id := <-ended:
				cancels[id]()
				delete(cancels, id)
			case <-look.C:
				waiting = false
			}
		}
	}
}

// serve takes for a thread until the context ends, or something is in the way.
func (k Taker) serve(ctx context.Context, pace Pace, home string, id thread.ID) {
	for {
		begun := time.Now()
		taken, err := k.Take(ctx, home, id)
		if err != nil && ctx.Err() == nil {
			k.Failed(id, err)
			return // until it is looked for again
		}
		took := time.Since(begun)
		pause := max(pace.Folder, share*took) // of a look that is dear
		switch {
		case taken == atOnce:
			pause = took // there is more
		case taken > 0:
			pause = max(pace.Folder, took)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(min(pause, pace.Longest)):
		}
	}
}
