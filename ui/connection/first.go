package connection

import (
	"context"

	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/ui/host"
)

// First is what every screen asks for first: the events from then on, and then the threads.
type First struct {
	events func() (<-chan thread.Event, error)
	list   func() ([]thread.Status, error)
}

// Ask asks for it while the screen is still being set up. The events end with ctx.
func Ask(ctx context.Context, srv host.Server) *First {
	events := ahead(openEvents(ctx, srv))
	return &First{events, ahead(func() ([]thread.Status, error) {
		if _, err := events(); err != nil {
			return nil, err
		}
		return listThreads(ctx, srv)()
	})}
}

// ahead runs a function and returns one that waits for its result.
func ahead[T any](f func() (T, error)) func() (T, error) {
	var got T
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		got, err = f()
	}()
	return func() (T, error) {
		<-done
		return got, err
	}
}

// openEvents returns a function that opens the stream of events.
func openEvents(ctx context.Context, srv host.Server) func() (<-chan thread.Event, error) {
	return func() (<-chan thread.Event, error) { return api.Events.Open(ctx, srv, api.None{}) }
}

// listThreads returns a function that asks for all threads.
func listThreads(ctx context.Context, srv host.Server) func() ([]thread.Status, error) {
	return func() ([]thread.Status, error) {
		ctx, cancel := context.WithTimeout(ctx, host.Quick)
		defer cancel()
		return api.List.Do(ctx, srv, api.None{})
	}
}
