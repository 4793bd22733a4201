package gateway

import (
	"context"

	"orchestrator/thread"
	"orchestrator/thread/budget"
)

// Budget decides which requests are sent, by what they may cost.
type Budget interface {
	// Reserve holds back what a request of a thread likely uses. It may wait for others to end. An error is why the request
	// is not sent.
	Reserve(ctx context.Context, id thread.ID, ask budget.Ask) (*budget.Hold, error)
	// Stops returns why no request of a thread is sent now, nil if nothing is in the way: for one that cannot be read.
	Stops(id thread.ID) error
	// Forget lets go of a thread that is removed for good.
	Forget(id thread.ID)
}
